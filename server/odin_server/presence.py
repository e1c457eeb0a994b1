"""Who is at a table, and since when somebody is not. Not in the log: it is not the game."""

from __future__ import annotations

from collections import Counter


class Presence:
    """Counts the open streams of one table by credential (its digest)."""

    def __init__(self, now: int) -> None:
        self._streams: Counter[bytes | None] = Counter()
        self._since: dict[bytes, int] = {}
        self._start = now
        self.version = 0
        """Grows with every change."""

    def came(self, credential: bytes | None) -> None:
        """A stream was opened; None for somebody without a credential."""
        self.version += 1
        self._streams[credential] += 1

    def left(self, credential: bytes | None, now: int) -> None:
        """A stream was closed. `now` in microseconds since 1970."""
        self.version += 1
        self._streams[credential] -= 1
        if self._streams[credential] <= 0:
            del self._streams[credential]
        if credential is not None:
            self._since[credential] = now

    def expected(self, credential: bytes, now: int) -> None:
        """Somebody sat down: if they have no stream yet, they are away from now on."""
        self.version += 1
        self._since[credential] = now

    def is_here(self, credential: bytes) -> bool:
        """Whether a stream is open."""
        return self._streams[credential] > 0

    def away_since(self, credential: bytes) -> int | None:
        """Since when there is no stream, in microseconds since 1970; None while there is one."""
        if self.is_here(credential):
            return None
        return self._since.get(credential, self._start)

    def others(self, credentials: set[bytes]) -> int:
        """How many streams belong to none of these."""
        return sum(count for who, count in self._streams.items() if who not in credentials)
