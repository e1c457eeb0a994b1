"""A log that lives as long as the process: for tests, and for a server that need not remember."""

from __future__ import annotations

from odin_server.event_log.codec import decode, encode
from odin_server.event_log.interface import Conflict, Stored
from odin_server.events import Batch, RequestKey


class MemoryLog:
    """An `EventLog` in memory. Keeps bytes, as a durable log does, so that nothing is shared."""

    def __init__(self) -> None:
        self._tables: dict[str, list[_Row]] = {}
        self._requests: dict[tuple[bytes, str], tuple[str, _Row]] = {}

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        """See `EventLog.append`."""
        rows = self._tables.get(table, [])
        head = rows[-1].last_seq if rows else 0
        key = batch.request and (batch.request.credential, batch.request.request_id)
        if head != expected_seq or key in self._requests:
            raise Conflict
        row = _Row(batch)
        self._tables.setdefault(table, rows).append(row)
        if key:
            self._requests[key] = (table, row)

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        """See `EventLog.read`."""
        rows = self._tables.get(table, [])
        return [row.batch() for row in rows if row.last_seq > after_seq]

    async def find(self, credential: bytes, request_id: str) -> Stored | None:
        """See `EventLog.find`."""
        found = self._requests.get((credential, request_id))
        return Stored(found[0], found[1].batch()) if found else None

    async def heads(self) -> dict[str, int]:
        """See `EventLog.heads`."""
        return {table: rows[-1].last_seq for table, rows in self._tables.items()}

    async def forget(self, table: str) -> None:
        """See `EventLog.forget`."""
        for row in self._tables.pop(table, ()):
            if row.request:
                del self._requests[row.request.credential, row.request.request_id]

    async def close(self) -> None:
        """Nothing is to be done."""


class _Row:
    """A batch as it is kept."""

    __slots__ = ("_records", "last_seq", "request")

    def __init__(self, batch: Batch) -> None:
        self.last_seq = batch.records[-1].seq
        self.request: RequestKey | None = batch.request
        self._records = encode(batch.records)

    def batch(self) -> Batch:
        """The batch again."""
        return Batch(decode(self._records), self.request)
