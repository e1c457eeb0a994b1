"""The picture of a finished game at one of its steps: all hands, centre, what happened. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from odin_cli.games.replay import Position
from odin_cli.play.hand_order import by_colour
from odin_cli.speech.languages import _
from odin_cli.speech.words import ending, seat_name
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.keys import ALWAYS, MOUSE, Binding
from odin_cli.terminal.style import card_style
from odin_cli.terminal.views import scores
from odin_cli.terminal.views.board import log_lines
from odin_cli.terminal.views.cards import DrawnCard, chip
from odin_cli.terminal.views.cells import BLANK, Line, Span, line, pad, width
from odin_cli.terminal.views.frame import framed, key_line, section, title_bar
from odin_cli.terminal.views.log import Log
from odin_cli.terminal.views.pages import rules_rows, text_page
from odin_cli.terminal.views.screen import Screen
from odin_client.table.model import TableModel
from odin_contract.enums import Phase
from odin_contract.values import Player
from odin_engine.rules import HAND_SIZE

_ROOMY: Final = 72
"""From here on there is room for more than names and cards."""


@dataclass
class ReplayScreen:
    """What one person sees of a game that is over."""

    position: Position
    step: int = 0
    last: int = 0
    running: bool = False
    """Whether the steps follow each other by themselves."""
    log: Log = field(default_factory=Log)
    """What happened until here, oldest first."""
    notice: str = ""
    help: bool = False
    """Whether the keys and the rules lie over it all."""
    scroll: int = 0


def bindings(screen: ReplayScreen) -> tuple[Binding, ...]:
    """The keys that do something now, most important first."""
    if screen.help:
        return (
            Binding(("down", "pagedown", "space"), "scroll", 5, _("on"), "↓"),
            Binding(("up", "pageup"), "scroll", -5, _("back"), "↑"),
            Binding(("escape", "q", "?", "f1"), "close", None, _("close"), _("Esc")),
            MOUSE,
            *ALWAYS,
        )
    return (
        Binding(("right", "enter", "n", "down"), "step", 1, _("on"), "→"),
        Binding(("left", "p", "up", "backspace"), "step", -1, _("back"), "←"),
        Binding(("space",), "run", None, _("stop") if screen.running else _("run"), _("Space")),
        Binding(("pagedown", "d"), "deal", 1, _("next deal"), _("PgDn")),
        Binding(("pageup", "D"), "deal", -1, _("deal before"), _("PgUp")),
        Binding(("home", "0"), "step", -1_000_000),
        Binding(("end", "$"), "step", 1_000_000),
        Binding(("q", "escape"), "leave", None, _("leave"), "q"),
        Binding(("?", "f1"), "show_help", None, _("help"), "?"),
        MOUSE,
        *ALWAYS,
    )


def help_rows(cols: int) -> list[str]:
    """The keys of the replay, and the rules of the game."""
    keys = [
        *((one.shown, one.label) for one in bindings(ReplayScreen(Position(TableModel())))),
        (_("Home End"), _("the beginning, the end")),
    ]
    rows = [f"{pad(shown, 11)} {label}" for shown, label in keys if label]
    return [*rows, "", *rules_rows(cols)]


def render_replay(screen: ReplayScreen, cols: int, rows: int, caps: Capabilities) -> list[Line]:
    """The picture in at most `rows` lines of at most `cols` cells."""
    return framed(lambda c, r: _whole(screen, c, r), cols, rows, caps)


def _whole(screen: ReplayScreen, cols: int, rows: int) -> list[Line]:
    table = screen.position.table
    parts = [_("REPLAY {table}").format(table=table.table)]
    if table.game is not None and table.game.deal:
        parts.append(_("deal {deal}").format(deal=table.game.deal))
    if cols >= _ROOMY:
        parts.append(ending(table.options))
    step = _("step {step} of {last}").format(step=screen.step, last=screen.last)
    head = [title_bar(f" {' · '.join(parts)}", f"{step} ", cols)]
    foot = [
        line(" ", Span(screen.notice, "news")) if screen.notice else BLANK,
        key_line(bindings(screen), cols),
    ]
    room = rows - len(head) - len(foot)
    middle = (
        text_page(_("HELP"), help_rows(cols), screen.scroll, cols, room)
        if screen.help
        else _middle(screen, cols, room)
    )[:room]
    return [*head, *middle, *[BLANK] * (room - len(middle)), *foot]


def _middle(screen: ReplayScreen, cols: int, room: int) -> list[Line]:
    table = screen.position.table
    if table.game is None or table.game.deal == 0:
        return [section(_("BEFORE THE FIRST DEAL"), cols), *log_lines(screen.log, cols, room - 1)]
    shown = Screen(table, log=screen.log, checked=screen.position.checked)
    if table.phase is Phase.BETWEEN_DEALS:
        return scores.deal_over(shown, cols, room)
    if table.phase is Phase.GAME_OVER:
        return scores.game_over(shown, cols, room)
    board = [
        section(_("HANDS"), cols),
        *(_player(screen, player, cols) for player in table.game.players),
        *_centre(screen, cols),
        section(_("LOG"), cols),
    ]
    return [*board, *log_lines(screen.log, cols, room - len(board))]


def _player(screen: ReplayScreen, player: Player, cols: int) -> Line:
    table = screen.position.table
    on_turn = table.decision is not None and table.decision.seat == player.seat
    cards = by_colour(screen.position.hands.get(player.seat, ()))
    names = max(width(seat_name(table, seat.seat)) for seat in table.taken_seats or table.seats)
    mark = f" {'▶' if on_turn else ' '} "
    if cols < _ROOMY:
        name = pad(seat_name(table, player.seat), min(names, cols - 3 * HAND_SIZE - len(mark)))
        chips = [Span(f"{card} ", card_style(card.colour)) for card in cards]
    else:
        points = _("{points:>3} pt").format(points=player.total)
        name = pad(seat_name(table, player.seat), min(names, 20))
        name += f" {player.card_count} {points}  "
        chips = [chip(DrawnCard(card)) for card in cards]
    return line(Span(f"{mark}{name}", "turn" if on_turn else ""), *chips)


def _centre(screen: ReplayScreen, cols: int) -> list[Line]:
    game = screen.position.table.game
    if game is None or game.centre is None or game.centre_seat is None:
        return [section(_("CENTRE empty"), cols), BLANK]
    title = _("CENTRE {value} by {name}").format(
        value=game.centre.value, name=seat_name(screen.position.table, game.centre_seat)
    )
    return [
        section(title, cols),
        line(" ", *(chip(DrawnCard(card)) for card in game.centre.cards)),
    ]
