"""One run: tables, disturbance, the end, and the figures."""

from __future__ import annotations

import asyncio
import contextlib
import random
import tempfile
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from odin_client.connection.credential import Credential
from odin_server.event_log import SqliteLog
from tests.chaos.audit import audit, compare_viewers, compare_with_log
from tests.chaos.connection import DoubtingConnection, Gate, Repeats
from tests.chaos.disturbance import cut_until, kill_until
from tests.chaos.ledger import Ledger
from tests.chaos.players import Connect, PlayedTable
from tests.support.cut_line import CutLine
from tests.support.killable import UNLIMITED, KillableServer

SETTINGS = ("deal_pause=0.05", "away_budget=3600", "empty_after=3600")
"""Deals follow each other, and nobody is given up for lost while the server is away."""

FAULTS = (
    "lost",
    "doubled",
    "refused",
    "holes",
    "unequal replays",
    "told otherwise",
    "unlike the replay of their log",
    "tables that stand still",
    "viewers left behind",
    "failing bots",
)
"""Every kind of fault, so that a report names those that were not found, too."""


@dataclass(frozen=True)
class Size:
    """How much chaos."""

    seconds: float = 60
    tables: int = 24
    seats: int = 3
    onlookers: int = 6
    """One at each of so many tables."""
    lines: int = 8
    """All connections are spread over these."""
    seed: int = 1
    """Of the chances of the run; what a machine does in time is not repeated by it."""
    patience: float = 30
    """Seconds without what has to come after which it is taken as never coming."""
    store: str = "sqlite"
    """Or memory: then the server is not killed, since it would lose everything."""


async def chaos(size: Size) -> Ledger:
    """Makes a run. Leaves nothing behind but what it found."""
    chance = random.Random(size.seed)
    ledger, gate, repeats = Ledger(), Gate(), Repeats()
    with tempfile.TemporaryDirectory(prefix="odin-chaos-") as folder:
        file = Path(folder) / "tables.db"
        store = f"sqlite:{file}" if size.store == "sqlite" else size.store
        server = KillableServer(Path(folder), store, (*UNLIMITED, *SETTINGS))
        try:
            await server.start()
            async with _lines(server, size.lines) as lines, contextlib.AsyncExitStack() as stack:

                def connect() -> DoubtingConnection:
                    line = chance.choice(lines).address
                    connection = DoubtingConnection(
                        line, Credential.new(), ledger, gate, repeats, chance
                    )
                    stack.push_async_callback(connection.close)
                    return connection

                async with _playing(size, connect, ledger, chance) as tables:
                    end = time.monotonic() + size.seconds
                    async with asyncio.TaskGroup() as group:
                        group.create_task(cut_until(end, lines, ledger, chance))
                        if size.store != "memory":
                            group.create_task(
                                kill_until(end, size.patience, server, ledger, repeats, chance)
                            )
                    try:
                        async with asyncio.timeout(size.patience):
                            await _until_all_move(size, tables, ledger)
                            await gate.close()
                            await repeats.make()
                    except TimeoutError:
                        ledger.fault("tables that stand still", f"some, for {size.patience:g} s")
                    views = await audit(tables, ledger, size.patience)
                # A stream for the same seat would end the one that its bot follows.
                await compare_viewers(views, ledger)
        finally:
            await server.stop()
        if size.store == "sqlite":
            log = SqliteLog(file)
            await compare_with_log(log, tables, views, ledger)
            await log.close()
    return ledger


@contextlib.asynccontextmanager
async def _lines(server: KillableServer, count: int) -> AsyncGenerator[list[CutLine]]:
    """Lines to the server that can be cut."""
    lines = [await CutLine.to(server.address) for _ in range(count)]
    try:
        yield lines
    finally:
        for line in lines:
            await line.cut()


@contextlib.asynccontextmanager
async def _playing(
    size: Size, connect: Connect, ledger: Ledger, chance: random.Random
) -> AsyncGenerator[list[PlayedTable]]:
    """Tables that are opened and played at while the block runs. Those that are open so far."""
    tables: list[PlayedTable] = []

    async def one(onlookers: int) -> None:
        table = await PlayedTable.open(connect, size.seats, onlookers)
        tables.append(table)
        await table.play(ledger, chance)

    tasks = [
        asyncio.create_task(one(onlookers=int(number < size.onlookers)))
        for number in range(size.tables)
    ]
    try:
        yield tables
    finally:
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(outcome, asyncio.CancelledError):
                ledger.fault("failing bots", f"a table was given up: {outcome!r}")


async def _until_all_move(size: Size, tables: list[PlayedTable], ledger: Ledger) -> None:
    """Waits until there was an answer at every table, now that nobody disturbs it any more."""
    seen = len(ledger.acts)
    moved: set[str] = set()
    while len(moved) < size.tables:
        await ledger.until_acts(seen + 1)
        moved |= {act.request.table for act in ledger.acts[seen:]}
        seen = len(ledger.acts)
