"""The pictures between deals and after a game: what every deal has cost whom (R15, R16)."""

from __future__ import annotations

from odin_client.check_sentence import check_sentence
from odin_client.languages import _
from odin_client.terminal.cells import BLANK, Line, Span, clip, line, pad, width, wrap
from odin_client.terminal.frame import section
from odin_client.terminal.screen import Screen
from odin_client.values import Game, Phase, Player
from odin_client.words import listed


def deal_over(screen: Screen, cols: int, room: int) -> list[Line]:
    """After a deal: the penalties, what everybody had left, how near the threshold is.

    And whether the deal was checked, which counts more than the threshold where room is scarce.
    """
    game = screen.table.game
    assert game is not None, "between deals there is a game"
    title = _("DEAL {deal} OVER").format(deal=game.deal) + _went_out(screen, game)
    lines = [section(title, cols), *_penalties(screen, game, cols, hands=True)]
    distances, check = _distances(screen, game, cols), _check(screen, cols)
    if len(lines) + 1 + len(distances) + len(check) <= room:
        return [*lines, BLANK, *distances, *check]
    return _with_check(lines, check, room)


def game_over(screen: Screen, cols: int, room: int) -> list[Line]:
    """After a game: who won, lowest total first."""
    game = screen.table.game
    assert game is not None, "there was a game"
    lines = [
        section(_("GAME OVER"), cols),
        *_penalties(screen, game, cols, hands=True),
        BLANK,
        line("   ", Span(verdict(screen, game), "winner")),
        *([BLANK, line(Span(f"   {screen.saved}", "quiet"))] if screen.saved else []),
    ]
    return _with_check(lines, _check(screen, cols), room)


def scores(screen: Screen, cols: int, room: int) -> list[Line]:
    """The scores while a deal is being played."""
    game = screen.table.game
    if game is None:
        return [section(_("SCORES"), cols), line(f"   {_('No game has started yet.')}")]
    shown = _penalties(screen, game, cols, hands=False)
    return [section(_("SCORES"), cols), *shown, BLANK, *_distances(screen, game, cols)][:room]


def verdict(screen: Screen, game: Game) -> str:
    """Who won, in a sentence."""
    if not game.winners:
        return _("Nobody won.")
    total = game.player(game.winners[0]).total
    if game.winners == (screen.table.my_seat,):
        return _("You win with {total}.").format(total=total)
    names = listed(
        _("You") if seat == screen.table.my_seat else screen.table.name_of(seat)
        for seat in game.winners
    )
    if len(game.winners) == 1:
        return _("{name} wins with {total}.").format(name=names, total=total)
    return _("{names} share the victory with {total}.").format(names=names, total=total)


def _went_out(screen: Screen, game: Game) -> str:
    if game.out_seat is None:
        return ""
    mine = game.out_seat == screen.table.my_seat
    text = _("you went out with {value}") if mine else _("{name} went out with {value}")
    return " · " + text.format(
        name=screen.table.name_of(game.out_seat), value=game.centre.value if game.centre else ""
    )


def _check(screen: Screen, cols: int) -> list[Line]:
    """Below a gap: whether the deal was dealt as promised, quiet when it was."""
    if screen.checked is None:
        return []
    style = "banner" if screen.checked.faults else "quiet"
    said = wrap(check_sentence(screen.checked), max(cols - 6, 1))
    return [BLANK, *(line("   ", Span(row, style)) for row in said)]


def _with_check(lines: list[Line], check: list[Line], room: int) -> list[Line]:
    """Both, without the gap where there is no room for it; else what matters more."""
    gap = 1 if len(lines) + len(check) > room else 0
    return [*lines, *check[gap:]][:room]


def next_deal_line(screen: Screen) -> Line:
    """When it goes on."""
    taken = screen.table.taken_seats
    ready = sum(seat.ready for seat in taken)
    if screen.table.next_deal_time is None:
        text, left = _("{ready} of {count} ready · next deal when all are"), 0
    else:
        text = _("{ready} of {count} ready · next deal in {seconds} s")
        left = max(int((screen.table.next_deal_time - screen.now).total_seconds()), 0)
    return line(f" {text.format(ready=ready, count=len(taken), seconds=left)}")


def _penalties(screen: Screen, game: Game, cols: int, *, hands: bool) -> list[Line]:
    """One row a player. Old deals leave first when there is no room for all of them."""
    players = game.players
    if screen.table.phase is Phase.GAME_OVER:
        players = tuple(sorted(players, key=lambda player: (player.total, player.seat)))
    names = min(max(width(screen.label(player.seat)) for player in players), 20)
    deals = max((len(player.penalties) for player in players), default=0)
    left = (
        {seat: " ".join(map(str, cards)) for seat, cards in game.remaining_hands} if hands else {}
    )
    for_hands = 3 + max(map(len, left.values()), default=0) if left else 0
    if cols - names - for_hands - 13 < 5:
        for_hands = 0
    columns = max(min(deals, (cols - names - for_hands - 13) // 5), 0)
    letter = _("D")  # of a deal, before its number
    head = "".join(f"{f'{letter}{deals - columns + at + 1}':>5}" for at in range(columns))
    title = f"   {pad(_('player'), names)}{head}{_('total'):>8}"
    if for_hands:
        title += f"   {_('left in hand')}"
    rows = [line(Span(clip(title, cols), "quiet"))]
    for player in players:
        shown = player.penalties[deals - columns :] if columns else ()
        cells = "".join(f"{penalty:>5}" for penalty in shown)
        hand = (left.get(player.seat) or _("out!")) if for_hands else ""
        mine = player.seat == screen.table.my_seat
        text = (
            f" {'▶' if mine else ' '} {pad(screen.label(player.seat), names)}"
            f"{cells}{player.total:>8}   {hand}"
        )
        rows.append(line(Span(text.rstrip(), "mine" if mine else "")))
    return rows


def _distances(screen: Screen, game: Game, cols: int) -> list[Line]:
    """How far each total is on its way to the threshold (R16)."""
    threshold = screen.table.options.threshold
    if threshold is None:
        return []
    names = max(width(screen.table.name_of(player.seat)) for player in game.players)
    room = max(cols - names - 14, 0)
    return [_distance(screen, player, threshold, names, room) for player in game.players]


def _distance(screen: Screen, player: Player, threshold: int, names: int, room: int) -> Line:
    marks = min(player.total, threshold) * min(room, threshold) // threshold
    return line(
        f"   {pad(screen.table.name_of(player.seat), names)} {player.total:>3}/{threshold:<3} "
        + "▮" * marks
    )
