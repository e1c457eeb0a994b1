"""Tables of bots, and onlookers: sessions of the SDK, whose every message is noted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable

from odin_client.bots import BotRunner, make_bot
from odin_client.session.following import Tap
from odin_client.session.session import Session
from odin_client.table.updates import Update
from odin_contract.enums import Occupant
from odin_contract.values import Options
from odin_server.edge.credentials import digest_of
from tests.chaos.connection import DoubtingConnection
from tests.chaos.ledger import Ledger, Told

THINKING = 60.0
"""Seconds that a bot may take: a loaded machine is no fault of it."""

Connect = Callable[[], DoubtingConnection]
"""Makes a connection with a credential of its own, over one of the lines."""


class NotedSession(Session):
    """A session that notes each message of its stream."""

    def __init__(self, connection: DoubtingConnection, table: str, *, code: str = "") -> None:
        super().__init__(connection, table, code=code)
        self.told = Told(connection.ledger)
        """What its viewer was told."""
        self.holder = digest_of(f"Bearer {connection.credential.secret}")
        """How the server knows its viewer."""

    @property
    def who(self) -> str:
        """For a person to read."""
        seat = "a watcher" if self.table.my_seat is None else f"seat {self.table.my_seat}"
        return f"{seat} at {self.table.table}"

    def follow(
        self, *, tap: Tap | None = None, patience: float | None = None
    ) -> AsyncGenerator[Update, None]:
        """See `Session.follow`; the tap is taken."""
        assert tap is None, "the tap is taken"
        # A session that has looked at the table before it follows goes on from there.
        self.told.seq = max(self.told.seq, self.table.seq)
        return super().follow(tap=self.told.item, patience=patience)


class PlayedTable:
    """One table with bots at every seat, and perhaps an onlooker. Make it with `open`."""

    def __init__(self, seats: list[NotedSession], onlookers: list[NotedSession]) -> None:
        self.seats = seats
        self.onlookers = onlookers

    @property
    def handle(self) -> str:
        """Its handle."""
        return self.seats[0].table.table

    @property
    def viewers(self) -> list[NotedSession]:
        """Everybody who is told what happens."""
        return [*self.seats, *self.onlookers]

    @classmethod
    async def open(cls, connect: Connect, seats: int, onlookers: int) -> PlayedTable:
        """Opens a table and sits bots down at all of it, which starts the game."""
        options = Options(seats=seats, threshold=10)
        host = await NotedSession.open_table(connect(), options)
        assert isinstance(host, NotedSession), "it was asked for as one"
        handle = host.table.table
        sessions = [host, *(NotedSession(connect(), handle) for _ in range(seats - 1))]
        for number, session in enumerate(sessions):
            await session.take_seat(f"bot {number}", occupant=Occupant.REMOTE_BOT)
        return cls(sessions, [NotedSession(connect(), handle) for _ in range(onlookers)])

    async def play(self, ledger: Ledger, chance: random.Random) -> None:
        """Lets the bots play and the onlookers look on, until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            for session in self.onlookers:
                group.create_task(_look_on(session))
            for number, session in enumerate(self.seats):
                bot = make_bot("random", chance.getrandbits(32))
                report = _report_to(ledger, f"bot {number} at {self.handle}")
                runner = BotRunner(session, bot, report, deadline=THINKING)
                group.create_task(runner.play(None))


async def _look_on(session: NotedSession) -> None:
    async for _ in session.follow():
        pass


def _report_to(ledger: Ledger, who: str) -> Callable[[str], None]:
    def report(problem: str) -> None:
        if "the default action is taken" in problem:
            ledger.fault("failing bots", f"{who} {problem}")
        elif problem.startswith("has lost the server"):
            ledger.counts["lines that bots saw broken"] += 1

    return report
