"""Records as bytes and back: JSON, with the number of the format.

A format, once released, can be read for ever: a change of an event gets a new tag or a new
version here, and the old way of reading it stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from enum import Enum
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


def _write_options(options: Options) -> list[Any]:
    return [options.players, options.threshold, options.short_deck]


def _read_options(values: list[Any]) -> Options:
    return Options(*values)


def _read_table_options(values: list[Any]) -> TableOptions:
    # Options that came later have their defaults in older logs.
    return TableOptions(*values)


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
_TABLE_OPTIONS: Final = _Field(astuple, _read_table_options)
_OPTIONS: Final = _Field(_write_options, _read_options)
_LEAVE: Final = _enum(LeaveReason)
_CLOSE: Final = _enum(CloseReason)
_OCCUPANT: Final = _enum(Occupant)
_ACTOR: Final = _enum(Actor)
_KIND: Final = _enum(DecisionKind)

# In each row: the tag, the class, and how its fields are written, in order.
_EVENTS: Final[tuple[tuple[str, type[Any], tuple[_Field, ...]], ...]] = (
    ("table_opened", TableOpened, (_TABLE_OPTIONS, _BYTES, _PLAIN, _PLAIN)),
    ("seat_taken", SeatTaken, (_PLAIN, _PLAIN, _OCCUPANT, _PLAIN, _BYTES)),
    ("seat_left", SeatLeft, (_PLAIN, _LEAVE)),
    ("host_changed", HostChanged, (_PLAIN,)),
    ("ready_changed", ReadyChanged, (_PLAIN, _PLAIN, _BYTES)),
    ("substitute_seated", SubstituteSeated, (_PLAIN, _LEAVE, _PLAIN)),
    ("seat_resumed", SeatResumed, (_PLAIN,)),
    ("rematch_asked", RematchAsked, (_PLAIN, _BYTES)),
    ("nonce_given", NonceGiven, (_PLAIN, _BYTES)),
    ("table_closed", TableClosed, (_CLOSE,)),
    ("decision_opened", DecisionOpened, (_PLAIN, _KIND)),
    ("deadline_moved", DeadlineMoved, (_PLAIN,)),
    ("bot_failed", BotFailed, (_PLAIN, _PLAIN)),
    ("deal_committed", DealCommitted, (_BYTES, _PLAIN)),
    ("deal_revealed", DealRevealed, ()),
    ("game_started", GameStarted, (_OPTIONS, _COLOURS, _PLAIN)),
    ("deal_started", DealStarted, (_PLAIN, _PLAIN, _PLAIN, _CARDS)),
    ("cards_played", CardsPlayed, (_PLAIN, _SET, _PLAIN)),
    ("card_picked_up", CardPickedUp, (_PLAIN, _CARD, _CARDS)),
    ("passed", Passed, (_PLAIN,)),
    ("round_ended", RoundEnded, (_PLAIN, _CARDS)),
    ("deal_ended", DealEnded, (_PLAIN, _PLAIN, _HANDS, _CARDS, _NUMBERS, _NUMBERS)),
    ("game_ended", GameEnded, (_NUMBERS, _NUMBERS)),
)
_BY_CLASS: Final[Mapping[type[Any], tuple[str, tuple[_Field, ...]]]] = {
    kind: (tag, fields) for tag, kind, fields in _EVENTS
}
_BY_TAG: Final[Mapping[str, tuple[type[Any], tuple[_Field, ...]]]] = {
    tag: (kind, fields) for tag, kind, fields in _EVENTS
}


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
    tag, fields = _BY_CLASS[type(record.event)]
    written = [field.write(value) for field, value in zip(fields, record.event, strict=True)]
    actor = record.actor and record.actor.value
    return [record.seq, record.time, actor, record.until, tag, *written]


def _read(row: list[Any]) -> Record:
    seq, time, actor, until, tag, *written = row
    kind, fields = _BY_TAG[tag]
    if len(written) > len(fields):
        raise UnreadableRecords(f"A {tag} has {len(fields)} fields, not {len(written)}.")
    # Fields that came later have their defaults in older logs.
    values = [field.read(value) for field, value in zip(fields, written, strict=False)]
    return Record(seq, time, kind(*values), None if actor is None else _ACTOR.read(actor), until)
