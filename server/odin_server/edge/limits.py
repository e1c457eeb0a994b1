"""How much one caller may use: buckets for what comes in time, counts for what is held."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from datetime import timedelta
from typing import Final, Self

from odin_server.errors import rate_limited

_MOST_CALLERS: Final = 10_000
"""Buckets that are kept; the longest unused go first, which are full again anyhow."""


class Buckets:
    """A token bucket per caller: `burst` at once, `per_second` on average."""

    def __init__(
        self, limit: str, per_second: float, burst: float, monotonic: Callable[[], float]
    ) -> None:
        self._limit = limit
        self._per_second = per_second
        self._burst = burst
        self._monotonic = monotonic
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, caller: Hashable) -> None:
        """Takes one token; raises RATE_LIMITED, with the time to wait, when there is none."""
        level, now = self._level(caller)
        if level < 1:
            raise self._refusal((1 - level) / self._per_second)
        self._set(caller, level - 1, now)

    def check(self, caller: Hashable) -> None:
        """Raises RATE_LIMITED when there is no token, and takes none."""
        level, _ = self._level(caller)
        if level < 1:
            raise self._refusal((1 - level) / self._per_second)

    def charge(self, caller: Hashable, tokens: float) -> None:
        """Takes these tokens, also when there are too few: then the caller has to wait."""
        level, now = self._level(caller)
        self._set(caller, level - tokens, now)

    def give_back(self, caller: Hashable) -> None:
        """Puts back a token that was taken for nothing."""
        level, now = self._level(caller)
        self._set(caller, min(self._burst, level + 1), now)

    def _level(self, caller: Hashable) -> tuple[float, float]:
        now = self._monotonic()
        level, since = self._levels.get(caller, (self._burst, now))
        return min(self._burst, level + (now - since) * self._per_second), now

    def _set(self, caller: Hashable, level: float, now: float) -> None:
        self._levels[caller] = (level, now)
        self._levels.move_to_end(caller)
        if len(self._levels) > _MOST_CALLERS:
            self._levels.popitem(last=False)

    def _refusal(self, seconds: float) -> Exception:
        return rate_limited(
            self._limit,
            f"Too many in a short time. Wait {seconds:.1f} seconds.",
            timedelta(seconds=seconds),
        )


class Held:
    """How many of something each caller holds at the moment.

    Nothing may be awaited between `check` and `add`, else a crowd passes the check together: hence
    `Reserved`.
    """

    def __init__(self, limit: str, most: int) -> None:
        self._limit = limit
        self._most = most
        self._counts: Counter[Hashable] = Counter()

    def check(self, caller: Hashable) -> None:
        """Raises RATE_LIMITED when this caller holds as many as are allowed."""
        if self._counts[caller] >= self._most:
            raise rate_limited(
                self._limit,
                f"No more than {self._most} at the same time. Give one back first.",
                timedelta(seconds=30),
            )

    def add(self, caller: Hashable) -> None:
        """This caller holds one more."""
        self._counts[caller] += 1

    def remove(self, caller: Hashable) -> None:
        """This caller holds one less."""
        self._counts[caller] -= 1
        if self._counts[caller] <= 0:
            del self._counts[caller]


class Reserved:
    """One more of everything that a caller is about to hold: checked and counted at once.

    Raises RATE_LIMITED, and then counts nothing. `release` it once what it was for is over or did
    not come about; the second time nothing happens.
    """

    def __init__(self, *counts: tuple[Held, Hashable]) -> None:
        for held, caller in counts:
            held.check(caller)
        for held, caller in counts:
            held.add(caller)
        self._counts = counts

    def release(self) -> None:
        """Counts it no more."""
        counts, self._counts = self._counts, ()
        for held, caller in counts:
            held.remove(caller)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
