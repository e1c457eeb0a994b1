"""A log that lives as long as the process: for tests, and for a server that need not remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from odin_server.event_log.codec import decode, encode
from odin_server.event_log.interface import CannotBackUp, Conflict, Entry, Stored
from odin_server.event_log.milestones import milestones_in
from odin_server.event_log.names import names_in, with_names, without_names
from odin_server.table.chat import Line
from odin_server.table.events import Batch, RequestKey, TableOpened

MOST_ENDED: Final = 1_000
"""How many tables that have ended are kept; the oldest go first."""


class MemoryLog:
    """An `EventLog` in memory. Keeps bytes, as a durable log does, so that nothing is shared."""

    def __init__(self, most_ended: int = MOST_ENDED) -> None:
        self._most_ended: Final = most_ended
        self._tables: dict[str, _Table] = {}
        self._requests: dict[tuple[bytes, str], _Answer] = {}
        self._ended: dict[str, int] = {}
        self._count = 0
        self._beat: int | None = None

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        """See `EventLog.append`."""
        kept = self._tables.get(table)
        if (kept.seq if kept else 0) != expected_seq or self._is_known(batch.request):
            raise Conflict
        milestones = milestones_in(batch.records)
        if kept is None:
            assert milestones.opened, "the first record opens the table"
            kept = self._opened(table, milestones.opened)
        row = None
        if batch.records:
            row = _Row(batch)
            kept.rows.append(row)
            kept.names.update(names_in(batch.records))
        kept.played = kept.played or milestones.played
        if batch.request:
            self._answered(kept, _Answer(table, batch.request, kept.seq, row, result=batch.result))
        if milestones.ended:
            self._ended[table] = milestones.ended
            while len(self._ended) > self._most_ended:
                self._forget(next(iter(self._ended)))

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        """See `EventLog.read`."""
        kept = self._tables.get(table)
        rows = kept.rows if kept else []
        return [row.batch(kept.names) for row in rows if kept and row.last_seq > after_seq]

    async def find(self, credential: bytes, request_id: str) -> Stored | None:
        """See `EventLog.find`."""
        answer = self._requests.get((credential, request_id))
        if answer is None:
            return None
        names = self._tables[answer.table].names
        records = answer.row.batch(names).records if answer.row else ()
        return Stored(answer.table, answer.request, answer.seq, records, answer.line, answer.result)

    async def say(self, table: str, line: Line, request: RequestKey) -> int:
        """See `EventLog.say`."""
        kept = self._tables.get(table)
        if kept is None or self._is_known(request):
            raise Conflict
        number = kept.lines[-1].number + 1 if kept.lines else 1
        kept.lines.append(line._replace(number=number))
        self._answered(kept, _Answer(table, request, kept.seq, None, number))
        return number

    async def lines(self, table: str, most: int) -> list[Line]:
        """See `EventLog.lines`."""
        kept = self._tables.get(table)
        return kept.lines[-most:] if kept else []

    async def entry(self, table: str) -> Entry | None:
        """See `EventLog.entry`."""
        kept = self._tables.get(table)
        return kept.entry if kept else None

    async def open_tables(self) -> list[Entry]:
        """See `EventLog.open_tables`."""
        return [kept.entry for handle, kept in self._tables.items() if handle not in self._ended]

    async def ended_tables(self, before: int, most: int, *, private: bool) -> list[Entry]:
        """See `EventLog.ended_tables`."""
        ended = [
            kept.entry
            for kept in reversed(self._tables.values())
            if kept.entry.handle in self._ended
            and kept.entry.number < before
            and (private or not kept.entry.code)
        ]
        return ended[:most]

    async def forget_ended(self, before: int, most: int, *, unplayed: bool) -> list[str]:
        """See `EventLog.forget_ended`."""
        handles = self._ended_before(before, most, lambda kept: not (unplayed and kept.played))
        for handle in handles:
            self._forget(handle)
        return handles

    async def forget_names(self, before: int, most: int) -> list[str]:
        """See `EventLog.forget_names`."""
        handles = self._ended_before(before, most, lambda kept: bool(kept.names or kept.lines))
        for handle in handles:
            self._tables[handle].names.clear()
            self._tables[handle].lines.clear()
        return handles

    async def beat(self, now: int) -> None:
        """See `EventLog.beat`."""
        self._beat = now

    async def look(self) -> None:
        """It is always there."""

    async def last_beat(self) -> int | None:
        """See `EventLog.last_beat`."""
        return self._beat

    async def backup(self, path: str) -> None:
        """There is none."""
        raise CannotBackUp("This server keeps its tables in memory: there is nothing to back up.")

    async def close(self) -> None:
        """Nothing is to be done."""

    def _opened(self, table: str, opened: TableOpened) -> _Table:
        self._count += 1
        kept = _Table(Entry(self._count, table, opened.host, opened.code))
        self._tables[table] = kept
        return kept

    def _is_known(self, request: RequestKey | None) -> bool:
        return request is not None and _key(request) in self._requests

    def _answered(self, kept: _Table, answer: _Answer) -> None:
        key = _key(answer.request)
        self._requests[key] = answer
        kept.requests.append(key)

    def _ended_before(self, before: int, most: int, fits: Callable[[_Table], bool]) -> list[str]:
        ended = [
            handle
            for handle, time in self._ended.items()
            if time < before and fits(self._tables[handle])
        ]
        return ended[:most]

    def _forget(self, handle: str) -> None:
        del self._ended[handle]
        for key in self._tables.pop(handle).requests:
            del self._requests[key]


class _Table:
    """A table as it is kept."""

    def __init__(self, entry: Entry) -> None:
        self.entry: Final = entry
        self.rows: Final[list[_Row]] = []
        self.names: Final[dict[int, str]] = {}
        self.lines: Final[list[Line]] = []
        self.requests: Final[list[tuple[bytes, str]]] = []
        self.played = False

    @property
    def seq(self) -> int:
        """The number of the last record."""
        return self.rows[-1].last_seq if self.rows else 0


class _Row:
    """A batch as it is kept."""

    __slots__ = ("_records", "_request", "last_seq")

    def __init__(self, batch: Batch) -> None:
        self.last_seq = batch.records[-1].seq
        self._request: RequestKey | None = batch.request
        self._records = encode(without_names(batch.records))

    def batch(self, names: dict[int, str]) -> Batch:
        """The batch again."""
        return Batch(with_names(decode(self._records), names), self._request)


class _Answer(NamedTuple):
    """What a request led to."""

    table: str
    request: RequestKey
    seq: int
    row: _Row | None
    line: int | None = None
    result: int | None = None


def _key(request: RequestKey) -> tuple[bytes, str]:
    return request.credential, request.request_id
