"""How long a server takes to start does not grow with the tables that have ended."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from odin_contract.enums import CloseReason
from odin_contract.values import Options as TableOptions
from odin_engine import GameStarted, Options
from odin_server.event_log import SqliteLog
from odin_server.event_log.codec import encode
from odin_server.event_log.sqlite_statements import of_records
from odin_server.main import Server
from odin_server.table.events import (
    Record,
    RequestKey,
    TableClosed,
    TableOpened,
)
from tests.server.conftest import QUICK

HOST = b"h" * 32
NOW = 1_700_000_000_000_000
TURNS = 7


async def ended_tables(path: Path, count: int) -> None:
    """A file with so many tables that have ended, written past the log, to be quick."""
    await SqliteLog(path).close()
    opened = TableOpened(TableOptions(), HOST, "", "0123456789abcdef")
    started, closed = GameStarted(Options(3), (), 0), TableClosed(CloseReason.HOST)
    records = encode([Record(1, NOW, opened), Record(2, NOW, started), Record(3, NOW, closed)])
    handles = [f"T{number:06}" for number in range(count)]
    with closing(sqlite3.connect(path)) as db, db:
        db.executemany(
            "INSERT INTO tables (handle, host, code, played, ended) VALUES (?, ?, '', 1, ?)",
            ((handle, HOST, NOW) for handle in handles),
        )
        db.executemany(
            "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (of_records(h, 3, records, RequestKey(HOST, h, b"c" * 32)) for h in handles),
        )


async def seconds_to_start(path: Path) -> float:
    start = time.perf_counter()
    server = Server(QUICK, log=SqliteLog(path))
    await server.start()
    taken = time.perf_counter() - start
    table = await server.lobby.find("T000003", "", None)
    assert table.state.seq == 3, "the tables are there"
    await server.stop()
    return taken


async def test_many_tables_that_have_ended_do_not_delay_the_start(tmp_path: Path) -> None:
    few, many = tmp_path / "few.db", tmp_path / "many.db"
    await ended_tables(few, 10)
    await ended_tables(many, 100_000)
    taken = [(await seconds_to_start(few), await seconds_to_start(many)) for _ in range(TURNS)]
    # The best of several turns each: the rest is what else the machine did.
    best_few, best_many = (min(times) for times in zip(*taken, strict=True))
    assert best_many <= 1.5 * best_few, taken
