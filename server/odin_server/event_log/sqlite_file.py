"""The file of a `SqliteLog`: opening it, and what can be wrong with it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any, Final

from odin_server.event_log.interface import StoreUnavailable
from odin_server.event_log.sqlite_form import APPLICATION, FORMAT, make_form
from odin_server.event_log.sqlite_mark import Opened, SchemaDamaged, mark_open, settle, take_up
from odin_server.event_log.sqlite_wal import wal_of

RESTORE: Final = (
    "Put a backup (`odin-table backup`) in its place, or choose another file (--store)."
)
"""What to do about a file that is damaged."""

_PASSING: Final = (
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_INTERRUPT",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_NOMEM",
    "SQLITE_PERM",
    "SQLITE_PROTOCOL",
    "SQLITE_READONLY",
)
"""What SQLite calls errors that say nothing about the contents of the file."""

_DAMAGE: Final = ("SQLITE_IOERR_CORRUPTFS", "SQLITE_IOERR_DATA")
"""Those among them that do."""

SqliteErrors: Final = (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError)
"""What the module raises for what SQLite says, also when it cannot read what SQLite says."""


class CannotOpen(Exception):
    """The file cannot be used. Says which file, why, and what to do."""


class FileDamaged(StoreUnavailable):
    """Something in the file is not what SQLite wrote there."""


def is_damage(error: BaseException) -> bool:
    """Whether this error of SQLite is about the contents of the file, and so will not pass."""
    if isinstance(error, MemoryError | CannotOpen):
        return False
    # Without a name: a text that is not UTF-8, for one. Statements that fit every sound file.
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(_DAMAGE) or not name.startswith(_PASSING)


def unavailable(error: BaseException) -> StoreUnavailable:
    """What an error of SQLite is to whoever uses the log."""
    return (FileDamaged if is_damage(error) else StoreUnavailable)(str(error))


class Connection(sqlite3.Connection):
    """A connection that knows some heads, since the file is its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heads: Final[dict[str, int]] = {}
        """The number of the last record of tables that were written to. To be forgotten whenever
        something that was written is undone."""
        self.path: Path = Path(args[0])
        self.opened = Opened("")
        self._file, self._wal = str(self.path), str(wal_of(self.path))
        self._files = (_NOWHERE, _NOWHERE)

    def remember_files(self) -> None:
        """Notes which files it has open: those that are there now."""
        self._files = (_number(self._file), _number(self._wal))

    def is_at(self, other: Connection) -> bool:
        """Whether its file is the one that another connection had open."""
        return _number(self._file) == other._files[0]

    def displacement(self, *, of_wal: bool = False) -> str:
        """What has become of its file since it was opened; empty if it is still there."""
        if of_wal:
            path, is_there = self._wal, _number(self._wal) == self._files[1]
        else:
            path, is_there = self._file, _number(self._file) == self._files[0]
        if is_there:
            return ""
        return (
            f"{path} was removed or replaced while this server uses it. Put it back, or stop this "
            "server."
        )


_NOWHERE: Final = (0, 0)


def _number(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 (for each commit)
    except OSError:
        return _NOWHERE
    return found.st_dev, found.st_ino


def connect(path: Path, before: Connection | None = None) -> Connection:
    """Opens the file for this process alone, and makes it when it is missing.

    `before`: the connection that this process had, if it had one. Raises CannotOpen.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_foreign_wal(path)
        # Hands and digests are nobody else's to read; what SQLite puts beside it is as this is.
        path.touch(mode=0o600)
        db = sqlite3.connect(
            path, timeout=1.0, isolation_level=None, check_same_thread=False, factory=Connection
        )
    except (OSError, *SqliteErrors) as error:
        raise _cannot_open(path, error) from error
    # What is not UTF-8 is found by its checksum, as is every other change.
    db.text_factory = text_of
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        form = _form_of(db, path)
        # Each table and each caller has pages of its own, which are written whole for every act:
        # the smallest that a batch fits into. Only a new file takes it.
        db.execute("PRAGMA page_size = 2048")
        db.execute("PRAGMA journal_mode = WAL")
        checkpoint_automatically(db)
        db.execute("PRAGMA synchronous = FULL")
        # The first write takes the lock, which stays.
        db.execute("BEGIN IMMEDIATE")
        db.execute("COMMIT")
        _take_up(db, path, form, before)
    except (*SqliteErrors, CannotOpen) as error:
        db.close()
        raise error if isinstance(error, CannotOpen) else _cannot_open(path, error) from error
    return db


def checkpoint_automatically(db: sqlite3.Connection, *, wanted: bool = True) -> None:
    """Takes over what is in the WAL whenever it has eight megabytes, or does not.

    What is written again and again is taken over seldom.
    """
    db.execute(f"PRAGMA wal_autocheckpoint = {4000 if wanted else 0}")


def text_of(data: bytes) -> str:
    """The text in these bytes, whatever they are."""
    return data.decode("utf-8", "replace")


def _take_up(db: Connection, path: Path, form: int, before: Connection | None) -> None:
    """Finds out how the last server ended, and says in the main file that this one has begun."""
    frames = settle(db)
    if before is not None:
        if not db.is_at(before):
            raise CannotOpen(before.displacement())
        db.opened = before.opened
    else:
        try:
            db.opened = take_up(db, path, frames, has_mark=form == FORMAT)
        except SchemaDamaged:
            raise CannotOpen(f"{path} is damaged: its schema was changed. {RESTORE}") from None
    # Whatever follows the end goes, so that it is not met again.
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.execute("BEGIN IMMEDIATE")
    if form != FORMAT:
        make_form(db, form)
    mark_open(db, db.opened.incarnation)
    db.execute("COMMIT")
    settle(db)
    db.remember_files()


def _refuse_foreign_wal(path: Path) -> None:
    """SQLite would take the WAL of another file, and mix both. Raises CannotOpen or OSError."""
    wal = wal_of(path)
    if not wal.exists() or not wal.stat().st_size:
        return
    header = b""
    if path.exists():
        with path.open("rb") as file:
            header = file.read(20)
    if not header:
        raise CannotOpen(
            f"{path} is gone, or empty, but {wal.name} is there, which is of no use without it. "
            f"Put {path.name} back, or remove {wal.name} to begin without any table."
        )
    # A file without a WAL says so. Our own have one, except for backups.
    if header[18:20] == b"\x01\x01":
        raise CannotOpen(
            f"{path} is a backup, and {wal.name} beside it belongs to the file that was here "
            f"before. Remove {wal.name}, then start again."
        )


def _form_of(db: sqlite3.Connection, path: Path) -> int:
    """The form of the file; 0 for a new one, which is empty. Raises CannotOpen for any other."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (form,) = db.execute("PRAGMA user_version").fetchone()
    if application == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone():
        return 0
    if application != APPLICATION:
        raise CannotOpen(f"{path} is no file of odin-table. Choose another one with --store.")
    if form > FORMAT:
        raise CannotOpen(
            f"{path} was written by a newer odin-table (form {form}; this one knows {FORMAT}). "
            "Update odin-table, or choose another file with --store."
        )
    if form < 1:
        raise CannotOpen(f"{path} is damaged: it has no form. {RESTORE}")
    return int(form)


def _cannot_open(path: Path, error: BaseException) -> CannotOpen:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return CannotOpen(
            f"{path} is used by another server. Stop that one first, sit down there with "
            "`odin-table join 127.0.0.1:PORT`, or choose another file with --store."
        )
    if not isinstance(error, OSError) and is_damage(error):
        return CannotOpen(f"{path} is damaged, or no file of odin-table. {RESTORE}")
    if name.startswith("SQLITE_READONLY"):
        return CannotOpen(f"{path} cannot be written. Allow it, or choose another file (--store).")
    return CannotOpen(f"{path} cannot be opened: {error}. Choose another file with --store.")


def damage(path: Path, table: str, problem: object) -> str:
    """What to say of a table whose records cannot be read."""
    return f"{path}: table {table} is damaged ({problem}). Other tables are not touched. {RESTORE}"
