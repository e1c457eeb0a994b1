"""Damage in a file that reading alone would not notice, and the tables that it concerns.

The rows have checksums, but a row that an index does not find is not missed: at the end of a table
it would have been an earlier end. So indexes are compared with rows: at the start when that takes
no time, else beside the first acts.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from odin_server.event_log.sqlite_file import SqliteErrors, text_of

_log: Final = logging.getLogger(__name__)

_SMALL: Final = 4 * 1024 * 1024
"""Bytes of a file that is looked through within 20 milliseconds or so."""

_DELAY: Final = 1.0
"""Seconds after the start, when others have more urgent things to read."""

_NAMED: Final = 5
"""How many problems the operator is told."""


class Damage(NamedTuple):
    """What is wrong in a file."""

    problems: tuple[str, ...] = ()
    """In SQLite's words."""
    tables: frozenset[str] = frozenset()
    """The handles of tables that may lack something."""


def is_small(path: Path) -> bool:
    """Whether looking through this file delays nobody."""
    return path.stat().st_size <= _SMALL


def damage_in(db: sqlite3.Connection) -> Damage:
    """Looks through the file: 200 MB take a second."""
    try:
        found = db.execute(f"PRAGMA integrity_check({_NAMED})").fetchall()
        problems = tuple(" ".join(str(row[0]).split()) for row in found)
    except SqliteErrors as error:
        problems = (str(error),)
    if problems == ("ok",):
        return Damage()
    incomplete = _incomplete(db, "batches") | _incomplete(db, "tables")
    return Damage(problems, frozenset(incomplete))


class Search:
    """Looks through a file in a thread of its own, while its server writes to the WAL alone."""

    def __init__(self, path: Path, found: Callable[[Damage], None]) -> None:
        """Calls `found` in that thread, when it finds something.

        Nothing may be checkpointed until it `is_over`, since only the main file is read.
        """
        self._path: Final = path
        self._found: Final = found
        self._cancelled: Final = threading.Event()
        self._thread: Final = threading.Thread(target=self._run, name="damage", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it reads no more."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Nothing is found any more. What it reads meanwhile may change."""
        self._cancelled.set()

    def _run(self) -> None:
        if self._cancelled.wait(_DELAY):
            return
        # Without a look at locks and at the WAL, which are this process's own.
        uri = f"{self._path.absolute().as_uri()}?immutable=1"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as db:
                db.text_factory = text_of
                damage = damage_in(db)
        except SqliteErrors as error:
            _log.warning("%s could not be looked through: %s", self._path, error)
            return
        if damage.problems and not self._cancelled.is_set():
            self._found(damage)


class _Index(NamedTuple):
    """An index that a query relies on."""

    name: str
    columns: tuple[str, ...]
    condition: str = "1"
    """Which rows it has."""
    is_searched: bool = True
    """Whether single rows are searched in it, or it is read in order."""


_INDEXES: Final = {
    "batches": (
        _Index("sqlite_autoindex_batches_1", ("handle", "seq", "part")),
        _Index("batches_by_request", ("credential", "request_id"), "credential IS NOT NULL"),
    ),
    "tables": (
        _Index("sqlite_autoindex_tables_1", ("handle",)),
        _Index("open_tables", ("number",), "ended IS NULL", is_searched=False),
    ),
}


def _incomplete(db: sqlite3.Connection, what: str) -> set[str]:
    """The tables some of whose rows are not the same by way of each index and without one."""
    handles = _walk(db, f"SELECT rowid, handle FROM {what} NOT INDEXED", ("rowid",))
    differing: set[int] = set()
    for index in _INDEXES[what]:
        select = f"SELECT rowid, {', '.join(index.columns)} FROM {what}"
        rows = _walk(db, f"{select} NOT INDEXED WHERE {index.condition}", ("rowid",))
        by_index = f"{select} INDEXED BY {index.name} WHERE {index.condition}"
        entries = _walk(db, by_index, index.columns)
        differing |= {entry[0] for entry in rows ^ entries}
        if index.is_searched:
            search = f"{by_index} AND {' AND '.join(f'{column} = ?' for column in index.columns)}"
            differing |= {row[0] for row in rows if not _finds(db, search, row)}
        if "handle" in index.columns:
            # A table is named by the row and by its entry.
            handles |= {entry[:2] for entry in entries}
    # What is damaged may be of any type.
    return {str(handle) for number, handle in handles if number in differing}


def _finds(db: sqlite3.Connection, search: str, row: tuple[Any, ...]) -> bool:
    try:
        return bool(db.execute(search, row[1:]).fetchone() == row)
    except SqliteErrors:
        return False


def _walk(db: sqlite3.Connection, select: str, order: tuple[str, ...]) -> set[tuple[Any, ...]]:
    """What a query finds; where a page cannot be read, what it finds from both ends up to there."""
    found: set[tuple[Any, ...]] = set()
    for direction in ("ASC", "DESC"):
        by = ", ".join(f"{column} {direction}" for column in order)
        try:
            found.update(db.execute(f"{select} ORDER BY {by}"))
        except SqliteErrors:
            continue
        break
    return found


def entries(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """The rows of all tables that can be read, by number."""
    rows = _walk(db, "SELECT * FROM tables NOT INDEXED", ("number",))
    return sorted(rows, key=lambda row: row[0])
