"""Events, views and the list of tables as messages, and as the bytes that viewers are sent.

An event for a viewer is put together from its public part and, for one seat, its private part.
Nothing is made by taking fields out of something fuller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from odin_contract.cards import CARDS, COLOURS
from odin_contract.decisions import choices_message, decision_message
from odin_contract.enums import Actor, ContractEnum
from odin_contract.options import options_message
from odin_contract.times import duration, timestamp
from odin_engine import (
    CardPickedUp,
    CardsPlayed,
    DealEnded,
    DealStarted,
    Decision,
    GameEnded,
    GameStarted,
    Passed,
    RoundEnded,
    View,
    decision_of,
    view_for,
)
from odin_server.table.events import (
    DeadlineMoved,
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    Record,
    SeatTaken,
    TableEvent,
    TableOpened,
)
from odin_server.table.state import DealtFrom, OpenDecision, Seat, TableState
from odin_table.v1 import decision_pb2, event_pb2, play_pb2, table_pb2


def _seat(number: int, seat: Seat | None, host: bytes) -> table_pb2.Seat:
    if seat is None:
        return table_pb2.Seat(seat=number)
    return table_pb2.Seat(
        seat=number,
        occupant=seat.occupant.value,
        name=seat.name,
        level=seat.level,
        ready=seat.ready,
        host=bool(host) and seat.holder == host,
        substituted=seat.substitute is not None,
        abandoned=seat.abandoned,
        nonce=seat.nonce,
    )


def _seats(state: TableState) -> list[table_pb2.Seat]:
    return [_seat(number, seat, state.host) for number, seat in enumerate(state.seats)]


def summary(handle: str, state: TableState, opened: int) -> table_pb2.TableSummary:
    """A table in the list: only what everybody may know."""
    return table_pb2.TableSummary(
        table=handle,
        options=options_message(state.options),
        phase=state.phase.value,
        seats=_seats(state),
        deal=state.game.deal if state.in_game else 0,
        create_time=timestamp(opened),
    )


class Viewer(NamedTuple):
    """Who looks at a table: what they may see follows from this alone."""

    seat: int | None
    """The seat they hold."""
    is_host: bool = False


def table_view(handle: str, state: TableState, viewer: Viewer) -> table_pb2.TableView:
    """All that this viewer may see of the table."""
    view = table_pb2.TableView(
        table=handle,
        log_id=state.log_id,
        seq=state.seq,
        options=options_message(state.options),
        phase=state.phase.value,
        seats=_seats(state),
        your_seat=viewer.seat,
        you_are_host=viewer.is_host,
        code=state.code if viewer.seat is not None or viewer.is_host else "",
        commitment=b"" if state.rounds else state.commitment,
        source=_open_source(state) if state.rounds else None,
    )
    if state.games:
        player = state.player_of(viewer.seat)
        game = view_for(state.game, player)
        view.game.CopyFrom(_game_view(state, game, viewer.seat))
        if state.decision:
            view.decision.CopyFrom(_decision(state.decision, game.decision))
    if state.next_deal is not None:
        view.next_deal_time.CopyFrom(timestamp(state.next_deal))
    return view


def _open_source(state: TableState) -> table_pb2.DealSource:
    """What the next deal will follow from, as far as that is known."""
    return table_pb2.DealSource(commitment=state.commitment, rounds=state.rounds)


def _source(dealt_from: DealtFrom) -> table_pb2.DealSource:
    """What a deal follows from, by deal/2."""
    return table_pb2.DealSource(
        commitment=dealt_from.commitment,
        rounds=dealt_from.rounds,
        nonces=dealt_from.nonces,
        key_rounds=dealt_from.key_rounds,
    )


def _game_view(state: TableState, game: View, own_seat: int | None) -> table_pb2.GameView:
    seats, source = state.players, state.dealt_from
    by_deal_1 = source if source and not source.rounds else None
    return table_pb2.GameView(
        game=state.games,
        deal=game.deal,
        removed_colours=COLOURS.numbers(game.removed),
        opener=seats[game.opener],
        players=[
            table_pb2.Player(
                seat=seat,
                card_count=game.card_counts[player],
                passed=game.passed[player],
                penalties=[deal[player] for deal in game.penalties],
                total=game.totals[player],
                bank=duration(state.banks[player]) if state.options.turn_time else None,
                name=state.names[player],
            )
            for player, seat in enumerate(seats)
        ],
        centre=CARDS.numbers(game.centre or ()),
        centre_value=game.centre.value if game.centre else 0,
        centre_seat=None if game.centre_seat is None else seats[game.centre_seat],
        discarded=CARDS.numbers(game.discarded),
        hand=(
            None
            if game.viewer is None
            else table_pb2.Hand(seat=own_seat or 0, cards=CARDS.numbers(game.hand))
        ),
        remaining_hands=[
            table_pb2.Hand(seat=seats[player], cards=CARDS.numbers(hand))
            for player, hand in enumerate(game.remaining_hands)
        ],
        out_seat=None if game.out is None else seats[game.out],
        winners=[seats[player] for player in game.winners],
        commitment=by_deal_1.commitment if by_deal_1 else b"",
        nonces=by_deal_1.nonces if by_deal_1 else (),
        secret=source.secret if source and source.revealed else b"",
        source=_source(source) if source and source.rounds else None,
    )


def _decision(open_now: OpenDecision, own: Decision | None) -> decision_pb2.Decision:
    """The decision; `own` is the engine's, for the seat that has to make it."""
    return decision_message(open_now.id, open_now.seat, open_now.kind, open_now.deadline, own)


# Events


class EncodedEvent(NamedTuple):
    """An event as bytes, once for each kind of viewer: each an element of `EventBatch.events`."""

    public: bytes
    private: Mapping[int, bytes]
    """For the seats that get a private part besides the public one."""
    revealed: bytes
    """For the history of a game that is over."""

    def for_seat(self, seat: int | None) -> bytes:
        """What the holder of this seat gets, or a watcher (None)."""
        return self.public if seat is None else self.private.get(seat, self.public)


_NOBODY: Final[Mapping[int, bytes]] = {}


def encode_event(record: Record, after: TableState) -> EncodedEvent:
    """The event for everybody; `after` is the state with this record in it."""
    message = _event(record, after)
    public = _element(message)
    match record.event:
        case DealStarted() as event:
            private = {
                seat: _element(_with_hand(record, after, event, player))
                for player, seat in enumerate(after.players)
            }
            return EncodedEvent(public, private, _element(_with_hands(record, after, event)))
        case DecisionOpened(seat=seat):
            own = decision_of(after.game)
            assert own is not None, "an open decision is the engine's"
            message.decision_opened.decision.choices.CopyFrom(choices_message(own))
            return EncodedEvent(public, {seat: _element(message)}, public)
        case _:
            return EncodedEvent(public, _NOBODY, public)


def _hand(after: TableState, event: DealStarted, player: int) -> table_pb2.Hand:
    return table_pb2.Hand(seat=after.players[player], cards=CARDS.numbers(event.hand_of(player)))


def _with_hand(
    record: Record, after: TableState, event: DealStarted, player: int
) -> event_pb2.Event:
    message = _event(record, after)
    message.deal_started.hand.CopyFrom(_hand(after, event, player))
    return message


def _with_hands(record: Record, after: TableState, event: DealStarted) -> event_pb2.Event:
    message = _event(record, after)
    message.deal_started.hands.extend(
        _hand(after, event, player) for player in range(event.players)
    )
    message.deal_started.undealt.extend(CARDS.numbers(event.undealt))
    return message


def _event(record: Record, after: TableState) -> event_pb2.Event:
    """The public part of an event."""
    message = event_pb2.Event(seq=record.seq, time=timestamp(record.time))
    _PUBLIC.get(type(record.event), _as_it_is)(message, record.event, record, after)
    return message


def _as_it_is(to: event_pb2.Event, event: TableEvent, _r: Record, _s: TableState) -> None:
    """Writes an event that the contract has as it is: the same names, and nothing to leave out."""
    payload = getattr(to, _payload_of(type(event).__name__))
    payload.SetInParent()
    for name, value in event._asdict().items():
        if value is not None:
            setattr(payload, name, value.value if isinstance(value, ContractEnum) else value)


@cache
def _payload_of(event: str) -> str:
    """`SeatLeft` is `seat_left` in the contract."""
    return re.sub(r"\B(?=[A-Z])", "_", event).lower()


def _table_opened(to: event_pb2.Event, event: TableOpened, _r: Record, _s: TableState) -> None:
    to.table_opened.options.CopyFrom(options_message(event.options))


def _seat_taken(to: event_pb2.Event, event: SeatTaken, _r: Record, state: TableState) -> None:
    to.seat_taken.seat.CopyFrom(_seat(event.seat, state.seats[event.seat], state.host))


def _decision_opened(
    to: event_pb2.Event, _event: DecisionOpened, _r: Record, state: TableState
) -> None:
    assert state.decision is not None, "this record opened it"
    to.decision_opened.decision.CopyFrom(_decision(state.decision, None))


def _deadline_moved(
    to: event_pb2.Event, event: DeadlineMoved, _r: Record, state: TableState
) -> None:
    deadline = state.decision.deadline if state.decision else state.next_deal
    assert deadline is not None, "time was running"
    to.deadline_moved.deadline.CopyFrom(timestamp(deadline))
    to.deadline_moved.given_back.CopyFrom(duration(event.given_back))


def _deal_committed(
    to: event_pb2.Event, _event: DealCommitted, _r: Record, state: TableState
) -> None:
    to.deal_committed.game, to.deal_committed.deal = state.coming_deal
    if state.rounds:
        to.deal_committed.source.CopyFrom(_open_source(state))
    else:
        to.deal_committed.commitment = state.commitment


def _deal_revealed(
    to: event_pb2.Event, _event: DealRevealed, _r: Record, state: TableState
) -> None:
    assert state.dealt_from is not None, "the deal was committed to"
    revealed = to.stretched_deal_revealed if state.dealt_from.rounds else to.deal_revealed
    revealed.deal = state.game.deal
    revealed.secret = state.dealt_from.secret


def _game_started(to: event_pb2.Event, event: GameStarted, _r: Record, state: TableState) -> None:
    to.game_started.game = state.games
    to.game_started.seats.extend(state.players)
    to.game_started.removed_colours.extend(COLOURS.numbers(event.removed))


def _deal_started(to: event_pb2.Event, event: DealStarted, _r: Record, state: TableState) -> None:
    to.deal_started.deal = event.number
    to.deal_started.opener = state.players[event.opener]
    if state.dealt_from and state.dealt_from.rounds:
        to.deal_started.source.CopyFrom(_source(state.dealt_from))
    elif state.dealt_from:
        to.deal_started.commitment = state.dealt_from.commitment
        to.deal_started.nonces.extend(state.dealt_from.nonces)


def _actor(record: Record) -> event_pb2.Actor.ValueType:
    return (record.actor or Actor.UNKNOWN).value


def _cards_played(
    to: event_pb2.Event, event: CardsPlayed, record: Record, state: TableState
) -> None:
    played = to.cards_played
    played.seat = state.players[event.seat]
    played.cards.extend(CARDS.numbers(event.cards.cards))
    played.value = event.cards.value
    played.opening = event.opening
    played.card_count = state.game.hands[event.seat].bit_count()
    played.actor = _actor(record)


def _card_picked_up(
    to: event_pb2.Event, event: CardPickedUp, record: Record, state: TableState
) -> None:
    taken = to.card_picked_up
    taken.seat = state.players[event.seat]
    taken.card = CARDS.number(event.card)
    taken.discarded.extend(CARDS.numbers(event.discarded))
    taken.card_count = state.game.hands[event.seat].bit_count()
    taken.actor = _actor(record)


def _passed(to: event_pb2.Event, event: Passed, record: Record, state: TableState) -> None:
    to.passed.seat = state.players[event.seat]
    to.passed.actor = _actor(record)


def _round_ended(to: event_pb2.Event, event: RoundEnded, _r: Record, state: TableState) -> None:
    to.round_ended.opener = state.players[event.opener]
    to.round_ended.discarded.extend(CARDS.numbers(event.discarded))


def _deal_ended(to: event_pb2.Event, event: DealEnded, record: Record, state: TableState) -> None:
    to.deal_ended.deal = event.number
    to.deal_ended.out_seat = state.players[event.out]
    for player, seat in enumerate(state.players):
        to.deal_ended.scores.add(
            seat=seat,
            remaining=CARDS.numbers(event.hands[player]),
            penalty=event.penalties[player],
            total=event.totals[player],
        )
    if record.until is not None:
        to.deal_ended.next_deal_time.CopyFrom(timestamp(record.until))


def _game_ended(to: event_pb2.Event, event: GameEnded, _r: Record, state: TableState) -> None:
    to.game_ended.winners.extend(state.players[player] for player in event.winners)


_PUBLIC: Final[Mapping[type, Callable[[event_pb2.Event, Any, Record, TableState], None]]] = {
    TableOpened: _table_opened,
    SeatTaken: _seat_taken,
    DecisionOpened: _decision_opened,
    DeadlineMoved: _deadline_moved,
    DealCommitted: _deal_committed,
    DealRevealed: _deal_revealed,
    GameStarted: _game_started,
    DealStarted: _deal_started,
    CardsPlayed: _cards_played,
    CardPickedUp: _card_picked_up,
    Passed: _passed,
    RoundEnded: _round_ended,
    DealEnded: _deal_ended,
    GameEnded: _game_ended,
}


# Bytes that are joined instead of being encoded again


def field_bytes(number: int, payload: bytes) -> bytes:
    """A message field of protobuf's wire format: tag, length, payload.

    Repeated fields are just such fields one after the other, so messages that were encoded once
    are sent to any number of viewers, in any company, by joining bytes.
    """
    size = len(payload)
    if size <= 0x7F:
        return bytes((number << 3 | 2, size)) + payload
    return bytes((number << 3 | 2,)) + _varint(size) + payload


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def batch_item(events: Iterable[bytes]) -> bytes:
    """An item of a stream: these events, each encoded already, in one batch."""
    return field_bytes(play_pb2.WatchTableResponse.EVENTS_FIELD_NUMBER, b"".join(events))


def _element(event: event_pb2.Event) -> bytes:
    return field_bytes(event_pb2.EventBatch.EVENTS_FIELD_NUMBER, event.SerializeToString())
