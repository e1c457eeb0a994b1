"""A log in a SQLite file: what was appended survives the process, and the machine.

One thread owns the connection. Whatever waits when it comes round is one transaction, so that many
tables share one wait for the disk. The file is locked for as long as a server uses it: two servers
would not know of each other's tables.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, NamedTuple, TypeVar

from odin_server.event_log import sqlite_statements as statements
from odin_server.event_log.codec import UnreadableRecords, decode, encode
from odin_server.event_log.interface import (
    CannotBackUp,
    Entry,
    Stored,
    StoreUnavailable,
    TableDamaged,
)
from odin_server.event_log.milestones import milestones_in
from odin_server.event_log.names import names_in, with_names, without_names
from odin_server.event_log.sqlite_damage import Damage, Search, damage_in, is_small
from odin_server.event_log.sqlite_file import (
    RESTORE,
    CannotOpen,
    Connection,
    FileDamaged,
    SqliteErrors,
    checkpoint_automatically,
    connect,
    damage,
    unavailable,
)
from odin_server.event_log.sqlite_mark import mark_backup, mark_closed
from odin_server.event_log.sqlite_statements import Row
from odin_server.table.chat import Line
from odin_server.table.events import Batch, Record, RequestKey, TableOpened

Result = TypeVar("Result")
Work = Callable[[Connection], Result]

_log: Final = logging.getLogger(__name__)

_MOST_TOGETHER: Final = 512
"""The most jobs in one round of the thread."""


class SqliteLog:
    """An `EventLog` in a file."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes a new one. Raises CannotOpen."""
        self.path: Final = path
        self._thread: Final = _FileThread(path)
        opened = self._thread.opened
        self._incarnation: Final = opened.incarnation
        if opened.problem:
            _log.error(
                "%s has lost its end: %s. What was done last may be gone. All tables go on from "
                "what is left, under other log ids, so that clients begin again with it. If too "
                "much is gone: %s",
                *(path, opened.problem, RESTORE),
            )
        if opened.was_backup:
            _log.warning("%s is a backup that was put back: its tables get other log ids", path)

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        """See `EventLog.append`."""
        if batch.records:
            names, milestones = names_in(batch.records), milestones_in(batch.records)
            records = encode(without_names(batch.records) if names else batch.records)
            row = statements.of_records(table, batch.records[-1].seq, records, batch.request)
            await self._write_of(
                table, lambda db: statements.append(db, row, expected_seq, names, milestones)
            )
        elif request := batch.request:
            await self._write_of(
                table, lambda db: statements.answer(db, table, expected_seq, request, batch.result)
            )

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        """See `EventLog.read`."""
        rows, names = await self._read_of(
            table, lambda db: statements.rows_after(db, table, after_seq)
        )
        batches = [self._batch(row, names) for row in rows]
        last = after_seq
        for batch in batches:
            first = batch.records[0].seq
            # The first one may have begun before `after_seq`.
            if first > last + 1 or (first != last + 1 and last != after_seq):
                raise TableDamaged(damage(self.path, table, f"record {last + 1} is missing"))
            last = batch.records[-1].seq
        return batches

    async def find(self, credential: bytes, request_id: str) -> Stored | None:
        """See `EventLog.find`."""
        try:
            answer = await self._read(lambda db: statements.find(db, credential, request_id))
        except FileDamaged as error:
            raise TableDamaged(damage(self.path, "of a request", error)) from error
        if answer is None:
            return None
        row, names = answer
        self._check(row.handle)
        batch = self._batch(row, names)
        assert batch.request is not None, "it was found by its request"
        return Stored(row.handle, batch.request, row.seq, batch.records, row.line, row.result)

    async def say(self, table: str, line: Line, request: RequestKey) -> int:
        """See `EventLog.say`."""
        return await self._write_of(table, lambda db: statements.say(db, table, line, request))

    async def lines(self, table: str, most: int) -> list[Line]:
        """See `EventLog.lines`."""
        return await self._read_of(table, lambda db: statements.lines(db, table, most))

    async def entry(self, table: str) -> Entry | None:
        """See `EventLog.entry`."""
        return await self._read_of(table, lambda db: statements.entry(db, table))

    async def open_tables(self) -> list[Entry]:
        """See `EventLog.open_tables`."""
        entries = await self._read(statements.open_tables)
        return [entry for entry in entries if entry.handle not in self._thread.damage.tables]

    async def ended_tables(self, before: int, most: int, *, private: bool) -> list[Entry]:
        """See `EventLog.ended_tables`."""
        return await self._read(lambda db: statements.ended_tables(db, before, most, private))

    async def forget_ended(self, before: int, most: int, *, unplayed: bool) -> list[str]:
        """See `EventLog.forget_ended`."""
        return await self._write(lambda db: statements.forget_ended(db, before, most, unplayed))

    async def forget_names(self, before: int, most: int) -> list[str]:
        """See `EventLog.forget_names`."""
        return await self._write(lambda db: statements.forget_names(db, before, most))

    async def beat(self, now: int) -> None:
        """See `EventLog.beat`."""
        await self._write(lambda db: statements.beat(db, now))

    async def look(self) -> None:
        """See `EventLog.look`."""
        await self._read(statements.look)

    async def last_beat(self) -> int | None:
        """See `EventLog.last_beat`."""
        return await self._read(statements.last_beat)

    async def backup(self, path: str) -> None:
        """See `EventLog.backup`. Everything else waits until it is written."""
        await self._read(lambda db: _backup(db, Path(path)))

    async def close(self) -> None:
        """See `EventLog.close`."""
        await asyncio.to_thread(self._thread.stop)

    async def _read_of(self, table: str, work: Work[Result]) -> Result:
        """Reads what belongs to one table. Raises TableDamaged where the file itself is."""
        self._check(table)
        try:
            return await self._read(work)
        except FileDamaged as error:
            raise TableDamaged(damage(self.path, table, error)) from error

    async def _write_of(self, table: str, work: Work[Result]) -> Result:
        """Writes what belongs to one table. Raises TableDamaged where the file itself is."""
        self._check(table)
        try:
            return await self._write(work)
        except FileDamaged as error:
            raise TableDamaged(damage(self.path, table, error)) from error

    def _check(self, table: str) -> None:
        if table in self._thread.damage.tables:
            raise TableDamaged(damage(self.path, table, "some of it is missing"))

    async def _read(self, work: Work[Result]) -> Result:
        return await self._thread.do(work, writes=False)

    async def _write(self, work: Work[Result]) -> Result:
        return await self._thread.do(work, writes=True)

    def _batch(self, row: Row, names: dict[int, str]) -> Batch:
        """The batch in a row; raises TableDamaged."""
        try:
            if row.sum != row.checksum:
                raise UnreadableRecords(f"the checksum at record {row.seq} is wrong")
            records = decode(row.records) if row.records is not None else ()
        except UnreadableRecords as error:
            raise TableDamaged(damage(self.path, row.handle, error)) from error
        return Batch(_as_seen(with_names(records, names), self._incarnation), row.request)


def _as_seen(records: tuple[Record, ...], incarnation: str) -> tuple[Record, ...]:
    """These records with the log id as clients see it. In the file record 1 stays as it was."""
    first = records[0] if records else None
    if not incarnation or first is None or not isinstance(first.event, TableOpened):
        return records
    opened = first.event._replace(log_id=f"{first.event.log_id}.{incarnation}")
    return first._replace(event=opened), *records[1:]


def _backup(db: Connection, path: Path) -> None:
    try:
        # As private as what it is a copy of. SQLite takes a file that is there if it is empty.
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        raise CannotBackUp(f"{path} is there already. Name a file that is not.") from None
    except OSError as error:
        raise CannotBackUp(f"{path} could not be written: {error.strerror}.") from error
    try:
        db.execute("VACUUM INTO ?", (str(path),))
        mark_backup(path)
    except SqliteErrors as error:
        path.unlink(missing_ok=True)
        raise CannotBackUp(f"{path} could not be written: {error}.") from error


class _Job(NamedTuple, Generic[Result]):
    """Something for the thread to do, and where its result goes."""

    work: Work[Result]
    writes: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Result]


class _Outcome(NamedTuple):
    """What became of a job."""

    job: _Job[Any]
    result: Any = None
    error: Exception | None = None


class _FileThread:
    """The thread that owns the connection."""

    def __init__(self, path: Path) -> None:
        """Opens the file. Raises CannotOpen."""
        self._path: Final = path
        self._db: Connection | None = connect(path)
        self._last: Connection = self._db
        self.opened: Final = self._db.opened
        self.damage = Damage()
        """What was found in the file."""
        self._search: Search | None = None
        if self.opened.problem or is_small(path):
            self._report(damage_in(self._db))
        else:
            checkpoint_automatically(self._db, wanted=False)
            self._search = Search(path, self._report)
        self._stopped = False
        self._jobs: Final[SimpleQueue[_Job[Any] | None]] = SimpleQueue()
        self._thread: Final = threading.Thread(target=self._run, name="event log", daemon=True)
        self._thread.start()

    async def do(self, work: Work[Result], *, writes: bool) -> Result:
        """Does it in the thread. Whatever writes is kept on the disk when this returns.

        Raises what the work raises, having changed nothing; StoreUnavailable for what SQLite
        raises, and when the file is not in its place any more.
        """
        if self._stopped:
            raise StoreUnavailable("the log is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._jobs.put(_Job(work, writes, loop, future))
        return await future

    def stop(self) -> None:
        """Ends the thread, after everything that waits, and closes the file."""
        if not self._stopped:
            self._stopped = True
            self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            jobs, goes_on = self._waiting()
            outcomes = self._together([job for job in jobs if job.writes])
            outcomes += [self._alone(job) for job in jobs if not job.writes]
            if outcomes:
                # One call for all of them: each would wake the loop.
                outcomes[0].job.loop.call_soon_threadsafe(_deliver, outcomes)
        self._close(ends=True)

    def _waiting(self) -> tuple[list[_Job[Any]], bool]:
        """Everything that waits, at least one; and whether more may come."""
        jobs: list[_Job[Any]] = []
        try:
            while len(jobs) < _MOST_TOGETHER:
                job = self._jobs.get(block=not jobs)
                if job is None:
                    return jobs, False
                jobs.append(job)
        except Empty:
            pass
        return jobs, True

    def _together(self, jobs: list[_Job[Any]]) -> list[_Outcome]:
        """Does these jobs in one transaction."""
        if not jobs:
            return []
        try:
            db = self._connected()
            db.execute("BEGIN IMMEDIATE")
            outcomes = [_attempt(job, db) for job in jobs]
            if displacement := db.displacement():
                # SQLite would keep it in a file that nobody finds again.
                db.execute("ROLLBACK")
                db.heads.clear()
                return [_Outcome(job, error=StoreUnavailable(displacement)) for job in jobs]
            db.execute("COMMIT")
        except (*SqliteErrors, CannotOpen) as error:
            self._recover(error)
            if len(jobs) > 1:
                # It may be the fault of one of them, which must not be that of the others.
                return [outcome for job in jobs for outcome in self._together([job])]
            return [_Outcome(jobs[0], error=unavailable(error))]
        return outcomes

    def _alone(self, job: _Job[Any]) -> _Outcome:
        try:
            return _attempt(job, self._connected())
        except (*SqliteErrors, CannotOpen) as error:
            self._recover(error)
            return _Outcome(job, error=unavailable(error))

    def _report(self, damage: Damage) -> None:
        self.damage = damage
        if damage.problems:
            tables = ", ".join(sorted(damage.tables)) or "none that is known"
            _log.error(
                "%s is damaged (%s). Tables that lack something, and are refused: %s. %s",
                *(self._path, "; ".join(damage.problems), tables, RESTORE),
            )

    def _connected(self) -> Connection:
        if self._db is None:
            if self._search:
                self._search.cancel()
            self._db = self._last = connect(self._path, before=self._last)
        if self._search and self._search.is_over:
            self._search = None
            checkpoint_automatically(self._db)
        return self._db

    def _recover(self, error: Exception) -> None:
        """Makes sure that nothing is half done, and that the next job meets a sound connection."""
        _log.warning("%s: %s", self._path, error)
        try:
            if self._db:
                self._db.heads.clear()
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
        except SqliteErrors as worse:
            _log.warning("%s: %s", self._path, worse)
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
            # What SQLite believes of the file may no longer be so.
            self._close()

    def _close(self, *, ends: bool = False) -> None:
        try:
            if self._db:
                if ends:
                    if self._search:
                        self._search.cancel()
                    mark_closed(self._db)
                self._db.close()
        except SqliteErrors as error:
            _log.warning("%s: %s", self._path, error)
        self._db = None


def _attempt(job: _Job[Any], db: Connection) -> _Outcome:
    """Does a job. What SQLite raises is not the job's own, and goes on to the caller."""
    try:
        return _Outcome(job, result=job.work(db))
    except SqliteErrors:
        raise
    except Exception as error:  # noqa: BLE001 (it belongs to whoever asked)
        return _Outcome(job, error=error)


def _deliver(outcomes: list[_Outcome]) -> None:
    for outcome in outcomes:
        if outcome.job.future.done():
            continue
        if outcome.error:
            outcome.job.future.set_exception(outcome.error)
        else:
            outcome.job.future.set_result(outcome.result)
