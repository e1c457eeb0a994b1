"""A clock that tests set by hand."""

from __future__ import annotations

import time

from odin_server.clock import SystemClock
from odin_server.main import Server


class SetClock:
    """Time stands still until a test lets some pass. What is due then happens at once.

    The server runs meanwhile, however slow the machine is.
    """

    def __init__(self) -> None:
        self.time = 1_700_000_000_000_000
        """Microseconds since 1970."""
        self.stopped = 0.0
        """Seconds for which the server did not run, as far as it can tell."""

    def now(self) -> int:
        return self.time

    def monotonic(self) -> float:
        return self.stopped

    def follow(self, *, may_go_back: bool) -> int:
        return 0

    def not_before(self, moment: int) -> int:
        return 0

    def let_pass(self, seconds: float, server: Server) -> None:
        """Moves the clock on, and lets every table look at what is due."""
        self.time += round(seconds * 1_000_000)
        for table in server.lobby.tables():
            table.changed()

    def stop_the_server(self, seconds: float) -> None:
        """Time passes in which the server does not run, as after SIGSTOP."""
        self.time += round(seconds * 1_000_000)
        self.stopped += seconds


class Machine:
    """The clocks of a machine whose time somebody sets."""

    def __init__(self) -> None:
        self.ahead = 0
        """Nanoseconds by which its wall clock is ahead of the real one."""

    def set_time(self, seconds: float) -> None:
        """Sets the wall clock forward, or back."""
        self.ahead += round(seconds * 1e9)

    def wall(self) -> int:
        """Microseconds since 1970 by its wall clock."""
        return (time.time_ns() + self.ahead) // 1000

    def clock(self) -> SystemClock:
        """The clock of a server that is started now."""
        return SystemClock(lambda: time.time_ns() + self.ahead)
