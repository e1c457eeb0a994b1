"""What a log wants to know of a batch besides its bytes: whether a table begins, plays or ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from odin_engine import GameStarted
from odin_server.table.events import Record, TableClosed, TableOpened


class Milestones(NamedTuple):
    """What these records mean for the list of tables."""

    opened: TableOpened | None = None
    played: bool = False
    """Whether a game was started."""
    ended: int | None = None
    """When the table ended, in microseconds since 1970."""


def milestones_in(records: Iterable[Record]) -> Milestones:
    """The milestones in these records."""
    found = Milestones()
    for record in records:
        match record.event:
            case TableOpened() as opened:
                found = found._replace(opened=opened)
            case GameStarted():
                found = found._replace(played=True)
            case TableClosed():
                found = found._replace(ended=record.time)
            case _:
                pass
    return found
