"""The mark that a server leaves in the file: how the last one ended, and what follows from it.

Before the first act of a server its main file says that it is open. A file that says so has a WAL
with at least a frame in it, whatever happened to the server: one without has lost its end. Log ids
as clients see them get an incarnation then, and also when a backup is put back, so that no client
goes on from a number that means another event by now. It is drawn by chance rather than counted,
since the same backup may be put back twice.
"""

from __future__ import annotations

import secrets
import sqlite3
from pathlib import Path
from typing import NamedTuple

from odin_server.event_log.sqlite_form import checksum, is_sound, schema_sum
from odin_server.event_log.sqlite_wal import end_of_wal, wal_of


class Mark(NamedTuple):
    """The one row of the table `file`, without its checksum."""

    only: int = 1
    is_open: int = 0
    """Whether a server uses the file, or used it and did not close it."""
    is_backup: int = 0
    """Whether it is a backup that no server has opened yet."""
    incarnation: str = ""
    """Part of the log ids that clients see."""
    schema: int = 0
    """The checksum of the schema."""


class Opened(NamedTuple):
    """What was found out about a file when it was opened."""

    incarnation: str
    problem: str = ""
    """What is wrong with its end; empty when nothing is."""
    was_backup: bool = False
    """Whether it is a backup that was put back."""


class SchemaDamaged(Exception):
    """The schema is not the one that was written."""


def take_up(db: sqlite3.Connection, path: Path, frames: int, *, has_mark: bool) -> Opened:
    """Compares the mark with the WAL, of which `frames` are whole. Changes nothing.

    Raises SchemaDamaged.
    """
    mark = _read(db) if has_mark else Mark()
    if has_mark and mark and mark.schema != schema_sum(db):
        raise SchemaDamaged
    end = end_of_wal(wal_of(path), frames)
    problem = ""
    if mark is None:
        problem = "what it says of itself is not what was written"
    elif end.is_damaged:
        problem = "entries at the end of its -wal file are not as they were written"
    elif not end.begins and (mark.is_open or end.size):
        problem = "its -wal file is missing, empty or overwritten, and the last server did not stop"
    incarnation = mark.incarnation if mark else ""
    was_backup = mark is not None and bool(mark.is_backup)
    if problem or was_backup:
        incarnation = secrets.token_hex(4)
    return Opened(incarnation, problem, was_backup)


def mark_open(db: sqlite3.Connection, incarnation: str) -> None:
    """Says that a server uses the file. Takes effect with `settle`, after the commit."""
    _write(db, Mark(is_open=1, incarnation=incarnation, schema=schema_sum(db)))


def mark_closed(db: sqlite3.Connection) -> None:
    """Says that the last server has ended, and needs no WAL any more."""
    settle(db)
    mark = _read(db)
    if mark:
        _write(db, mark._replace(is_open=0))


def mark_backup(path: Path) -> None:
    """Says in a copy that it is one."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        mark = _read(db) or Mark(schema=schema_sum(db))
        _write(db, mark._replace(is_open=0, is_backup=1))
    finally:
        db.close()


def settle(db: sqlite3.Connection) -> int:
    """Brings all that is committed into the main file; returns how many frames the WAL had."""
    _busy, frames, _moved = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return max(0, int(frames))


def _read(db: sqlite3.Connection) -> Mark | None:
    """The mark; None when it is not as it was written."""
    row = db.execute("SELECT * FROM file").fetchone()
    return Mark(*row[:-1]) if row and is_sound(row) else None


def _write(db: sqlite3.Connection, mark: Mark) -> None:
    db.execute("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?)", (*mark, checksum(mark)))
