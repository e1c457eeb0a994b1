"""A bot's code in a process of its own, so that it cannot take the program that runs it with it.

One worker serves any number of seats. It is asked one decision at a time; the time for a decision
begins when the worker is ready for it. One that takes too long, or whose process ends, costs the
whole process group its life, and another worker begins: the decision failed, the bots have
forgotten everything, and the decisions that wait are asked there.

    async with BotWorker("my_module:Lowest") as worker:
        await BotRunner(session, worker.seat(), print).play()
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
from types import TracebackType
from typing import Any, Final, Self

from odin_client.bots import BadStrategy
from odin_client.bots.choices import Choice, Failure, too_slow
from odin_client.bots.worker import LENGTH, Order, Question, packed
from odin_client.translatable import Translatable
from odin_engine import View

START_DEADLINE: Final = 30.0
"""Seconds for a worker to start and to make its bots."""

_INSIDE: Final = "ODIN_BOT_WORKER"
"""Set in the environment of a worker: what is started there must not start another one."""

_log: Final = logging.getLogger(__name__)


class BotWorker:
    """Bots of one strategy in one process of their own. To be entered with `async with`."""

    def __init__(self, strategy: str, *, seats: int = 1, seed: int | None = None) -> None:
        """`strategy` is `module:Class`. Each seat has an object of its own. Starts nothing yet."""
        self._order: Final = Order(strategy, seats, seed)
        self._one_at_a_time: Final = asyncio.Lock()
        self._starting: asyncio.Task[_Process] | None = None
        self.shown: Final[set[str]] = set()
        """See `Chooser.shown`."""

    async def __aenter__(self) -> Self:
        """Starts the worker. Raises BadStrategy when its bots cannot be made."""
        await self._running()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the worker, with all that it has started."""
        await self._end()

    def seat(self, number: int = 0) -> _Seat:
        """What chooses for one of its seats, to be given to a `BotRunner`."""
        return _Seat(self, number)

    async def choose(self, seat: int, view: View, seconds: float) -> Choice:
        """What the bot of this seat chooses, after the decisions that were asked before.

        Raises BadStrategy when there is no worker to ask any more.
        """
        async with self._one_at_a_time:
            process = await self._running()
            choice: Choice | None = None
            problem = ""
            try:
                async with asyncio.timeout(seconds):
                    choice = await process.ask(Question(seat, view))
            except TimeoutError:
                problem = too_slow(seconds)
            except (OSError, EOFError, pickle.UnpicklingError):
                problem = Translatable(
                    "ended its process ({how})", how=await process.how_it_ended()
                )
            finally:
                if choice is None:  # also when nobody wants to know any more
                    await self._end()
            if choice is not None:
                return choice
            self._start()  # it may take a while, and others are playing meanwhile
            return Failure(
                Translatable(
                    "{problem}; its process starts again, and its memory is gone", problem=problem
                )
            )

    async def _running(self) -> _Process:
        """The worker, ready. Raises BadStrategy."""
        return await asyncio.shield(self._starting or self._start())

    def _start(self) -> asyncio.Task[_Process]:
        self._starting = asyncio.create_task(self._started())
        return self._starting

    async def _started(self) -> _Process:
        if _INSIDE in os.environ:
            raise BadStrategy(
                Translatable("A bot tried to start another bot while it was being imported."),
                Translatable("Put the lines that start it under: if __name__ == '__main__':"),
                reason="STARTED_INSIDE",
            )
        process = await _Process.start(self._order.seed)
        made = False
        try:
            await self._make_bots(process)
            made = True
        finally:
            if not made:
                await process.end()
        return process

    async def _make_bots(self, process: _Process) -> None:
        """Lets the worker make its bots. Raises BadStrategy."""
        try:
            async with asyncio.timeout(START_DEADLINE):
                problem = await process.ask(self._order)
        except TimeoutError:
            problem = BadStrategy(
                Translatable(
                    "{name} was not ready after {seconds:g} s.",
                    name=self._order.strategy,
                    seconds=START_DEADLINE,
                ),
                Translatable("Let its module and its constructor do less."),
                reason="NOT_READY",
            )
        except (OSError, EOFError):
            problem = BadStrategy(
                Translatable(
                    "{name} ended its process while it was being made ({how}).",
                    name=self._order.strategy,
                    how=await process.how_it_ended(),
                ),
                reason="ENDED",
            )
        if problem is not None:
            _log.error("%s", problem)
            raise problem

    async def _end(self) -> None:
        starting, self._starting = self._starting, None
        if starting is None:
            return
        starting.cancel()  # does nothing when it has started
        await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await starting.result().end()


class _Seat:
    """A `Chooser` for one seat of a worker."""

    def __init__(self, worker: BotWorker, number: int) -> None:
        self._worker: Final = worker
        self._number: Final = number

    @property
    def shown(self) -> set[str]:
        """See `Chooser.shown`."""
        return self._worker.shown

    async def choose(self, view: View, seconds: float) -> Choice:
        """See `Chooser.choose`."""
        return await self._worker.choose(self._number, view, seconds)


class _Process:
    """A worker that runs."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process: Final = process
        self._reader: Final = reader
        self._writer: Final = writer

    @classmethod
    async def start(cls, seed: int | None) -> Self:
        """Starts one."""
        ours, theirs = socket.socketpair()
        with theirs:
            reader, writer = await asyncio.open_connection(sock=ours)
            return cls(_spawned(theirs.fileno(), seed), reader, writer)

    async def ask(self, question: object) -> Any:
        """What the worker answers. Raises OSError or EOFError when it has ended."""
        self._writer.write(packed(question))
        await self._writer.drain()
        length = int.from_bytes(await self._reader.readexactly(LENGTH))
        return pickle.loads(await self._reader.readexactly(length))

    async def how_it_ended(self) -> str:
        """The signal or exit code of a worker that has ended, or is about to."""
        self._kill()  # one that has closed its socket, and not ended
        code = await asyncio.to_thread(self._process.wait)
        if code < 0:
            return Translatable("signal {number}", number=-code)
        return Translatable("exit code {code}", code=code)

    async def end(self) -> None:
        """Kills the worker and everything that it has started."""
        self._kill()
        self._writer.close()
        await asyncio.to_thread(self._process.wait)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _spawned(channel: int, seed: int | None) -> subprocess.Popen[bytes]:
    """A worker on this socket. With a seed, sets of texts have the same order each time as well."""
    environment = {**os.environ, _INSIDE: "1"}
    if seed is not None:
        environment["PYTHONHASHSEED"] = str(seed % 2**32)
    return subprocess.Popen(
        # -u: what was printed is not lost when the worker is killed. -P: a file in this folder must
        # not stand in for a module that the worker needs.
        [sys.executable, "-u", "-P", "-m", "odin_client.bots.worker"],
        stdin=channel,
        stdout=channel,
        start_new_session=True,
        env=environment,
    )
