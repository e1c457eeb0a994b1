"""Plays the built-in bots and the substitutes, each from the view of its own seat.

A bot that raises, takes too long or does something illegal is reported at the table, and its
decision gets the default action (D1). So a bot never holds up a table. Who chooses is a `Thinker`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from odin_engine import Action, view_for
from odin_server.environment import Environment
from odin_server.errors import Refusal
from odin_server.event_log import Conflict, StoreUnavailable, TableDamaged
from odin_server.table import commands
from odin_server.table.state import OpenDecision
from odin_server.table.table import Table
from odin_server.upkeep.thinker import Thinker

_log: Final = logging.getLogger(__name__)

_TRY_AGAIN: Final = 1.0
"""Seconds until a bot tries again, when its action could not be kept."""


class Bots:
    """Acts wherever the server plays the seat that has to decide."""

    def __init__(
        self,
        environment: Environment,
        thinker: Thinker,
    ) -> None:
        self._settings: Final = environment.settings
        self._meter: Final = environment.meter
        self._rng: Final = environment.rng.bots
        self._thinker: Final = thinker
        self._playing: Final[dict[Table, asyncio.Task[None]]] = {}

    def table_changed(self, table: Table) -> None:
        """See `table.Listener`."""
        if table not in self._playing and self._own_decision(table):
            task = asyncio.create_task(self._play(table))
            self._playing[table] = task

    async def stop(self) -> None:
        """Stops playing."""
        tasks = list(self._playing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @staticmethod
    def _own_decision(table: Table) -> tuple[OpenDecision, str] | None:
        """The open decision and the level that plays it, when the server plays it."""
        decision = table.state.decision
        seat = table.state.seats[decision.seat] if decision else None
        if decision and seat and seat.played_by and not table.is_damaged:
            return decision, seat.played_by
        return None

    async def _play(self, table: Table) -> None:
        """Plays at this table for as long as it is the server's turn there."""
        try:
            while self._own_decision(table):
                await asyncio.sleep(self._settings.bot_delay)
                # While it waited, somebody may have taken their seat back.
                if own := self._own_decision(table):
                    await self._decide(table, *own)
        finally:
            del self._playing[table]

    async def _decide(self, table: Table, decision: OpenDecision, level: str) -> None:
        try:
            try:
                action = await self._choose(table, decision, level)
                await table.submit(lambda draft: commands.act_for_bot(draft, decision.id, action))
            except (Conflict, StoreUnavailable, TableDamaged):
                raise
            except Exception as error:  # noqa: BLE001 (a bot may fail in any way)
                problem = _problem(level, error)
                self._meter.count("bot_failures")
                _log.warning("table %s: %s", table.handle, problem)
                await table.submit(lambda draft: commands.bot_failed(draft, decision.id, problem))
        except (Conflict, StoreUnavailable, TableDamaged) as error:
            _log.warning("table %s: a bot could not act: %r", table.handle, error)
            await asyncio.sleep(_TRY_AGAIN)

    async def _choose(self, table: Table, decision: OpenDecision, level: str) -> Action:
        view = view_for(table.state.game, table.state.player_of(decision.seat))
        budget = self._settings.bot_timeout
        async with asyncio.timeout(budget):
            return await self._thinker.choose(level, view, self._rng.getrandbits(64), budget)


def _problem(level: str, error: Exception) -> str:
    """What was wrong, in words: never the text of an exception that is not ours."""
    if isinstance(error, TimeoutError):
        return f"The bot {level} was too slow."
    if isinstance(error, Refusal):
        return f"The bot {level} did something illegal: {error.message}"
    return f"The bot {level} failed."
