"""What people wrote into records, apart from them: kept separately, so that it can be removed.

A record whose text is gone reads as if a neutral one had been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from odin_server.table.events import Record, SeatTaken, TableOpened


def names_in(records: Iterable[Record]) -> dict[int, str]:
    """The names and titles in these records, by the number of the record."""
    return {record.seq: text for record in records if (text := _text_of(record))}


def without_names(records: Iterable[Record]) -> tuple[Record, ...]:
    """These records with nothing in them that a person wrote."""
    return tuple([_with(record, "") if _text_of(record) else record for record in records])


def with_names(records: Iterable[Record], names: Mapping[int, str]) -> tuple[Record, ...]:
    """These records with their names and titles again, as far as they are still kept."""
    return tuple([_named(record, names.get(record.seq)) for record in records])


def _text_of(record: Record) -> str:
    match record.event:
        case SeatTaken(name=name):
            return name
        case TableOpened(options=options):
            return options.title
        case _:
            return ""


def _named(record: Record, name: str | None) -> Record:
    if name is not None:
        return _with(record, name)
    if isinstance(record.event, SeatTaken):
        return _with(record, f"Player {record.event.seat + 1}")
    return record


def _with(record: Record, text: str) -> Record:
    match record.event:
        case SeatTaken() as event:
            return record._replace(event=event._replace(name=text))
        case TableOpened() as event:
            return record._replace(event=event._replace(options=replace(event.options, title=text)))
        case _:
            raise AssertionError("only these hold a text of a person")
