"""Flips bits of a file of tables, cuts its WAL, and looks at what a log then reads, and says."""

from __future__ import annotations

import logging
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Awaitable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from odin_contract.enums import CloseReason, Occupant
from odin_contract.values import Options as TableOptions
from odin_engine import Colour, GameStarted, Options
from odin_server.event_log import (
    CannotOpen,
    Conflict,
    SqliteLog,
    Stored,
    StoreUnavailable,
    TableDamaged,
)
from odin_server.event_log.names import without_names
from odin_server.event_log.sqlite_file import FileDamaged
from odin_server.event_log.sqlite_wal import wal_of
from odin_server.table.chat import Line
from odin_server.table.events import (
    Batch,
    Record,
    RequestKey,
    SeatResumed,
    SeatTaken,
    TableClosed,
    TableOpened,
)

NOW: Final = 1_700_000_000_000_000
TABLES: Final = 6
IN_MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where to put the files, if there is such a place: each flip would wait for the disk ten times."""

_LOG_ID: Final = "f0"

_FRAME: Final = 24 + 2048
"""Bytes of a page in the WAL."""

Seen = dict[str, Any]
"""What a log says of everything in it, by what was asked."""


class Flip(NamedTuple):
    """One bit of one file, or where it is cut off."""

    file: str
    place: int
    bit: int | None
    """None: the file ends at this place."""

    @property
    def ends_with_a_write(self) -> bool:
        """Whether it is cut off where SQLite's last write may have ended."""
        return self.bit is None and (self.place - 32) % _FRAME in (0, 24)


class Outcome(NamedTuple):
    """What became of a file with a changed bit."""

    kind: str
    """harmless, refused (the file), told, an end, or a fault: silent, try again, traceback."""
    what: str = ""

    @property
    def is_fault(self) -> bool:
        """Whether nobody noticed, or was told something that is not so."""
        return self.kind in ("silent", "try again", "traceback")


class Damaged:
    """The files of a server: one that was stopped (`clean`), and one that was killed."""

    def __init__(self, folder: Path) -> None:
        """They go into this folder, as do the changed copies."""
        self._folder: Final = folder
        self._at: Final = folder / "flipped" / "tables.db"
        self._at.parent.mkdir()

    async def prepare(self) -> None:
        """Plays a little at each table, as a log sees it."""
        path = self._folder / "tables.db"
        log = SqliteLog(path)
        for table in range(TABLES):
            await _begin(log, f"T{table}", table)
        await log.close()
        shutil.copy(path, self._folder / "clean")
        log = SqliteLog(path)
        for table in range(0, TABLES, 2):
            await _play_on(log, f"T{table}")
        shutil.copy(path, self._folder / "killed")
        shutil.copy(wal_of(path), self._folder / "wal")
        await log.close()
        self._expected = {name: await self._seen(name) for name in ("clean", "killed")}

    def flips(self, count: int, seed: int) -> Iterator[Flip]:
        """So many bits, drawn evenly over the three files."""
        rng = random.Random(seed)
        sizes = {name: (self._folder / name).stat().st_size for name in ("clean", "killed", "wal")}
        for number in range(count):
            name = ("clean", "wal", "killed")[number % 3]
            bit = None if name == "wal" and number % 5 == 1 else rng.randrange(8)
            yield Flip(name, rng.randrange(sizes[name]), bit)

    async def outcome(self, flip: Flip) -> Outcome:
        """What becomes of the file with this bit changed."""
        kind = "clean" if flip.file == "clean" else "killed"
        with _told() as told:
            try:
                seen = await self._seen(kind, flip)
            except CannotOpen as error:
                text = str(error)
                is_clear = text.startswith(str(self._at)) and "--store" in text
                return Outcome("refused" if is_clear else "traceback", text)
            except FileDamaged as error:
                return Outcome("refused", str(error))
            except StoreUnavailable as error:
                return Outcome("try again", str(error))
            except Exception:  # noqa: BLE001 (whatever it is: nobody expects it)
                return Outcome("traceback", traceback.format_exc())
        outcome = _judged(seen, self._expected[kind], told)
        if outcome.kind == "silent" and flip.ends_with_a_write:
            # Nothing tells it from a file that ended there.
            return Outcome("an end")
        return outcome

    async def _seen(self, kind: str, flip: Flip | None = None) -> Seen:
        shutil.copy(self._folder / kind, self._at)
        wal_of(self._at).unlink(missing_ok=True)
        if kind == "killed":
            shutil.copy(self._folder / "wal", wal_of(self._at))
        if flip is not None:
            file = wal_of(self._at) if flip.file == "wal" else self._at
            data = bytearray(file.read_bytes())
            if flip.bit is None:
                del data[flip.place :]
            else:
                data[flip.place] ^= 1 << flip.bit
            file.write_bytes(data)
        log = SqliteLog(self._at)
        try:
            return await _all_of(log)
        finally:
            await log.close()


def _record(seq: int) -> Record:
    return Record(seq, NOW + seq, SeatResumed(seq))


def _key(table: str, what: object) -> RequestKey:
    return RequestKey(table.encode() * 16, f"{what}", b"c" * 32)


async def _begin(log: SqliteLog, table: str, number: int) -> None:
    host = table.encode() * 16
    code = "SECRET" if number == 1 else ""
    opened = TableOpened(TableOptions(title=f"At {table}"), host, code, _LOG_ID)
    taken = SeatTaken(0, f"Ann of {table}", Occupant.PERSON, "", host)
    started = GameStarted(Options(2), (Colour.RED, Colour.BLUE), 0)
    await log.append(table, 0, Batch((Record(1, NOW, opened),), _key(table, "open")))
    await log.append(table, 1, Batch((Record(2, NOW, taken), Record(3, NOW, started))))
    for seq in range(3, 20):
        await log.append(table, seq, Batch((_record(seq + 1),), _key(table, seq)))
    await log.append(table, 20, Batch((), _key(table, "nothing"), 7))
    for said in range(4):
        await log.say(table, Line(0, NOW, "Ann", 0, f"{said} " * 20), _key(table, f"say {said}"))
    if number >= TABLES - 2:
        await log.append(table, 20, Batch((Record(21, NOW, TableClosed(CloseReason.HOST)),)))
    await log.beat(NOW)


async def _play_on(log: SqliteLog, table: str) -> None:
    if await _is_closed(log, table):
        return
    for seq in range(20, 30):
        await log.append(table, seq, Batch((_record(seq + 1),), _key(table, seq)))
    await log.say(table, Line(0, NOW, "Ann", 0, "later"), _key(table, "later"))


async def _is_closed(log: SqliteLog, table: str) -> bool:
    return table not in [entry.handle for entry in await log.open_tables()]


async def _all_of(log: SqliteLog) -> Seen:
    """Everything that a server may ask a log for; a table that is refused is TableDamaged."""
    # Without these two no server starts. Whatever fails later is not for others than its table.
    seen: Seen = {"open": await log.open_tables(), "beat": await log.last_beat()}
    try:
        seen["ended"] = await log.ended_tables(10**9, 100, private=True)
        seen["ended and public"] = await log.ended_tables(10**9, 100, private=False)
    except FileDamaged as error:
        raise StoreUnavailable(str(error)) from error
    for number in range(TABLES):
        table = f"T{number}"
        asked: dict[str, Awaitable[Any]] = {
            "records": log.read(table),
            "lines": log.lines(table, 50),
            "entry": log.entry(table),
        }
        for what in ("open", *range(3, 30), "nothing", *(f"say {n}" for n in range(4)), "later"):
            key = _key(table, what)
            asked[f"request {what}"] = log.find(key.credential, key.request_id)
        for name, answer in asked.items():
            try:
                seen[f"{table}: {name}"] = await answer
            except TableDamaged:
                seen[f"{table}: {name}"] = TableDamaged
        batches = seen[f"{table}: records"]
        if batches is not TableDamaged and batches:
            await _write(log, table, batches[-1].records[-1].seq)
    return seen


async def _write(log: SqliteLog, table: str, head: int) -> None:
    """What a server may write at a table that it could read: the table may refuse it."""
    with suppress(TableDamaged, Conflict):
        await log.append(table, head, Batch((_record(head + 1),), _key(table, "another")))
    with suppress(TableDamaged, Conflict):
        await log.say(table, Line(0, NOW, "Ann", 0, "more"), _key(table, "more"))


def _judged(seen: Seen, expected: Seen, told: list[str]) -> Outcome:
    wrong = [name for name, value in seen.items() if value != expected[name]]
    silent = [name for name in wrong if seen[name] is not TableDamaged]
    if told:
        # To know of some damage is no excuse for another moment of a table under the same log id.
        silent = [name for name in silent if _is_false(name, seen, expected)]
    if silent:
        return Outcome("silent", ", ".join((*silent, *told)))
    return Outcome("told" if told or wrong else "harmless", "; ".join(told))


def _is_false(name: str, seen: Seen, expected: Seen) -> bool:
    """Whether a client that believes this is led astray: names and lines may be left out."""
    table, _, what = name.partition(": ")
    if not what.startswith(("records", "request")):
        return False
    batches = seen[f"{table}: records"]
    if batches is TableDamaged or _has_another_log_id(batches):
        return False
    return _without_names(seen[name]) != _without_names(expected[name])


def _has_another_log_id(batches: list[Batch]) -> bool:
    opened = batches[0].records[0].event if batches else None
    return isinstance(opened, TableOpened) and opened.log_id != _LOG_ID


def _without_names(found: list[Batch] | Stored | None) -> object:
    if isinstance(found, list):
        return [without_names(batch.records) for batch in found]
    return found and found._replace(records=without_names(found.records))


@contextmanager
def _told() -> Generator[list[str]]:
    """What the operator is told meanwhile."""
    told: list[str] = []

    class Listens(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    handler = Listens(logging.WARNING)
    logger = logging.getLogger("odin_server")
    logger.addHandler(handler)
    before, logger.propagate = logger.propagate, False
    try:
        yield told
    finally:
        logger.propagate = before
        logger.removeHandler(handler)


async def damage(folder: Path, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Flips so many bits; returns how often each kind of outcome came, and the faults."""
    damaged = Damaged(folder)
    await damaged.prepare()
    kinds: Counter[str] = Counter()
    faults: list[str] = []
    for flip in damaged.flips(count, seed):
        outcome = await damaged.outcome(flip)
        kinds[outcome.kind] += 1
        if outcome.is_fault:
            faults.append(f"{flip}: {outcome.kind}: {outcome.what}")
    return kinds, faults
