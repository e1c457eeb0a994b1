"""Events and notices as messages, and as the bytes that viewers are sent.

An event is put together from the parts that each viewer may see (`visibility`): nothing is made by
taking fields out of something fuller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from odin_contract.cards import CARDS
from odin_contract.decisions import write_choices
from odin_contract.enums import Actor, ContractEnum
from odin_contract.moves import write_move
from odin_contract.options import options_message
from odin_contract.times import duration, timestamp
from odin_contract.values import Options as TableOptions
from odin_engine import (
    Card,
    CardPickedUp,
    CardsPlayed,
    DealEnded,
    DealStarted,
    Decision,
    Event,
    GameEnded,
    GameStarted,
    Passed,
    RoundEnded,
)
from odin_engine.visibility import Until
from odin_server.table.chat import Line
from odin_server.table.events import (
    DeadlineMoved,
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    SeatTaken,
    TableEvent,
    TableOpened,
)
from odin_server.table.presence import SeatPresence
from odin_server.table.state import coming_deal
from odin_server.table.views import decision_to, open_source, seat_to, source_to
from odin_server.table.visibility import PublicTable, VisibleEvent
from odin_table.v1 import event_pb2, play_pb2

# Events


class EncodedEvent(NamedTuple):
    """An event as bytes, once for each kind of viewer: each an element of `EventBatch.events`."""

    public: bytes
    private: Mapping[int, bytes]
    """For the seats that get a part of their own besides the public one."""
    hidden: tuple[Until, bytes] | None
    """For everybody in the history, once that is over. None: nothing is hidden."""

    def for_seat(self, seat: int | None) -> bytes:
        """What the holder of this seat gets, or a watcher (None)."""
        return self.public if seat is None else self.private.get(seat, self.public)


_NOBODY: Final[Mapping[int, bytes]] = {}


def encode_event(event: VisibleEvent) -> EncodedEvent:
    """The event for everybody who may see it."""
    message = event_pb2.Event(seq=event.seq, time=timestamp(event.time))
    _PUBLIC.get(event.kind, _as_it_is)(message, event.public, event.table)
    private, hidden = _NOBODY, None
    if event.own:
        write = _OWN[event.kind]
        private = {seat: _with(message, write, part, event) for seat, part in event.own.items()}
    if event.hidden:
        until, part = event.hidden
        hidden = until, _with(message, _HIDDEN[event.kind], part, event)
    return EncodedEvent(_element(message), private, hidden)


def _with(public: event_pb2.Event, write: _Writer, part: Any, event: VisibleEvent) -> bytes:
    """The event with this part besides the public one."""
    message = event_pb2.Event()
    message.CopyFrom(public)
    write(message, part, event.table)
    return _element(message)


def _as_it_is(to: event_pb2.Event, event: TableEvent, _t: PublicTable) -> None:
    """Writes a public event that the contract has as it is, with the same names."""
    payload = getattr(to, _payload_of(type(event).__name__))
    payload.SetInParent()
    for name, value in event._asdict().items():
        if value is not None:
            setattr(payload, name, value.value if isinstance(value, ContractEnum) else value)


@cache
def _payload_of(event: str) -> str:
    """`SeatLeft` is `seat_left` in the contract."""
    return re.sub(r"\B(?=[A-Z])", "_", event).lower()


def _table_opened(to: event_pb2.Event, options: TableOptions, _t: PublicTable) -> None:
    to.table_opened.options.CopyFrom(options_message(options))


def _seat_taken(to: event_pb2.Event, seat: int, table: PublicTable) -> None:
    to.seat_taken.seat.CopyFrom(seat_to(table, seat))


def _decision_opened(to: event_pb2.Event, _event: DecisionOpened, table: PublicTable) -> None:
    assert table.decision is not None, "this record opened it"
    to.decision_opened.decision.CopyFrom(decision_to(table.decision, None))


def _deadline_moved(to: event_pb2.Event, event: DeadlineMoved, table: PublicTable) -> None:
    deadline = table.decision.deadline if table.decision else table.next_deal
    assert deadline is not None, "time was running"
    to.deadline_moved.deadline.CopyFrom(timestamp(deadline))
    to.deadline_moved.given_back.CopyFrom(duration(event.given_back))


def _deal_committed(to: event_pb2.Event, _part: None, table: PublicTable) -> None:
    to.deal_committed.game, to.deal_committed.deal = coming_deal(
        table.phase, table.games, table.deal
    )
    if table.rounds:
        to.deal_committed.source.CopyFrom(open_source(table))
    else:
        to.deal_committed.commitment = table.commitment


def _deal_revealed(to: event_pb2.Event, _event: DealRevealed, table: PublicTable) -> None:
    assert table.dealt_from is not None, "the deal was committed to"
    revealed = to.stretched_deal_revealed if table.dealt_from.rounds else to.deal_revealed
    revealed.deal = table.deal
    revealed.secret = table.dealt_from.secret


def _move(to: event_pb2.Event, event: Event, table: PublicTable) -> None:
    actor = (table.actor or Actor.UNKNOWN).value
    write_move(to, event, table.players, table.card_counts, actor)
    if isinstance(event, GameStarted):
        to.game_started.game = table.games
    elif isinstance(event, DealEnded) and table.next_deal is not None:
        to.deal_ended.next_deal_time.CopyFrom(timestamp(table.next_deal))


def _deal_started(to: event_pb2.Event, deal: tuple[int, int], table: PublicTable) -> None:
    number, opener = deal
    to.deal_started.deal = number
    to.deal_started.opener = table.players[opener]
    if table.dealt_from and table.dealt_from.rounds:
        to.deal_started.source.CopyFrom(source_to(table.dealt_from))
    elif table.dealt_from:
        to.deal_started.commitment = table.dealt_from.commitment
        to.deal_started.nonces.extend(table.dealt_from.nonces)


_Writer: TypeAlias = Callable[[event_pb2.Event, Any, PublicTable], None]
"""Writes a part, as the class of the event declares it."""
_PUBLIC: Final[Mapping[type, _Writer]] = {
    TableOpened: _table_opened,
    SeatTaken: _seat_taken,
    DecisionOpened: _decision_opened,
    DeadlineMoved: _deadline_moved,
    DealCommitted: _deal_committed,
    DealRevealed: _deal_revealed,
    GameStarted: _move,
    DealStarted: _deal_started,
    CardsPlayed: _move,
    CardPickedUp: _move,
    Passed: _move,
    RoundEnded: _move,
    DealEnded: _move,
    GameEnded: _move,
}


# Parts that are not for everybody

_Cards: TypeAlias = tuple[Card, ...]


def _own_hand(to: event_pb2.Event, own: tuple[int, _Cards], table: PublicTable) -> None:
    player, cards = own
    to.deal_started.hand.seat = table.players[player]
    to.deal_started.hand.cards.extend(CARDS.numbers(cards))


def _own_choices(to: event_pb2.Event, decision: Decision, _t: PublicTable) -> None:
    write_choices(to.decision_opened.decision.choices, decision)


def _hands(
    to: event_pb2.Event, dealt: tuple[tuple[_Cards, ...], _Cards], table: PublicTable
) -> None:
    hands, undealt = dealt
    for seat, hand in zip(table.players, hands, strict=True):
        to.deal_started.hands.add(seat=seat, cards=CARDS.numbers(hand))
    to.deal_started.undealt.extend(CARDS.numbers(undealt))


_OWN: Final[Mapping[type, _Writer]] = {DealStarted: _own_hand, DecisionOpened: _own_choices}
_HIDDEN: Final[Mapping[type, _Writer]] = {DealStarted: _hands}


# Notices


def presence_notice(seats: Iterable[SeatPresence], watchers: int) -> event_pb2.Presence:
    """Who is at a table, and how many watch."""
    notice = event_pb2.Presence(watchers=watchers)
    for seat in seats:
        away = seat.may_be_away
        notice.seats.add(
            seat=seat.number,
            connected=seat.away_since is None,
            away_since=None if seat.away_since is None else timestamp(seat.away_since),
            kept_until=None if seat.kept_until is None else timestamp(seat.kept_until),
            may_be_away=None if away is None else duration(away),
        )
    return notice


def chat_notice(lines: Iterable[Line]) -> event_pb2.Chat:
    """These lines of chat."""
    return event_pb2.Chat(
        lines=[
            event_pb2.ChatLine(
                number=line.number,
                time=timestamp(line.time),
                name=line.name,
                seat=line.seat,
                text=line.text,
            )
            for line in lines
        ]
    )


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
