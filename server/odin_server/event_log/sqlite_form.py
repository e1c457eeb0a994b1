"""The form of the file of a `SqliteLog`: its tables, and what a file of an earlier form lacks."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from typing import Final

FORMAT: Final = 2
"""The form of the file that is written, in its user_version. The records have a version too.

Since form 2 there are records of deals by deal/2, which a server of form 1 would take for damage.
"""

APPLICATION: Final = 0x4F64_696E
"""Says in the file whose it is."""

# About the file itself: whether a server uses it (so that its WAL has to be there), whether it is a
# backup that no server has opened yet, and what has been added to the log ids of its tables since
# it was put back or lost its end.
_FILE: Final = """
CREATE TABLE file (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    is_open INTEGER NOT NULL,
    is_backup INTEGER NOT NULL,
    incarnation TEXT NOT NULL,
    schema INTEGER NOT NULL,
    checksum INTEGER
) STRICT;
"""

# `batches` is the log. A request lies in the row of what it did, also when that was nothing or a
# line of chat: such a row has no records and a `part` above 0. Rows lie in the order in which they
# came, whatever their table, so that a round of the log writes few pages; only the small entries
# of the indexes go to a page for each table. (Files from before that keep the rows of a table
# together, and are used as they are: the same statements fit both.) Names, titles and lines are
# apart, so that they can be removed. A row without a checksum is from before there was one.
_SCHEMA: Final = f"""
PRAGMA application_id = {APPLICATION};

CREATE TABLE tables (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    handle TEXT NOT NULL UNIQUE,
    host BLOB NOT NULL,
    code TEXT NOT NULL,
    played INTEGER NOT NULL DEFAULT 0,
    named INTEGER NOT NULL DEFAULT 1,
    ended INTEGER,
    checksum INTEGER
) STRICT;
CREATE INDEX open_tables ON tables (number) WHERE ended IS NULL;
CREATE INDEX ended_public_tables ON tables (number) WHERE ended IS NOT NULL AND code = '';
CREATE INDEX ended_tables ON tables (ended) WHERE ended IS NOT NULL;
CREATE INDEX unplayed_tables ON tables (ended) WHERE ended IS NOT NULL AND played = 0;
CREATE INDEX named_tables ON tables (ended) WHERE ended IS NOT NULL AND named = 1;

CREATE TABLE batches (
    handle TEXT NOT NULL,
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    records BLOB,
    credential BLOB,
    request_id TEXT,
    content BLOB,
    result INTEGER,
    line INTEGER,
    checksum INTEGER NOT NULL,
    UNIQUE (handle, seq, part)
) STRICT;
CREATE UNIQUE INDEX batches_by_request ON batches (credential, request_id)
    WHERE credential IS NOT NULL;

CREATE TABLE lines (
    handle TEXT NOT NULL,
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    name TEXT NOT NULL,
    seat INTEGER,
    text TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (handle, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE names (
    handle TEXT NOT NULL,
    seq INTEGER NOT NULL,
    name TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (handle, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE beats (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    time INTEGER NOT NULL,
    checksum INTEGER
) STRICT;
"""

_WITH_CHECKSUMS: Final = ("tables", "lines", "names", "beats")
"""The tables whose rows have a checksum since form 2."""


def make_form(db: sqlite3.Connection, form: int) -> None:
    """Gives a file of an earlier form, or a new one (0), the form of today.

    Within a transaction of the caller: a file is never between two forms.
    """
    if form == 0:
        _execute(db, _SCHEMA)
    else:
        _execute(
            db, "".join(f"ALTER TABLE {t} ADD COLUMN checksum INTEGER;" for t in _WITH_CHECKSUMS)
        )
    _execute(db, _FILE)
    db.execute(f"PRAGMA user_version = {FORMAT}")


def _execute(db: sqlite3.Connection, statements: str) -> None:
    # Not executescript, which commits what its caller has begun.
    for statement in statements.split(";"):
        db.execute(statement)


def checksum(values: Iterable[object]) -> int:
    """The checksum of a row with these values. Written into files: it stays as it is."""
    return zlib.crc32(repr(tuple(values)).encode())


def is_sound(row: tuple[object, ...]) -> bool:
    """Whether the last value of a row is the checksum of the others, if it has one."""
    *values, stored = row
    return stored is None or stored == checksum(values)


def schema_sum(db: sqlite3.Connection) -> int:
    """The checksum of the schema."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
    return checksum(rows.fetchall())
