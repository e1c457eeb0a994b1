"""The picture of a deal being played: players, log, centre, hand, and what is being chosen.

When rows are missing things leave in this order: blank lines, lines of the log, the boxes around
cards. The players, the centre, the hand, the preview and the line of the turn always stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from odin_cli.play.selection import pick_ups
from odin_cli.speech.languages import _, ngettext
from odin_cli.speech.words import colour_name, seat_name
from odin_cli.terminal.views.cards import (
    LARGE,
    SMALL,
    BoxSize,
    DrawnCard,
    boxes,
    boxes_fit,
    chip,
    with_cards,
)
from odin_cli.terminal.views.cells import (
    BLANK,
    Click,
    Line,
    Span,
    beside,
    line,
    line_width,
    pad,
    stretch,
    width,
    wrap,
)
from odin_cli.terminal.views.frame import section
from odin_cli.terminal.views.screen import Question, Screen, Sort
from odin_contract.values import Player, Seat
from odin_engine import Card, DecisionKind
from odin_engine.rules import HAND_SIZE

_WIDE: Final = 110
"""From here on the log has the right third to itself."""
_LOG_BESIDE: Final = 72
"""From here on the log has room at the right of the players."""


_BAR: Final = 12
"""The length of a bar for time that is all left."""
_HURRY: Final = 10
"""From so many seconds on the bar is bold."""


@dataclass(frozen=True, slots=True)
class _Density:
    """How much room the board takes."""

    boxes: BoxSize | None
    """None: cards are chips."""
    blanks: bool
    log: int
    """How many lines of the log follow the players, when it has no room at their right."""


_DENSITIES: Final = (
    _Density(boxes=LARGE, blanks=True, log=3),
    _Density(boxes=SMALL, blanks=True, log=3),
    _Density(boxes=SMALL, blanks=False, log=3),
    _Density(boxes=SMALL, blanks=False, log=1),
    _Density(boxes=None, blanks=False, log=1),
    _Density(boxes=None, blanks=False, log=0),
)

MAX_ROWS: Final = 25
"""As many rows as six players, large cards and blank lines take. A board grows no further, so the
line of the turn stays below the hand on the tallest terminal."""


def board(screen: Screen, cols: int, room: int) -> list[Line]:
    """The deal in at most so many lines, as comfortable as they allow."""
    if cols >= _WIDE:
        left = cols - max(cols // 3, 36)
        pane = log_lines(screen.log, cols - left - 2, room)
        pane += [BLANK] * (room - len(pane))
        return beside(_fitting(screen, left, room, log_elsewhere=True), pane, left, "│ ")
    return _fitting(screen, cols, room, log_elsewhere=False)


def _fitting(screen: Screen, cols: int, room: int, *, log_elsewhere: bool) -> list[Line]:
    lines: list[Line] = []
    # Large only where a full hand is, so that cards do not change their size as they become fewer.
    large_fits = HAND_SIZE * LARGE.step + 2 <= cols
    for density in _DENSITIES[0 if large_fits else 1 :]:
        lines = _build(screen, cols, density, log_elsewhere)
        if len(lines) <= room:
            break
    return lines[:room]


def _build(screen: Screen, cols: int, density: _Density, log_elsewhere: bool) -> list[Line]:
    blank = [BLANK] if density.blanks else []
    players = _players(screen, cols)
    if not log_elsewhere and cols >= _LOG_BESIDE:
        # What a row can say at its end may come and go: the column of the log stays where it is.
        left = max((line_width(one[:1]) for one in players), default=0) + _status_width() + 1
        players += [BLANK] * (4 - len(players)) if density.blanks else []
        players = beside(players, log_lines(screen.log, cols - left - 2, len(players)), left, "│ ")
    elif not log_elsewhere:
        players = [*players, *log_lines(screen.log, cols, density.log)]
    return [
        *players,
        *blank,
        *_centre(screen, cols, density),
        *blank,
        *_hand(screen, cols, density),
    ]


# -- players


def _players(screen: Screen, cols: int) -> list[Line]:
    game = screen.table.game
    if game is None:
        return []
    labels = [width(screen.player_label(player.seat)) for player in game.players]
    room = min(max(labels), 22 if cols >= _LOG_BESIDE else 14)
    seats = {seat.seat: seat for seat in screen.table.seats}
    return [
        _player(screen, player, seats.get(player.seat), room, bars=cols >= 60)
        for player in game.players
    ]


def _player(screen: Screen, player: Player, seat: Seat | None, room: int, *, bars: bool) -> Line:
    on_turn = screen.table.decision is not None and screen.table.decision.seat == player.seat
    few = "!" if player.card_count <= 2 else " "
    row = (
        f" {'▶' if on_turn else ' '} {pad(screen.player_label(player.seat), room)}"
        f" {player.card_count}{few} "
        + (pad("▮" * player.card_count, 9) + " " if bars else "")
        + _("{points:>3} pt").format(points=player.total)
        + " "
    )
    style = "turn" if on_turn else "mine" if player.seat == screen.table.my_seat else ""
    return line(Span(row, style), Span(_status(screen, player, seat), style or "quiet"))


def _status(screen: Screen, player: Player, seat: Seat | None) -> str:
    decision, game = screen.table.decision, screen.table.game
    presence = screen.table.presence.get(player.seat)
    if seat is not None and seat.substituted:
        return _("substitute")
    if presence is not None and not presence.connected:
        return away(screen, player.seat)
    if decision is not None and decision.seat == player.seat:
        return _("picks up") if decision.kind is DecisionKind.PICK_UP else _("thinking")
    if game is not None and game.centre_seat == player.seat:
        return _("in centre")
    return _("passed") if player.passed else ""


def _status_width() -> int:
    """As much as the longest of what `_status` can say takes; nobody may be away for long."""
    said = (
        _("substitute"),
        _("picks up"),
        _("thinking"),
        _("in centre"),
        _("passed"),
        _("away {time}").format(time="9:59"),
    )
    return max(map(width, said))


def away(screen: Screen, seat: int) -> str:
    """That the holder of a seat is away, and for how long the seat is kept: `away 1:47`."""
    left = screen.kept_for(seat)
    return _("away") if left is None else _("away {time}").format(time=minutes(left))


def minutes(seconds: int) -> str:
    """`1:47`."""
    return f"{seconds // 60}:{seconds % 60:02}"


def log_lines(log: Sequence[str], cells: int, rows: int) -> list[Line]:
    """The newest lines of the log, oldest first, as many as there is room for."""
    if rows <= 0 or cells <= 2:
        return []
    shown: list[str] = []
    for entry in reversed(log):
        wrapped = wrap(entry, cells - 1)
        if shown and len(shown) + len(wrapped) > rows:
            break
        shown[:0] = wrapped
        if len(shown) >= rows:
            break
    return [line(" ", *with_cards(text)) for text in shown[-rows:]]


# -- the centre


def _centre(screen: Screen, cols: int, density: _Density) -> list[Line]:
    marked = _marked(screen)
    cards = _centre_cards(screen)
    title = section(_centre_title(screen, cols), cols)
    size = density.boxes
    if size is None or not boxes_fit(cards, cols, size):
        chips = [
            chip(DrawnCard(card, chosen=card == marked, click=_taking(screen, card)))
            for card in cards
        ]
        tail = f"   {_take(marked)}" if marked else ""
        return [title, line(" ", *chips, Span(tail, "take"))]
    drawn = boxes([DrawnCard(card, click=_taking(screen, card)) for card in cards], size)
    mark = pad(_("↺take"), size.step)
    blank = " " * size.step
    marks = line("  ", *(Span(mark if card == marked else blank, "take") for card in cards))
    # The row of marks is there whenever a card may be marked, so that nothing jumps.
    return [title, *(drawn or [BLANK] * size.rows), marks]


def _centre_cards(screen: Screen) -> Sequence[Card]:
    decision, game = screen.my_decision, screen.table.game
    if decision is not None and decision.kind is DecisionKind.PICK_UP:
        return decision.pick_ups
    return game.centre.cards if game and game.centre else ()


def _marked(screen: Screen) -> Card | None:
    """The card marked to be taken: the chosen one, or the only one that the play can take."""
    play, wanted = screen.selection.card_set, screen.selection.pick_up
    if play is None or screen.choosing_pick_up or not screen.verdict.good:
        return wanted
    choices = pick_ups(play, screen.situation)
    if len(choices) == 1:
        return choices[0]
    return wanted if wanted in choices else None


def _take(card: Card) -> str:
    return _("take {card}").format(card=card)


def _taking(screen: Screen, card: Card) -> Click | None:
    return Click("choose_pick_up", card) if screen.hand else None


def _centre_title(screen: Screen, cols: int) -> str:
    game, decision = screen.table.game, screen.my_decision
    assert game is not None, "there is a board only while there is a game"
    if decision is not None and decision.kind is DecisionKind.PICK_UP:
        return _("TAKE ONE OF THE BEATEN CARDS")
    if game.centre is None:
        if decision is not None:
            return _("CENTRE empty · open with {needed}").format(needed=screen.situation.needed)
        if opener := screen.table.decision:
            name = seat_name(screen.table, opener.seat)
            return _("CENTRE empty · {name} opens").format(name=name)
        return _("CENTRE empty")
    if game.centre_seat is None or screen.centre_is_mine:
        return _("CENTRE {value} by you").format(value=game.centre.value)
    long, short = (
        text.format(
            value=game.centre.value,
            name=seat_name(screen.table, game.centre_seat),
            needed=screen.situation.needed,
        )
        for text in (
            _("CENTRE {value} by {name} · respond with {needed}"),
            _("CENTRE {value} by {name} · {needed}"),
        )
    )
    return long if width(long) + 5 <= cols else short


# -- the hand


def _hand(screen: Screen, cols: int, density: _Density) -> list[Line]:
    if not screen.hand:
        return [section(_("WATCHING · {others}").format(others=_watchers(screen)), cols)]
    heading = (
        _("YOUR HAND {count} · by colour (s)")
        if screen.sort is Sort.COLOUR
        else _("YOUR HAND {count} · by number (s)")
    )
    title = section(heading.format(count=len(screen.hand)), cols)
    usable = _usable(screen)
    cards = [
        DrawnCard(
            card,
            chosen=card in screen.selection.cards,
            usable=card in usable,
            fresh=card == screen.fresh,
            click=Click("click_card", card),
        )
        for card in screen.hand
    ]
    size = density.boxes
    if size is not None and boxes_fit(screen.hand, cols, size):
        drawn = boxes(cards, size, raised=True)
        step, first = size.step, 1 + size.cols // 2
    else:
        drawn = [line(" ", *map(chip, cards))]
        step, first = 4, 2
    cursor = min(screen.cursor, len(screen.hand) - 1)
    return [title, *drawn, line(" " * (first + step * cursor) + "▲"), _preview(screen)]


def _watchers(screen: Screen) -> str:
    game = screen.table.game
    if screen.table.my_seat is not None and game is not None:
        return _("your hand is empty")
    others = screen.other_watchers
    return _("with {count} more").format(count=others) if others else _("nobody else does")


def _usable(screen: Screen) -> frozenset[Card]:
    """The cards that are bright: all while nothing is known to be legal."""
    plays = screen.situation.plays
    if plays is None or screen.choosing_pick_up:
        return frozenset(screen.hand)
    return screen.selection.candidates(plays)


def _preview(screen: Screen) -> Line:
    selection = screen.selection
    if not selection.cards:
        return line(Span(f" {_hint(screen)}", "quiet"))
    verdict, chosen = screen.verdict, selection.card_set
    # What is kept from before must not hide that nothing at all can be played.
    stuck = screen.situation.plays == () and not screen.choosing_pick_up
    text = f"{verdict.text} · {_no_legal_play()}" if stuck else verdict.text
    number = Span(f" {chosen.value} ", "number") if chosen else Span(" ? ", "number")
    marked = _marked(screen)
    return line(
        " ",
        number,
        f"  {' '.join(map(str, chosen.cards if chosen else selection.cards))}  ",
        Span(f"{'✓' if verdict.good else '✗'} {text}", "good" if verdict.good else "bad"),
        Span(f"  {_take(marked)}" if marked and verdict.good else "", "take"),
    )


def _no_legal_play() -> str:
    return _("no legal play · p passes")


def _hint(screen: Screen) -> str:
    """What to say while nothing is chosen."""
    colour = screen.selection.colour
    if colour is not None:
        return _("type the numbers of {colour} cards").format(colour=colour_name(colour))
    plays = screen.situation.plays
    if screen.choosing_pick_up:
        return _("the beaten card that you take joins your hand")
    if plays is None:
        return _("you may choose in advance")
    if not plays:
        return _no_legal_play()
    count = len(plays)
    return ngettext(
        "{count} legal play · Tab takes it", "{count} legal plays · Tab walks them", count
    ).format(count=count)


# -- the line of the turn


def turn_line(screen: Screen, cols: int) -> Line:
    """Whose turn it is and what is asked; stays in sight under every page."""
    decision = screen.table.decision
    if decision is None:
        return BLANK
    clock, bar = _clock(screen), _bar(screen)
    if screen.sending:
        return line(" ", Span(f" {_('SENDING')} … ", "number"))
    if decision.seat != screen.table.my_seat:
        presence = screen.table.presence.get(decision.seat)
        gone = presence is not None and not presence.connected
        if gone and not screen.table.seats[decision.seat].substituted:
            doing = _("the turn is {name}'s, who is away")
        elif decision.kind is DecisionKind.PICK_UP:
            doing = _("{name} picks up")
        else:
            doing = _("{name} is thinking")
        who = line(f" {doing.format(name=seat_name(screen.table, decision.seat))}")
        return stretch(who, line(Span(clock, bar.style), bar), cols)
    match screen.question:
        case Question.PASS:
            out = any(play.goes_out for play in decision.plays)
            what = (
                _("You could go out! p again passes, Esc does not.")
                if out
                else _("You could play. p again passes, Esc does not.")
            )
            return line(" ", Span(f" {_('PASS?')} ", "question"), f" {what}")
        case Question.HOLD_BACK:
            what = _("Your whole hand could go down: a. Enter again plays this.")
            return line(" ", Span(f" {_('REALLY?')} ", "question"), f" {what}")
        case _:
            pass
    if screen.choosing_pick_up:
        # Cards of one colour differ by their numbers, cards of one number by their letters (R8).
        by_letter = len({card.number for card in screen.takeable}) < len(screen.takeable)
        choices = "  ".join(
            f"{card.colour.value if by_letter else card.number} = {card}"
            for card in screen.takeable
        )
        return line(" ", Span(f" {_('TAKE WHICH CARD?')} {clock}", "question"), f"  {choices}")
    what = _("open a round") if decision.kind is DecisionKind.OPEN else _("respond or pass")
    turn = line(" ", Span(f" {_('YOUR TURN')} {clock}", "your-turn"), f"  {what}")
    fits = line_width(turn) + 2 + width(bar.text) < cols
    return line(*turn, "  ", bar) if fits else turn


def _clock(screen: Screen) -> str:
    """The time that is left, if there is a clock."""
    left = screen.seconds_left
    return "" if left is None else f"{minutes(left)} "


def _bar(screen: Screen) -> Span:
    """The same as a picture, out of all that the decision had at first."""
    left, decision, game = screen.seconds_left, screen.table.decision, screen.table.game
    if left is None or decision is None or game is None:
        return Span("")
    bank = game.player(decision.seat).bank
    whole = screen.table.options.turn_time + (bank.total_seconds() if bank else 0)
    filled = min(_BAR, math.ceil(_BAR * left / whole)) if whole else 0
    return Span("▮" * filled, "hurry" if left <= _HURRY else "")
