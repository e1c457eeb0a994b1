"""The file of a `SqliteLog`: opening it, its form, and what can be wrong with it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final

from odin_server.event_log.interface import StoreUnavailable

FORMAT: Final = 1
"""The form of the file that is written, in its user_version. The records have a version too."""

_APPLICATION: Final = 0x4F64_696E
"""Says in the file whose it is."""

RESTORE: Final = (
    "Put a backup (`odin-table backup`) in its place, or choose another file (--store)."
    """What to do about a file that is damaged."""
)

# `batches` is the log. A request lies in the row of what it did, also when that was nothing or a
# line of chat: such a row has no records and a `part` above 0. Rows lie in the order in which they
# came, whatever their table, so that a round of the log writes few pages; only the small entries
# of the indexes go to a page for each table. (Files from before that keep the rows of a table
# together, and are used as they are: the same statements fit both.) Names, titles and lines are
# apart, so that they can be removed.
_SCHEMA: Final = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};

CREATE TABLE tables (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    handle TEXT NOT NULL UNIQUE,
    host BLOB NOT NULL,
    code TEXT NOT NULL,
    played INTEGER NOT NULL DEFAULT 0,
    named INTEGER NOT NULL DEFAULT 1,
    ended INTEGER
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
    PRIMARY KEY (handle, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE names (
    handle TEXT NOT NULL,
    seq INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (handle, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE beats (only INTEGER PRIMARY KEY CHECK (only = 1), time INTEGER NOT NULL) STRICT;
"""


class CannotOpen(Exception):
    """The file cannot be used. Says which file, why, and what to do."""


class FileDamaged(StoreUnavailable):
    """A page of the file is not what SQLite wrote there."""


def unavailable(error: Exception) -> StoreUnavailable:
    """What an error of SQLite is to whoever uses the log."""
    is_damage = getattr(error, "sqlite_errorname", "").startswith("SQLITE_CORRUPT")
    return (FileDamaged if is_damage else StoreUnavailable)(str(error))


class Connection(sqlite3.Connection):
    """A connection that knows some heads, since the file is its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heads: Final[dict[str, int]] = {}
        """The number of the last record of tables that were written to. To be forgotten whenever
        something that was written is undone."""


def connect(path: Path) -> Connection:
    """Opens the file for this process alone, and makes it when it is missing.

    Raises CannotOpen.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Hands and digests are nobody else's to read; what SQLite puts beside it is as this is.
        path.touch(mode=0o600)
        db = sqlite3.connect(
            path, timeout=1.0, isolation_level=None, check_same_thread=False, factory=Connection
        )
    except (OSError, sqlite3.Error) as error:
        raise _cannot_open(path, error) from error
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        is_new = _check_form(db, path)
        # Each table and each caller has pages of its own, which are written whole for every act:
        # the smallest that a batch fits into. Only a new file takes it.
        db.execute("PRAGMA page_size = 2048")
        db.execute("PRAGMA journal_mode = WAL")
        # Eight megabytes: what is written again and again is taken over seldom.
        db.execute("PRAGMA wal_autocheckpoint = 4000")
        db.execute("PRAGMA synchronous = FULL")
        # The first write takes the lock, which stays.
        db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA if is_new else ''} COMMIT;")
    except (sqlite3.Error, CannotOpen) as error:
        db.close()
        raise error if isinstance(error, CannotOpen) else _cannot_open(path, error) from error
    return db


def _check_form(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is new, and so empty. Raises CannotOpen for a file that is not ours."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (form,) = db.execute("PRAGMA user_version").fetchone()
    if application == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
        return True
    if application != _APPLICATION:
        raise CannotOpen(f"{path} is no file of odin-table. Choose another one with --store.")
    if form > FORMAT:
        raise CannotOpen(
            f"{path} was written by a newer odin-table (form {form}; this one knows {FORMAT}). "
            "Update odin-table, or choose another file with --store."
        )
    return False


def _cannot_open(path: Path, error: Exception) -> CannotOpen:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return CannotOpen(
            f"{path} is used by another server. Stop that one first, sit down there with "
            "`odin-table join 127.0.0.1`, or choose another file with --store."
        )
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return CannotOpen(f"{path} is damaged, or no file of odin-table. {RESTORE}")
    if name.startswith("SQLITE_READONLY"):
        return CannotOpen(f"{path} cannot be written. Allow it, or choose another file (--store).")
    return CannotOpen(f"{path} cannot be opened: {error}. Choose another file with --store.")


def damage(path: Path, table: str, problem: object) -> str:
    """What to say of a table whose records cannot be read."""
    return f"{path}: table {table} is damaged ({problem}). Other tables are not touched. {RESTORE}"
