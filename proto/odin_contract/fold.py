"""The fold of the public stream: what a viewer knows of a table after one more event. Pure.

Folding the events after a snapshot gives exactly what a later snapshot holds; nothing here guesses.
What each event changes is written once, below: `_EFFECTS` names the function for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from odin_contract.events import (
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
from odin_contract.values import Game, LeaveReason, Occupant, Phase, Player, Seat, TableView
from odin_engine.rules import HAND_SIZE


def fold(view: TableView, event: Event) -> TableView:
    """What the same viewer knows after the event.

    An event that this version does not know changes the number alone. Raises KeyError or IndexError
    for a seat that there is not.
    """
    effect = _EFFECTS.get(type(event))
    return replace(effect(view, event) if effect else view, seq=event.seq)


# Seats and phases


def _table_opened(view: TableView, event: TableOpened) -> TableView:
    seats = tuple(map(Seat, range(event.options.seats)))
    return replace(view, options=event.options, seats=seats, phase=Phase.WAITING)


def _seat_taken(view: TableView, event: SeatTaken) -> TableView:
    seat = event.seat
    if view.seats[seat.seat].abandoned:
        view = _without_own(view, seat.seat)
    view = _with_seat(view, seat)
    if view.game and view.in_game:  # they play on for whoever left
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
    """The view when nobody holds this seat any more, or somebody else does."""
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
    hand = game.hand
    if hand is not None and event.seat == view.my_seat:
        hand = tuple(card for card in hand if card not in event.set)
    game = replace(
        game,
        players=_players(game, replace(player, card_count=event.card_count, passed=False)),
        centre=event.set,
        centre_seat=event.seat,
        # R12: going out takes nothing, so all of the beaten set is discarded.
        discarded=game.discarded + (game.centre.cards if game.centre and went_out else ()),
        hand=hand,
    )
    return replace(view, game=game, decision=None)


def _card_picked_up(view: TableView, game: Game, event: CardPickedUp) -> TableView:
    player = _charged(view, game.player(event.seat), event.time)
    hand = game.hand
    if hand is not None and event.seat == view.my_seat:
        hand = tuple(sorted((*hand, event.card)))
    game = replace(
        game,
        players=_players(game, replace(player, card_count=event.card_count)),
        discarded=game.discarded + event.discarded,
        hand=hand,
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


def _players(game: Game, changed: Player) -> tuple[Player, ...]:
    return tuple(changed if player.seat == changed.seat else player for player in game.players)


def _in_game(
    effect: Callable[[TableView, Game, Any], TableView],
) -> Callable[[TableView, Any], TableView]:
    """An effect that needs a game, and is none where the viewer was told of no game."""
    return lambda view, event: effect(view, view.game, event) if view.game else view


_EFFECTS: Final[Mapping[type[Event], Callable[[TableView, Any], TableView]]] = {
    TableOpened: _table_opened,
    SeatTaken: _seat_taken,
    SeatLeft: _seat_left,
    HostChanged: _host_changed,
    SubstituteSeated: _substitute_seated,
    SeatResumed: _seat_resumed,
    TableClosed: _table_closed,
    ReadyChanged: _ready_changed,
    RematchAsked: _rematch_asked,
    DealCommitted: _deal_committed,
    NonceGiven: _nonce_given,
    DecisionOpened: _decision_opened,
    DeadlineMoved: _deadline_moved,
    GameStarted: _game_started,
    DealStarted: _in_game(_deal_started),
    CardsPlayed: _in_game(_cards_played),
    CardPickedUp: _in_game(_card_picked_up),
    Passed: _in_game(_passed),
    RoundEnded: _in_game(_round_ended),
    DealEnded: _in_game(_deal_ended),
    DealRevealed: _in_game(_deal_revealed),
    GameEnded: _in_game(_game_ended),
}
