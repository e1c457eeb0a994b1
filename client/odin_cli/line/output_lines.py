"""Writes stdout and stderr in a thread of its own, for line mode, JSON mode and bots.

A pipe that nobody reads, and a terminal that is stopped with Ctrl-S, block whoever writes to them.
When that is the loop, no signal ends the program any more. The thread is a daemon and bypasses the
buffers of Python's streams, which Python would try to flush at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from queue import SimpleQueue
from types import TracebackType
from typing import Final, Self, TextIO

from odin_cli.speech.text_width import broken

LINES_BEHIND: Final = 100
"""How many texts may wait to be written before `room` waits."""

LAST_WORDS: Final = 0.5
"""Seconds that a program that is stopped waits for its last texts to be written."""


class OutputLines:
    """Two outputs, written in the order of the calls. To be entered in the loop that writes."""

    def __init__(self, out: TextIO, errors: TextIO) -> None:
        """Starts the thread."""
        self._out: Final = out
        self._errors: Final = errors
        self._loop: Final = asyncio.get_running_loop()
        self._texts: Final[SimpleQueue[tuple[TextIO, str]]] = SimpleQueue()
        self._waiting = 0
        self._problem: OSError | None = None
        self._moved: Final = asyncio.Event()
        threading.Thread(target=self._run, name="output", daemon=True).start()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Waits until all is written; when something has ended it, only for a moment."""
        if kind is None:
            await self._until_waiting(0)
        else:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await self._until_waiting(0)

    def out(self, text: str) -> None:
        """Writes to stdout, soon."""
        self._put(self._out, text)

    def error(self, text: str) -> None:
        """Writes to stderr, soon."""
        self._put(self._errors, text)

    def say(self, text: str) -> None:
        """Writes prose to stdout, soon: broken at the width of a terminal."""
        self._put(self._out, broken(text, self._out))

    def complain(self, text: str) -> None:
        """Writes prose to stderr, soon: broken at the width of a terminal."""
        self._put(self._errors, broken(text, self._errors))

    async def room(self) -> None:
        """Waits until few texts wait to be written.

        Raises BrokenPipeError when nobody will ever read them, and what else the system raises.
        """
        await self._until_waiting(LINES_BEHIND)

    def _put(self, stream: TextIO, text: str) -> None:
        self._waiting += 1
        self._texts.put((stream, text))

    async def _until_waiting(self, most: int) -> None:
        while self._problem is None and self._waiting > most:
            self._moved.clear()
            await self._moved.wait()
        if self._problem is not None:
            raise self._problem

    def _run(self) -> None:
        problem: OSError | None = None
        while problem is None:
            stream, text = self._texts.get()
            try:
                _write(stream, text)
            except OSError as error:
                problem = error
            try:
                self._loop.call_soon_threadsafe(self._written, problem)
            except RuntimeError:  # the loop has ended
                return

    def _written(self, problem: OSError | None) -> None:
        self._waiting -= 1
        self._problem = problem
        self._moved.set()


def _write(stream: TextIO, text: str) -> None:
    left = memoryview(text.encode(stream.encoding, stream.errors or "strict"))
    while left:
        left = left[os.write(stream.fileno(), left) :]
