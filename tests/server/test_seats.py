"""The life of a seat and of a table: leaving, staying away, substitutes, hosts, endings."""

from __future__ import annotations

import asyncio
import random
import threading
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import grpc.aio
import pytest

from odin_engine import Action, Pass
from odin_engine.strategies import STRATEGIES, Strategy
from odin_engine.views import View
from odin_server.event_log import SqliteLog
from odin_server.main import Server
from odin_server.settings import Settings
from odin_server.upkeep.thinker import Threads
from odin_table.v1 import chat_pb2, event_pb2, lobby_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.clocks import SetClock
from tests.support.people import Person, Refused, payload, play_until, told_until

WAITS = replace(QUICK, deal_pause=3600)


async def until(person: Person, table: str, kind: str) -> event_pb2.Event:
    """The first event of this kind that the person is sent."""
    return (await told_until(person, table, last=kind))[-1]


async def game_of_two(
    serve: Serve, meet: Meet, settings: Settings = QUICK
) -> tuple[str, Person, Person]:
    server = await serve(settings)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    return table, ann, bob


async def test_whoever_leaves_during_a_game_is_replaced_at_once_and_the_game_goes_on(
    serve: Serve, meet: Meet
) -> None:
    table, ann, bob = await game_of_two(serve, meet)
    await bob.leave(table)
    events = await play_until(ann, table)
    seated = next(e.substitute_seated for e in events if payload(e) == "substitute_seated")
    assert (seated.seat, seated.level) == (1, "greedy")
    assert seated.reason == event_pb2.LEAVE_REASON_LEFT
    acted = [
        (event.cards_played if payload(event) == "cards_played" else event.passed)
        for event in events
        if payload(event) in ("cards_played", "passed")
    ]
    by_seat = {act.actor for act in acted if act.seat == 1}
    assert by_seat == {event_pb2.ACTOR_SUBSTITUTE}
    assert {act.actor for act in acted if act.seat == 0} == {event_pb2.ACTOR_PERSON}


async def test_the_seat_can_be_taken_back(serve: Serve, meet: Meet) -> None:
    table, ann, bob = await game_of_two(serve, meet)
    await bob.leave(table)
    seat = await bob.sit(table)
    assert seat.seat == 1
    view = await bob.view(table)
    assert not view.seats[1].substituted
    results = await asyncio.gather(play_until(ann, table), play_until(bob, table))
    assert payload(results[0][-1]) == "game_ended"


async def test_whoever_stays_away_is_replaced_and_takes_over_by_watching_again(
    serve: Serve, meet: Meet
) -> None:
    table, ann, bob = await game_of_two(serve, meet, replace(QUICK, away_budget=0.2))
    # Nobody has opened a stream yet, so both are away; Ann comes in time.
    async with aclosing(ann.events(table)) as events:
        async for event in events:
            if payload(event) == "substitute_seated" and event.substitute_seated.seat == 1:
                assert event.substitute_seated.reason == event_pb2.LEAVE_REASON_AWAY
                break
        resumed = await until(bob, table, "seat_resumed")
        assert resumed.seat_resumed.seat == 1


async def test_whoever_left_only_watches_until_they_sit_down_again(
    serve: Serve, meet: Meet
) -> None:
    table, ann, bob = await game_of_two(serve, meet)
    await bob.leave(table)
    async with aclosing(bob.watch(table)) as items:
        await anext(items)
        assert (await ann.view(table)).seats[1].substituted
        await bob.sit(table)
        assert not (await ann.view(table)).seats[1].substituted


async def test_the_seat_of_whoever_left_can_be_taken_by_somebody_else_with_its_hand(
    serve: Serve, meet: Meet
) -> None:
    table, ann, bob = await game_of_two(serve, meet, replace(QUICK, bot_delay=3600))
    cleo = Person(bob.channel, "Cleo")
    before = await bob.view(table)
    await bob.leave(table)
    view = await ann.view(table)
    assert (view.seats[1].substituted, view.seats[1].abandoned) == (True, True)
    async with aclosing(cleo.watch(table)) as watching, aclosing(bob.watch(table)) as looking_on:
        for items in (watching, looking_on):
            assert (await anext(items)).HasField("snapshot")
        assert (await cleo.sit(table)).seat == 1
        # Whoever has watched so far is given the hand, whoever left sees what everybody sees.
        items = (item async for item in watching)
        snapshot = await anext(item.snapshot async for item in items if item.HasField("snapshot"))
        assert snapshot.your_seat == 1
        assert snapshot.game.hand == before.game.hand
        assert snapshot.decision == (await cleo.view(table)).decision
        batches = (item.events.events async for item in looking_on if item.HasField("events"))
        taken = (await anext(batches))[0].seat_taken
        assert (taken.seat.name, taken.seat.substituted) == ("Cleo", False)
    view = await bob.view(table)
    assert not view.HasField("your_seat")
    assert not view.game.HasField("hand")
    with pytest.raises(Refused, match="nobody has left") as refused:
        await bob.sit(table)
    assert refused.value.reason == "ALREADY_STARTED"
    results = await asyncio.gather(play_until(ann, table), play_until(cleo, table))
    assert payload(results[0][-1]) == "game_ended"


async def test_whoever_left_may_come_back_until_somebody_else_has_come(
    serve: Serve, meet: Meet
) -> None:
    table, _, bob = await game_of_two(serve, meet)
    cleo = Person(bob.channel, "Cleo")
    await bob.leave(table)
    assert (await bob.sit(table)).seat == 1
    with pytest.raises(Refused) as refused:
        await cleo.sit(table)
    assert refused.value.reason == "ALREADY_STARTED"


async def test_somebody_who_lost_the_credential_may_sit_down_again_under_the_same_name(
    serve: Serve, meet: Meet
) -> None:
    table, _, bob = await game_of_two(serve, meet)
    await bob.leave(table)
    again = Person(bob.channel, "Bob at another machine")
    again.name = "Bob"
    with pytest.raises(Refused) as refused:
        await again.sit(table, seat=0)
    assert refused.value.reason == "SEAT_TAKEN"
    assert (await again.sit(table, seat=1)).seat == 1
    assert not (await bob.view(table)).HasField("your_seat")


async def test_nobody_takes_the_seat_of_somebody_who_is_away(serve: Serve, meet: Meet) -> None:
    table, ann, bob = await game_of_two(serve, meet, replace(QUICK, away_budget=0.2))
    async with aclosing(ann.watch(table)) as items:
        await anext(items)
        await until(Person(bob.channel, "watcher"), table, "substitute_seated")
        assert not (await ann.view(table)).seats[1].abandoned
        with pytest.raises(Refused) as refused:
            await Person(bob.channel, "Cleo").sit(table)
        assert refused.value.reason == "ALREADY_STARTED"


@pytest.mark.parametrize("open_to_bots", [True, False])
async def test_a_table_that_somebody_has_left_is_listed_as_one_to_join(
    serve: Serve, meet: Meet, open_to_bots: bool
) -> None:
    server = await serve(replace(QUICK, bot_delay=3600))
    ann, bob, fox = meet(server, "Ann"), meet(server, "Bob"), meet(server, "fox")
    table = await ann.open_table(table_pb2.TableOptions(open_to_bots=open_to_bots))
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)

    async def joinable(*, open_to_bots: bool = False) -> list[str]:
        request = lobby_pb2.ListTablesRequest(joinable=True, open_to_bots=open_to_bots)
        listed = await fox.call(fox.lobby.ListTables, request)
        return [summary.table for summary in listed.tables]

    assert await joinable() == []
    await bob.leave(table)
    assert await joinable() == [table]
    assert await joinable(open_to_bots=True) == ([table] if open_to_bots else [])
    if open_to_bots:
        await fox.sit(table, occupant=table_pb2.OCCUPANT_REMOTE_BOT)
        assert await joinable() == []
    else:
        with pytest.raises(Refused) as refused:
            await fox.sit(table, occupant=table_pb2.OCCUPANT_REMOTE_BOT)
        assert refused.value.reason == "NOT_ALLOWED"


async def test_a_seat_is_free_when_its_holder_leaves_or_stays_away_before_a_game(
    serve: Serve, meet: Meet
) -> None:
    time = SetClock()
    server = await serve(QUICK, clock=time)
    ann, bob, cleo = (meet(server, name) for name in ("Ann", "Bob", "Cleo"))
    table = await ann.open_table()
    async with aclosing(ann.events(table)) as events:
        await anext(events)
        for person in (ann, bob, cleo):
            await person.sit(table)
        await cleo.leave(table)
        time.let_pass(QUICK.away_budget, server)
        left: list[tuple[int, int]] = []
        async for event in events:
            if payload(event) == "seat_left":
                left.append((event.seat_left.seat, event.seat_left.reason))
                if len(left) == 2:
                    break
    assert left == [(2, event_pb2.LEAVE_REASON_LEFT), (1, event_pb2.LEAVE_REASON_AWAY)]


async def test_the_role_of_the_host_passes_to_the_next_person(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob, cleo = (meet(server, name) for name in ("Ann", "Bob", "Cleo"))
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await bob.sit(table)
    await cleo.sit(table)
    await ann.leave(table)
    view = await bob.view(table)
    assert view.you_are_host
    assert [seat.host for seat in view.seats[:4]] == [False, False, True, False]
    await bob.leave(table)
    await cleo.leave(table)
    await ann.sit(table)
    assert (await ann.view(table)).you_are_host, "whoever comes next is the host"


async def test_a_table_without_people_ends(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(QUICK, empty_after=0.2))
    ann, watcher = meet(server, "Ann"), meet(server, "watcher")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.add_bot(table)
    await ann.ready(table)
    await ann.leave(table)
    async with aclosing(watcher.watch(table)) as items:
        last = [item async for item in items][-1]
    assert last.stream_end.reason == event_pb2.STREAM_END_REASON_TABLE_CLOSED
    assert not last.stream_end.HasField("retry_after")
    assert (await watcher.view(table)).phase == table_pb2.TABLE_PHASE_CLOSED
    listed = await ann.call(ann.lobby.ListTables, lobby_pb2.ListTablesRequest())
    assert not listed.tables


async def test_a_table_that_nobody_joins_ends(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(QUICK, empty_after=0.2))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    event = await until(meet(server, "watcher"), table, "table_closed")
    assert event.table_closed.reason == event_pb2.CLOSE_REASON_EMPTY


async def test_between_deals_nobody_waits_for_whoever_left(serve: Serve, meet: Meet) -> None:
    table, ann, bob = await game_of_two(serve, meet, WAITS)
    await asyncio.gather(
        play_until(ann, table, last="deal_ended"), play_until(bob, table, last="deal_ended")
    )
    await bob.leave(table)
    await ann.ready(table)
    assert (await ann.view(table)).phase == table_pb2.TABLE_PHASE_PLAYING


@pytest.mark.parametrize("answers_at", [14, 3600])
async def test_no_pause_runs_out_while_none_of_the_people_has_answered(
    serve: Serve, meet: Meet, answers_at: float
) -> None:
    time = SetClock()
    server = await serve(replace(QUICK, deal_pause=15, away_budget=36000), clock=time)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    await asyncio.gather(*(play_until(one, table, last="deal_ended") for one in (ann, bob)))
    found = await server.lobby.find(table, "", None)

    async def deal() -> int:
        await ann.view(table)  # lets the timer run
        await found.submit(lambda draft: None)  # after whatever was due
        return found.state.game.deal

    time.let_pass(answers_at, server)
    assert await deal() == 1
    await bob.ready(table)
    assert await deal() == (1 if answers_at < 15 else 2)
    time.let_pass(1, server)
    assert await deal() == 2


released = threading.Event()
"""Lets the sleeper go."""


class Raises:
    def choose(self, view: View, rng: random.Random) -> Action:
        raise RuntimeError("a secret of the bot")


class Exits:
    def choose(self, view: View, rng: random.Random) -> Action:
        raise SystemExit(3)


class Cheats:
    def choose(self, view: View, rng: random.Random) -> Action:
        assert view.decision is not None
        return Pass(view.decision.seat)


class Sleeps:
    def choose(self, view: View, rng: random.Random) -> Action:
        released.wait(20)
        return Pass(0)


async def test_a_bot_that_raises_cheats_or_sleeps_is_reported_and_never_holds_up_a_table(
    serve: Serve, meet: Meet
) -> None:
    released.clear()
    bad: dict[str, tuple[type[Strategy], str]] = {
        "raises": (Raises, "failed"),
        "exits": (Exits, "failed"),
        "cheats": (Cheats, "illegal"),
        "sleeps": (Sleeps, "too slow"),
    }
    for level, (strategy, words) in bad.items():
        settings = replace(QUICK, seed=13, bot_timeout=0.05 if level == "sleeps" else 5)
        server = await serve(settings, thinker=Threads({**STRATEGIES, "greedy": strategy}))
        ann = meet(server, "Ann")
        table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
        await ann.sit(table)
        await ann.add_bot(table)
        await ann.ready(table)
        events = await play_until(ann, table, last="bot_failed")
        assert words in events[-1].bot_failed.problem
        assert "secret" not in events[-1].bot_failed.problem
        if level == "sleeps":
            released.set()
        events = await play_until(ann, table, after_seq=0)
        failed = next(i for i, event in enumerate(events) if payload(event) == "bot_failed")
        after = events[failed + 1]
        what = after.cards_played if payload(after) == "cards_played" else after.passed
        assert what.actor == event_pb2.ACTOR_CLOCK


class Lowest:
    """A thinker with a level of its own, which waits for something before it acts."""

    levels = ("greedy", "patient")

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, float]] = []

    async def choose(self, level: str, view: View, seed: int, budget: float) -> Action:
        self.asked.append((level, seed, budget))
        await asyncio.sleep(0)
        decision = view.decision
        assert decision is not None
        return decision.default


async def test_a_level_of_an_injected_thinker_is_listed_and_can_be_seated(
    serve: Serve, meet: Meet
) -> None:
    thinker = Lowest()
    ann = meet(await serve(thinker=thinker), "Ann")
    info = await ann.call(ann.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest())
    assert list(info.levels) == ["greedy", "patient"]
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    await ann.sit(table)
    await ann.add_bot(table, "patient")
    with pytest.raises(Refused) as refused:
        await ann.add_bot(table, "hard")
    assert refused.value.reason == "INVALID_OPTION"
    await ann.start(table)
    events = await play_until(ann, table)
    assert not [event for event in events if payload(event) == "bot_failed"]
    assert thinker.asked
    assert {(level, budget) for level, _, budget in thinker.asked} == {
        ("patient", QUICK.bot_timeout)
    }
    assert len({seed for _, seed, _ in thinker.asked}) == len(thinker.asked)


@pytest.mark.often
@pytest.mark.usefixtures("each_time")
async def test_a_level_that_hangs_blocks_nothing_else(serve: Serve, tmp_path: Path) -> None:
    """Not the other tables, not their levels, and not the end of the server, log included."""
    released.clear()
    before = threading.active_count()
    settings = replace(QUICK, bot_timeout=1.0, store=tmp_path / "tables")
    hanging = {**STRATEGIES, "hard": Sleeps}
    server = Server(settings, log=SqliteLog(tmp_path / "tables"), thinker=Threads(hanging))
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        ann = Person(channel, "Ann")
        tables = [await ann.open_table(table_pb2.TableOptions(seats=2)) for _ in range(8)]
        for number, table in enumerate(tables):
            for _ in range(2):
                await ann.add_bot(table, "greedy" if number == 7 else "hard")
        async with asyncio.timeout(20):
            seen = await asyncio.gather(*(play_until(ann, table) for table in tables))
    assert sum(payload(event) == "bot_failed" for events in seen for event in events) > 50
    assert all(payload(event) != "bot_failed" for event in seen[7])
    assert threading.active_count() <= before + 12, "a level that hangs is not asked for ever"
    async with asyncio.timeout(10):
        await server.stop()
        await asyncio.get_running_loop().shutdown_default_executor()
    released.set()


async def test_chat_reaches_everybody_and_whoever_comes_late(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, late = meet(server, "Ann"), meet(server, "late")
    table = await ann.open_table()
    await ann.sit(table)
    for number in range(1, 8):
        say = chat_pb2.SendChatRequest(table=table, text=f"\x1b[31mline\u202e  {number}\n")
        await ann.call(ann.chat.SendChat, say)
    async with aclosing(late.watch(table)) as items:
        chat = await anext(item.chat async for item in items if item.HasField("chat"))
        assert [line.text for line in chat.lines] == [f"[31mline {n}" for n in range(1, 8)]
        assert {line.name for line in chat.lines} == {"Ann"}
        say = chat_pb2.SendChatRequest(table=table, text="live")
        await ann.call(ann.chat.SendChat, say)
        chat = await anext(item.chat async for item in items if item.HasField("chat"))
        assert [(line.number, line.text) for line in chat.lines] == [(8, "live")]
