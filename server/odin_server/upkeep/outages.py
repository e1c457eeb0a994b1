"""Outages: time in which nobody could act, by which deadlines and absences are extended.

A server that cannot write stands still: commands are refused until the log works again. So does a
process that was stopped, a machine that slept, and, for every table, the time between one server
and the next, for which a beat is written down every second while a table is open. A wall clock that
was set forward looks the same: what was due in a minute is still due in a minute.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from odin_server.environment import Environment
from odin_server.event_log import EventLog, StoreUnavailable

_log: Final = logging.getLogger(__name__)

_PULSE: Final = 0.25
"""Seconds between two looks at whether this process runs."""

_PULSES_A_BEAT: Final = 4
"""After so many of them a beat is written down, and the wall clock is looked at."""

_MISSED: Final = 0.5
"""Seconds without a pulse after which this process has not run: it was stopped, or the machine."""

_LONG: Final = 5.0
"""Seconds of an outage that is given back at once. A shorter one is given back to whoever's time
would be up otherwise, so that a busy machine does not move every deadline all the time."""


class Standstill:
    """Knows whether this server stands still, and for how long it has."""

    def __init__(self, log: EventLog, environment: Environment) -> None:
        self._event_log: Final = log
        self._clock: Final = environment.clock
        self._meter: Final = environment.meter
        self._last_good = self._clock.monotonic()
        self._is_down = False
        self._beating: asyncio.Task[None] | None = None
        self._tell: Callable[[], None] = _nobody
        self._has_taken_over = False
        self.lost = 0
        """Microseconds of the clock that nobody could use since this server was started."""
        self.lost_at_length = 0
        """What `lost` was after the last outage that is to be given back at once."""
        self.last_server = 0
        """When the server before this one was last known to live; 0 when there was none."""

    async def start(self, is_needed: Callable[[], bool], tell: Callable[[], None]) -> None:
        """Finds out about the server before, and starts to beat.

        A beat is written down while it `is_needed`; else it looks whether the log is in its place.

        Will `tell` of each outage that is to be given back at once.
        """
        self._tell = tell
        self.last_server = await self._event_log.last_beat() or 0
        self._clock.not_before(self.last_server)
        self._last_good = self._clock.monotonic()
        self._beating = asyncio.create_task(self._beat(is_needed))

    async def stop(self) -> None:
        """Stops beating, after a last beat."""
        if self._beating is None:
            return
        self._beating.cancel()
        await asyncio.gather(self._beating, return_exceptions=True)
        try:
            await self._event_log.beat(self._last_sign())
        except StoreUnavailable as error:
            _log.warning("the last beat could not be kept: %s", error)

    def took_over(self) -> None:
        """Every table has got back the time since the server before: from now on this one counts.

        Until then no sign of this server is written down. If it dies early, the next one has to
        give back the time since the one before.
        """
        self._has_taken_over = True

    def check(self) -> None:
        """Raises StoreUnavailable while this server stands still."""
        if self._is_down:
            raise StoreUnavailable("the log is away")
        self._notice()

    def failed(self, error: Exception) -> None:
        """The log could not be written: from now on this server stands still."""
        if not self._is_down:
            self._is_down = True
            _log.error("nothing can be kept, so every table stands still: %r", error)

    def lived(self) -> int:
        """The clock without all outages, in microseconds: absences are counted in it."""
        return self._clock.now() - self._lost_by_now()

    def shown(self, lived: int) -> int:
        """A time in `lived` time as the clock has it, microseconds since 1970."""
        return lived + self._lost_by_now()

    def _lost_by_now(self) -> int:
        self._notice()
        down = self._clock.monotonic() - self._last_good if self._is_down else 0.0
        return self.lost + round(down * 1e6)

    def not_before(self, moment: int) -> None:
        """Sees to it that no time is written down that is earlier than this one."""
        self._jumped(self._clock.not_before(moment))

    async def _beat(self, is_needed: Callable[[], bool]) -> None:
        pulses = 0
        while True:
            await asyncio.sleep(_PULSE)
            pulses += 1
            if pulses % _PULSES_A_BEAT == 0:
                self._follow_the_wall_clock(is_needed())
                try:
                    if self._is_down or is_needed():
                        await self._event_log.beat(self._last_sign())
                    else:
                        await self._event_log.look()
                except Exception as error:  # noqa: BLE001 (a later beat may succeed)
                    self.failed(error)
                    continue
                if self._is_down:
                    self._goes_on()
            if not self._is_down:
                self._notice()
                self._last_good = self._clock.monotonic()

    def _last_sign(self) -> int:
        """What the next server shall take for the last sign of life."""
        return self._clock.now() if self._has_taken_over else self.last_server

    def _follow_the_wall_clock(self, any_table_is_open: bool) -> None:
        # It goes back only where nothing was written down that would then be later.
        self._jumped(self._clock.follow(may_go_back=not any_table_is_open))

    def _jumped(self, microseconds: int) -> None:
        if microseconds > 0:
            self._lose(microseconds, at_length=True)
            _log.warning("the clock was set forward by %.1f seconds", microseconds / 1e6)

    def _notice(self) -> None:
        """Notices that this process has not run."""
        if not self._is_down and self._clock.monotonic() - self._last_good > _MISSED:
            self._goes_on()

    def _goes_on(self) -> None:
        now = self._clock.monotonic()
        seconds = now - self._last_good
        at_length = self._is_down or seconds >= _LONG
        self._last_good = now
        self._is_down = False
        if at_length:
            _log.warning("the tables stood still for %.1f seconds", seconds)
        self._lose(round(seconds * 1e6), at_length=at_length)

    def _lose(self, microseconds: int, *, at_length: bool) -> None:
        self.lost += microseconds
        if at_length:
            self.lost_at_length = self.lost
            self._meter.count("outages")
            asyncio.get_running_loop().call_soon(self._tell)


def _nobody() -> None:
    pass
