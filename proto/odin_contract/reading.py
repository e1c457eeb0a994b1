"""Views, events and notices from protobuf, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from functools import partial
from types import UnionType
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import Descriptor
from google.protobuf.duration_pb2 import Duration

from odin_contract import enums, events, values
from odin_contract.cards import CARDS, COLOURS, set_from
from odin_contract.decisions import decision_of
from odin_contract.limits import CHAT_LENGTH, NAME_LENGTH, TEXT_LENGTH
from odin_contract.options import options_of
from odin_contract.texts import clean
from odin_contract.times import length_in, time_in, time_of
from odin_engine import Card, CardSet, Colour
from odin_table.v1 import event_pb2, table_pb2

# Tables


def seat_of(message: table_pb2.Seat) -> values.Seat:
    """One place at a table."""
    return values.Seat(
        seat=message.seat,
        occupant=enums.Occupant.of(message.occupant),
        name=clean(message.name, NAME_LENGTH),
        level=clean(message.level, NAME_LENGTH),
        ready=message.ready,
        host=message.host,
        substituted=message.substituted,
        abandoned=message.abandoned,
        nonce=message.nonce,
    )


def seat_message(seat: values.Seat) -> table_pb2.Seat:
    """One place at a table, as a message."""
    return table_pb2.Seat(
        seat=seat.seat,
        occupant=seat.occupant.value,
        name=seat.name,
        level=seat.level,
        ready=seat.ready,
        host=seat.host,
        substituted=seat.substituted,
        abandoned=seat.abandoned,
        nonce=seat.nonce,
    )


def summary_of(message: table_pb2.TableSummary) -> values.TableSummary:
    """A table in the list."""
    return values.TableSummary(
        table=clean(message.table, NAME_LENGTH),
        options=options_of(message.options),
        phase=enums.Phase.of(message.phase),
        seats=tuple(map(seat_of, message.seats)),
        deal=message.deal,
        create_time=time_of(message.create_time),
    )


def game_of(message: table_pb2.GameView) -> values.Game:
    """A game as this viewer sees it."""
    return values.Game(
        game=message.game,
        deal=message.deal,
        removed=COLOURS.known(message.removed_colours),
        opener=message.opener,
        players=tuple(
            values.Player(
                seat=player.seat,
                card_count=player.card_count,
                passed=player.passed,
                penalties=tuple(player.penalties),
                total=player.total,
                bank=length_in(player, "bank"),
                name=clean(player.name, NAME_LENGTH),
            )
            for player in message.players
        ),
        centre=set_from(message.centre) if message.centre else None,
        centre_seat=message.centre_seat if message.HasField("centre_seat") else None,
        discarded=CARDS.values(message.discarded),
        hand=CARDS.values(message.hand.cards) if message.HasField("hand") else None,
        remaining_hands=_hands_of(message.remaining_hands),
        out_seat=message.out_seat if message.HasField("out_seat") else None,
        winners=tuple(message.winners),
        commitment=message.source.commitment or message.commitment,
        nonces=tuple(message.source.nonces or message.nonces),
        secret=message.secret,
        rounds=message.source.rounds,
        key_rounds=message.source.key_rounds,
    )


def _hands_of(hands: Iterable[table_pb2.Hand]) -> tuple[tuple[int, tuple[Card, ...]], ...]:
    return tuple((hand.seat, CARDS.values(hand.cards)) for hand in hands)


def view_of(message: table_pb2.TableView) -> values.TableView:
    """All that this viewer may see."""
    return values.TableView(
        table=clean(message.table, NAME_LENGTH),
        log_id=message.log_id,
        seq=message.seq,
        options=options_of(message.options),
        phase=enums.Phase.of(message.phase),
        seats=tuple(map(seat_of, message.seats)),
        game=game_of(message.game) if message.HasField("game") else None,
        decision=decision_of(message.decision) if message.HasField("decision") else None,
        my_seat=message.your_seat if message.HasField("your_seat") else None,
        i_am_host=message.you_are_host,
        next_deal_time=time_in(message, "next_deal_time"),
        code=clean(message.code, NAME_LENGTH),
        commitment=message.source.commitment or message.commitment,
        rounds=message.source.rounds,
    )


# Events


def event_of(message: event_pb2.Event) -> events.Event:
    """An event; a bare `Event` for a payload that this version does not know."""
    kind = message.WhichOneof("payload")
    seq, time = message.seq, time_of(message.time)
    if kind is None:
        return events.Event(seq=seq, time=time)
    of, parts_of = _PAYLOADS[kind]
    event: events.Event = of(seq=seq, time=time, **parts_of(getattr(message, kind)))
    return event


_Parts: TypeAlias = Callable[[Any], dict[str, Any]]
"""Gives the parts of an event of a class from its payload."""


def _deal_started(deal: event_pb2.DealStarted) -> dict[str, Any]:
    return {
        "deal": deal.deal,
        "opener": deal.opener,
        "hand": CARDS.values(deal.hand.cards) if deal.HasField("hand") else None,
        "hands": _hands_of(deal.hands),
        "commitment": deal.source.commitment or deal.commitment,
        "nonces": tuple(deal.source.nonces or deal.nonces),
        "rounds": deal.source.rounds,
        "key_rounds": deal.source.key_rounds,
    }


def _deal_committed(committed: event_pb2.DealCommitted) -> dict[str, Any]:
    return {
        "game": committed.game,
        "deal": committed.deal,
        "commitment": committed.source.commitment or committed.commitment,
        "rounds": committed.source.rounds,
    }


def _scores_of(scores: Iterable[event_pb2.DealScore]) -> tuple[events.DealScore, ...]:
    return tuple(
        events.DealScore(score.seat, CARDS.values(score.remaining), score.penalty, score.total)
        for score in scores
    )


_READERS: Final[Mapping[Any, Callable[[Any], Any]]] = {
    **dict.fromkeys((int, bool, bytes), lambda value: value),
    events.Name: partial(clean, length=NAME_LENGTH),
    events.Prose: partial(clean, length=TEXT_LENGTH),
    tuple[int, ...]: tuple,
    datetime: time_of,
    timedelta: Duration.ToTimedelta,
    Card: CARDS.value,
    tuple[Card, ...]: CARDS.values,
    CardSet: set_from,
    tuple[Colour, ...]: COLOURS.known,
    tuple[events.DealScore, ...]: _scores_of,
    values.Options: options_of,
    values.Seat: seat_of,
    values.Decision: decision_of,
    **{one: one.of for one in (enums.Actor, enums.LeaveReason, enums.CloseReason)},
}
"""How a part of an event is read, by its type there."""

_CALLED: Final = {"set": "cards", "removed": "removed_colours"}
"""Parts that the contract calls otherwise."""


def _by_type(of: type[events.Event], payload: Descriptor) -> _Parts:
    """Reads the parts of an event one by one, each by its type; what is absent is None.

    Parts that are not in the payload have defaults: only the client's own model knows them.
    """
    hints = get_type_hints(of, include_extras=True)
    required: list[tuple[str, str, Callable[[Any], Any]]] = []
    optional: list[tuple[str, str, Callable[[Any], Any]]] = []
    for part in fields(of):
        name, hint = _CALLED.get(part.name, part.name), hints[part.name]
        if name not in payload.fields_by_name:
            continue
        may_lack = get_origin(hint) is UnionType
        kind = get_args(hint)[0] if may_lack else hint
        (optional if may_lack else required).append((part.name, name, _READERS[kind]))

    def parts_of(message: Any) -> dict[str, Any]:
        parts = {part: read(getattr(message, name)) for part, name, read in required}
        for part, name, read in optional:
            parts[part] = read(getattr(message, name)) if message.HasField(name) else None
        return parts

    return parts_of


def _payloads() -> dict[str, tuple[type[Any], _Parts]]:
    """Each kind of payload with the class of its events, and how their parts are read."""
    special: dict[type[Any], _Parts] = {
        events.DealStarted: _deal_started,
        events.DealCommitted: _deal_committed,
    }
    kinds: dict[str, tuple[type[Any], _Parts]] = {}
    for field in event_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields:
        payload = field.message_type
        assert payload is not None, "each kind of payload is a message"
        of: type[Any] = getattr(events, payload.name)
        kinds[field.name] = of, special.get(of) or _by_type(of, payload)
    return kinds


_PAYLOADS: Final = _payloads()


# Notices


def presence_of(message: event_pb2.Presence) -> events.PresenceChanged:
    """Who is there."""
    return events.PresenceChanged(
        seats=tuple(
            values.SeatPresence(
                seat.seat,
                seat.connected,
                time_in(seat, "away_since"),
                time_in(seat, "kept_until"),
                length_in(seat, "may_be_away"),
            )
            for seat in message.seats
        ),
        watchers=message.watchers,
    )


def chat_lines_of(message: event_pb2.Chat) -> tuple[values.ChatLine, ...]:
    """Lines of chat, oldest first."""
    return tuple(
        values.ChatLine(
            number=line.number,
            time=time_of(line.time),
            name=clean(line.name, NAME_LENGTH),
            seat=line.seat if line.HasField("seat") else None,
            text=clean(line.text, CHAT_LENGTH),
        )
        for line in message.lines
    )


def stream_end_of(message: event_pb2.StreamEnd) -> events.StreamEnded:
    """Why the server ended the stream."""
    comes_back = message.HasField("retry_after")
    return events.StreamEnded(
        reason=enums.StreamEndReason.of(message.reason),
        retry_after=message.retry_after.ToTimedelta().total_seconds() if comes_back else None,
    )
