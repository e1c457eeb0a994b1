"""How long tables that have ended are kept, and the names of those who played there."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from odin_server.event_log import StoreUnavailable
from odin_server.lobby.tables import Lobby
from odin_server.table.table import World

_log: Final = logging.getLogger(__name__)

_EVERY: Final = 60.0
"""Seconds between two looks, at the most."""
_MOST: Final = 100
"""How many tables go at once: the log does nothing else meanwhile."""


class Retention:
    """Removes what is kept no longer."""

    def __init__(self, world: World, lobby: Lobby) -> None:
        self._world: Final = world
        self._lobby: Final = lobby
        self._sweeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts to look every minute, or more often when less than that is kept."""
        self._sweeping = asyncio.create_task(self._sweep_again())

    async def stop(self) -> None:
        """Stops looking."""
        if self._sweeping:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)

    async def _sweep_again(self) -> None:
        settings = self._world.environment.settings
        kept = (settings.unplayed_kept, settings.ended_kept, settings.names_kept)
        every = min(_EVERY, *(max(1.0, seconds) for seconds in kept if seconds))
        while True:
            await asyncio.sleep(every)
            try:
                await self.sweep()
            except StoreUnavailable as error:
                _log.warning("old tables could not be removed: %s", error)

    async def sweep(self) -> None:
        """Removes all that is kept no longer. Raises StoreUnavailable."""
        log, settings = self._world.log, self._world.environment.settings
        now = self._world.environment.clock.now()
        await self._remove_ended(now, settings.unplayed_kept, unplayed=True)
        if settings.ended_kept:
            await self._remove_ended(now, settings.ended_kept, unplayed=False)
        if settings.names_kept:
            before = now - round(settings.names_kept * 1e6)
            while handles := await log.forget_names(before, _MOST):
                self._lobby.forget(handles)

    async def _remove_ended(self, now: int, kept: float, *, unplayed: bool) -> None:
        before = now - round(kept * 1e6)
        while handles := await self._world.log.forget_ended(before, _MOST, unplayed=unplayed):
            self._lobby.forget(handles)
