"""A clock that tests set by hand."""

from __future__ import annotations

import time

from odin_server.main import Server


class SetClock:
    """Time stands still until a test lets some pass. What is due then happens at once."""

    def __init__(self) -> None:
        self.time = 1_700_000_000_000_000
        """Microseconds since 1970."""

    def now(self) -> int:
        return self.time

    def monotonic(self) -> float:
        return time.monotonic()

    def let_pass(self, seconds: float, server: Server) -> None:
        """Moves the clock on, and lets every table look at what is due."""
        self.time += round(seconds * 1_000_000)
        for table in server.lobby.tables():
            table.changed()
