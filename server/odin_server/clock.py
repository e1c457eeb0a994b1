"""The server's one source of time."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time. Tests bring their own."""

    def now(self) -> int:
        """Microseconds since 1970, UTC: for what is written down and shown."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow: for how long something took."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """See `Clock.now`."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """See `Clock.monotonic`."""
        return time.monotonic()
