"""What a log of tables has to do."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from odin_server.table.chat import Line
from odin_server.table.events import Batch, Record, RequestKey


class Conflict(Exception):
    """The log has moved on since it was read: look again and decide again."""


class StoreUnavailable(Exception):
    """Nothing can be kept or read now; it may be possible again later. Nothing has changed."""


class TableDamaged(Exception):
    """The records of one table cannot be read. Says where they lie and what to do."""


class Entry(NamedTuple):
    """A table in the list of the log, with what it takes to find it without reading it."""

    number: int
    """Counts the tables in the order in which they were opened."""
    handle: str
    host: bytes
    """The digest of the credential that opened it."""
    code: str
    """The code of a private table; empty for a public one."""


class Stored(NamedTuple):
    """What a request led to, as it was found again."""

    table: str
    """The handle of its table."""
    request: RequestKey
    seq: int
    """The number of the table's last record after it."""
    records: tuple[Record, ...] = ()
    """What it added, if it added records."""
    line: int | None = None
    """The number of the line of chat, if it was one."""
    result: int | None = None
    """See `Batch.result`."""


class EventLog(Protocol):
    """Batches of records, in order, for each table; and what was said there.

    Safe to use from one event loop. Every method may raise StoreUnavailable. What `append` and
    `say` have returned from is kept, as far as the implementation promises to keep anything.
    Names, titles and what was said lie apart from the records, so that they can be removed.
    """

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        """Adds a batch to a table whose last record is number `expected_seq` (0: a new table).

        All of it or nothing. A batch without records keeps only its request. Raises Conflict when
        the table's last record is another one, or when the batch's request is known already.
        """
        ...

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        """The batches of a table with records after this number, oldest first.

        An empty list for an unknown table. Raises TableDamaged, never half of a table.
        """
        ...

    async def find(self, credential: bytes, request_id: str) -> Stored | None:
        """What this credential's request led to. Raises TableDamaged."""
        ...

    async def say(self, table: str, line: Line, request: RequestKey) -> int:
        """Keeps a line of chat, whatever its number, and returns the number it got.

        Raises Conflict when the request is known already, or the table is not.
        """
        ...

    async def lines(self, table: str, most: int) -> list[Line]:
        """The last lines of a table, oldest first."""
        ...

    async def entry(self, table: str) -> Entry | None:
        """The entry of a table."""
        ...

    async def open_tables(self) -> list[Entry]:
        """Every table that has not ended, oldest first. Takes no longer for many that have."""
        ...

    async def ended_tables(self, before: int, most: int, *, private: bool) -> list[Entry]:
        """Tables that have ended and whose number is below `before`, newest first.

        Only public ones unless `private`.
        """
        ...

    async def forget_ended(self, before: int, most: int, *, unplayed: bool) -> list[str]:
        """Removes tables that ended before this time, at most so many; returns their handles.

        With them go their requests, names and lines. `before` in microseconds since 1970.
        `unplayed`: only those where no game was ever started.
        """
        ...

    async def forget_names(self, before: int, most: int) -> list[str]:
        """Removes names, titles and lines of tables that ended before this time; as above."""
        ...

    async def beat(self, now: int) -> None:
        """Notes that the server lives, so that the next one knows how long there was none."""
        ...

    async def look(self) -> None:
        """Raises StoreUnavailable when the log is not in its place any more. Writes nothing."""
        ...

    async def last_beat(self) -> int | None:
        """The time of the last `beat`, in microseconds since 1970."""
        ...

    async def backup(self, path: str) -> None:
        """Writes everything that is kept into a new file. Raises CannotBackUp."""
        ...

    async def close(self) -> None:
        """Ends it, after everything that was appended is kept."""
        ...


class CannotBackUp(Exception):
    """There is no backup, for a reason that is no fault of the log. Says which."""
