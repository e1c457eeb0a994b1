"""A file of tables: what is said when it cannot be used, and what becomes of damaged ones."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import grpc
import pytest

from odin_contract.enums import CloseReason
from odin_server.event_log import (
    CannotBackUp,
    CannotOpen,
    SqliteLog,
    StoreUnavailable,
    TableDamaged,
    sqlite_damage,
)
from odin_server.table.events import (
    Batch,
    Record,
    RequestKey,
    TableClosed,
    TableOpened,
)
from odin_table.v1 import lobby_pb2, table_pb2
from tests.server.conftest import Meet, Serve
from tests.server.test_event_log import ANN, batch, opening
from tests.support.patience import PATIENCE
from tests.support.people import Refused, play_until


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[SqliteLog]:
    log = SqliteLog(path)
    try:
        yield log
    finally:
        await log.close()


async def filled(path: Path) -> None:
    """Two tables with three batches each."""
    async with opened(path) as log:
        for handle in "AB":
            await log.append(handle, 0, opening(RequestKey(ANN, f"open {handle}", b"")))
            await log.append(handle, 1, batch(2, 2))
            await log.append(handle, 3, batch(4))


def log_id_of(first: Batch) -> str:
    """The log id in the batch that opened a table, as clients see it."""
    opened = first.records[0].event
    assert isinstance(opened, TableOpened)
    return opened.log_id


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


async def test_what_was_appended_is_there_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "tables.db"
    await filled(path)
    async with opened(path) as log:
        assert [len(batch.records) for batch in await log.read("A")] == [1, 2, 1]
        assert await log.find(ANN, "open B")


async def test_a_second_server_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    async with opened(path):
        with pytest.raises(CannotOpen, match="used by another server") as caught:
            SqliteLog(path)
        assert str(path) in str(caught.value)
    async with opened(path) as log:
        assert await log.open_tables() == []


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def _text(path: Path) -> None:
    path.write_text("these are no tables\n" * 100)


def _foreign(path: Path) -> None:
    path.unlink()
    change(path, "CREATE TABLE bills (amount)")


def _newer(path: Path) -> None:
    change(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_cut_short, "is damaged, or no file of odin-table. Put a backup"),
        (_text, "is damaged, or no file of odin-table. Put a backup"),
        (_foreign, "is no file of odin-table"),
        (_newer, "newer odin-table (form 99"),
    ],
)
async def test_a_file_that_cannot_be_used_is_named_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "tables.db"
    await filled(path)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(CannotOpen) as caught:
        SqliteLog(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)
    assert "--store" in str(caught.value)
    assert path.read_bytes() == before


async def test_a_folder_cannot_be_a_store(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="Choose another file with --store"):
        SqliteLog(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE batches SET records = zeroblob(30) WHERE handle = 'A' AND seq = 3",
        "UPDATE batches SET checksum = checksum + 1 WHERE handle = 'A' AND seq = 4",
        "UPDATE batches SET seq = 9 WHERE handle = 'A' AND seq = 4",
        "DELETE FROM batches WHERE handle = 'A' AND seq = 3",
        "DELETE FROM batches WHERE handle = 'A' AND seq = 1",
    ],
)
async def test_a_damaged_table_is_never_read_in_part_and_others_are_not_touched(
    tmp_path: Path, spoil: str
) -> None:
    path = tmp_path / "tables.db"
    await filled(path)
    change(path, spoil)
    async with opened(path) as log:
        with pytest.raises(TableDamaged) as caught:
            await log.read("A")
        assert str(path) in str(caught.value)
        assert "table A is damaged" in str(caught.value)
        assert "odin-table backup" in str(caught.value)
        assert len(await log.read("B")) == 3
        await log.append("B", 4, batch(5))


async def test_a_page_that_is_overwritten_damages_only_the_tables_on_it(tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    async with opened(path) as log:
        for number in range(60):
            handle = f"T{number:02}"
            await log.append(handle, 0, opening())
            await log.append(handle, 1, batch(2, 60))
    pages = path.read_bytes()
    # A page from the middle of the batches: one that holds records of a table and nothing else.
    place = pages.index(b'"seat_resumed"', len(pages) // 2)
    start = place // 4096 * 4096
    path.write_bytes(pages[:start] + os.urandom(4096) + pages[start + 4096 :])
    damaged = 0
    async with opened(path) as log:
        for number in range(60):
            try:
                read = await log.read(f"T{number:02}")
            except TableDamaged:
                damaged += 1
            else:
                assert sum(len(batch.records) for batch in read) in (0, 61)
    assert 0 < damaged < 60


async def test_the_server_answers_for_a_damaged_table_and_plays_on_at_the_others(
    serve: Serve, meet: Meet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tables.db"
    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    tables = [await ann.open_table() for _ in range(2)]
    for table in tables:
        await ann.sit(table)
        await ann.add_bot(table)
    await server.stop()
    change(path, f"UPDATE batches SET checksum = 0 WHERE handle = '{tables[0]}' AND seq = 2")

    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    with pytest.raises(Refused) as caught:
        await ann.view(tables[0])
    assert (caught.value.reason, caught.value.code) == ("TABLE_DAMAGED", grpc.StatusCode.DATA_LOSS)
    assert "backup" in caught.value.message
    assert str(path) not in caught.value.message
    assert str(path) in caplog.text
    listed = await ann.call(ann.lobby.ListTables, lobby_pb2.ListTablesRequest())
    assert [summary.table for summary in listed.tables] == tables[1:]
    await ann.ready(tables[1])
    await play_until(ann, tables[1], last="deal_ended")


async def test_a_table_whose_records_make_no_sense_does_not_keep_others_asleep(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    """Each record of table A can be read, but what comes after the first cannot have happened."""
    path = tmp_path / "tables.db"
    async with opened(path) as log:
        for handle in "AB":
            await log.append(handle, 0, opening(RequestKey(ANN, f"open {handle}", b"")))
        await log.append("A", 1, batch(2, 2))
    server = await serve(log=SqliteLog(path))
    person = meet(server, "Ann")
    with pytest.raises(Refused) as caught:
        await person.view("A")
    assert caught.value.reason == "TABLE_DAMAGED"
    async with asyncio.timeout(PATIENCE):
        # Nobody asks for it: it is waked.
        while [table.handle for table in server.lobby.tables()] != ["B"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_damaged_table_among_those_that_have_ended_hides_none_of_them(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    path = tmp_path / "tables.db"
    async with opened(path) as log:
        for handle in "ABCDE":
            await log.append(handle, 0, opening())
            closed = Record(2, 1_700_000_000_000_000, TableClosed(CloseReason.HOST))
            await log.append(handle, 1, Batch((closed,)))
    change(path, "UPDATE batches SET checksum = 0 WHERE handle IN ('D', 'C')")
    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    request = lobby_pb2.ListTablesRequest(phase=table_pb2.TABLE_PHASE_CLOSED, page_size=1)
    handles: list[str] = []
    while True:
        page = await ann.call(ann.lobby.ListTables, request)
        handles += [summary.table for summary in page.tables]
        request.page_token = page.next_page_token
        if not request.page_token:
            break
    assert handles == ["E", "B", "A"]


async def test_a_backup_holds_everything_and_never_overwrites(tmp_path: Path) -> None:
    path, copy = tmp_path / "tables.db", tmp_path / "copy.db"
    await filled(path)
    async with opened(path) as log:
        await log.backup(str(copy))
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with pytest.raises(CannotBackUp, match=r"copy\.db is there already"):
            await log.backup(str(copy))
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with pytest.raises(CannotBackUp, match="could not be written"):
            await log.backup(str(tmp_path / "missing" / "copy.db"))
        await log.append("A", 4, batch(5))
        async with opened(copy) as other:
            assert len(await other.read("A")) == 3
            first, *others = await log.read("B")
            first_there, *others_there = await other.read("B")
            # Only the log id is another one.
            assert others_there == others
            assert first_there != first
            assert log_id_of(first_there).startswith(f"{log_id_of(first)}.")


async def test_a_disk_that_is_full_loses_nothing_and_the_log_goes_on_when_it_is_not(
    tmp_path: Path,
) -> None:
    """The size of the file is limited, which SQLite reports as it does a full disk."""
    path = tmp_path / "tables.db"
    await filled(path)
    async with opened(path) as log:
        big = Batch(batch(5, 20_000).records)
        await limited_to(log, 1)
        with pytest.raises(StoreUnavailable, match="full"):
            await log.append("A", 4, big)
        results = await asyncio.gather(
            log.append("A", 4, big), log.append("B", 4, batch(5)), return_exceptions=True
        )
        assert isinstance(results[0], StoreUnavailable)
        assert len(await log.read("A")) == 3
        await limited_to(log, 1_000_000)
        await log.append("A", 4, big)
        assert len(await log.read("A")) == 4


async def limited_to(log: SqliteLog, pages: int) -> None:
    """Limits the size of the file."""
    statement = f"PRAGMA max_page_count = {pages}"
    await log._read(  # pyright: ignore[reportPrivateUsage] -- no disk can be had that is full
        lambda db: db.execute(statement).fetchone()
    )


async def test_a_large_file_is_looked_through_beside_the_first_acts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The index loses the last row of table A, which nobody would miss."""
    path = tmp_path / "tables.db"
    await filled(path)
    lose_index_entry(path, "A", 4)
    monkeypatch.setattr(sqlite_damage, "_SMALL", 0)
    monkeypatch.setattr(sqlite_damage, "_DELAY", 0)
    async with opened(path) as log:
        async with asyncio.timeout(PATIENCE):
            while "is damaged" not in caplog.text:  # noqa: ASYNC110 (a thread finds it)
                await asyncio.sleep(0.01)
        assert "refused: @, A. " in caplog.text
        with pytest.raises(TableDamaged, match="table A is damaged"):
            await log.append("A", 4, batch(5))
        await log.append("B", 4, batch(5))
        assert [entry.handle for entry in await log.open_tables()] == ["B"]


def lose_index_entry(path: Path, handle: str, seq: int) -> None:
    """Flips a bit in the index entry of a row, which then is of another table."""
    entry = b"\x05\x0f\x01\x08\x01" + handle.encode() + bytes([seq])
    data = bytearray(path.read_bytes())
    assert data.count(entry) == 1
    data[data.index(entry) + 5] ^= 1
    path.write_bytes(data)
