"""The server's one source of time, which does not jump."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

_STEP: Final = 1_000_000_000
"""Nanoseconds: a wall clock that is further away has been set, or the machine has slept."""


class Clock(Protocol):
    """Tells the time. Tests bring their own."""

    def now(self) -> int:
        """Microseconds since 1970, UTC: for what is written down, shown and due."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow: for how long something took."""
        ...

    def follow(self, *, may_go_back: bool) -> int:
        """Sets it by the wall clock if that was set; returns by how much it jumped, microseconds.

        Only forward, unless it `may_go_back`.
        """
        ...

    def not_before(self, moment: int) -> int:
        """Sets it to this moment if it is earlier; returns by how much it jumped, microseconds."""
        ...


class SystemClock:
    """The wall clock when this was made, and what a monotonic clock has counted since.

    So it does not jump when somebody sets the wall clock, but when it is told to `follow`. Times
    that are written down never go back.
    """

    def __init__(
        self,
        wall: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall: Final = wall
        self._monotonic: Final = monotonic
        self._start = wall() - monotonic()

    def now(self) -> int:
        """See `Clock.now`."""
        return (self._start + self._monotonic()) // 1000

    def monotonic(self) -> float:
        """See `Clock.monotonic`."""
        return self._monotonic() / 1e9

    def follow(self, *, may_go_back: bool) -> int:
        """See `Clock.follow`."""
        ahead = self._wall() - self._monotonic() - self._start
        if abs(ahead) <= _STEP or (ahead < 0 and not may_go_back):
            return 0
        self._start += ahead
        return ahead // 1000

    def not_before(self, moment: int) -> int:
        """See `Clock.not_before`."""
        jump = max(0, moment - self.now())
        self._start += jump * 1000
        return jump
