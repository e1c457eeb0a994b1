"""Time that nobody could use, since there was no server or nothing could be kept: it is given back.

A server that cannot write stands still: commands are refused until the log works again, and every
table is owed the time in between. The same goes for the time between one server and the next, for
which a beat is written down every second while a table is open.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from odin_server.clock import Clock
from odin_server.event_log import EventLog, StoreUnavailable

_log: Final = logging.getLogger(__name__)

_BEAT: Final = 1.0
"""Seconds between two beats."""

_MISSED: Final = 5.0
"""Seconds without a beat after which this process has not run: it was stopped, or the machine."""


class Standstill:
    """Knows whether this server stands still, and for how long it has."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._event_log: Final = log
        self._clock: Final = clock
        self._last_good = clock.monotonic()
        self._is_down = False
        self._beating: asyncio.Task[None] | None = None
        self.lost = 0
        """Microseconds for which this server has stood still since it was started."""
        self.last_server = 0
        """When the server before this one was last known to live; 0 when there was none."""

    async def start(self, is_needed: Callable[[], bool]) -> None:
        """Finds out about the server before, and starts to beat while it `is_needed`."""
        self.last_server = await self._event_log.last_beat() or 0
        self._last_good = self._clock.monotonic()
        self._beating = asyncio.create_task(self._beat(is_needed))

    async def stop(self) -> None:
        """Stops beating, after a last beat."""
        if self._beating is None:
            return
        self._beating.cancel()
        await asyncio.gather(self._beating, return_exceptions=True)
        try:
            await self._event_log.beat(self._clock.now())
        except StoreUnavailable as error:
            _log.warning("the last beat could not be kept: %s", error)

    def check(self) -> None:
        """Raises StoreUnavailable while this server stands still."""
        if self._is_down:
            raise StoreUnavailable("the log is away")
        if self._clock.monotonic() - self._last_good > _MISSED:
            self._goes_on()

    def failed(self, error: Exception) -> None:
        """The log could not be written: from now on this server stands still."""
        if not self._is_down:
            self._is_down = True
            _log.error("nothing can be kept, so every table stands still: %r", error)

    async def _beat(self, is_needed: Callable[[], bool]) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            if self._is_down or is_needed():
                try:
                    await self._event_log.beat(self._clock.now())
                except Exception as error:  # noqa: BLE001 (whatever it is: a later beat may succeed)
                    self.failed(error)
                    continue
            if self._is_down or self._clock.monotonic() - self._last_good > _MISSED:
                self._goes_on()
            self._last_good = self._clock.monotonic()

    def _goes_on(self) -> None:
        now = self._clock.monotonic()
        seconds = now - self._last_good
        self.lost += round(seconds * 1e6)
        self._last_good = now
        self._is_down = False
        _log.warning("the tables stood still for %.1f seconds", seconds)
