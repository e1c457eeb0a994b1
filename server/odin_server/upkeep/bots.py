"""Plays the built-in bots and the substitutes, each from the view of its own seat.

A bot that raises, takes too long or does something illegal is reported at the table, and its
decision gets the default action (D1). So a bot never holds up a table.

Each choice is made in a thread of its own, which nothing else uses and which nobody waits for when
the server stops. So a level that hangs blocks nothing but itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from odin_engine import Action, view_for
from odin_engine.strategies import STRATEGIES, Strategy
from odin_server.errors import Refusal
from odin_server.event_log import Conflict, StoreUnavailable, TableDamaged
from odin_server.settings import Settings
from odin_server.table import commands
from odin_server.table.state import OpenDecision
from odin_server.table.table import Table

_log: Final = logging.getLogger(__name__)

_TRY_AGAIN: Final = 1.0
"""Seconds until a bot tries again, when its action could not be kept."""

_MAX_OVERDUE: Final = 4
"""Choices of one level that are overdue and still running. With as many the level is not asked
again until one of them ends, because each takes a thread, and often a share of the processor."""


class Bots:
    """Acts wherever the server plays the seat that has to decide."""

    def __init__(
        self,
        settings: Settings,
        rng: random.Random,
        strategies: Mapping[str, Callable[[], Strategy]] = STRATEGIES,
    ) -> None:
        self._settings: Final = settings
        self._rng: Final = rng
        self._strategies: Final = strategies
        self._playing: Final[dict[Table, asyncio.Task[None]]] = {}
        self._overdue: Final[Counter[str]] = Counter()

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
                _log.warning("table %s: %s", table.handle, problem)
                await table.submit(lambda draft: commands.bot_failed(draft, decision.id, problem))
        except (Conflict, StoreUnavailable, TableDamaged) as error:
            _log.warning("table %s: a bot could not act: %r", table.handle, error)
            await asyncio.sleep(_TRY_AGAIN)

    async def _choose(self, table: Table, decision: OpenDecision, level: str) -> Action:
        if self._overdue[level] >= _MAX_OVERDUE:
            raise TimeoutError
        view = view_for(table.state.game, table.state.player_of(decision.seat))
        strategy = self._strategies[level]
        thinking = _in_a_thread(lambda: strategy().choose(view, self._rng))
        try:
            async with asyncio.timeout(self._settings.bot_timeout):
                chosen = await asyncio.shield(thinking)
        except TimeoutError:
            self._overdue[level] += 1
            thinking.add_done_callback(lambda _: self._overdue.subtract((level,)))
            raise
        if isinstance(chosen, BaseException):
            # Without its text, which may name cards.
            where = "".join(traceback.format_tb(chosen.__traceback__))
            _log.error("the level %s raised %s:\n%s", level, type(chosen).__name__, where)
            raise _FailedError  # not the exception itself: a SystemExit would end the server
        return chosen


class _FailedError(Exception):
    """A bot has raised something."""


def _in_a_thread(work: Callable[[], Action]) -> asyncio.Future[Action | BaseException]:
    """What the work returns, or the exception that it raises, as the result of a future."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Action | BaseException] = loop.create_future()

    def finish(outcome: Action | BaseException) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        try:
            outcome: Action | BaseException = work()
        except BaseException as error:  # noqa: BLE001 (a bot may fail in any way)
            outcome = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(finish, outcome)

    threading.Thread(target=run, name="bot", daemon=True).start()
    return future


def _problem(level: str, error: Exception) -> str:
    """What was wrong, in words: never the text of an exception that is not ours."""
    if isinstance(error, TimeoutError):
        return f"The bot {level} was too slow."
    if isinstance(error, Refusal):
        return f"The bot {level} did something illegal: {error.message}"
    return f"The bot {level} failed."
