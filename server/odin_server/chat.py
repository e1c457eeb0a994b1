"""What was said at a table: no part of its log, and only the last lines are kept."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

LINES_KEPT: Final = 50
"""How many lines somebody who joins late still gets."""


class Line(NamedTuple):
    """One line of chat."""

    number: int
    """From 1; counts the lines of this table."""
    time: int
    """Microseconds since 1970, UTC."""
    name: str
    seat: int | None
    text: str


class Chat:
    """The last lines of one table."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=LINES_KEPT)
        self._said: dict[tuple[bytes, str], Line] = {}
        self.last_number = 0
        """The number of the newest line; 0 when nothing was said yet."""

    def say(
        self, time: int, name: str, seat: int | None, text: str, request: tuple[bytes, str]
    ) -> Line:
        """Adds a line, and remembers the credential and request id that it came with."""
        if len(self._lines) == LINES_KEPT:
            oldest = self._lines[0]
            self._said = {key: line for key, line in self._said.items() if line is not oldest}
        self.last_number += 1
        line = Line(self.last_number, time, name, seat, text)
        self._lines.append(line)
        self._said[request] = line
        return line

    def said(self, request: tuple[bytes, str]) -> Line | None:
        """The line that came with this request, while it is among the last."""
        return self._said.get(request)

    def after(self, number: int) -> list[Line]:
        """The kept lines with a higher number, oldest first."""
        return [line for line in self._lines if line.number > number]
