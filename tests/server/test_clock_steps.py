"""What the system clock does, and time in which the server did not run, cost nobody a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from odin_server.clock import SystemClock
from odin_server.event_log import MemoryLog, SqliteLog, StoreUnavailable
from odin_server.main import Server
from odin_server.table.events import Batch
from odin_table.v1 import decision_pb2, event_pb2, lobby_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.clocks import Machine, SetClock
from tests.support.patience import PATIENCE
from tests.support.people import Person, first_choice, payload, told_until

PATIENT = replace(QUICK, deal_pause=3600, away_budget=36000)


class Two:
    """A game of two with a clock."""

    def __init__(self, table: str, ann: Person, bob: Person) -> None:
        self.table, self.ann, self.bob = table, ann, bob

    async def decision(self) -> decision_pb2.Decision:
        return (await self.ann.view(self.table)).decision

    async def act(self) -> None:
        """Whoever has to decide does."""
        actor = (self.ann, self.bob)[(await self.decision()).seat]
        decision = (await actor.view(self.table)).decision
        await actor.act(self.table, decision.id, first_choice(decision.choices))

    async def until(self, is_so: Callable[[table_pb2.TableView], bool]) -> table_pb2.TableView:
        async with asyncio.timeout(PATIENCE):
            while True:
                view = await self.ann.view(self.table)
                if is_so(view):
                    return view
                await asyncio.sleep(0.05)

    async def seconds_left(self) -> float:
        """By the clock that the server shows."""
        now, deadline = await self.server_time(), (await self.decision()).deadline
        return (deadline.ToMicroseconds() - now.ToMicroseconds()) / 1e6

    async def server_time(self) -> Timestamp:
        ask = lobby_pb2.GetServerInfoRequest()
        time: Timestamp = (await self.ann.call(self.ann.lobby.GetServerInfo, ask)).server_time
        return time

    async def times(self) -> list[int]:
        """The times of all events, in microseconds."""
        last = (await self.ann.view(self.table)).seq
        times: list[int] = []
        async with aclosing(self.ann.events(self.table)) as events:
            async for event in events:
                times.append(event.time.ToMicroseconds())
                if event.seq == last:
                    return times
        raise AssertionError


async def two(server: Server, meet: Meet, per_turn: int) -> Two:
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    clock = table_pb2.Clock(per_turn=Duration(seconds=per_turn), bank=Duration(seconds=100))
    table = await ann.open_table(table_pb2.TableOptions(seats=2, threshold=100, clock=clock))
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    return Two(table, ann, bob)


async def test_a_clock_that_is_set_forward_moves_every_deadline_along(
    serve: Serve, meet: Meet
) -> None:
    machine = Machine()
    game = await two(await serve(PATIENT, clock=machine.clock()), meet, per_turn=30)
    for _ in range(3):
        before = await game.decision()
        machine.set_time(3600)
        # Right after it, and when it was noticed: nobody is too late.
        await game.act()
        await game.until(lambda view: view.decision.deadline.ToMicroseconds() > machine.wall())
        assert 100 < await game.seconds_left() <= 130
        await game.act()
        assert (await game.decision()).id > before.id
        assert 100 < await game.seconds_left() <= 130
    banks = [player.bank.ToSeconds() for player in (await game.ann.view(game.table)).game.players]
    assert banks == [100, 100], "no turn took longer than it may"
    times = await game.times()
    assert times == sorted(times)
    assert abs(times[-1] - machine.wall()) < PATIENCE * 1e6


@pytest.mark.parametrize("step", [-3600, 3600])
async def test_a_turn_takes_as_long_as_ever_after_the_clock_was_set(
    serve: Serve, meet: Meet, step: int
) -> None:
    machine = Machine()
    server = await serve(PATIENT, clock=machine.clock())
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    options = table_pb2.TableOptions(clock=table_pb2.Clock(per_turn=Duration(seconds=5)))
    game = Two(await ann.open_table(options), ann, bob)
    for person in (ann, bob):
        await person.sit(game.table)
    await ann.start(game.table)
    started = asyncio.get_running_loop().time()
    machine.set_time(step)
    events = await told_until(ann, game.table, "cards_played")
    assert events[-1].cards_played.actor == event_pb2.ACTOR_CLOCK
    assert 4.5 < asyncio.get_running_loop().time() - started < 5 + PATIENCE / 2
    times = [event.time.ToMicroseconds() for event in events]
    assert times == sorted(times)


async def test_times_do_not_go_back_with_the_next_server(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    """Whose machine has an earlier time; nor has anybody more time than before."""
    machine, file = Machine(), tmp_path / "tables.db"
    server = await serve(PATIENT, clock=machine.clock(), log=SqliteLog(file))
    game = await two(server, meet, per_turn=30)
    await game.act()
    before = await game.decision()
    await server.stop()
    machine.set_time(-3600)
    server = await serve(PATIENT, clock=machine.clock(), log=SqliteLog(file))
    game = Two(game.table, meet(server, "Ann"), meet(server, "Bob"))
    assert (await game.decision()).id == before.id
    assert 100 < await game.seconds_left() <= 130
    await game.act()
    assert 100 < await game.seconds_left() <= 130
    times = await game.times()
    assert times == sorted(times)
    # Where nothing was written down that would be later, the clock is right again.
    await game.ann.call(game.ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=game.table))

    async def is_right() -> bool:
        now = (await game.server_time()).ToMicroseconds()
        return abs(now - machine.wall()) < PATIENCE * 1e6

    await eventually(is_right)


async def eventually(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0.3)


@pytest.mark.parametrize("seconds", [1.0, 4.0, 20.0])
async def test_standing_still_costs_nobody_a_turn(serve: Serve, meet: Meet, seconds: float) -> None:
    time = SetClock()
    server = await serve(PATIENT, clock=time)
    game = await two(server, meet, per_turn=5)
    first = await game.decision()
    time.let_pass(104.5, server)  # of 105
    time.stop_the_server(seconds)
    await game.act()
    second = await game.decision()
    assert second.id > first.id
    time.let_pass(104.5, server)
    time.stop_the_server(seconds)
    time.let_pass(0, server)
    view = await game.until(lambda view: view.decision.deadline != second.deadline)
    assert view.decision.id == second.id
    assert 0 < await game.seconds_left() <= 1.5
    time.let_pass(1.5, server)
    await game.until(lambda view: view.decision.id != second.id)


async def test_a_long_standstill_moves_deadlines_before_anybody_acts(
    serve: Serve, meet: Meet
) -> None:
    time = SetClock()
    game = await two(await serve(PATIENT, clock=time), meet, per_turn=30)
    moved = event_pb2.Event()
    async with aclosing(game.bob.events(game.table)) as events:
        async for moved in events:
            if payload(moved) == "decision_opened":
                time.stop_the_server(20)
            elif payload(moved) == "deadline_moved":
                break
    assert moved.deadline_moved.given_back.ToSeconds() == 20


@pytest.mark.parametrize("stops", [True, False])
async def test_nobody_is_away_while_the_clock_is_set_or_the_server_stands_still(
    serve: Serve, meet: Meet, stops: bool
) -> None:
    time, machine = SetClock(), Machine()
    clock: SetClock | SystemClock = time if stops else machine.clock()
    server = await serve(replace(QUICK, away_budget=60, empty_after=60), clock=clock)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    empty = await bob.open_table()

    async def kept_until(seat: int = 0) -> int:
        async with aclosing(bob.watch(table)) as items:
            async for item in items:
                if item.HasField("presence"):
                    return item.presence.seats[seat].kept_until.ToMicroseconds()
        raise AssertionError

    before = await kept_until()
    if stops:
        time.stop_the_server(3600)
        time.let_pass(59, server)
    else:
        machine.set_time(3600)

    async def is_later() -> bool:
        return await kept_until() - before > 3599e6

    await eventually(is_later)
    assert (await ann.view(table)).your_seat == 0
    assert (await bob.view(empty)).phase == table_pb2.TABLE_PHASE_WAITING
    await meet(server, "Eve").sit(table)
    assert abs(await kept_until(1) - clock.now() - 60e6) < PATIENCE * 1e6
    if stops:
        time.let_pass(1, server)
        await told_until(bob, table, "seat_left")


class _Unreadable(MemoryLog):
    """A log from which no table can be read while it is told so."""

    unreadable = False

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        if self.unreadable:
            raise StoreUnavailable
        return await super().read(table, after_seq)


async def test_a_server_that_lives_for_a_moment_hides_no_outage(serve: Serve, meet: Meet) -> None:
    """One that is gone before it has given back any time."""
    machine, log = Machine(), _Unreadable()
    server = await serve(PATIENT, clock=machine.clock(), log=log)
    game = await two(server, meet, per_turn=30)
    before = await game.decision()
    await server.stop()
    log.unreadable = True
    machine.set_time(3600)
    await (await serve(PATIENT, clock=machine.clock(), log=log)).stop()
    log.unreadable = False
    machine.set_time(3600)
    server = await serve(PATIENT, clock=machine.clock(), log=log)
    game = Two(game.table, meet(server, "Ann"), meet(server, "Bob"))
    assert (await game.decision()).id == before.id
    assert 100 < await game.seconds_left() <= 130
