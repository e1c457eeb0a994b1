"""Who chooses for the bots of the server: a `Thinker`, in threads unless another one is given."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from odin_engine import Action, CopyableError
from odin_engine.strategies import STRATEGIES, Strategy
from odin_engine.views import View

_log: Final = logging.getLogger(__name__)

_MAX_OVERDUE: Final = 4
"""Choices of one level that are overdue and still running. With as many the level is not asked
again until one of them ends, because each takes a thread, and often a share of the processor."""


class Thinker(Protocol):
    """Chooses for bots. What it raises is reported at the table, and the default action taken."""

    @property
    def levels(self) -> Sequence[str]:
        """The levels that it can play, weakest first: these can be seated, and are listed."""
        ...

    async def choose(self, level: str, view: View, seed: int, budget: float) -> Action:
        """The choice of this level, from what its seat may see and randomness from this seed.

        It is cancelled after `budget` seconds.
        """
        ...


class ThinkerError(CopyableError):
    """A level has raised something. Its text is left out, since it may name cards."""


class Threads:
    """Strategies, each choice in a thread of its own, which nobody waits for when the server stops.

    So a level that hangs blocks nothing but itself.
    """

    def __init__(self, strategies: Mapping[str, Callable[[], Strategy]] = STRATEGIES) -> None:
        self._strategies: Final = strategies
        self._overdue: Final[Counter[str]] = Counter()

    @property
    def levels(self) -> Sequence[str]:
        """See `Thinker`."""
        return tuple(self._strategies)

    async def choose(self, level: str, view: View, seed: int, budget: float) -> Action:
        """See `Thinker`. Raises TimeoutError for a level that hangs already."""
        if self._overdue[level] >= _MAX_OVERDUE:
            raise TimeoutError
        strategy = self._strategies[level]
        thinking = _in_a_thread(lambda: strategy().choose(view, random.Random(seed)))
        try:
            chosen = await asyncio.shield(thinking)
        except asyncio.CancelledError:
            self._overdue[level] += 1
            thinking.add_done_callback(lambda _: self._overdue.subtract((level,)))
            raise
        if isinstance(chosen, BaseException):
            where = "".join(traceback.format_tb(chosen.__traceback__))
            _log.error("the level %s raised %s:\n%s", level, type(chosen).__name__, where)
            # Not the exception itself: a SystemExit would end the server.
            raise ThinkerError(f"the level {level} raised {type(chosen).__name__}")
        return chosen


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
