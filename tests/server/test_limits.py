"""How much one caller may use: each limit has its typed refusal, and hits nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

import grpc
import pytest

from odin_server.clock import SystemClock
from odin_server.edge.limits import Buckets
from odin_server.event_log import MemoryLog
from odin_server.settings import Limits, Settings
from odin_server.table.events import Batch
from odin_table.v1 import chat_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.people import Person, Refused, first_choice


class StoppedWatch(SystemClock):
    """Measures no time, so that a bucket which is empty stays so, however slow the machine is."""

    def monotonic(self) -> float:
        return 0.0


class SlowLog(MemoryLog):
    """A disk that takes its time, in which a crowd can come."""

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        await asyncio.sleep(0.05)
        await super().append(table, expected_seq, batch)

    async def read(self, table: str, after_seq: int = 0) -> list[Batch]:
        await asyncio.sleep(0.05)
        return await super().read(table, after_seq)


def limited(**limits: float) -> Settings:
    changes: dict[str, Any] = limits
    return replace(QUICK, limits=replace(Limits(), **changes))


async def too_many(call: Awaitable[Any], limit: str) -> None:
    with pytest.raises(Refused) as caught:
        await call
    assert caught.value.reason == "RATE_LIMITED"
    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.facts["limit"] == limit
    assert caught.value.retry_after, "it says when to try again"


async def test_tables(serve: Serve, meet: Meet) -> None:
    server = await serve(limited(tables_per_credential=2))
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    first = await ann.open_table()
    await ann.open_table()
    await too_many(ann.open_table(), "tables_per_credential")
    await bob.open_table()
    await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=first))
    await ann.open_table()

    server = await serve(limited(tables_per_address=1))
    await meet(server, "Ann").open_table()
    await too_many(meet(server, "Bob").open_table(), "tables_per_address")

    server = await serve(limited(tables=1))
    await meet(server, "Ann").open_table()
    await too_many(meet(server, "Bob").open_table(), "tables")


async def test_many_tables_at_once_do_not_pass_the_check_together(serve: Serve, meet: Meet) -> None:
    server = await serve(limited(tables_per_credential=3))
    ann = meet(server, "Ann")
    results = await asyncio.gather(*(ann.open_table() for _ in range(10)), return_exceptions=True)
    assert sum(isinstance(result, str) for result in results) == 3


def through(results: Sequence[object], limit: str) -> int:
    """How many calls of a crowd were let through; the others were refused for this limit."""
    refused = [result for result in results if isinstance(result, BaseException)]
    for error in refused:
        assert isinstance(error, Refused), error
        assert (error.reason, error.facts["limit"]) == ("RATE_LIMITED", limit)
    return len(results) - len(refused)


@pytest.mark.parametrize("limit", ["seats_per_credential", "seats_per_address"])
async def test_a_crowd_takes_no_more_seats_than_one_by_one(
    serve: Serve, meet: Meet, limit: str
) -> None:
    server = await serve(limited(**{limit: 3}), log=SlowLog())
    ann = meet(server, "Ann")
    tables = await asyncio.gather(*(ann.open_table() for _ in range(10)))
    for _ in range(2):
        sat = await asyncio.gather(*map(ann.sit, tables), return_exceptions=True)
        assert through(sat, limit) == 3
        # Those that were refused count no more, and neither do those that are left.
        for table, result in zip(tables, sat, strict=True):
            if not isinstance(result, BaseException):
                await ann.leave(table)


@pytest.mark.parametrize("limit", ["streams_per_credential", "streams_per_address"])
async def test_a_crowd_opens_no_more_streams_than_one_by_one(
    serve: Serve, meet: Meet, limit: str
) -> None:
    server = await serve(limited(**{limit: 3}), log=SlowLog())
    ann = meet(server, "Ann")
    table = await ann.open_table()
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as beside:
        # A stream of somebody with a credential waits for what the table is doing.
        beside.create_task(ann.sit(table))
        streams = [await stack.enter_async_context(aclosing(ann.watch(table))) for _ in range(10)]
        opened = await asyncio.gather(*map(anext, streams), return_exceptions=True)
        assert through(opened, limit) == 3


async def test_a_crowd_tries_no_more_codes_than_one_by_one(serve: Serve, meet: Meet) -> None:
    """At tables that are not in memory, so that looking for them takes a moment."""
    server = await serve(clock=StoppedWatch(), log=SlowLog())
    eve = meet(server, "Eve")
    guesses = [play_pb2.GetViewRequest(table=f"ZZ{n}", code=f"000000{n}") for n in range(10, 40)]
    seen = await asyncio.gather(
        *(eve.call(eve.play.GetView, guess) for guess in guesses), return_exceptions=True
    )
    assert all(isinstance(result, Refused) for result in seen)
    reasons = [result.reason for result in seen if isinstance(result, Refused)]
    assert reasons.count("TABLE_NOT_FOUND") == 10
    assert reasons.count("RATE_LIMITED") == 20


async def test_a_code_that_nobody_needed_costs_nothing(serve: Serve, meet: Meet) -> None:
    """At a public table, and for whoever sits at a private one."""
    server = await serve(clock=StoppedWatch())
    ann = meet(server, "Ann")
    private = table_pb2.TableOptions(visibility=table_pb2.VISIBILITY_PRIVATE)
    for table in (await ann.open_table(), await ann.open_table(private)):
        request = play_pb2.GetViewRequest(table=table, code="00000000")
        for _ in range(15):
            await ann.call(ann.play.GetView, request)


async def test_seats(serve: Serve, meet: Meet) -> None:
    server = await serve(limited(seats_per_credential=1))
    ann = meet(server, "Ann")
    first, second = await ann.open_table(), await ann.open_table()
    await ann.sit(first)
    await ann.sit(first)  # the same seat again is no second one
    await too_many(ann.sit(second), "seats_per_credential")
    await ann.leave(first)
    await ann.sit(second)
    await too_many(ann.sit(first), "seats_per_credential")
    await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=second))
    await ann.sit(first)

    server = await serve(limited(seats_per_address=1))
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    await too_many(bob.sit(table), "seats_per_address")


@pytest.mark.parametrize("limit", ["streams_per_credential", "streams_per_address"])
async def test_streams(serve: Serve, meet: Meet, limit: str) -> None:
    server = await serve(limited(**{limit: 2}))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    async with AsyncExitStack() as stack:
        for _ in range(2):
            stream = await stack.enter_async_context(aclosing(ann.watch(table)))
            await anext(stream)
        third = await stack.enter_async_context(aclosing(ann.watch(table)))
        await too_many(anext(third), limit)
    # The server notices a closed stream a moment later.
    async with asyncio.timeout(30):
        while True:
            async with aclosing(ann.watch(table)) as stream:
                try:
                    await anext(stream)
                except Refused:
                    continue
                break


async def test_calls_but_never_the_move_of_the_seat_that_has_to_act(
    serve: Serve, meet: Meet
) -> None:
    limits = limited(calls_per_second_per_credential=1, calls_for_a_deal=1)
    server = await serve(limits, clock=StoppedWatch())
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    decision = (await ann.view(table)).decision
    actor, waits = ((ann, bob), (bob, ann))[decision.seat]
    decision = (await actor.view(table)).decision

    async def look(person: Person) -> None:
        for _ in range(30):
            await person.view(table)

    for person in (actor, waits):
        await too_many(look(person), "calls_per_second_per_credential")
    action = first_choice(decision.choices)
    await too_many(actor.view(table), "calls_per_second_per_credential")
    await too_many(waits.act(table, decision.id, action), "calls_per_second_per_credential")
    await actor.act(table, decision.id, action)


async def test_calls_of_an_address(serve: Serve, meet: Meet) -> None:
    server = await serve(limited(calls_per_second_per_address=0.5), clock=StoppedWatch())
    ann = meet(server, "Ann")

    async def ask() -> None:
        for _ in range(20):
            await ann.call(ann.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest())

    await too_many(ask(), "calls_per_second_per_address")


async def test_chat(serve: Serve, meet: Meet) -> None:
    server = await serve(clock=StoppedWatch())
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)

    async def talk() -> None:
        for number in range(20):
            say = chat_pb2.SendChatRequest(table=table, text=f"line {number}")
            await ann.call(ann.chat.SendChat, say)

    await too_many(talk(), "chat_lines_per_minute")


async def test_wrong_codes(serve: Serve, meet: Meet) -> None:
    """Nobody finds a private table by trying, and a wrong code looks like a missing table."""
    server = await serve(clock=StoppedWatch())
    ann, eve = meet(server, "Ann"), meet(server, "Eve")
    private = table_pb2.TableOptions(visibility=table_pb2.VISIBILITY_PRIVATE)
    request = lobby_pb2.CreateTableRequest(options=private)
    created = await ann.call(ann.lobby.CreateTable, request)
    reasons: list[str] = []
    for number in range(12):
        guess = play_pb2.GetViewRequest(table=created.table, code=f"0000000{number % 10}")
        with pytest.raises(Refused) as caught:
            await eve.call(eve.play.GetView, guess)
        reasons.append(caught.value.reason)
    assert reasons[:10] == ["TABLE_NOT_FOUND"] * 10
    assert reasons[-1] == "RATE_LIMITED"
    right = play_pb2.GetViewRequest(code=created.code)
    await too_many(eve.call(eve.play.GetView, right), "wrong_codes_per_minute")


def test_a_bucket_fills_again_with_time_and_never_over_its_brim() -> None:
    now = 0.0
    buckets = Buckets("limit", per_second=2, burst=4, monotonic=lambda: now)
    for _ in range(4):
        buckets.take("Ann")
    with pytest.raises(Exception, match=r"Wait 0\.5 seconds"):
        buckets.take("Ann")
    buckets.take("Bob")
    now = 0.5
    buckets.take("Ann")
    now = 1000.0
    for _ in range(4):
        buckets.take("Ann")
    with pytest.raises(Exception, match="Wait"):
        buckets.take("Ann")
