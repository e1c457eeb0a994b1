"""What a run has to live with: kills of the server, and lines that are cut."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence

from tests.chaos.connection import Repeats
from tests.chaos.ledger import Ledger
from tests.support.cut_line import CutLine
from tests.support.killable import KillableServer


async def kill_until(
    end: float,
    patience: float,
    server: KillableServer,
    ledger: Ledger,
    repeats: Repeats,
    chance: random.Random,
) -> None:
    """Kills the server and starts it again, until `end` on the monotonic clock.

    Each time it lives for up to 1.2 s after its first answer, and when it is back, what waits for
    that is repeated. Gives up after `patience` seconds without an answer.
    """
    async with asyncio.TaskGroup() as group:
        while time.monotonic() < end:
            try:
                async with asyncio.timeout(patience):
                    await ledger.until_acts(len(ledger.acts) + 1)
            except TimeoutError:
                ledger.fault("tables that stand still", f"all of them, for {patience:g} s")
                return
            # Nothing is waited for: this is how long it lives.
            await asyncio.sleep(chance.uniform(0.2, 1.2))
            await server.kill()
            ledger.counts["kills"] += 1
            ledger.restarts.append(await server.start())
            group.create_task(repeats.make())


async def cut_until(
    end: float, lines: Sequence[CutLine], ledger: Ledger, chance: random.Random
) -> None:
    """Cuts one line after the other, until `end` on the monotonic clock."""
    while time.monotonic() < end:
        # Nothing is waited for: this is how long the lines are left alone.
        await asyncio.sleep(chance.uniform(0.1, 0.7))
        chance.choice(lines).drop()
        ledger.counts["lines cut"] += 1
