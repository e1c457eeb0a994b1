"""The log is the truth: another server takes up from it what the first one has left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from odin_server.clock import SystemClock
from odin_server.event_log import EventLog, MemoryLog, SqliteLog, StoreUnavailable
from odin_server.table.events import Batch
from odin_table.v1 import (
    chat_pb2,
    decision_pb2,
    event_pb2,
    history_pb2,
    lobby_pb2,
    play_pb2,
    table_pb2,
)
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import (
    Person,
    Refused,
    first_choice,
    payload,
    play_until,
    told_until,
)

Reopen = Callable[[], EventLog]
"""Gives each server a log with what the one before has left there."""


@pytest.fixture(params=["memory", "sqlite"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    if request.param == "sqlite":
        return lambda: SqliteLog(tmp_path / "tables.db")
    log = MemoryLog()
    return lambda: log


async def test_a_game_goes_on_at_another_server_with_the_same_log(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    first = await serve(log=reopen())
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

    second = await serve(log=reopen())
    ann, bob = meet(second, "Ann"), meet(second, "Bob")
    assert (await ann.view(table)).log_id == views[0].log_id
    again = await ann.call(ann.lobby.CreateTable, opening)
    assert (again.table, again.code, again.replayed) == (table, opened.code, True)
    told = await asyncio.gather(play_until(ann, table), play_until(bob, table))
    assert told[0][: len(before)] == before
    assert [event.seq for event in told[0]] == list(range(1, len(told[0]) + 1))
    assert payload(told[0][-1]) == "game_ended"


async def test_an_action_that_the_first_server_kept_is_answered_by_the_second(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    first = await serve(log=reopen())
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
    ann = meet(await serve(log=reopen()), "Ann")
    again = await ann.call(ann.play.Act, act)
    assert (again.seq, again.replayed) == (answer.seq, True)


async def test_nobody_counts_as_away_for_the_time_without_a_server(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    first = await serve(replace(QUICK, away_budget=3600), log=reopen())
    ann = meet(first, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    stopped = (await ann.view(table)).seq
    await first.stop()
    # What happened before the stop lies further back than the second server would wait.
    second = await serve(replace(QUICK, away_budget=60), log=reopen(), clock=_Later())
    ann = meet(second, "Ann")
    assert (await ann.view(table)).seq == stopped
    events = await told_until(ann, table, "seat_taken")
    assert len(events) == stopped


async def _on_the_clock(
    ann: Person, bob: Person, *, seconds: int
) -> tuple[str, decision_pb2.Decision]:
    """A game of two, each with so much time; its table, and the decision that is open."""
    clock = table_pb2.Clock(per_turn=Duration(seconds=seconds))
    table = await ann.open_table(table_pb2.TableOptions(clock=clock))
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    return table, (await ann.view(table)).decision


async def test_time_without_a_server_is_given_back(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    first = await serve(log=reopen())
    ann, bob = meet(first, "Ann"), meet(first, "Bob")
    table, before = await _on_the_clock(ann, bob, seconds=300)
    await first.stop()
    clock = _Later()
    ann = meet(await serve(log=reopen(), clock=clock), "Ann")
    after = (await ann.view(table)).decision
    assert (after.id, after.seat) == (before.id, before.seat)
    given = after.deadline.ToMicroseconds() - before.deadline.ToMicroseconds()
    # An hour, and what the two servers took to stop and to start.
    assert clock.ahead <= given <= clock.ahead + PATIENCE * 1e6


async def test_time_in_which_nothing_could_be_kept_is_given_back(serve: Serve, meet: Meet) -> None:
    log = _LogThatFails()
    server = await serve(log=log)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table, before = await _on_the_clock(ann, bob, seconds=5)
    log.fails = True
    stopped = time.monotonic()
    # Longer than the turn: nobody's time runs out, since nobody could have acted.
    while time.monotonic() < stopped + 6:
        await asyncio.sleep(0.5)
        assert (await ann.view(table)).decision.id == before.id
    log.fails = False
    actor = (ann, bob)[before.seat]
    choices = (await actor.view(table)).decision.choices
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await actor.act(table, before.id, first_choice(choices), request_id="late")
            except Refused as refused:
                assert refused.reason == "STORE_UNAVAILABLE"  # noqa: PT017 -- until it is back
                await asyncio.sleep(0.1)
            else:
                break
    events = await told_until(ann, table, "cards_played")
    kinds = [payload(event) for event in events]
    assert kinds[-2:] == ["deadline_moved", "cards_played"]
    assert events[-2].deadline_moved.given_back.ToSeconds() >= 5
    assert events[-1].cards_played.actor == event_pb2.ACTOR_PERSON


class _LogThatFails(MemoryLog):
    """A log that keeps nothing while it is told so."""

    fails = False

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        if self.fails:
            raise StoreUnavailable
        await super().append(table, expected_seq, batch)

    async def beat(self, now: int) -> None:
        if self.fails:
            raise StoreUnavailable
        await super().beat(now)


async def test_a_table_that_has_ended_is_read_again_when_somebody_asks(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    settings = replace(QUICK, ended_in_memory=1)
    server = await serve(settings, log=reopen())
    ann = meet(server, "Ann")
    histories: dict[str, history_pb2.GetHistoryResponse] = {}
    for _ in range(3):
        table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
        await ann.sit(table)
        await ann.add_bot(table)
        await ann.ready(table)
        await play_until(ann, table)
        await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
        histories[table] = await _history(ann, table)
    for _ in range(2):
        assert len(server.lobby.tables()) == 1
        for table, history in histories.items():
            assert await _history(ann, table) == history
        closed = lobby_pb2.ListTablesRequest(phase=table_pb2.TABLE_PHASE_CLOSED, page_size=2)
        page = await ann.call(ann.lobby.ListTables, closed)
        assert [summary.table for summary in page.tables] == list(histories)[:0:-1]
        closed.page_token = page.next_page_token
        page = await ann.call(ann.lobby.ListTables, closed)
        assert [summary.table for summary in page.tables] == list(histories)[:1]
        assert not page.next_page_token
        await server.stop()
        server = await serve(settings, log=reopen())
        ann = meet(server, "Ann")
        assert server.lobby.tables() == []
        await _history(ann, next(iter(histories)))


async def _history(person: Person, table: str) -> history_pb2.GetHistoryResponse:
    request = history_pb2.GetHistoryRequest(table=table, page_size=1000)
    answer: history_pb2.GetHistoryResponse = await person.call(person.history.GetHistory, request)
    return answer


async def test_tables_and_names_are_removed_when_their_time_has_come(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    clock = _Later()
    settings = replace(QUICK, unplayed_kept=60, names_kept=600, ended_kept=3600)
    server = await serve(settings, log=reopen(), clock=clock)
    ann = meet(server, "Ann")
    played = await ann.open_table(table_pb2.TableOptions(single_deal=True, title="cosy"))
    await ann.sit(played)
    await ann.add_bot(played)
    await ann.ready(played)
    await play_until(ann, played)
    unplayed = await ann.open_table()
    for table in (played, unplayed):
        await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
    still_open = await ann.open_table()

    async def passes(seconds: float) -> None:
        clock.ahead += round(seconds * 1e6)
        await server.retention.sweep()

    await passes(59)
    assert (await ann.view(unplayed)).seq
    await passes(2)
    with pytest.raises(Refused, match="no such table"):
        await ann.view(unplayed)
    view = await ann.view(played)
    assert (view.options.title, view.seats[0].name) == ("cosy", "Ann")
    await passes(600)
    view = await ann.view(played)
    assert (view.options.title, view.seats[0].name) == ("", "Player 1")
    assert len((await _history(ann, played)).events) == view.seq
    await passes(3600)
    with pytest.raises(Refused, match="no such table"):
        await ann.view(played)
    assert (await ann.view(still_open)).seq


async def test_chat_and_requests_without_effect_survive(
    serve: Serve, meet: Meet, reopen: Reopen
) -> None:
    server = await serve(log=reopen())
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.ready(table)
    requests: list[tuple[Callable[[Person], Any], Any]] = [
        (lambda p: p.lobby.SetReady, lobby_pb2.SetReadyRequest(table=table, ready=True)),
        (lambda p: p.lobby.TakeSeat, lobby_pb2.TakeSeatRequest(table=table)),
        (lambda p: p.chat.SendChat, chat_pb2.SendChatRequest(table=table, text="hello")),
    ]
    answers = [await ann.call(method(ann), request) for method, request in requests]
    await ann.leave(table)
    await server.stop()
    ann = meet(await serve(log=reopen()), "Ann")
    before = (await ann.view(table)).seq
    for (method, request), answer in zip(requests, answers, strict=True):
        again = await ann.call(method(ann), request)
        assert again.replayed
        again.replayed = False
        assert again == answer
    assert (await ann.view(table)).seq == before, "nobody became ready or sat down again"
    async with aclosing(ann.watch(table)) as items:
        chat = await anext(item.chat async for item in items if item.HasField("chat"))
    assert [line.text for line in chat.lines] == ["hello"]


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
    assert (seat.seat, seat.seq) == (1, 4)
    assert [seat.name for seat in (await bob.view(table)).seats[:2]] == ["Ann", "Bob"]


async def test_nobody_counts_as_away_for_the_time_before_they_sat_down(
    serve: Serve, meet: Meet
) -> None:
    clock = _Later()
    server = await serve(replace(QUICK, away_budget=60), clock=clock)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    clock.ahead *= 2
    await bob.sit(table)
    # Ann has been away for an hour, Bob for no time at all.
    events = await told_until(bob, table, "host_changed")
    assert [payload(event) for event in events][-2:] == ["seat_taken", "host_changed"]
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

    def follow(self, *, may_go_back: bool) -> int:
        return 0

    def not_before(self, moment: int) -> int:
        return 0
