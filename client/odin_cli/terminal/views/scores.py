"""The pictures between deals and after a game: what every deal has cost whom (R15, R16)."""

from __future__ import annotations

from dataclasses import replace

from odin_cli.speech.check_sentence import check_sentence
from odin_cli.speech.languages import _
from odin_cli.speech.words import listed, player_name
from odin_cli.terminal.views.cards import with_cards
from odin_cli.terminal.views.cells import BLANK, Line, Span, clip, line, pad, width, wrap
from odin_cli.terminal.views.frame import section
from odin_cli.terminal.views.last_play import went_out
from odin_cli.terminal.views.screen import Screen
from odin_contract.enums import Occupant, Phase
from odin_contract.values import Game, Player


def deal_over(screen: Screen, cols: int, room: int) -> list[Line]:
    """After a deal: the penalties, what everybody had left, how near the threshold is.

    And whether the deal was checked, which counts more than the threshold where room is scarce.
    """
    game = screen.table.game
    assert game is not None, "between deals there is a game"
    over = _("DEAL {deal} OVER").format(deal=game.deal)
    title = " · ".join(filter(None, (over, went_out(screen, game))))
    lines = [section(title, cols), *_penalties(screen, game, cols, hands=True)]
    distances, check = _distances(screen, game, cols), _check(screen, cols)
    if len(lines) + 1 + len(distances) + len(check) <= room:
        return [*lines, BLANK, *distances, *check]
    return _with_check(lines, check, room)


def game_over(screen: Screen, cols: int, room: int) -> list[Line]:
    """After a game: who won, and the rank of everybody, lowest total first.

    And where the game is kept, if there is room for it; it is said again when one leaves.
    """
    game = screen.table.game
    assert game is not None, "there was a game"
    lines = [section(_("GAME OVER"), cols), *_result(screen, game, cols)]
    saved = _below(screen.saved, "quiet", cols) if screen.saved else []
    check = _check(screen, cols)
    if len(lines) + len(saved) + len(check) <= room:
        lines += saved
    return _with_check(lines, check, room)


def closed(screen: Screen, cols: int, room: int) -> list[Line]:
    """The table has ended; what was played there stays to be read."""
    why = screen.ended or _("This table has ended.")
    said = [line(f" {row}") for row in wrap(f"{why} {_('q leaves.')}", cols - 2)]
    lines = [section(_("TABLE CLOSED"), cols), BLANK, *said, BLANK]
    game = screen.table.game
    if game is not None and game.winners:
        lines += _result(screen, game, cols)
    elif game is not None and any(player.penalties for player in game.players):
        lines += _penalties(screen, game, cols, hands=False)
    return lines[:room]


def _result(screen: Screen, game: Game, cols: int) -> list[Line]:
    said = line("   ", Span(verdict(screen, game), "winner"))
    return [*_penalties(screen, game, cols, hands=True), BLANK, said]


def rematch_line(screen: Screen) -> Line:
    """Who wants another game."""
    if screen.table.phase is Phase.GAME_OVER:
        seated = screen.table.my_seat is not None
        return line(f" {_('Another game? Enter asks for a rematch.')}" if seated else "")
    taken = screen.table.taken_seats
    ready = sum(seat.ready for seat in taken)
    text = _("Another game: {ready} of {count} are ready").format(ready=ready, count=len(taken))
    return line(f" {text}")


def scores(screen: Screen, cols: int, room: int) -> list[Line]:
    """The scores of the game, or of the one before while there are none yet."""
    game = screen.table.game
    if game is None:
        return [section(_("SCORES"), cols), line(f"   {_('No game has started yet.')}")]
    if screen.last_game is not None and not any(player.penalties for player in game.players):
        game = screen.last_game
        view = replace(screen.table.view, game=game)
        then = replace(screen, table=replace(screen.table, view=view))
        return [section(_("SCORES OF THE LAST GAME"), cols), *_result(then, game, cols)][:room]
    shown = _penalties(screen, game, cols, hands=False)
    return [section(_("SCORES"), cols), *shown, BLANK, *_distances(screen, game, cols)][:room]


def verdict(screen: Screen, game: Game) -> str:
    """Who won, in a sentence."""
    if not game.winners:
        return _("Nobody won.")
    table, total = screen.table, game.player(game.winners[0]).total
    mine = [
        (rank, player.seat) for rank, player in game.standings if table.played_by_me(player.seat)
    ]
    if mine and game.winners == (mine[0][1],):
        return _("You win with {total}.").format(total=total)
    names = listed(
        _("You") if table.played_by_me(seat) else player_name(table, seat) for seat in game.winners
    )
    if len(game.winners) == 1:
        said = _("{name} wins with {total}.").format(name=names, total=total)
    else:
        said = _("{names} share the victory with {total}.").format(names=names, total=total)
    if not mine or mine[0][1] in game.winners:
        return said
    rank = _("Your rank: {rank} of {count}.").format(rank=mine[0][0], count=len(game.players))
    return f"{said} {rank}"


def _check(screen: Screen, cols: int) -> list[Line]:
    """Below a gap: whether the deal was dealt as promised, quiet when all of it was checked."""
    if screen.checked is None:
        return []
    style = "quiet" if screen.checked.in_full else "banner"
    return _below(check_sentence(screen.checked), style, cols)


def _below(text: str, style: str, cols: int) -> list[Line]:
    """A text below a gap, broken between words."""
    rows = wrap(text, max(cols - 6, 1))
    return [BLANK, *(line("   ", Span(row, style)) for row in rows)]


def _with_check(lines: list[Line], check: list[Line], room: int) -> list[Line]:
    """Both, without the gap where there is no room for it; else what matters more."""
    gap = 1 if len(lines) + len(check) > room else 0
    return [*lines, *check[gap:]][:room]


def next_deal_line(screen: Screen) -> Line:
    """When it goes on."""
    taken, due = screen.table.taken_seats, screen.table.next_deal_time
    ready = sum(seat.ready for seat in taken)
    left = max(int((due - screen.now).total_seconds()), 0) if due else 0
    if due is None:
        text = _("{ready} of {count} ready · next deal when all are")
    elif any(seat.ready and seat.occupant is Occupant.PERSON for seat in taken):
        text = _("{ready} of {count} ready · next deal in {seconds} s")
    else:  # the server does not let the pause run out before a person has answered
        text = _("{ready} of {count} ready · next deal once one of you is")
    return line(f" {text.format(ready=ready, count=len(taken), seconds=left)}")


def _penalties(screen: Screen, game: Game, cols: int, *, hands: bool) -> list[Line]:
    """One row a player, after the game in the order of their ranks and with the winners marked.

    Old deals leave first when there is no room for all of them.
    """
    over = bool(game.winners)
    rows = game.standings if over else tuple((0, player) for player in game.players)
    labels = (_("player"), *(screen.player_label(player.seat) for player in game.players))
    names = min(max(map(width, labels)), 20)
    deals = max((len(player.penalties) for player in game.players), default=0)
    left = (
        {seat: " ".join(map(str, cards)) for seat, cards in game.remaining_hands} if hands else {}
    )
    lead = 6 if over else 3
    for_hands = 3 + max(map(len, left.values()), default=0) if left else 0
    if cols - names - for_hands - lead - 10 < 5:
        for_hands = 0
    columns = max(min(deals, (cols - names - for_hands - lead - 10) // 5), 0)
    letter = _("D")  # of a deal, before its number
    head = "".join(f"{f'{letter}{deals - columns + at + 1}':>5}" for at in range(columns))
    title = f"{' ' * lead}{pad(labels[0], names)}{head}{_('total'):>8}"
    if for_hands:
        title += f"   {_('left in hand')}"
    lines = [line(Span(clip(title, cols), "quiet"))]
    for rank, player in rows:
        shown = player.penalties[deals - columns :] if columns else ()
        cells = "".join(f"{penalty:>5}" for penalty in shown)
        hand = f"   {left.get(player.seat) or _('out!')}" if for_hands else ""
        mine, won = screen.table.played_by_me(player.seat), player.seat in game.winners
        mark = "★" if won else "▶" if mine else " "
        text = (
            f"{f' {rank}.' if rank else ''} {mark} {pad(screen.player_label(player.seat), names)}"
            f"{cells}{player.total:>8}"
        )
        style = "winner" if won else "mine" if mine else ""
        lines.append(line(Span(text, style), *with_cards(hand, style)))
    return lines


def _distances(screen: Screen, game: Game, cols: int) -> list[Line]:
    """How far each total is on its way to the threshold (R16)."""
    threshold = screen.table.options.threshold
    if threshold is None:
        return []
    names = max(width(player_name(screen.table, player.seat)) for player in game.players)
    room = max(cols - names - 14, 0)
    return [_distance(screen, player, threshold, names, room) for player in game.players]


def _distance(screen: Screen, player: Player, threshold: int, names: int, room: int) -> Line:
    marks = min(player.total, threshold) * min(room, threshold) // threshold
    return line(
        f"   {pad(player_name(screen.table, player.seat), names)} {player.total:>3}/{threshold:<3} "
        + "▮" * marks
    )
