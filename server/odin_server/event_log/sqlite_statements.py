"""What a `SqliteLog` asks of its file: each function is one question or one change."""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from odin_server.event_log.interface import Conflict, Entry, StoreUnavailable, TableDamaged
from odin_server.event_log.milestones import Milestones
from odin_server.event_log.sqlite_damage import entries
from odin_server.event_log.sqlite_file import Connection, SqliteErrors, damage, is_damage
from odin_server.event_log.sqlite_form import checksum, is_sound
from odin_server.table.chat import Line
from odin_server.table.events import RequestKey

_log: Final = logging.getLogger(__name__)

_MOST_HEADS: Final = 10_000
"""Heads that a connection remembers."""


class Row(NamedTuple):
    """A batch as it lies in the file."""

    handle: str
    seq: int
    """The number of its last record, or of the table's last record when it has none."""
    part: int
    """0 for records; else it counts the batches without records after that record."""
    records: bytes | None
    credential: bytes | None
    request_id: str | None
    content: bytes | None
    result: int | None = None
    line: int | None = None
    checksum: int = 0

    @property
    def request(self) -> RequestKey | None:
        """The request that led to it."""
        if self.credential is None or self.request_id is None or self.content is None:
            return None
        return RequestKey(self.credential, self.request_id, self.content)

    @property
    def sum(self) -> int:
        """The checksum of everything else in it."""
        # What is damaged may be of any type.
        records = self.records if isinstance(self.records, bytes) else b""
        return zlib.crc32(records, zlib.crc32(repr((*self[:3], *self[4:9])).encode()))

    def with_checksum(self) -> Row:
        """The row with what its checksum has to be."""
        return Row(*self[:9], self.sum)


def of_records(handle: str, seq: int, records: bytes, request: RequestKey | None) -> Row:
    """The row of a batch whose last record has this number."""
    return Row(handle, seq, 0, records, *(request or (None, None, None))).with_checksum()


def append(
    db: Connection, row: Row, expected_seq: int, names: dict[int, str], milestones: Milestones
) -> None:
    """Adds a batch with records. Raises Conflict or TableDamaged, having changed nothing."""
    _check_head(db, row.handle, expected_seq)
    if (milestones.played or milestones.ended is not None) and not milestones.opened:
        _entry_row(db, row.handle)
    _insert(db, row)
    db.heads[row.handle] = row.seq
    if milestones.opened:
        opened = milestones.opened
        db.execute(
            "INSERT INTO tables (handle, host, code) VALUES (?, ?, ?)",
            (row.handle, opened.host, opened.code),
        )
    if names:
        named = [(row.handle, seq, name) for seq, name in names.items()]
        db.executemany(
            "INSERT INTO names VALUES (?, ?, ?, ?)", [(*name, checksum(name)) for name in named]
        )
    if milestones.played:
        db.execute("UPDATE tables SET played = 1 WHERE handle = ?", (row.handle,))
    if milestones.ended is not None:
        db.execute("UPDATE tables SET ended = ? WHERE handle = ?", (milestones.ended, row.handle))
        del db.heads[row.handle]
    if milestones != Milestones():
        _seal(db, row.handle)


def answer(db: Connection, handle: str, seq: int, request: RequestKey, result: int | None) -> None:
    """Keeps a request that had nothing to do. Raises Conflict."""
    _check_head(db, handle, seq)
    part = _next_part(db, handle, seq)
    _insert(db, Row(handle, seq, part, None, *request, result=result).with_checksum())


def say(db: Connection, handle: str, line: Line, request: RequestKey) -> int:
    """Keeps a line of chat and returns its number. Raises Conflict."""
    seq = _head(db, handle)
    if not seq:
        raise Conflict
    (last,) = db.execute("SELECT max(number) FROM lines WHERE handle = ?", (handle,)).fetchone()
    number: int = (last or 0) + 1
    part = _next_part(db, handle, seq)
    _insert(db, Row(handle, seq, part, None, *request, line=number).with_checksum())
    kept = (handle, number, *line[1:])
    db.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)", (*kept, checksum(kept)))
    return number


def _head(db: Connection, handle: str) -> int:
    """The number of the last record of a table; 0 for an unknown one."""
    head = db.heads.get(handle)
    if head is None:
        (found,) = db.execute("SELECT max(seq) FROM batches WHERE handle = ?", (handle,)).fetchone()
        head = found or 0
        if len(db.heads) >= _MOST_HEADS:
            db.heads.clear()
    return head


def _check_head(db: Connection, handle: str, expected_seq: int) -> None:
    if _head(db, handle) != expected_seq:
        raise Conflict


def _next_part(db: Connection, handle: str, seq: int) -> int:
    (last,) = db.execute(
        "SELECT max(part) FROM batches WHERE handle = ? AND seq = ?", (handle, seq)
    ).fetchone()
    part: int = last + 1
    return part


def _insert(db: Connection, row: Row) -> None:
    try:
        db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    except sqlite3.IntegrityError:
        # The request is known. Only this statement was undone.
        raise Conflict from None


def rows_after(db: Connection, handle: str, seq: int) -> tuple[list[Row], dict[int, str]]:
    """The batches of a table with records after this number, and the table's names."""
    found = db.execute(
        "SELECT * FROM batches WHERE handle = ? AND seq > ? AND part = 0 ORDER BY seq",
        (handle, seq),
    )
    return [Row(*row) for row in found], names_of(db, handle)


def names_of(db: Connection, handle: str) -> dict[int, str]:
    """The names and titles of a table, by the number of their record; without damaged ones."""
    found = db.execute("SELECT * FROM names WHERE handle = ?", (handle,))
    return {seq: name for _, seq, name, _ in _sound(db, "name", found)}


def _sound(db: Connection, what: str, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Those of these rows that are as they were written; tells the operator of others.

    What people wrote is no part of the game, which goes on without it.
    """
    sound: list[tuple[Any, ...]] = []
    for row in rows:
        if is_sound(row):
            sound.append(row)
        else:
            _log.error("%s: table %s: a %s is damaged and left out", db.path, row[0], what)
    return sound


def find(db: Connection, credential: bytes, request_id: str) -> tuple[Row, dict[int, str]] | None:
    """The row that a request led to, and the names of its table."""
    found = db.execute(
        "SELECT * FROM batches WHERE credential = ? AND request_id = ?", (credential, request_id)
    ).fetchone()
    if found is None:
        return None
    row = Row(*found)
    return row, names_of(db, row.handle) if row.records else {}


def lines(db: Connection, handle: str, most: int) -> list[Line]:
    """The last lines of a table, oldest first; without damaged ones."""
    found = db.execute(
        "SELECT * FROM lines WHERE handle = ? ORDER BY number DESC LIMIT ?", (handle, most)
    )
    return [Line(*row[1:-1]) for row in _sound(db, "line of chat", found)][::-1]


_ENTRY: Final = "SELECT number, handle, host, code, played, named, ended, checksum FROM tables"
_CODE, _ENDED = 3, 6


def entry(db: Connection, handle: str) -> Entry | None:
    """The entry of a table. Raises TableDamaged."""
    found = _entry_row(db, handle)
    return Entry(*found[:4]) if found else None


def _entry_row(db: Connection, handle: str) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None
    found = db.execute(f"{_ENTRY} WHERE handle = ?", (handle,)).fetchone()
    if found and not is_sound(found):
        raise TableDamaged(damage(db.path, handle, "its entry in the list of tables"))
    return found


def _seal(db: Connection, handle: str) -> None:
    """Makes the checksum of an entry that was changed, and was sound before."""
    found = db.execute(f"{_ENTRY} WHERE handle = ?", (handle,)).fetchone()
    if found:
        db.execute(
            "UPDATE tables SET checksum = ? WHERE handle = ?", (checksum(found[:-1]), handle)
        )


def _sound_entries(db: Connection, condition: str, *values: object) -> list[tuple[Any, ...]]:
    """The entries that fit; tells the operator of damaged ones."""
    return [
        row for row in db.execute(f"{_ENTRY} WHERE {condition}", values) if _is_entry_sound(db, row)
    ]


def _is_entry_sound(db: Connection, row: tuple[Any, ...]) -> bool:
    """Whether an entry is sound; tells the operator when it is not."""
    if not is_sound(row):
        _log.error("%s", damage(db.path, row[1], "its entry in the list of tables"))
        return False
    return True


def open_tables(db: Connection) -> list[Entry]:
    """Every table that has not ended, oldest first; without damaged entries."""
    try:
        found = _sound_entries(db, "ended IS NULL ORDER BY number")
    except SqliteErrors as error:
        found = [row for row in _readable_entries(db, error) if row[_ENDED] is None]
    return [Entry(*row[:4]) for row in found]


def ended_tables(db: Connection, before: int, most: int, private: bool) -> list[Entry]:
    """Tables that have ended, newest first; without damaged entries."""
    public = "" if private else "AND code = ''"
    condition = f"ended IS NOT NULL {public} AND number < ? ORDER BY number DESC LIMIT ?"
    try:
        found = _sound_entries(db, condition, before, most)
    except SqliteErrors as error:
        ended = [row for row in _readable_entries(db, error) if row[_ENDED] is not None]
        fitting = [row for row in ended if row[0] < before and (private or row[_CODE] == "")]
        found = fitting[: -most - 1 : -1]
    return [Entry(*row[:4]) for row in found]


def _readable_entries(db: Connection, error: BaseException) -> list[tuple[Any, ...]]:
    """The sound entries, by number, when damage keeps a query from finding them."""
    if not is_damage(error):
        raise error
    return [row for row in entries(db) if _is_entry_sound(db, row)]


def forget_ended(db: Connection, before: int, most: int, unplayed: bool) -> list[str]:
    """Removes tables with everything that belongs to them; returns their handles."""
    condition = "ended IS NOT NULL AND ended < ?" + (" AND played = 0" if unplayed else "")
    handles = _handles(db, condition, before, most)
    db.heads.clear()
    for table in ("batches", "lines", "names", "tables"):
        _delete(db, table, handles)
    return handles


def forget_names(db: Connection, before: int, most: int) -> list[str]:
    """Removes names, titles and lines; returns the handles of their tables."""
    handles = _handles(db, "ended IS NOT NULL AND ended < ? AND named = 1", before, most)
    for table in ("lines", "names"):
        _delete(db, table, handles)
    for handle in handles:
        db.execute("UPDATE tables SET named = 0 WHERE handle = ?", (handle,))
        _seal(db, handle)
    return handles


def _handles(db: Connection, condition: str, before: int, most: int) -> list[str]:
    found = _sound_entries(db, f"{condition} ORDER BY ended LIMIT ?", before, most)
    return [row[1] for row in found]


def _delete(db: Connection, table: str, handles: list[str]) -> None:
    db.executemany(f"DELETE FROM {table} WHERE handle = ?", [(handle,) for handle in handles])


def look(db: Connection) -> None:
    """Raises StoreUnavailable when the file or its WAL is not in its place any more."""
    if displacement := db.displacement() or db.displacement(of_wal=True):
        raise StoreUnavailable(displacement)


def beat(db: Connection, now: int) -> None:
    """Notes that the server lives, and looks whether the log is in its place."""
    look(db)
    db.execute("INSERT OR REPLACE INTO beats VALUES (1, ?, ?)", (now, checksum((1, now))))


def last_beat(db: Connection) -> int | None:
    """When the server was last known to live; None when that is damaged."""
    found = db.execute("SELECT * FROM beats").fetchone()
    if found and not is_sound(found):
        _log.error("%s: the time of the last beat is damaged and left out", db.path)
        return None
    return found[1] if found else None
