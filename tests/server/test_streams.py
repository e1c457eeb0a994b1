"""Streams: resuming from any number, falling behind, notices, and how a stream ends."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from odin_table.v1 import decision_pb2, event_pb2, history_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import Person, payload, play_until, told_until


async def finished_game(serve: Serve, meet: Meet) -> tuple[str, Person, list[event_pb2.Event]]:
    """A game that is over, with all that Ann was sent without an interruption."""
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=5))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.add_bot(table, "random")
    await ann.ready(table)
    return table, ann, await play_until(ann, table)


async def test_resuming_after_every_number_gives_what_the_uninterrupted_stream_gave(
    serve: Serve, meet: Meet
) -> None:
    table, ann, whole = await finished_game(serve, meet)
    watcher = Person(ann.channel, "watcher")
    log_id = (await ann.view(table)).log_id
    public = await told_until(watcher, table)
    for person, uninterrupted in ((ann, whole), (watcher, public)):
        for seq in range(len(whole)):
            rest = await told_until(person, table, after_seq=seq, log_id=log_id)
            assert rest == uninterrupted[seq:], f"after {seq}"


async def test_resuming_in_mid_game_misses_and_repeats_nothing(serve: Serve, meet: Meet) -> None:
    """The stream is broken after every few events while the game goes on."""
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=5))
    await ann.sit(table)
    for _ in range(3):
        await ann.add_bot(table)
    await ann.ready(table)
    log_id = (await ann.view(table)).log_id
    seen: list[event_pb2.Event] = []
    acted: set[int] = set()
    while not seen or payload(seen[-1]) != "game_ended":
        after = seen[-1].seq if seen else 0
        async with aclosing(ann.events(table, after_seq=after, log_id=log_id)) as events:
            taken = 0
            async for event in events:
                seen.append(event)
                taken += 1
                decision = event.decision_opened.decision
                if decision.HasField("choices") and decision.id not in acted:
                    acted.add(decision.id)
                    await ann.act(table, decision.id, _any(decision.choices))
                if taken == 7 or payload(event) == "game_ended":
                    break
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert seen == await told_until(ann, table)


def _any(choices: decision_pb2.Choices) -> decision_pb2.Action:
    plays = choices.plays
    if not plays:
        return choices.default_action
    return decision_pb2.Action(play_cards=decision_pb2.PlayCards(cards=plays[-1].cards))


async def test_a_number_of_another_log_or_of_the_future_starts_with_a_snapshot(
    serve: Serve, meet: Meet
) -> None:
    table, ann, whole = await finished_game(serve, meet)
    log_id = (await ann.view(table)).log_id
    for fields in (
        {"after_seq": 3, "log_id": "another"},
        {"after_seq": 3},
        {"after_seq": len(whole) + 2, "log_id": log_id},
        {},
    ):
        async with aclosing(ann.watch(table, **fields)) as items:
            first = await anext(items)
        assert first.snapshot == await ann.view(table)


async def test_catching_up_comes_in_batches_of_whole_acts(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(QUICK, batch_events=10, snapshot_after=15))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=5))
    await ann.sit(table)
    await ann.add_bot(table, "random")
    await ann.ready(table)
    await play_until(ann, table)
    history = history_pb2.GetHistoryRequest(table=table, page_size=1000)
    size = len((await ann.call(ann.history.GetHistory, history)).events)
    batches: list[list[event_pb2.Event]] = []
    # Number 0 asks for the whole log: no snapshot, however far behind that is.
    async with aclosing(ann.watch(table, after_seq=0)) as items:
        async for item in items:
            assert not item.HasField("snapshot")
            batches.append(list(item.events.events))
            if sum(map(len, batches)) == size:
                break
    numbers = [event.seq for batch in batches for event in batch]
    assert numbers == list(range(1, size + 1))
    assert max(map(len, batches)) <= 10
    # The events of one act have one time, and no batch ends in the middle of them.
    for batch, following in itertools.pairwise(batches):
        assert following[0].time.ToNanoseconds() != batch[-1].time.ToNanoseconds()
        assert len(batch) + len(_first_act(following)) > 10, "no batch is smaller than it has to be"


def _first_act(events: list[event_pb2.Event]) -> list[event_pb2.Event]:
    return [event for event in events if event.time == events[0].time]


async def test_a_viewer_that_is_far_behind_gets_a_snapshot(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(QUICK, snapshot_after=20))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=5))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    # Ann plays from snapshots alone; a stream that she opens then is too far behind to be told.
    while (view := await ann.view(table)).phase != table_pb2.TABLE_PHASE_GAME_OVER:
        if view.decision.HasField("choices"):
            await ann.act(table, view.decision.id, _any(view.decision.choices))
    for after_seq, expected in ((1, "snapshot"), (view.seq - 5, "events")):
        async with aclosing(ann.watch(table, after_seq=after_seq, log_id=view.log_id)) as items:
            assert (await anext(items)).WhichOneof("item") == expected


async def test_a_viewer_that_reads_nothing_slows_nobody_down_and_gets_one_snapshot(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(replace(QUICK, snapshot_after=50))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    await ann.sit(table)
    for _ in range(5):
        await ann.add_bot(table, "random")
    # A window as small as this is full after a few messages, so writing to it has to wait.
    channel = grpc.aio.insecure_channel(
        f"127.0.0.1:{server.port}",
        options=[("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0)],
    )
    slow = Person(channel, "slow")
    request = play_pb2.WatchTableRequest(table=table)
    stalled = slow.play.WatchTable(request, metadata=slow.metadata)
    first = await stalled.read()
    assert isinstance(first, play_pb2.WatchTableResponse)
    await ann.ready(table)
    events = await play_until(ann, table)
    last = first.snapshot.seq
    snapshots = 0
    async with asyncio.timeout(PATIENCE):
        while last < events[-1].seq:
            item = await stalled.read()
            assert isinstance(item, play_pb2.WatchTableResponse)
            if item.HasField("snapshot"):
                snapshots += 1
                last = item.snapshot.seq
            elif item.events.events:
                assert item.events.events[0].seq == last + 1
                last = item.events.events[-1].seq
    assert snapshots == 1
    await channel.close()


async def test_a_heartbeat_comes_when_nothing_else_does(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(QUICK, heartbeat=0.1))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    beats: list[play_pb2.WatchTableResponse] = []
    async with aclosing(ann.watch(table)) as items:
        async for item in items:
            if item.HasField("heartbeat"):
                beats.append(item)
                if len(beats) == 3:
                    break
    times = [beat.heartbeat.server_time.ToMicroseconds() for beat in beats]
    assert times == sorted(times)


async def test_everybody_is_told_who_is_there(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await bob.sit(table)

    async def told(connected: list[bool], watchers: int) -> event_pb2.Presence:
        async for item in items:
            notice = item.presence
            here = [seat.connected for seat in notice.seats]
            if (here, notice.watchers) == (connected, watchers):
                return notice
        raise AssertionError("the stream ended")

    async with aclosing(ann.watch(table)) as items:
        notice = await told([True, True, False], 0)
        assert notice.seats[2].HasField("away_since")
        async with aclosing(bob.watch(table)) as others:
            await anext(others)
            await told([True, True, True], 0)
        await told([True, True, False], 0)
        async with aclosing(meet(server, "watcher").watch(table)) as others:
            await anext(others)
            await told([True, True, False], 1)


async def test_the_newer_stream_of_a_seat_supersedes_the_older(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    async with aclosing(ann.watch(table)) as older:
        await anext(older)
        async with aclosing(ann.watch(table)) as newer:
            await anext(newer)
            rest = [item async for item in older]
            assert rest[-1].stream_end.reason == event_pb2.STREAM_END_REASON_SUPERSEDED
            assert not rest[-1].stream_end.HasField("retry_after")
            view = await ann.view(table)
            await ann.add_bot(table)
            async for item in newer:
                if item.events.events:
                    assert item.events.events[0].seq == view.seq + 1
                    break


async def test_a_server_that_stops_ends_every_stream_and_says_when_to_come_back(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(replace(QUICK, drain_retry_after=7.0))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    async with aclosing(ann.watch(table)) as items:
        await anext(items)
        stopping = asyncio.create_task(server.stop())
        rest = [item async for item in items]
    await stopping
    assert rest[-1].stream_end.reason == event_pb2.STREAM_END_REASON_DRAINING
    assert rest[-1].stream_end.retry_after.seconds == 7


async def test_the_history_of_a_game_that_is_over_shows_every_hand_and_before_that_only_ones_own(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann, bob, watcher = (meet(server, name) for name in ("Ann", "Bob", "watcher"))
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    request = history_pb2.GetHistoryRequest(table=table)

    async def dealt(person: Person) -> event_pb2.DealStarted:
        history = await person.call(person.history.GetHistory, request)
        started: event_pb2.DealStarted = next(
            event.deal_started for event in history.events if payload(event) == "deal_started"
        )
        return started

    assert (await dealt(ann)).hand.seat == 0
    assert (await dealt(bob)).hand.seat == 1
    assert not (await dealt(watcher)).HasField("hand")
    for person in (ann, bob, watcher):
        assert not (await dealt(person)).hands
        assert not (await dealt(person)).undealt
    await asyncio.gather(play_until(ann, table), play_until(bob, table))
    for person in (ann, bob, watcher):
        whole = await dealt(person)
        assert len(whole.hands) == 2
        cards = [card for hand in whole.hands for card in hand.cards] + list(whole.undealt)
        assert len(set(cards)) == 36
    page = history_pb2.GetHistoryRequest(table=table, page_size=10)
    collected: list[event_pb2.Event] = []
    while True:
        answer = await ann.call(ann.history.GetHistory, page)
        collected.extend(answer.events)
        if not answer.more:
            break
        page.after_seq = collected[-1].seq
    assert collected == list((await ann.call(ann.history.GetHistory, request)).events)
    game = history_pb2.GetHistoryRequest(table=table, game=1)
    only = (await ann.call(ann.history.GetHistory, game)).events
    assert (payload(only[0]), payload(only[-1])) == ("game_started", "game_ended")


async def test_the_list_of_tables_is_paged_and_filtered(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    tables = [
        await ann.open_table(table_pb2.TableOptions(seats=2, open_to_bots=number % 2 == 0))
        for number in range(5)
    ]
    await ann.sit(tables[4])
    await ann.add_bot(tables[4])

    async def listed(**fields: Any) -> list[str]:
        found: list[str] = []
        request = lobby_pb2.ListTablesRequest(**fields)
        while True:
            answer = await ann.call(ann.lobby.ListTables, request)
            found.extend(summary.table for summary in answer.tables)
            if not answer.next_page_token:
                return found
            request.page_token = answer.next_page_token

    assert await listed() == tables[::-1]
    assert await listed(page_size=2) == tables[::-1]
    assert await listed(joinable=True) == tables[3::-1]
    assert await listed(open_to_bots=True) == tables[4::-2]
    assert await listed(phase=table_pb2.TABLE_PHASE_PLAYING) == []


@pytest.mark.parametrize("service", ["", "odin_table.v1.PlayService"])
async def test_the_server_says_that_it_is_healthy(serve: Serve, meet: Meet, service: str) -> None:
    server = await serve()
    health = health_pb2_grpc.HealthStub(meet(server, "Ann").channel)
    answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
