"""Whoever is not there: in which way, while what has to be decided, and what becomes of it.

{opening, responding, picking up, between deals} × {line cut, leave, stopped process} × {back in
time, substitute, nobody}. Each case has a table of its own; all tables of an outcome go through it
at the same time, at one server. The server's clock stands still until the test moves it.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import grpc.aio

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_server.main import Server
from odin_server.settings import Settings
from odin_table.v1 import event_pb2, table_pb2
from tests.server.conftest import QUICK
from tests.support.clocks import SetClock
from tests.support.cut_line import CutLine
from tests.support.decisions import OPEN, PICK_UP, RESPOND, play_to_the_end, reach
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused, payload

KINDS: Final = {"open": OPEN, "respond": RESPOND, "pick up": PICK_UP, "between deals": None}
WAYS: Final = ("cut", "leave", "stop")

SETTINGS: Final = replace(
    QUICK, bot_delay=0.05, deal_pause=36000, heartbeat=0.2, keepalive=0.5, keepalive_timeout=1.0
)

BUDGET: Final = SETTINGS.away_budget
"""Seconds that one may be away."""


def secret_of(person: Person) -> str:
    return person.metadata[0][1].removeprefix("Bearer ")


@dataclass
class Case:
    """One table with Ann and Bob, what Ann has to decide, and how she goes away."""

    kind: str
    way: str
    ann: Person
    bob: Person
    table: str
    log: list[event_pb2.Event] = field(default_factory=list[event_pb2.Event])
    """What happened, as a watcher is told."""
    connected: dict[int, bool] = field(default_factory=dict[int, bool])
    """Who is there, as a watcher is told."""
    decision: int = 0
    """The decision that is open when Ann goes; 0 between deals."""
    gone_at: int = 0
    """The number of the last event before."""

    def __str__(self) -> str:
        return f"{self.kind}, {self.way}"

    def since(self, kind: str, seat: int = 0) -> list[Any]:
        """What happened of this kind to this seat since Ann went."""
        after = [e for e in self.log if e.seq > self.gone_at and payload(e) == kind]
        bodies: list[Any] = [getattr(event, kind) for event in after]
        return [body for body in bodies if body.seat == seat]

    def acts(self) -> list[int]:
        """Who acted at Ann's seat since she went."""
        kinds = ("cards_played", "card_picked_up", "passed")
        return [
            getattr(event, payload(event)).actor
            for event in self.log
            if event.seq > self.gone_at and payload(event) in kinds
            if getattr(event, payload(event)).seat == 0
        ]

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Waits until the watcher has been told so."""
        give_up = time.monotonic() + PATIENCE
        while not condition():
            last = [f"{event.seq} {payload(event)}" for event in self.log[-9:]]
            assert time.monotonic() < give_up, f"{self}: never {what}; {self.connected}, {last}"
            await asyncio.sleep(0.02)

    async def until_there(self, seat: int, *, there: bool = True) -> None:
        """Waits until others are told that the holder of a seat is there, or is away."""
        await self.until(lambda: self.connected.get(seat) is there, f"there: {there}")

    async def until_substituted(self, seat: int = 0) -> None:
        """Waits until a substitute plays a seat."""
        await self.until(lambda: bool(self.since("substitute_seated", seat)), "substituted")

    async def watch(self, watcher: Person) -> None:
        """Keeps `log` and `connected`."""
        async with aclosing(watcher.watch(self.table, after_seq=0)) as items:
            async for item in items:
                self.log.extend(item.events.events)
                for seat in item.presence.seats:
                    self.connected[seat.seat] = seat.connected

    @asynccontextmanager
    async def played_by(self, *people: Person) -> AsyncGenerator[None]:
        """Meanwhile these do what a time-out would do, whenever they may."""
        playing = asyncio.create_task(self._play_on(people))
        try:
            yield
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)

    async def _play_on(self, people: Iterable[Person]) -> None:
        while True:
            for person in people:
                view = await person.view(self.table)
                with contextlib.suppress(Refused):  # a substitute was quicker
                    if view.decision.HasField("choices"):
                        default = view.decision.choices.default_action
                        await person.act(self.table, view.decision.id, default)
                    elif view.phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS:
                        await person.ready(self.table)
            await asyncio.sleep(0.02)


class Absences:
    """A server, its cases, and the three ways to be away."""

    def __init__(self, settings: Settings) -> None:
        self.clock = SetClock()
        self.server = Server(settings, clock=self.clock)
        self.cases: list[Case] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._sessions: dict[tuple[str, str], Session] = {}
        self._channels: list[grpc.aio.Channel] = []
        self._lines: dict[str, CutLine] = {}
        self.process: Process | None = None
        """Sits wherever somebody is away by being stopped."""

    def person(self, name: str) -> Person:
        """Somebody with a channel of their own."""
        channel = grpc.aio.insecure_channel(
            f"127.0.0.1:{self.server.port}", options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self._channels.append(channel)
        return Person(channel, name)

    async def prepare(
        self, leavers: Callable[[Case], Iterable[Person]], ways: Iterable[str]
    ) -> None:
        """A table for each case, at its decision; whoever will leave is there in their way.

        Everybody else at the table follows it as well, and stays.
        """
        await self.server.start()
        watcher = self.person("watcher")
        for kind in KINDS:
            for way in ways:
                ann, bob = self.person(f"Ann {kind} {way}"), self.person(f"Bob {kind} {way}")
                table = await ann.open_table(table_pb2.TableOptions(seats=2, threshold=100))
                self.cases.append(Case(kind, way, ann, bob, table))
        await asyncio.gather(*map(self._reach, self.cases))
        stopping: list[str] = []
        for case in self.cases:
            self._spawn(case.watch(watcher))
            going = list(leavers(case))
            for person in (case.ann, case.bob):
                if person in going and case.way == "stop":
                    stopping += [case.table, secret_of(person)]
                else:
                    await self._follow(case, person, through_line=person in going)
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.end_to_end.sitting_process"),
            *(f"{self.server.port}", *stopping),
        )
        for case in self.cases:
            for seat in (0, 1):
                await case.until_there(seat)

    async def _reach(self, case: Case) -> None:
        for person in (case.ann, case.bob):
            await person.sit(case.table)
        await case.ann.start(case.table)
        kind = KINDS[case.kind]
        if kind is None:
            case.gone_at = (await play_to_the_end(case.table, case.ann, case.bob)).seq
        else:
            case.decision = (await reach(case.table, case.ann, case.bob, kind)).id
            case.gone_at = case.decision

    async def _follow(self, case: Case, person: Person, *, through_line: bool) -> None:
        address = Address("127.0.0.1", self.server.port)
        if through_line and case.way == "cut":
            if case.table not in self._lines:
                self._lines[case.table] = await CutLine.to(address)
            address = self._lines[case.table].address
        connection = await Connection.open(address, Credential(secret_of(person)))
        session = self._sessions[case.table, person.name] = Session(connection, case.table)
        self._spawn(self._keep_following(session))

    async def _keep_following(self, session: Session) -> None:
        async for _ in session.follow():
            pass

    def _spawn(self, work: Any) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def go(self, leavers: Callable[[Case], Iterable[Person]]) -> None:
        """Everybody who is to go does, each in their way, and it is noticed."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        for case in self.cases:
            if case.way == "cut":
                await self._lines[case.table].cut()
            elif case.way == "leave":
                for person in leavers(case):
                    await person.leave(case.table)
                    await self._sessions.pop((case.table, person.name)).close()
        for case in self.cases:
            for seat, _ in enumerate(leavers(case)):
                await case.until_there(seat, there=False)

    def let_pass(self, seconds: float) -> None:
        """Moves the server's clock on."""
        self.clock.let_pass(seconds, self.server)

    async def come_back(self, case: Case) -> None:
        """Ann is there again: a client does it by itself, whoever left sits down again."""
        assert self.process is not None
        if case.way == "cut":
            await self._lines[case.table].mend()
        elif case.way == "leave":
            await case.ann.sit(case.table)
            await self._follow(case, case.ann, through_line=False)
        else:
            self.process.send_signal(signal.SIGCONT)

    async def each(self, work: Callable[[Case], Awaitable[None]]) -> None:
        """Does this with all cases at the same time."""
        await asyncio.gather(*map(work, self.cases))

    async def end(self) -> None:
        """Nothing is left."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for line in self._lines.values():
            await line.cut()
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        await asyncio.gather(*(channel.close() for channel in self._channels))
        await self.server.stop()


@asynccontextmanager
async def absences(
    leavers: Callable[[Case], Iterable[Person]],
    ways: Iterable[str] = WAYS,
    settings: Settings = SETTINGS,
) -> AsyncGenerator[Absences]:
    """All tables, each at its decision."""
    all_cases = Absences(settings)
    try:
        await all_cases.prepare(leavers, ways)
        yield all_cases
    finally:
        await all_cases.end()


def ann_alone(case: Case) -> list[Person]:
    return [case.ann]


def both(case: Case) -> list[Person]:
    return [case.ann, case.bob]


async def test_whoever_is_back_in_time_finds_everything_as_it_was() -> None:
    async with absences(ann_alone, settings=replace(SETTINGS, bot_delay=3600)) as tables:

        async def comes_back(case: Case) -> None:
            await tables.come_back(case)
            await case.until_there(0)
            view = await case.ann.view(case.table)
            assert not view.seats[0].substituted
            assert view.decision.id == case.decision, str(case)
            assert bool(case.since("substitute_seated")) == (case.way == "leave")
            assert case.connected[1]
            async with case.played_by(case.ann, case.bob):
                await case.until(lambda: bool(case.acts()), "played")
            assert case.acts()[0] == event_pb2.ACTOR_PERSON, str(case)

        await tables.go(ann_alone)
        tables.let_pass(BUDGET - 1)
        await tables.each(comes_back)


async def test_a_substitute_plays_until_whoever_was_away_comes_back() -> None:
    async with absences(ann_alone) as tables:

        async def is_replaced(case: Case) -> None:
            await case.until_substituted()
            reason = case.since("substitute_seated")[0].reason
            left = case.way == "leave"
            assert reason == (event_pb2.LEAVE_REASON_LEFT if left else event_pb2.LEAVE_REASON_AWAY)
            async with case.played_by(case.bob):
                await case.until(lambda: bool(case.acts()), "played by the substitute")
            assert set(case.acts()) == {event_pb2.ACTOR_SUBSTITUTE}, str(case)

        async def takes_over_again(case: Case) -> None:
            await tables.come_back(case)
            await case.until(lambda: bool(case.since("seat_resumed")), "given back")
            async with case.played_by(case.ann, case.bob):
                await case.until(lambda: event_pb2.ACTOR_PERSON in case.acts(), "played by Ann")

        await tables.go(ann_alone)
        tables.let_pass(BUDGET)
        await tables.each(is_replaced)
        await tables.each(takes_over_again)


async def test_a_table_that_nobody_comes_back_to_ends() -> None:
    async with absences(both) as tables:

        async def is_played_by_substitutes(case: Case) -> None:
            for seat in (0, 1):
                await case.until_substituted(seat)

        async def ends(case: Case) -> None:
            await case.until(lambda: payload(case.log[-1]) == "table_closed", "ended")
            assert case.log[-1].table_closed.reason == event_pb2.CLOSE_REASON_EMPTY

        await tables.go(both)
        tables.let_pass(BUDGET)
        await tables.each(is_played_by_substitutes)
        tables.let_pass(SETTINGS.empty_after)
        await tables.each(ends)


async def test_a_client_that_is_killed_is_noticed_at_once() -> None:
    settings = replace(SETTINGS, keepalive=3600)
    async with absences(ann_alone, ["stop"], settings) as tables:
        assert tables.process is not None
        killed_at = time.monotonic()
        tables.process.kill()
        await tables.each(lambda case: case.until_there(0, there=False))
        # The promise is one second; a machine under load gets some more.
        assert time.monotonic() - killed_at < 5
