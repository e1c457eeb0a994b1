"""The fold of the public stream: what a viewer knows of a table after one more event. Pure.

Folding the events after a snapshot gives exactly what a later snapshot holds; nothing here guesses.
What an event changes, and when it may come, is written once: `_EVENTS` has a row for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from odin_contract.enums import LeaveReason, Occupant, Phase
from odin_contract.events import (
    BotFailed,
    CardPickedUp,
    CardsPlayed,
    DeadlineMoved,
    DealCommitted,
    DealEnded,
    DealRevealed,
    DealStarted,
    DecisionOpened,
    Event,
    GameEnded,
    GameStarted,
    HostChanged,
    NonceGiven,
    Passed,
    ReadyChanged,
    RematchAsked,
    RoundEnded,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
    TableClosed,
    TableOpened,
)
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import (
    Game,
    Player,
    Seat,
    TableView,
)
from odin_engine import Card
from odin_engine.rules import HAND_SIZE


def fold(view: TableView, event: Event) -> TableView:
    """What the same viewer knows after the event.

    An event that this version does not know changes the number alone. Raises NotUnderstoodError
    when it names a seat that there is not.
    """
    row = _EVENTS.get(type(event))
    try:
        return replace(row.changes(view, event) if row else view, seq=event.seq)
    except (KeyError, IndexError) as error:
        raise NotUnderstoodError(f"event {event.seq} names a seat that there is not") from error


def may_follow(view: TableView, event: Event) -> bool:
    """Whether the event may come next, as far as seats and phases go: the rules have their say too.

    An event that this version does not know may always come.
    """
    row = _EVENTS.get(type(event))
    try:
        return row is None or row.may_come(view, event)
    except (KeyError, IndexError):
        return False


# Seats and phases


def _table_opened(view: TableView, event: TableOpened) -> TableView:
    seats = tuple(map(Seat, range(event.options.seats)))
    return replace(view, options=event.options, seats=seats, phase=Phase.WAITING)


def _seat_taken(view: TableView, event: SeatTaken) -> TableView:
    seat = event.seat
    if view.seats[seat.seat].abandoned:
        view = _without_own(view, seat.seat)
    view = _with_seat(view, seat)
    if view.game and view.in_game:  # they play on for the player who left
        players = tuple(
            replace(player, name=seat.name) if player.seat == seat.seat else player
            for player in view.game.players
        )
        view = replace(view, game=replace(view.game, players=players))
    return view


def _seat_left(view: TableView, event: SeatLeft) -> TableView:
    return _with_seat(_without_own(view, event.seat), Seat(event.seat))


def _host_changed(view: TableView, event: HostChanged) -> TableView:
    return _without_code(
        replace(
            view,
            seats=tuple(replace(seat, host=seat.seat == event.seat) for seat in view.seats),
            i_am_host=event.seat is not None and event.seat == view.my_seat,
        )
    )


def _substitute_seated(view: TableView, event: SubstituteSeated) -> TableView:
    left = event.reason is LeaveReason.LEFT
    return _changed(view, event.seat, substituted=True, ready=True, abandoned=left, nonce=b"")


def _seat_resumed(view: TableView, event: SeatResumed) -> TableView:
    return _changed(view, event.seat, substituted=False, ready=False, abandoned=False)


def _table_closed(view: TableView, _event: TableClosed) -> TableView:
    return replace(view, phase=Phase.CLOSED, decision=None, next_deal_time=None)


def _without_own(view: TableView, seat: int) -> TableView:
    """The view when the holder of this seat has lost it."""
    if seat != view.my_seat:
        return view
    decision = view.decision
    return _without_code(
        replace(
            view,
            my_seat=None,
            game=replace(view.game, hand=None) if view.game else None,
            decision=(
                replace(decision, plays=(), pick_ups=(), default_action=None) if decision else None
            ),
        )
    )


def _without_code(view: TableView) -> TableView:
    """Only seats and the host are shown the code."""
    return view if view.my_seat is not None or view.i_am_host else replace(view, code="")


def _with_seat(view: TableView, seat: Seat) -> TableView:
    return replace(view, seats=tuple(seat if s.seat == seat.seat else s for s in view.seats))


def _changed(view: TableView, seat: int, **changes: Any) -> TableView:
    return _with_seat(view, replace(view.seats[seat], **changes))


# Who is ready for the next deal, and what it will follow from


def _ready_changed(view: TableView, event: ReadyChanged) -> TableView:
    return _says_ready(view, event.seat, event.ready, event.nonce)


def _rematch_asked(view: TableView, event: RematchAsked) -> TableView:
    waiting = replace(_nobody_ready(view), phase=Phase.WAITING)
    return _says_ready(waiting, event.seat, True, event.nonce)


def _says_ready(view: TableView, seat: int, ready: bool, nonce: bytes) -> TableView:
    """By deal/1 a nonce came with being ready; by deal/2 that leaves alone what a seat gave."""
    by_deal_1 = {} if view.rounds else {"nonce": nonce}
    return _changed(view, seat, ready=ready, **by_deal_1)


def _nobody_ready(view: TableView) -> TableView:
    """The view when people have to say again that they are ready; anyone else always is."""
    return replace(
        view,
        seats=tuple(
            replace(seat, ready=False)
            if seat.occupant is Occupant.PERSON and not seat.substituted
            else seat
            for seat in view.seats
        ),
    )


def _deal_committed(view: TableView, event: DealCommitted) -> TableView:
    return replace(view, commitment=event.commitment, rounds=event.rounds)


def _nonce_given(view: TableView, event: NonceGiven) -> TableView:
    return _changed(view, event.seat, nonce=event.nonce)


# Decisions and their time


def _decision_opened(view: TableView, event: DecisionOpened) -> TableView:
    return replace(view, decision=event.decision)


def _deadline_moved(view: TableView, event: DeadlineMoved) -> TableView:
    if view.decision is None:
        return replace(view, next_deal_time=event.deadline)
    return replace(view, decision=replace(view.decision, deadline=event.deadline))


def _charged(view: TableView, player: Player, time: datetime) -> Player:
    """The player after acting at this time: the bank runs last, until the deadline."""
    deadline = view.decision.deadline if view.decision else None
    if deadline is None or player.bank is None:
        return player
    return replace(player, bank=min(player.bank, max(timedelta(), deadline - time)))


# Cards and scores


def _game_started(view: TableView, event: GameStarted) -> TableView:
    bank = timedelta(seconds=view.options.bank) if view.options.turn_time else None
    game = Game(
        game=event.game,
        removed=event.removed,
        players=tuple(Player(seat, bank=bank, name=view.seats[seat].name) for seat in event.seats),
        hand=() if view.my_seat in event.seats else None,
    )
    return replace(view, game=game, phase=Phase.BETWEEN_DEALS)


def _deal_started(view: TableView, game: Game, event: DealStarted) -> TableView:
    return replace(
        view,
        phase=Phase.PLAYING,
        next_deal_time=None,
        commitment=b"",
        rounds=0,
        seats=tuple(replace(seat, nonce=b"") for seat in view.seats),
        game=replace(
            game,
            deal=event.deal,
            opener=event.opener,
            players=tuple(replace(p, card_count=HAND_SIZE, passed=False) for p in game.players),
            centre=None,
            centre_seat=None,
            discarded=(),
            hand=event.hand,
            hands=event.hands,
            remaining_hands=(),
            out_seat=None,
            commitment=event.commitment,
            nonces=event.nonces,
            secret=b"",
            rounds=event.rounds,
            key_rounds=event.key_rounds,
        ),
    )


def _cards_played(view: TableView, game: Game, event: CardsPlayed) -> TableView:
    player = _charged(view, game.player(event.seat), event.time)
    went_out = event.card_count == 0
    game = replace(
        _with_hand(view, game, event.seat, lambda hand: (c for c in hand if c not in event.set)),
        players=_players(game, replace(player, card_count=event.card_count, passed=False)),
        centre=event.set,
        centre_seat=event.seat,
        # R12: going out takes nothing, so all of the beaten set is discarded.
        discarded=game.discarded + (game.centre.cards if game.centre and went_out else ()),
    )
    return replace(view, game=game, decision=None)


def _card_picked_up(view: TableView, game: Game, event: CardPickedUp) -> TableView:
    player = _charged(view, game.player(event.seat), event.time)
    game = replace(
        _with_hand(view, game, event.seat, lambda hand: sorted((*hand, event.card))),
        players=_players(game, replace(player, card_count=event.card_count)),
        discarded=game.discarded + event.discarded,
    )
    return replace(view, game=game, decision=None)


def _passed(view: TableView, game: Game, event: Passed) -> TableView:
    player = _charged(view, game.player(event.seat), event.time)
    game = replace(game, players=_players(game, replace(player, passed=True)))
    return replace(view, game=game, decision=None)


def _round_ended(view: TableView, game: Game, event: RoundEnded) -> TableView:
    game = replace(
        game,
        players=tuple(replace(player, passed=False) for player in game.players),
        centre=None,
        centre_seat=None,
        discarded=game.discarded + event.discarded,
    )
    return replace(view, game=game)


def _deal_ended(view: TableView, game: Game, event: DealEnded) -> TableView:
    scores = {score.seat: score for score in event.scores}
    game = replace(
        game,
        players=tuple(
            replace(player, penalties=(*player.penalties, score.penalty), total=score.total)
            if (score := scores.get(player.seat))
            else player
            for player in game.players
        ),
        remaining_hands=tuple((score.seat, score.remaining) for score in event.scores),
        out_seat=event.out_seat,
    )
    return replace(
        _nobody_ready(view),
        game=game,
        decision=None,
        next_deal_time=event.next_deal_time,
        phase=Phase.BETWEEN_DEALS,
    )


def _deal_revealed(view: TableView, game: Game, event: DealRevealed) -> TableView:
    return replace(view, game=replace(game, secret=event.secret))


def _game_ended(view: TableView, game: Game, event: GameEnded) -> TableView:
    return replace(view, game=replace(game, winners=event.winners), phase=Phase.GAME_OVER)


def _with_hand(
    view: TableView,
    game: Game,
    seat: int,
    change: Callable[[tuple[Card, ...]], Iterable[Card]],
) -> Game:
    """The game after a seat's hand has changed, as far as the viewer knows that hand."""
    mine = game.hand is not None and seat == view.my_seat
    if not (mine or game.hands):
        return game
    return replace(
        game,
        hand=tuple(change(game.hand or ())) if mine else game.hand,
        hands=tuple((of, tuple(change(hand)) if of == seat else hand) for of, hand in game.hands),
    )


def _players(game: Game, changed: Player) -> tuple[Player, ...]:
    return tuple(changed if player.seat == changed.seat else player for player in game.players)


# When an event may come


def _is_taken(view: TableView, seat: int) -> bool:
    return 0 <= seat < len(view.seats) and not view.seats[seat].free


def _plays(view: TableView, event: SubstituteSeated) -> bool:
    return view.game is not None and any(p.seat == event.seat for p in view.game.players)


def _may_say_ready(view: TableView, event: ReadyChanged) -> bool:
    # By deal/1 a nonce comes with being ready, and for an open commitment.
    may_give = event.ready and view.commitment and not view.rounds
    return (
        view.phase is not Phase.PLAYING
        and _is_taken(view, event.seat)
        and bool(may_give or not event.nonce)
    )


def _may_give(view: TableView, event: NonceGiven) -> bool:
    return (
        view.phase is not Phase.PLAYING
        and _is_taken(view, event.seat)
        and not view.seats[event.seat].substituted
        and view.rounds > 0
        and bool(event.nonce)
    )


def _may_resume(view: TableView, event: SeatResumed) -> bool:
    return view.seats[event.seat].substituted


def _may_sit_down(view: TableView, event: SeatTaken) -> bool:
    seat = view.seats[event.seat.seat]
    return seat.abandoned if view.in_game else seat.free


@dataclass(frozen=True, slots=True)
class _Row:
    """What there is to know of a class of events."""

    changes: Callable[[TableView, Any], TableView]
    may_come: Callable[[TableView, Any], bool]


def _in_game(changes: Callable[[TableView, Game, Any], TableView]) -> _Row:
    """Of an event about the game: it changes nothing for a viewer who knows of none.

    Whether it may come is up to the rules.
    """
    return _Row(
        lambda view, event: changes(view, view.game, event) if view.game else view,
        lambda view, _: view.in_game,
    )


_EVENTS: Final[Mapping[type[Event], _Row]] = {
    TableOpened: _Row(_table_opened, lambda view, _: not view.seats),
    SeatTaken: _Row(_seat_taken, _may_sit_down),
    SeatLeft: _Row(_seat_left, lambda view, e: not view.in_game and _is_taken(view, e.seat)),
    HostChanged: _Row(_host_changed, lambda view, e: e.seat is None or _is_taken(view, e.seat)),
    SubstituteSeated: _Row(_substitute_seated, lambda view, e: view.in_game and _plays(view, e)),
    SeatResumed: _Row(_seat_resumed, _may_resume),
    TableClosed: _Row(_table_closed, lambda view, _: view.phase is not Phase.CLOSED),
    ReadyChanged: _Row(_ready_changed, _may_say_ready),
    RematchAsked: _Row(_rematch_asked, lambda view, _: view.phase is Phase.GAME_OVER),
    DealCommitted: _Row(
        _deal_committed, lambda view, _: view.phase is not Phase.PLAYING and not view.commitment
    ),
    NonceGiven: _Row(_nonce_given, _may_give),
    DecisionOpened: _Row(_decision_opened, lambda view, _: view.phase is Phase.PLAYING),
    DeadlineMoved: _Row(_deadline_moved, lambda view, _: view.in_game),
    BotFailed: _Row(
        lambda view, _: view, lambda view, e: bool(view.decision and view.decision.seat == e.seat)
    ),
    GameStarted: _Row(_game_started, lambda view, _: view.phase is Phase.WAITING),
    DealStarted: _in_game(_deal_started),
    CardsPlayed: _in_game(_cards_played),
    CardPickedUp: _in_game(_card_picked_up),
    Passed: _in_game(_passed),
    RoundEnded: _in_game(_round_ended),
    DealEnded: _in_game(_deal_ended),
    DealRevealed: _in_game(_deal_revealed),
    GameEnded: _in_game(_game_ended),
}
