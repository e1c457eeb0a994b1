"""Damage, as a server and its visitors meet it: only the tables concerned are refused, in words."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from odin_server.event_log import SqliteLog, StoreUnavailable
from odin_server.event_log.sqlite_wal import wal_of
from odin_server.main import run
from odin_server.table.events import Batch, RequestKey
from odin_table.v1 import chat_pb2, lobby_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.server.test_event_log import ANN, opening
from tests.server.test_store_ending import log_ids
from tests.server.test_store_file import change, filled, opened
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused, play_until


async def two_tables(person: Person) -> list[str]:
    """Two tables at which a game may start."""
    tables = [await person.open_table() for _ in range(2)]
    for table in tables:
        await person.sit(table)
        await person.add_bot(table)
    return tables


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 (what happens by itself sets no event)
            await asyncio.sleep(0.01)


async def test_damage_that_is_met_on_writing_is_that_tables_alone(
    serve: Serve, meet: Meet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = SqliteLog(tmp_path / "tables.db")
    server = await serve(log=log)
    ann = meet(server, "Ann")
    tables = await two_tables(ann)
    statement = f"UPDATE tables SET checksum = 1 WHERE handle = '{tables[0]}'"
    await log._write(  # pyright: ignore[reportPrivateUsage] -- the file is locked
        lambda db: db.execute(statement).fetchall()
    )
    # Being ready is kept, but not that the game starts, which the list of tables has to know.
    await ann.ready(tables[0])
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            await ann.add_bot(tables[0])
        assert caught.value.reason == "TABLE_DAMAGED"
    await ann.ready(tables[1])
    await play_until(ann, tables[1], last="deal_ended")
    assert "Traceback" not in caplog.text
    told = [record for record in caplog.records if record.levelname == "ERROR"]
    assert [f"table {tables[0]} is damaged" in record.getMessage() for record in told] == [True]
    assert "stand" not in caplog.text


@pytest.mark.parametrize(
    ("spoil", "is_refused"),
    [
        (
            "UPDATE batches SET request_id = CAST(X'ff' AS TEXT) || rowid WHERE handle = 'A'",
            True,
        ),
        ("UPDATE tables SET code = CAST(X'ff' AS TEXT) WHERE handle = 'A'", True),
        ("UPDATE names SET name = CAST(X'ff' AS TEXT) WHERE handle = 'A'", False),
        ("UPDATE lines SET text = CAST(X'ff' AS TEXT) WHERE handle = 'A'", False),
        ("UPDATE beats SET time = time + 1", False),
    ],
)
async def test_a_row_that_cannot_be_read_is_told_and_keeps_no_other_table_asleep(
    serve: Serve,
    meet: Meet,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    spoil: str,
    is_refused: bool,
) -> None:
    path = tmp_path / "tables.db"
    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    tables = await two_tables(ann)
    await ann.call(ann.chat.SendChat, chat_pb2.SendChatRequest(table=tables[0], text="hello"))
    await server.stop()
    change(path, spoil.replace("'A'", f"'{tables[0]}'"))
    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    if is_refused:
        with pytest.raises(Refused) as caught:
            await ann.view(tables[0])
        assert caught.value.reason == "TABLE_DAMAGED"
    else:
        await ann.view(tables[0])
    assert "damaged" in caplog.text
    await _until(lambda: tables[1] in [table.handle for table in server.lobby.tables()])


async def test_a_table_that_cannot_be_read_now_keeps_no_other_one_waiting(
    serve: Serve, tmp_path: Path
) -> None:
    """As with a sector of the disk that always fails."""

    class FailsAtA(SqliteLog):
        async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
            if table == "A":
                raise StoreUnavailable("disk I/O error")
            return await super().read(table, after_seq)

    path = tmp_path / "tables.db"
    async with opened(path) as log:
        for handle in "AB":
            await log.append(handle, 0, opening(RequestKey(ANN, f"open {handle}", b"")))
    server = await serve(log=FailsAtA(path))
    await _until(lambda: [table.handle for table in server.lobby.tables()] == ["B"])


@pytest.mark.parametrize("place", range(0, 100, 20))
def test_a_damaged_header_ends_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: int
) -> None:
    _ends_in_a_sentence(tmp_path / "tables.db", capsys, lambda data: _overwritten(data, place, 7))


@pytest.mark.parametrize(
    "text",
    [
        *(b"CREATE TABLE batches", b"CREATE INDEX open_tables"),
        *(b"records BLOB", b"request_id)", b"ended IS NULL"),
    ],
)
@pytest.mark.parametrize("byte", [b"\xff", b"x"])
def test_a_damaged_schema_ends_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bytes, byte: bytes
) -> None:
    """The schema is text, which SQLite quotes in its errors, as UTF-8 or not."""
    spoilt = text[:3] + byte + text[4:]
    _ends_in_a_sentence(
        tmp_path / "tables.db", capsys, lambda data: data.replace(text, spoilt), "damaged"
    )


def _overwritten(data: bytes, place: int, length: int) -> bytes:
    return data[:place] + b"\xff" * length + data[place + length :]


def _ends_in_a_sentence(
    path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[bytes], bytes],
    says: str = "",
) -> None:
    asyncio.run(filled(path))
    before = path.read_bytes()
    path.write_bytes(spoil(before))
    assert path.read_bytes() != before
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        # Should the file be found to be sound, the port is not.
        assert run(replace(QUICK, store=path, port=taken.getsockname()[1])) == 1
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("error: ")
    assert says in said
    assert "Traceback" not in said


def test_a_server_that_could_not_start_leaves_the_file_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tables.db"
    asyncio.run(filled(path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run(replace(QUICK, store=path, port=taken.getsockname()[1])) == 1
    assert asyncio.run(log_ids(path)) == ["f0", "f0"]
    assert not caplog.records


async def test_whoever_comes_back_to_a_backup_gets_a_snapshot_and_not_another_game(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    path, copy = tmp_path / "tables.db", tmp_path / "copy.db"
    log = SqliteLog(path)
    server = await serve(log=log)
    ann = meet(server, "Ann")
    (table, _) = await two_tables(ann)
    await log.backup(str(copy))
    before = await ann.view(table)
    await ann.ready(table)
    await play_until(ann, table, last="deal_ended")
    await server.stop()

    server = await serve(log=SqliteLog(copy))
    ann = meet(server, "Ann")
    await ann.ready(table)
    await play_until(ann, table, last="deal_ended")
    assert (await ann.view(table)).log_id != before.log_id
    # The number means something in both games.
    async with aclosing(ann.watch(table, after_seq=before.seq + 4, log_id=before.log_id)) as items:
        first = await anext(items)
    assert first.HasField("snapshot")


async def test_a_log_that_was_reopened_goes_on_with_the_same_file_alone(tmp_path: Path) -> None:
    """After an error of the disk what SQLite believes of the file may no longer be so."""
    path = tmp_path / "tables.db"

    def fails(_db: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_READ"
        raise error

    async with opened(path) as log:
        await log.append("A", 0, opening())
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="disk I/O error"):
                await log._read(fails)  # pyright: ignore[reportPrivateUsage] -- no disk fails here
            await log.beat(1)
        shutil.copy(path, tmp_path / "copy.db")
        with pytest.raises(StoreUnavailable, match="disk I/O error"):
            await log._read(fails)  # pyright: ignore[reportPrivateUsage]
        (tmp_path / "copy.db").rename(path)
        with pytest.raises(StoreUnavailable, match="was removed or replaced"):
            await log.beat(2)


# The file goes away under its server


async def test_a_server_stands_still_while_its_file_is_gone_and_goes_on_when_it_is_back(
    serve: Serve, meet: Meet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, away = tmp_path / "tables.db", tmp_path / "away.db"
    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    (table, _) = await two_tables(ann)
    path.rename(away)
    with pytest.raises(Refused) as caught:
        await ann.ready(table)
    assert caught.value.reason == "STORE_UNAVAILABLE"
    assert f"{path} was removed or replaced" in caplog.text
    assert "every table stands still" in caplog.text
    # Nobody is told that it is kept, and nobody may begin with an empty file meanwhile.
    with pytest.raises(Refused):
        await ann.open_table()
    away.rename(path)
    await _until(lambda: "stood still for" in caplog.text)
    # Nothing was done, as the refusal says.
    await ann.ready(table)
    await play_until(ann, table, last="deal_ended")


@pytest.mark.parametrize("which", ["tables.db", "tables.db-wal"])
@pytest.mark.parametrize("has_table", [True, False])
async def test_an_idle_server_notices_as_well(
    serve: Serve,
    meet: Meet,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    has_table: bool,
    which: str,
) -> None:
    server = await serve(log=SqliteLog(tmp_path / "tables.db"))
    if has_table:
        await meet(server, "Ann").open_table()
    (tmp_path / which).unlink()
    await _until(lambda: "was removed or replaced" in caplog.text)


async def test_a_second_server_at_the_same_path_is_safe_from_the_first(
    serve: Serve, meet: Meet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tables.db"
    first = await serve(log=SqliteLog(path))
    ann = meet(first, "Ann")
    (table, _) = await two_tables(ann)
    for file in (path, wal_of(path)):
        file.unlink()
    second = await serve(log=SqliteLog(path))
    bob = meet(second, "Bob")
    other = await bob.open_table()
    with pytest.raises(Refused) as caught:
        await ann.ready(table)
    assert caught.value.reason == "STORE_UNAVAILABLE"
    await first.stop()
    await bob.sit(other)
    copy = tmp_path / "copy.db"
    for file in (path, wal_of(path)):
        shutil.copy(file, copy.with_name(file.name.replace("tables", "copy")))
    caplog.clear()
    async with opened(copy) as log:
        assert len(await log.read(other)) == 2
    assert not caplog.records


async def test_what_the_server_was_told_after_its_file_went_is_not_answered(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    """Every act is looked at, not only each beat."""
    path = tmp_path / "tables.db"
    server = await serve(log=SqliteLog(path))
    ann = meet(server, "Ann")
    path.unlink()
    with pytest.raises(Refused) as caught:
        await ann.call(ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(request_id="x"))
    assert caught.value.reason == "STORE_UNAVAILABLE"
