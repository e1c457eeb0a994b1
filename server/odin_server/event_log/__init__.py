"""Where the tables are kept: the log is the truth, everything else is folded from it.

`interface` says what a log has to do, `memory` keeps it for as long as the process lives, `sqlite`
in a file; `codec` turns records into bytes and back, `names` parts them from what people wrote.
"""

from odin_server.event_log.interface import (
    CannotBackUp,
    Conflict,
    Entry,
    EventLog,
    Stored,
    StoreUnavailable,
    TableDamaged,
)
from odin_server.event_log.memory import MemoryLog
from odin_server.event_log.sqlite import SqliteLog
from odin_server.event_log.sqlite_file import RESTORE, CannotOpen

__all__ = [
    "RESTORE",
    "CannotBackUp",
    "CannotOpen",
    "Conflict",
    "Entry",
    "EventLog",
    "MemoryLog",
    "SqliteLog",
    "StoreUnavailable",
    "Stored",
    "TableDamaged",
]
