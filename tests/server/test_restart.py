"""The log is the truth: another server takes up from it what the first one has left."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

from odin_server.clock import SystemClock
from odin_server.event_log import MemoryLog
from odin_table.v1 import lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.server.people import first_choice, payload, play_until, told_until


async def test_a_game_goes_on_at_another_server_with_the_same_log(serve: Serve, meet: Meet) -> None:
    log = MemoryLog()
    first = await serve(log=log)
    ann, bob = meet(first, "Ann"), meet(first, "Bob")
    opening = lobby_pb2.CreateTableRequest(
        request_id="open",
        options=table_pb2.TableOptions(threshold=5, visibility=table_pb2.VISIBILITY_PRIVATE),
    )
    opened = await ann.call(ann.lobby.CreateTable, opening)
    table = opened.table
    await ann.sit(table)
    await bob.sit(table, code=opened.code)
    await ann.add_bot(table)
    await ann.start(table)
    before = await asyncio.wait_for(told_until(ann, table, "decision_opened"), 30)
    views = [await person.view(table) for person in (ann, bob)]
    await first.stop()

    second = await serve(log=log)
    ann, bob = meet(second, "Ann"), meet(second, "Bob")
    assert (await ann.view(table)).log_id == views[0].log_id
    again = await ann.call(ann.lobby.CreateTable, opening)
    assert (again.table, again.code, again.replayed) == (table, opened.code, True)
    told = await asyncio.gather(play_until(ann, table), play_until(bob, table))
    assert told[0][: len(before)] == before
    assert [event.seq for event in told[0]] == list(range(1, len(told[0]) + 1))
    assert payload(told[0][-1]) == "game_ended"


async def test_an_action_that_the_first_server_kept_is_answered_by_the_second(
    serve: Serve, meet: Meet
) -> None:
    log = MemoryLog()
    first = await serve(log=log)
    ann = meet(first, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    async with aclosing(ann.events(table)) as events:
        decisions = (event.decision_opened.decision async for event in events)
        decision = await anext(d async for d in decisions if d.HasField("choices"))
    act = play_pb2.ActRequest(
        request_id="act",
        table=table,
        decision_id=decision.id,
        action=first_choice(decision.choices),
    )
    answer = await ann.call(ann.play.Act, act)
    await first.stop()
    ann = meet(await serve(log=log), "Ann")
    again = await ann.call(ann.play.Act, act)
    assert (again.seq, again.replayed) == (answer.seq, True)


async def test_nobody_counts_as_away_for_the_time_without_a_server(
    serve: Serve, meet: Meet
) -> None:
    log = MemoryLog()
    first = await serve(replace(QUICK, away_after=3600), log=log)
    ann = meet(first, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    stopped = (await ann.view(table)).seq
    await first.stop()
    # What happened before the stop lies further back than the second server would wait.
    second = await serve(replace(QUICK, away_after=60), log=log, clock=_Later())
    ann = meet(second, "Ann")
    assert (await ann.view(table)).seq == stopped
    events = await told_until(ann, table, "seat_taken")
    assert len(events) == stopped


async def test_a_server_that_has_missed_something_reads_it_and_decides_again(
    serve: Serve, meet: Meet
) -> None:
    """The log refuses what was decided on an old state, so two can write to it safely."""
    log = MemoryLog()
    first = await serve(log=log)
    ann = meet(first, "Ann")
    table = await ann.open_table()
    bob = meet(await serve(log=log), "Bob")
    assert (await ann.sit(table)).seat == 0
    seat = await bob.sit(table)
    assert (seat.seat, seat.seq) == (1, 3)
    assert [seat.name for seat in (await bob.view(table)).seats[:2]] == ["Ann", "Bob"]


async def test_nobody_counts_as_away_for_the_time_before_they_sat_down(
    serve: Serve, meet: Meet
) -> None:
    clock = _Later()
    server = await serve(replace(QUICK, away_after=60), clock=clock)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    clock.ahead *= 2
    await bob.sit(table)
    # Ann has been away for an hour, Bob for no time at all.
    events = await told_until(bob, table, "host_changed")
    assert [payload(event) for event in events] == ["table_opened", "seat_taken", "host_changed"]
    assert events[-1].host_changed.seat == 0


class _Later:
    """A clock that is ahead of the machine's, by an hour unless told."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self.ahead = 3_600_000_000

    def now(self) -> int:
        return self._clock.now() + self.ahead

    def monotonic(self) -> float:
        return self._clock.monotonic()
