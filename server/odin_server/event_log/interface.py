"""What a log of tables has to do."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from odin_server.events import Batch


class Conflict(Exception):
    """The table has moved on since it was read: fold what is new and decide again."""


class StoreUnavailable(Exception):
    """Nothing can be kept or read now; it may be possible again later. Nothing has changed."""


class Stored(NamedTuple):
    """A batch as it was found again."""

    table: str
    """The handle of its table."""
    batch: Batch


class EventLog(Protocol):
    """Batches of records, in order, for each table.

    Safe to use from one event loop. Every method may raise StoreUnavailable. What `append` has
    returned from is kept, as far as the implementation promises to keep anything.
    """

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        """Adds a batch to a table whose last record is number `expected_seq` (0: a new table).

        All of it or nothing. Raises Conflict when the table's last record is another one, or when
        the batch's request is known already.
        """
        ...

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        """The batches of a table with records after this number, oldest first.

        None for an unknown table.
        """
        ...

    async def find(self, credential: bytes, request_id: str) -> Stored | None:
        """The batch that this credential's request led to."""
        ...

    async def heads(self) -> dict[str, int]:
        """The number of the last record of every table."""
        ...

    async def forget(self, table: str) -> None:
        """Removes a table with all its records and requests; nothing for an unknown table."""
        ...

    async def close(self) -> None:
        """Ends it, after everything that was appended is kept."""
        ...
