"""Who is at a table, since when somebody is not, and for how long that may be.

Not in the log: it is not the game. Times are in microseconds since 1970.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

LEAST: Final = 10_000_000
"""Microseconds that somebody may be away at a time, however often that was before: a line that
flickers shall not cost a seat. But no more than a tenth of a budget that is small."""


class SeatPresence(NamedTuple):
    """Whether the holder of a seat is there. Times in microseconds since 1970."""

    number: int
    away_since: int | None = None
    """None: the holder is here, or it is a bot's seat."""
    kept_until: int | None = None
    """When a substitute plays it, or it is free. None: the holder is here, a substitute plays
    already, it is a bot's seat, or the table has ended."""
    may_be_away: int | None = None
    """For a holder who is here: how long an absence may last that begins now. Microseconds."""


class Presence:
    """Counts the open streams of one table by credential (its digest).

    Being away has a budget, apart from thinking. In a game all the times away count together, and
    the next game starts with a full budget.
    """

    def __init__(self, now: int, budget: int) -> None:
        self._streams: Counter[bytes | None] = Counter()
        self._since: dict[bytes, int] = {}
        self._used: Counter[bytes] = Counter()
        """What absences of this game that are over have taken."""
        self._budget: Final = budget
        self._start = now
        self._game_start = now
        self.version = 0
        """Grows with every change."""

    def came(self, credential: bytes | None, now: int) -> None:
        """A stream was opened; None for somebody without a credential."""
        self.version += 1
        if credential is not None:
            self._count_absence(credential, now)
            self._since.pop(credential, None)
        self._streams[credential] += 1

    def left(self, credential: bytes | None, now: int, *, missed: bool) -> None:
        """A stream was closed. `missed`: it is somebody who is waited for, not one of a crowd."""
        self.version += 1
        self._streams[credential] -= 1
        if self._streams[credential] <= 0:
            del self._streams[credential]
        if credential is not None and missed:
            self._since[credential] = now

    def expected(self, credential: bytes, now: int) -> None:
        """Somebody has a seat from now on: if they have no stream, they are away from now on."""
        self.version += 1
        self._count_absence(credential, now)
        self._since[credential] = now

    def game_started(self, now: int) -> None:
        """Whoever is away has a full budget again."""
        self.version += 1
        self._used.clear()
        self._game_start = now

    def changed(self) -> None:
        """Something changed that is told together with who is here."""
        self.version += 1

    def is_here(self, credential: bytes) -> bool:
        """Whether a stream is open."""
        return self._streams[credential] > 0

    def away_since(self, credential: bytes) -> int | None:
        """Since when there is no stream; None while there is one."""
        if self.is_here(credential):
            return None
        return self._since.get(credential, self._start)

    def away_until(self, credential: bytes, *, in_game: bool) -> int | None:
        """When this absence has used up the budget; None for somebody who is here."""
        since = self.away_since(credential)
        if since is None:
            return None
        start = max(since, self._game_start) if in_game else since
        return start + self.may_be_away(credential, in_game=in_game)

    def may_be_away(self, credential: bytes, *, in_game: bool) -> int:
        """How long an absence may last that begins now, in microseconds."""
        if not in_game:
            return self._budget
        return max(self._budget - self._used[credential], min(LEAST, self._budget // 10))

    def others(self, credentials: set[bytes]) -> int:
        """How many streams belong to none of these."""
        return sum(count for who, count in self._streams.items() if who not in credentials)

    def _count_absence(self, credential: bytes, now: int) -> None:
        """An absence, if this is one, is over now."""
        since = self._since.get(credential)
        if since is not None and not self.is_here(credential):
            self._used[credential] += max(0, now - max(since, self._game_start))
