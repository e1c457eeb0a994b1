"""Which log of tables belongs to which URL: the one place that knows every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from odin_server.event_log.interface import EventLog
from odin_server.event_log.memory import MemoryLog
from odin_server.event_log.sqlite import SqliteLog

MEMORY: Final = "memory:"
_SQLITE: Final = "sqlite:"


def url_of(store: Path | None) -> str:
    """The URL of this file of tables; of memory when None."""
    return MEMORY if store is None else f"{_SQLITE}{store}"


def open_log(url: str) -> EventLog:
    """Opens the log at `memory:` or `sqlite:PATH`.

    Raises CannotOpen, or ValueError for another URL.
    """
    if url == MEMORY:
        return MemoryLog()
    if url.startswith(_SQLITE):
        return SqliteLog(Path(url.removeprefix(_SQLITE)))
    raise ValueError(f"{url} is not a log of tables. Write {MEMORY} or {_SQLITE}PATH.")
