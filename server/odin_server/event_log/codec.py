"""Records as bytes and back: JSON, with the number of the format.

A format, once released, can be read for ever: a change of an event gets a new tag or a new
version here, and the old way of reading it stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from inspect import signature
from operator import attrgetter
from typing import Any, Final, NamedTuple

from odin_contract.enums import (
    Actor,
    CloseReason,
    LeaveReason,
    Occupant,
)
from odin_contract.values import Options as TableOptions
from odin_engine import (
    Card,
    CardPickedUp,
    CardSet,
    CardsPlayed,
    Colour,
    DealEnded,
    DealStarted,
    DecisionKind,
    GameEnded,
    GameStarted,
    OdinError,
    Options,
    Passed,
    RoundEnded,
    set_of,
)
from odin_server.table.events import (
    BotFailed,
    DeadlineMoved,
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    HostChanged,
    NonceGiven,
    ReadyChanged,
    Record,
    RematchAsked,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
    TableClosed,
    TableOpened,
)

VERSION: Final = 1
"""The format that is written."""

_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


class UnreadableRecords(Exception):
    """These bytes are no records in a format that this version knows."""


class _Field(NamedTuple):
    """How one kind of field is written in JSON and read back."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class _Values(NamedTuple):
    """How a value with fields is written, as a list, and read back."""

    kind: type[Any]
    fields: Mapping[str, _Field | _Values]
    """The fields by name, in the order of the list."""

    def write(self, value: Any) -> list[Any]:
        return [field.write(getattr(value, name)) for name, field in self.fields.items()]

    def read(self, written: list[Any]) -> Any:
        if len(written) > len(self.fields):
            raise UnreadableRecords(
                f"{self.kind.__name__} has {len(self.fields)} fields, not {len(written)}."
            )
        # Fields that came later have their defaults in older logs.
        pairs = zip(self.fields.items(), written, strict=False)
        return self.kind(**{name: field.read(part) for (name, field), part in pairs})


def _values(kind: type[Any], /, **fields: _Field | _Values) -> _Values:
    assert fields.keys() == signature(kind).parameters.keys(), f"{kind} is stored whole"
    return _Values(kind, fields)


def _same(value: Any) -> Any:
    return value


def _write_cards(cards: Iterable[Card]) -> str:
    return " ".join(map(str, cards))


def _read_cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


def _read_set(text: str) -> CardSet:
    return set_of(_read_cards(text))


def _write_hands(hands: Iterable[Iterable[Card]]) -> list[str]:
    return list(map(_write_cards, hands))


def _read_hands(texts: list[str]) -> tuple[tuple[Card, ...], ...]:
    return tuple(map(_read_cards, texts))


def _write_colours(colours: Iterable[Colour]) -> str:
    return "".join(colour.value for colour in colours)


def _read_colours(text: str) -> tuple[Colour, ...]:
    return tuple(map(Colour, text))


def _enum(kind: type[Enum]) -> _Field:
    def read(value: Any) -> Enum:
        if value == 0:  # what the contract leaves open is never stored
            raise ValueError(f"0 is not a {kind.__name__}")
        return kind(value)

    return _Field(attrgetter("value"), read)


_PLAIN: Final = _Field(_same, _same)
_NUMBERS: Final = _Field(list, tuple)
_BYTES: Final = _Field(bytes.hex, bytes.fromhex)
_CARD: Final = _Field(str, Card.parse)
_CARDS: Final = _Field(_write_cards, _read_cards)
_SET: Final = _Field(str, _read_set)
_HANDS: Final = _Field(_write_hands, _read_hands)
_COLOURS: Final = _Field(_write_colours, _read_colours)
_LEAVE: Final = _enum(LeaveReason)
_CLOSE: Final = _enum(CloseReason)
_OCCUPANT: Final = _enum(Occupant)
_ACTOR: Final = _enum(Actor)
_KIND: Final = _enum(DecisionKind)

_TABLE_OPTIONS: Final = _values(
    TableOptions,
    seats=_PLAIN,
    threshold=_PLAIN,
    short_deck=_PLAIN,
    private=_PLAIN,
    open_to_bots=_PLAIN,
    title=_PLAIN,
    turn_time=_PLAIN,
    bank=_PLAIN,
)
_OPTIONS: Final = _values(Options, players=_PLAIN, threshold=_PLAIN, short_deck=_PLAIN)

EVENTS: Final[Mapping[str, _Values]] = {
    "table_opened": _values(
        TableOpened, options=_TABLE_OPTIONS, host=_BYTES, code=_PLAIN, log_id=_PLAIN
    ),
    "seat_taken": _values(
        SeatTaken, seat=_PLAIN, name=_PLAIN, occupant=_OCCUPANT, level=_PLAIN, holder=_BYTES
    ),
    "seat_left": _values(SeatLeft, seat=_PLAIN, reason=_LEAVE),
    "host_changed": _values(HostChanged, seat=_PLAIN),
    "ready_changed": _values(ReadyChanged, seat=_PLAIN, ready=_PLAIN, nonce=_BYTES),
    "substitute_seated": _values(SubstituteSeated, seat=_PLAIN, reason=_LEAVE, level=_PLAIN),
    "seat_resumed": _values(SeatResumed, seat=_PLAIN),
    "rematch_asked": _values(RematchAsked, seat=_PLAIN, nonce=_BYTES),
    "nonce_given": _values(NonceGiven, seat=_PLAIN, nonce=_BYTES),
    "table_closed": _values(TableClosed, reason=_CLOSE),
    "decision_opened": _values(DecisionOpened, seat=_PLAIN, kind=_KIND),
    "deadline_moved": _values(DeadlineMoved, given_back=_PLAIN),
    "bot_failed": _values(BotFailed, seat=_PLAIN, problem=_PLAIN),
    "deal_committed": _values(DealCommitted, secret=_BYTES, rounds=_PLAIN),
    "deal_revealed": _values(DealRevealed),
    "game_started": _values(GameStarted, options=_OPTIONS, removed=_COLOURS, first_opener=_PLAIN),
    "deal_started": _values(
        DealStarted, number=_PLAIN, opener=_PLAIN, players=_PLAIN, order=_CARDS
    ),
    "cards_played": _values(CardsPlayed, seat=_PLAIN, cards=_SET, opening=_PLAIN),
    "card_picked_up": _values(CardPickedUp, seat=_PLAIN, card=_CARD, discarded=_CARDS),
    "passed": _values(Passed, seat=_PLAIN),
    "round_ended": _values(RoundEnded, opener=_PLAIN, discarded=_CARDS),
    "deal_ended": _values(
        DealEnded,
        number=_PLAIN,
        out=_PLAIN,
        hands=_HANDS,
        undealt=_CARDS,
        penalties=_NUMBERS,
        totals=_NUMBERS,
    ),
    "game_ended": _values(GameEnded, winners=_NUMBERS, totals=_NUMBERS),
}
"""How each event is stored, by its tag.

The order of the fields is that of the file: it follows from nothing but this table. A field that
comes later is added at the end, and needs a default, since older records lack it.
"""
TAG_OF: Final[Mapping[type[Any], str]] = {form.kind: tag for tag, form in EVENTS.items()}


def encode(records: Sequence[Record]) -> bytes:
    """These records in the newest format."""
    return _encode([VERSION, *map(_write, records)]).encode()


def decode(data: bytes) -> tuple[Record, ...]:
    """The records in these bytes, in any format that ever was.

    Raises UnreadableRecords for anything else.
    """
    try:
        version, *rows = json.loads(data)
        if version != VERSION:
            raise UnreadableRecords(f"Format {version} is unknown; this version writes {VERSION}.")
        return tuple(map(_read, rows))
    except (ValueError, TypeError, KeyError, OdinError) as error:
        raise UnreadableRecords(f"These bytes are no records: {error!r}") from error


def _write(record: Record) -> list[Any]:
    tag = TAG_OF[type(record.event)]
    written = EVENTS[tag].write(record.event)
    actor = record.actor and record.actor.value
    return [record.seq, record.time, actor, record.until, tag, *written]


def _read(row: list[Any]) -> Record:
    seq, time, actor, until, tag, *written = row
    event = EVENTS[tag].read(written)
    return Record(seq, time, event, None if actor is None else _ACTOR.read(actor), until)
