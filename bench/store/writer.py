"""The log alone: appends a second with 16 callers, beside aiosqlite that commits each of them.

Both write the same rows into the same tables, with the same promise (WAL, synchronous=FULL).
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median

import aiosqlite

from bench.store.disk import fdatasync_ms
from odin_contract.values import Options as TableOptions
from odin_server.event_log import SqliteLog
from odin_server.event_log.codec import encode
from odin_server.event_log.sqlite_statements import of_records
from odin_server.table.events import (
    Batch,
    Record,
    RequestKey,
    SeatResumed,
    TableOpened,
)

NAME = "writer"
CALLERS = 16
APPENDS = 400
"""Of each caller, in a turn."""
AIM = 3.0

NOW = 1_800_000_000_000_000
Append = Callable[[str, int, RequestKey], Awaitable[None]]


def _record(seq: int) -> Record:
    return Record(seq, NOW, SeatResumed(seq % 6))


async def _seconds(append: Append, appends: int) -> float:
    """How long all callers take, each with a table of its own."""

    async def caller(table: str) -> None:
        credential = table.encode() * 8
        for seq in range(2, appends + 2):
            await append(table, seq, RequestKey(credential, f"request {seq}", b"c" * 32))

    began = time.perf_counter()
    await asyncio.gather(*(caller(f"T{number:03}") for number in range(CALLERS)))
    return time.perf_counter() - began


async def _new_file(path: Path) -> SqliteLog:
    log = SqliteLog(path)
    opened = Record(1, NOW, TableOpened(TableOptions(), b"h" * 32, "", "0123456789abcdef"))
    for number in range(CALLERS):
        await log.append(f"T{number:03}", 0, Batch((opened,)))
    return log


async def ours(path: Path, appends: int) -> float:
    """Appends a second."""
    log = await _new_file(path)

    async def append(table: str, seq: int, request: RequestKey) -> None:
        await log.append(table, seq - 1, Batch((_record(seq),), request))

    seconds = await _seconds(append, appends)
    await log.close()
    return CALLERS * appends / seconds


async def aiosqlite_alone(path: Path, appends: int) -> float:
    """Rows a second, each in a commit of its own, as aiosqlite is used."""
    await (await _new_file(path)).close()
    async with aiosqlite.connect(path, isolation_level=None) as db:
        await db.execute("PRAGMA journal_mode = WAL")
        await db.execute("PRAGMA synchronous = FULL")

        async def append(table: str, seq: int, request: RequestKey) -> None:
            row = of_records(table, seq, encode([_record(seq)]), request)
            await db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

        seconds = await _seconds(append, appends)
    return CALLERS * appends / seconds


def measure(turns: int, quick: bool) -> dict[str, list[float]]:
    """Appends a second of both, and the disk's own time, a list of the turns for each."""
    figures: dict[str, list[float]] = {"ours": [], "aiosqlite": [], "fdatasync_ms": []}
    appends = APPENDS // 4 if quick else APPENDS
    with tempfile.TemporaryDirectory(prefix="odin-bench-") as folder:
        names = (Path(folder) / f"{number}.db" for number in itertools.count())
        for _ in range(turns):
            figures["aiosqlite"].append(asyncio.run(aiosqlite_alone(next(names), appends)))
            figures["ours"].append(asyncio.run(ours(next(names), appends)))
            figures["fdatasync_ms"].append(fdatasync_ms())
    return figures


def rows(figures: dict[str, list[float]]) -> Iterator[str]:
    """A line for each figure, and what the log reaches for each row of aiosqlite."""
    ratio = median(
        own / peer for own, peer in zip(figures["ours"], figures["aiosqlite"], strict=True)
    )
    verdict = "met" if ratio >= AIM else "NOT MET"
    for title, figure in (
        ("the log alone, 16 callers, appends/s", f"{median(figures['ours']):,.0f}"),
        ("    aiosqlite, each row committed, rows/s", f"{median(figures['aiosqlite']):,.0f}"),
        ("    ratio", f"{ratio:.2f}  aim ≥ {AIM:g}: {verdict}"),
        ("    the disk: fdatasync of a page, ms", f"{median(figures['fdatasync_ms']):.3f}"),
    ):
        yield f"{title:<52} {figure}"
