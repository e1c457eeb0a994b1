"""Drawing a deal: what it follows from, and the threads that stretch its key (docs/fair-deal.md).

A command stays pure: it asks its draft for what is drawn, and when that takes time it is run again
once it is there (`NotDrawnYet`).
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from odin_engine import Card, Colour, CopyableError
from odin_engine.fair_deal import FirstDraw, draw_deal, draw_first

_THREADS: Final = max(1, min(8, (os.cpu_count() or 1) - 1))
"""How many keys are stretched at the same time. hashlib lets the event loop run meanwhile."""


class Drawn(NamedTuple):
    """What chance decides about a deal."""

    first: FirstDraw | None
    """None for a later deal of a game."""
    order: tuple[Card, ...]


class Drawing(NamedTuple):
    """All that a deal follows from. Holds the secret: nobody's to see."""

    secret: bytes
    nonces: tuple[bytes, ...]
    key_rounds: int
    deal: int
    short_deck: bool = False
    """Of a first deal: whether two colours leave the deck."""
    removed: tuple[Colour, ...] = ()
    """Of a later deal: the colours that have left the deck."""

    @property
    def takes_time(self) -> bool:
        """Whether the event loop should not wait for it."""
        return self.key_rounds > 1

    def draw(self) -> Drawn:
        """What follows."""
        if self.deal == 1:
            return Drawn(
                *draw_first(
                    self.secret, self.nonces, short_deck=self.short_deck, rounds=self.key_rounds
                )
            )
        order = draw_deal(
            self.secret,
            self.nonces,
            deal_number=self.deal,
            removed=self.removed,
            rounds=self.key_rounds,
        )
        return Drawn(None, order)


class NotDrawnYet(CopyableError):
    """A command needs this to be drawn, which takes time."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__("This deal has to be drawn first.")
        self.drawing: Final = drawing


class Dealer:
    """Draws deals in threads of its own, as many at the same time as the machine bears."""

    def __init__(self) -> None:
        """Starts no thread before one is needed."""
        self._threads: Final = ThreadPoolExecutor(_THREADS, thread_name_prefix="deal")

    def deal(self, drawing: Drawing) -> Drawn:
        """What follows, at once. A dealer that arranges its decks has another answer here."""
        return drawing.draw()

    async def draw(self, drawing: Drawing) -> Drawn:
        """What follows, drawn in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.deal, drawing)

    def stop(self) -> None:
        """Draws nothing more; what has begun is finished."""
        self._threads.shutdown(wait=False, cancel_futures=True)
