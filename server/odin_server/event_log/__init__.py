"""Where the tables are kept: the log is the truth, everything else is folded from it.

`interface` says what a log has to do, `memory` keeps it for as long as the process lives, `codec`
turns records into bytes and back.
"""

from odin_server.event_log.interface import Conflict, EventLog, Stored, StoreUnavailable
from odin_server.event_log.memory import MemoryLog

__all__ = ["Conflict", "EventLog", "MemoryLog", "StoreUnavailable", "Stored"]
