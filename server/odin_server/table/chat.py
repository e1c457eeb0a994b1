"""What was said at a table: no part of its log of events, and only the last lines are shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
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

    def add(self, lines: Iterable[Line]) -> None:
        """Adds lines that are kept, in their order."""
        self._lines.extend(lines)

    @property
    def last_number(self) -> int:
        """The number of the newest line; 0 when nothing was said yet."""
        return self._lines[-1].number if self._lines else 0

    def after(self, number: int) -> list[Line]:
        """The kept lines with a higher number, oldest first."""
        return [line for line in self._lines if line.number > number]
