"""A full screen in this process: pyte draws what it writes, and keys are real bytes."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Callable
from typing import Final

import pyte
from prompt_toolkit.input.base import PipeInput

from tests.support.patience import PATIENCE
from tests.support.terminals import KEYS


class Drawn(io.StringIO):
    """Where the client writes, drawn by pyte; tells when something new was drawn."""

    def __init__(self, cols: int, rows: int) -> None:
        super().__init__()
        self.drawn: Final = pyte.Screen(cols, rows)
        self.written = ""
        self.bells = 0
        self._stream: Final = pyte.Stream(self.drawn)
        self.news: Final = asyncio.Event()

    def write(self, text: str) -> int:
        self.written += text
        # A title ends with the character of the bell, too.
        self.bells += re.sub(r"\x1b\]2;[^\x07]*\x07", "", text).count("\x07")
        self._stream.feed(text)
        self.news.set()
        return len(text)


class Person:
    """Somebody at the keys of a full screen in this process."""

    def __init__(self, keys: PipeInput, screen: Drawn) -> None:
        self.output: Final = screen
        self._keys: Final = keys

    def press(self, *keys: str) -> None:
        for key in keys:
            self._keys.send_bytes(KEYS.get(key, key).encode(errors="surrogateescape"))

    def screen(self) -> str:
        return "\n".join(row.rstrip() for row in self.output.drawn.display)

    async def wait_for(self, *texts: str, without: str | None = None) -> str:
        """Waits until all of the texts are there (and another one is not)."""

        def is_there() -> bool:
            screen = self.screen()
            return all(text in screen for text in texts) and (without or "\0") not in screen

        await self.wait_until(is_there, f"{texts}")
        return self.screen()

    async def wait_until(self, is_so: Callable[[], bool], wanted: str) -> None:
        """Waits for something that comes with what is drawn."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not is_so():
                    self.output.news.clear()
                    await self.output.news.wait()
        except TimeoutError:
            raise AssertionError(f"waited for {wanted}, saw:\n{self.screen()}") from None

    def position_of(self, text: str) -> tuple[int, int]:
        """Column and row, from 0."""
        for y, row in enumerate(self.screen().split("\n")):
            if text in row:
                return row.index(text), y
        raise AssertionError(f"{text!r} is not on the screen")

    def click(self, text: str) -> None:
        """Presses and releases the mouse on the first character of a text."""
        x, y = self.position_of(text)
        self.press(f"\x1b[<0;{x + 1};{y + 1}M\x1b[<0;{x + 1};{y + 1}m")
