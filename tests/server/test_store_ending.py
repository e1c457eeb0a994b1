"""How a file of tables ended: what a start notices, and that clients then see another log id."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from odin_server.event_log import CannotOpen, SqliteLog
from odin_server.event_log.sqlite_form import FORMAT
from odin_server.event_log.sqlite_wal import wal_of
from tests.server.test_event_log import batch, opening
from tests.server.test_store_file import change, filled, log_id_of, opened

PAGE = 2048
FRAME = 24 + PAGE
HEADER = 32


@pytest.fixture
async def killed(tmp_path: Path) -> AsyncGenerator[Path]:
    """The files of a server that was killed, after some acts that are in its WAL alone."""
    path, left = tmp_path / "tables.db", tmp_path / "left" / "tables.db"
    left.parent.mkdir()
    await filled(path)
    async with opened(path) as log:
        for seq in range(4, 12):
            await log.append("A", seq, batch(seq + 1))
        for file in (path, wal_of(path)):
            shutil.copy(file, left.with_name(file.name))
        yield left


async def log_ids(path: Path) -> list[str]:
    async with opened(path) as log:
        return [log_id_of((await log.read(handle))[0]) for handle in "AB"]


async def events_of_a(path: Path) -> int:
    async with opened(path) as log:
        return sum(len(batch.records) for batch in await log.read("A"))


async def test_a_killed_server_has_lost_nothing_and_its_tables_keep_their_log_ids(
    killed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert await events_of_a(killed) == 12
    assert await log_ids(killed) == ["f0", "f0"]
    assert not caplog.records


def _frames(wal: bytes) -> int:
    return (len(wal) - HEADER) // FRAME


def _missing(wal: Path) -> None:
    wal.unlink()


def _emptied(wal: Path) -> None:
    wal.write_bytes(b"")


def _header_alone(wal: Path) -> None:
    wal.write_bytes(wal.read_bytes()[:HEADER])


def _zeros(wal: Path) -> None:
    wal.write_bytes(bytes(len(wal.read_bytes())))


def _header_flipped(wal: Path) -> None:
    _flip(wal, 14)


def _cut_in_a_page(wal: Path) -> None:
    wal.write_bytes(wal.read_bytes()[:-1000])


def _cut_in_the_header_of_a_frame(wal: Path) -> None:
    wal.write_bytes(wal.read_bytes()[: -FRAME + 10])


def _first_page_flipped(wal: Path) -> None:
    _flip(wal, HEADER + 500)


def _middle_flipped(wal: Path) -> None:
    _flip(wal, HEADER + _frames(wal.read_bytes()) // 2 * FRAME + 700)


def _last_page_flipped(wal: Path) -> None:
    _flip(wal, len(wal.read_bytes()) - 1)


def _last_salt_flipped(wal: Path) -> None:
    _flip(wal, len(wal.read_bytes()) - FRAME + 9)


def _last_commit_flipped(wal: Path) -> None:
    _flip(wal, len(wal.read_bytes()) - FRAME + 7)


def _flip(file: Path, place: int, bit: int = 0) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1 << bit
    file.write_bytes(data)


@pytest.mark.parametrize(
    "spoil",
    [
        _missing,
        _emptied,
        _header_alone,
        _zeros,
        _header_flipped,
        _cut_in_a_page,
        _cut_in_the_header_of_a_frame,
        _first_page_flipped,
        _middle_flipped,
        _last_page_flipped,
        _last_salt_flipped,
        _last_commit_flipped,
    ],
)
async def test_a_damaged_end_is_told_and_gives_the_tables_another_log_id(
    killed: Path, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    spoil(wal_of(killed))
    ids = await log_ids(killed)
    assert all(log_id.startswith("f0.") for log_id in ids)
    (told,) = caplog.records
    assert told.levelname == "ERROR"
    assert str(killed) in told.getMessage()
    assert "lost its end" in told.getMessage()
    # It is told once, and the new ids stay.
    assert await log_ids(killed) == ids
    assert len(caplog.records) == 1


async def test_what_is_left_of_an_earlier_round_of_the_wal_is_no_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """After a checkpoint SQLite writes over its WAL from the front: old frames follow the end."""
    path, left = tmp_path / "tables.db", tmp_path / "left" / "tables.db"
    left.parent.mkdir()
    await filled(path)
    async with opened(path) as log:
        for seq in range(4, 30):
            await log.append("A", seq, batch(seq + 1))
        statement = "PRAGMA wal_checkpoint(PASSIVE)"
        await log._read(  # pyright: ignore[reportPrivateUsage] -- else it takes 4,000 pages
            lambda db: db.execute(statement).fetchone()
        )
        await log.append("B", 4, batch(5))
        for file in (path, wal_of(path)):
            shutil.copy(file, left.with_name(file.name))
    salts = {
        struct.unpack_from(">2I", data, HEADER + n * FRAME + 8)
        for data in [wal_of(left).read_bytes()]
        for n in range(_frames(data))
    }
    assert len(salts) == 2
    assert await log_ids(left) == ["f0", "f0"]
    assert not caplog.records


async def test_a_transaction_that_was_not_committed_is_no_damage(
    killed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whole frames without a commit: nobody was told of what they hold."""
    wal = wal_of(killed)
    data = wal.read_bytes()
    commits = [
        n for n in range(_frames(data)) if struct.unpack_from(">I", data, HEADER + n * FRAME + 4)[0]
    ]
    assert commits[-1] - commits[-2] > 1, "the last transaction has several frames"
    wal.write_bytes(data[: HEADER + commits[-1] * FRAME])
    assert await events_of_a(killed) == 11
    assert await log_ids(killed) == ["f0", "f0"]
    assert not caplog.records


async def test_a_server_that_was_killed_between_the_two_writes_of_a_frame_has_lost_nothing(
    killed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The header of a frame is there, and its page is not: nobody was told of what it holds."""
    wal = wal_of(killed)
    data = wal.read_bytes()
    wal.write_bytes(data[: HEADER + (_frames(data) - 1) * FRAME + 24])
    assert await log_ids(killed) == ["f0", "f0"]
    assert not caplog.records


async def test_a_backup_gets_other_log_ids_each_time_it_is_put_back_and_a_moved_file_keeps_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, copy = tmp_path / "tables.db", tmp_path / "copy.db"
    await filled(path)
    async with opened(path) as log:
        await log.backup(str(copy))
    path.rename(tmp_path / "moved.db")
    assert await log_ids(tmp_path / "moved.db") == ["f0", "f0"]
    assert not caplog.records
    seen: list[str] = []
    for name in ("once.db", "twice.db"):
        shutil.copy(copy, tmp_path / name)
        first = await log_ids(tmp_path / name)
        assert "backup that was put back" in caplog.text
        assert await log_ids(tmp_path / name) == first
        seen.append(first[0])
    assert len({"f0", *seen}) == 3
    # In the file the first event stays as it was.
    with closing(sqlite3.connect(tmp_path / "once.db")) as db:
        (records,) = db.execute("SELECT records FROM batches WHERE seq = 1").fetchone()
    assert b'"f0"' in records


def _backup_there(path: Path, copy: Path) -> None:
    shutil.copy(copy, path)


def _gone(path: Path, _copy: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("replace", [_backup_there, _gone])
async def test_the_wal_of_another_file_is_not_taken(
    killed: Path, tmp_path: Path, replace: Callable[[Path, Path], None]
) -> None:
    """A server was killed, and only its file was removed, or a backup put in its place."""
    copy = tmp_path / "copy.db"
    async with opened(tmp_path / "other.db") as log:
        await log.append("C", 0, opening())
        await log.backup(str(copy))
    replace(killed, copy)
    before = wal_of(killed).read_bytes()
    with pytest.raises(CannotOpen, match=r"emove tables\.db-wal") as caught:
        SqliteLog(killed)
    assert str(killed) in str(caught.value)
    assert wal_of(killed).read_bytes() == before
    wal_of(killed).unlink()
    shutil.copy(copy, killed)
    async with opened(killed) as log:
        assert [entry.handle for entry in await log.open_tables()] == ["C"]


async def test_a_file_of_the_first_form_gets_the_form_of_today(tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    shutil.copy(Path(__file__).parent / "second_log" / "tables.db", path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    async with opened(path) as log:
        entries = await log.open_tables()
        before = [await log.read(entry.handle) for entry in entries]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    async with opened(path) as log:
        assert [await log.read(entry.handle) for entry in entries] == before


async def test_a_schema_that_was_changed_is_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "tables.db"
    await filled(path)
    change(path, "DROP INDEX open_tables")
    with pytest.raises(CannotOpen, match="is damaged: its schema was changed"):
        SqliteLog(path)
