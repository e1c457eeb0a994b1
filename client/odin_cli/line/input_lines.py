"""Lines of an input, read in a thread of its own, for line mode and JSON mode.

asyncio can wait for a pipe, but then it makes stdout non-blocking as well, and it cannot wait for a
file. The thread is a daemon: a read that never returns does not keep the program from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Final, TextIO

LINES_AHEAD: Final = 100
"""How many lines are read before they are asked for; then whoever writes them has to wait."""


class InputLines:
    """The lines of a text stream, without their ends. To be made in the loop that reads them."""

    def __init__(self, stream: TextIO) -> None:
        """Starts reading."""
        self._stream: Final = stream
        self._loop: Final = asyncio.get_running_loop()
        self._lines: Final[asyncio.Queue[str | None]] = asyncio.Queue()
        self._room: Final = threading.Semaphore(LINES_AHEAD)
        threading.Thread(target=self._read, name="input", daemon=True).start()

    async def next(self) -> str | None:
        """The next line; None at the end of the input, each time."""
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        self._room.release()
        return line

    def _read(self) -> None:
        # RuntimeError: the loop has ended. ValueError and OSError: the stream was closed.
        with contextlib.suppress(RuntimeError):
            with contextlib.suppress(ValueError, OSError):
                for line in self._stream:
                    self._room.acquire()
                    self._loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\r\n"))
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
