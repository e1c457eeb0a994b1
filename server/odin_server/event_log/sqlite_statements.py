"""What a `SqliteLog` asks of its file: each function is one question or one change."""

from __future__ import annotations

import sqlite3
import zlib
from typing import NamedTuple

from odin_server.chat import Line
from odin_server.event_log.interface import Conflict, Entry
from odin_server.event_log.milestones import Milestones
from odin_server.events import RequestKey


class Row(NamedTuple):
    """A batch as it lies in the file."""

    handle: str
    seq: int
    """The number of its last record."""
    records: bytes
    checksum: int
    credential: bytes | None
    request_id: str | None
    content: bytes | None

    @classmethod
    def of(cls, handle: str, seq: int, records: bytes, request: RequestKey | None) -> Row:
        """A row with its checksum."""
        row = cls(handle, seq, records, 0, *(request or (None, None, None)))
        return row._replace(checksum=row.sum())

    def sum(self) -> int:
        """The checksum of everything else in it."""
        parts = (self.handle, self.seq, self.credential, self.request_id, self.content)
        return zlib.crc32(self.records, zlib.crc32(repr(parts).encode()))

    @property
    def request(self) -> RequestKey | None:
        """The request that led to it."""
        if self.credential is None or self.request_id is None or self.content is None:
            return None
        return RequestKey(self.credential, self.request_id, self.content)


class Found(NamedTuple):
    """What a request led to."""

    handle: str
    seq: int
    content: bytes
    row: Row | None = None
    """The batch, if it added records."""
    line: int | None = None
    result: int | None = None


def append(
    db: sqlite3.Connection,
    row: Row,
    expected_seq: int,
    names: dict[int, str],
    milestones: Milestones,
) -> None:
    """Adds a batch. Raises Conflict, having changed nothing."""
    _check_head(db, row.handle, expected_seq)
    _check_request(db, row.request)
    if milestones.opened:
        opened = milestones.opened
        db.execute(
            "INSERT INTO tables (handle, host, code) VALUES (?, ?, ?)",
            (row.handle, opened.host, opened.code),
        )
    db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    if names:
        db.executemany(
            "INSERT INTO names VALUES (?, ?, ?)",
            [(row.handle, seq, name) for seq, name in names.items()],
        )
    if milestones.played:
        db.execute("UPDATE tables SET played = 1 WHERE handle = ?", (row.handle,))
    if milestones.ended is not None:
        db.execute("UPDATE tables SET ended = ? WHERE handle = ?", (milestones.ended, row.handle))


def answer(
    db: sqlite3.Connection, handle: str, seq: int, request: RequestKey, result: int | None
) -> None:
    """Keeps a request that had nothing to do. Raises Conflict."""
    _check_head(db, handle, seq)
    _check_request(db, request)
    db.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*request, handle, seq, result))


def say(db: sqlite3.Connection, handle: str, line: Line, request: RequestKey) -> int:
    """Keeps a line of chat and returns its number. Raises Conflict."""
    seq = _head(db, handle)
    if not seq:
        raise Conflict
    _check_request(db, request)
    (last,) = db.execute("SELECT max(number) FROM lines WHERE handle = ?", (handle,)).fetchone()
    number: int = (last or 0) + 1
    db.execute(
        "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (handle, number, *line[1:], seq, *request),
    )
    return number


def _head(db: sqlite3.Connection, handle: str) -> int:
    """The number of the last record of a table; 0 for an unknown one."""
    (head,) = db.execute("SELECT max(seq) FROM batches WHERE handle = ?", (handle,)).fetchone()
    return head or 0


def _check_head(db: sqlite3.Connection, handle: str, expected_seq: int) -> None:
    if _head(db, handle) != expected_seq:
        raise Conflict


_KNOWN = """
SELECT 1 FROM batches WHERE credential = ?1 AND request_id = ?2
UNION ALL SELECT 1 FROM answers WHERE credential = ?1 AND request_id = ?2
UNION ALL SELECT 1 FROM lines WHERE credential = ?1 AND request_id = ?2
"""


def _check_request(db: sqlite3.Connection, request: RequestKey | None) -> None:
    if request and db.execute(_KNOWN, request[:2]).fetchone():
        raise Conflict


def rows_after(db: sqlite3.Connection, handle: str, seq: int) -> tuple[list[Row], dict[int, str]]:
    """The batches of a table with records after this number, and the table's names."""
    found = db.execute(
        "SELECT * FROM batches WHERE handle = ? AND seq > ? ORDER BY seq", (handle, seq)
    )
    return [Row(*row) for row in found], names_of(db, handle)


def names_of(db: sqlite3.Connection, handle: str) -> dict[int, str]:
    """The names and titles of a table, by the number of their record."""
    return dict(db.execute("SELECT seq, name FROM names WHERE handle = ?", (handle,)).fetchall())


def find(
    db: sqlite3.Connection, credential: bytes, request_id: str
) -> tuple[Found, dict[int, str]] | None:
    """What a request led to, and the names of its table."""
    key = (credential, request_id)
    where = "WHERE credential = ? AND request_id = ?"
    if batch := db.execute(f"SELECT * FROM batches {where}", key).fetchone():
        row = Row(*batch)
        assert row.content is not None, "a row that was found by its request has one"
        return Found(row.handle, row.seq, row.content, row), names_of(db, row.handle)
    if nothing := db.execute(
        f"SELECT handle, seq, content, result FROM answers {where}", key
    ).fetchone():
        handle, seq, content, result = nothing
        return Found(handle, seq, content, result=result), {}
    if line := db.execute(
        f"SELECT handle, seq, content, number FROM lines {where}", key
    ).fetchone():
        handle, seq, content, number = line
        return Found(handle, seq, content, line=number), {}
    return None


def lines(db: sqlite3.Connection, handle: str, most: int) -> list[Line]:
    """The last lines of a table, oldest first."""
    found = db.execute(
        "SELECT number, time, name, seat, text FROM lines WHERE handle = ? "
        "ORDER BY number DESC LIMIT ?",
        (handle, most),
    )
    return [Line(*line) for line in found][::-1]


_ENTRY = "SELECT number, handle, host, code FROM tables"


def entry(db: sqlite3.Connection, handle: str) -> Entry | None:
    """The entry of a table."""
    found = db.execute(f"{_ENTRY} WHERE handle = ?", (handle,)).fetchone()
    return Entry(*found) if found else None


def open_tables(db: sqlite3.Connection) -> list[Entry]:
    """Every table that has not ended, oldest first."""
    return [Entry(*row) for row in db.execute(f"{_ENTRY} WHERE ended IS NULL ORDER BY number")]


def ended_tables(db: sqlite3.Connection, before: int, most: int, private: bool) -> list[Entry]:
    """Tables that have ended, newest first."""
    public = "" if private else "AND code = ''"
    found = db.execute(
        f"{_ENTRY} WHERE ended IS NOT NULL {public} AND number < ? ORDER BY number DESC LIMIT ?",
        (before, most),
    )
    return [Entry(*row) for row in found]


def forget_ended(db: sqlite3.Connection, before: int, most: int, unplayed: bool) -> list[str]:
    """Removes tables with everything that belongs to them; returns their handles."""
    condition = "ended IS NOT NULL AND ended < ?" + (" AND played = 0" if unplayed else "")
    handles = _handles(db, condition, before, most)
    for table in ("batches", "answers", "lines", "names", "tables"):
        _delete(db, table, handles)
    return handles


def forget_names(db: sqlite3.Connection, before: int, most: int) -> list[str]:
    """Removes names, titles and lines; returns the handles of their tables."""
    handles = _handles(db, "ended IS NOT NULL AND ended < ? AND named = 1", before, most)
    for table in ("lines", "names"):
        _delete(db, table, handles)
    db.executemany(
        "UPDATE tables SET named = 0 WHERE handle = ?", [(handle,) for handle in handles]
    )
    return handles


def _handles(db: sqlite3.Connection, condition: str, before: int, most: int) -> list[str]:
    found = db.execute(
        f"SELECT handle FROM tables WHERE {condition} ORDER BY ended LIMIT ?", (before, most)
    )
    return [handle for (handle,) in found]


def _delete(db: sqlite3.Connection, table: str, handles: list[str]) -> None:
    db.executemany(f"DELETE FROM {table} WHERE handle = ?", [(handle,) for handle in handles])


def beat(db: sqlite3.Connection, now: int) -> None:
    """Notes that the server lives."""
    db.execute("INSERT OR REPLACE INTO beats VALUES (1, ?)", (now,))


def last_beat(db: sqlite3.Connection) -> int | None:
    """When the server was last known to live."""
    found = db.execute("SELECT time FROM beats").fetchone()
    return found[0] if found else None
