"""How long somebody may be away: a budget, apart from thinking."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

from odin_server.main import Server
from odin_server.table.presence import Presence
from odin_table.v1 import event_pb2, lobby_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.clocks import SetClock
from tests.support.decisions import play_to_the_end
from tests.support.people import Person, told_until

ANN = b"a"


def seconds(number: float) -> int:
    return round(number * 1_000_000)


class Line:
    """Ann's line to a table, and the time."""

    def __init__(self, budget: float) -> None:
        self.now = 0.0
        self.presence = Presence(0, seconds(budget))
        self.presence.came(ANN, 0)
        self.presence.game_started(0)

    def away(self, length: float) -> None:
        """Is cut for so long; some time later it is cut again."""
        self.presence.left(ANN, seconds(self.now), missed=True)
        self.now += length
        self.presence.came(ANN, seconds(self.now))
        self.now += 1000

    def left(self) -> float:
        """How long it might be cut now."""
        self.presence.left(ANN, seconds(self.now), missed=True)
        until = self.presence.away_until(ANN, in_game=True)
        assert until is not None
        self.presence.came(ANN, seconds(self.now))
        return until / 1e6 - self.now


def test_times_away_in_one_game_count_together() -> None:
    line = Line(budget=120)
    assert line.left() == 120
    line.away(50)
    assert line.left() == 70
    line.away(30)
    assert line.left() == 40


def test_ten_seconds_at_a_time_are_always_left() -> None:
    line = Line(budget=120)
    line.away(115)
    assert line.left() == 10
    line.away(9)
    line.away(9)
    assert line.left() == 10


def test_of_a_small_budget_a_tenth_is_always_left() -> None:
    line = Line(budget=20)
    line.away(500)
    assert line.left() == 2


def test_a_new_game_starts_with_a_full_budget() -> None:
    line = Line(budget=120)
    line.away(100)
    line.presence.game_started(seconds(line.now))
    assert line.left() == 120


def test_whoever_is_away_when_a_game_starts_has_a_full_budget_from_then_on() -> None:
    presence = Presence(0, seconds(120))
    presence.expected(ANN, 0)
    assert presence.away_until(ANN, in_game=False) == seconds(120)
    presence.game_started(seconds(100))
    assert presence.away_until(ANN, in_game=True) == seconds(220)
    presence.came(ANN, seconds(130))
    presence.left(ANN, seconds(200), missed=True)
    assert presence.away_until(ANN, in_game=True) == seconds(200 + 120 - 30)


async def until_presence(
    person: Person, table: str, seat: int, *, connected: bool
) -> event_pb2.SeatPresence:
    """What the person is told of a seat once its holder is, or is not, there."""
    async with aclosing(person.watch(table)) as items:
        async for item in items:
            for told in item.presence.seats:
                if told.seat == seat and told.connected is connected:
                    return told
    raise AssertionError("the stream ended")


async def game_of_two(serve: Serve, meet: Meet) -> tuple[Server, SetClock, Person, Person, str]:
    time = SetClock()
    server = await serve(replace(QUICK, away_budget=120, deal_pause=3600), clock=time)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table(table_pb2.TableOptions(seats=2, single_deal=True))
    for person in (ann, bob):
        await person.sit(table)
    return server, time, ann, bob, table


async def test_others_are_told_how_long_a_seat_is_kept(serve: Serve, meet: Meet) -> None:
    server, time, ann, bob, table = await game_of_two(serve, meet)
    await ann.start(table)
    watcher = meet(server, "watcher")
    async with aclosing(ann.watch(table)) as here:
        await anext(here)
        for left, passes in ((120, 100), (20, 15), (10, 15)):
            async with aclosing(bob.watch(table)) as back:
                await anext(back)
                told = await until_presence(watcher, table, 1, connected=True)
                assert not told.HasField("kept_until")
                assert told.may_be_away.seconds == left
            told = await until_presence(watcher, table, 1, connected=False)
            start = time.now()
            assert told.away_since.ToMicroseconds() == start
            assert told.kept_until.ToMicroseconds() - start == seconds(left)
            assert not told.HasField("may_be_away")
            time.let_pass(passes, server)
        events = await told_until(watcher, table, "substitute_seated")
        assert events[-1].substitute_seated.reason == event_pb2.LEAVE_REASON_AWAY
        told = await until_presence(watcher, table, 1, connected=False)
        assert not told.HasField("kept_until"), "a substitute plays already"


async def test_thinking_uses_nothing_of_the_time_that_one_may_be_away(
    serve: Serve, meet: Meet
) -> None:
    server, time, ann, bob, table = await game_of_two(serve, meet)
    await ann.start(table)
    async with aclosing(ann.watch(table)) as one, aclosing(bob.watch(table)) as other:
        await anext(one)
        await anext(other)
        time.let_pass(100_000, server)
        assert not any(seat.substituted for seat in (await ann.view(table)).seats)
    told = await until_presence(meet(server, "watcher"), table, 1, connected=False)
    assert told.kept_until.ToMicroseconds() - time.now() == seconds(120)


async def test_while_no_game_is_under_way_each_time_counts_by_itself(
    serve: Serve, meet: Meet
) -> None:
    server, time, ann, bob, table = await game_of_two(serve, meet)
    watcher = meet(server, "watcher")
    async with aclosing(ann.watch(table)) as here:
        await anext(here)
        for _ in range(3):
            async with aclosing(bob.watch(table)) as back:
                await anext(back)
            told = await until_presence(watcher, table, 1, connected=False)
            assert told.kept_until.ToMicroseconds() - time.now() == seconds(120)
            time.let_pass(100, server)
        time.let_pass(20, server)
        left = (await told_until(watcher, table, "seat_left"))[-1].seat_left
        assert (left.seat, left.reason) == (1, event_pb2.LEAVE_REASON_AWAY)


async def test_the_next_game_starts_with_a_full_budget(serve: Serve, meet: Meet) -> None:
    server, time, ann, bob, table = await game_of_two(serve, meet)
    watcher = meet(server, "watcher")
    await ann.start(table)
    time.let_pass(100, server)  # nobody has a stream
    for person in (ann, bob):
        async with aclosing(person.watch(table)) as items:
            await anext(items)
    told = await until_presence(watcher, table, 1, connected=False)
    assert told.kept_until.ToMicroseconds() - time.now() == seconds(20)
    await play_to_the_end(table, ann, bob)
    for person in (ann, bob):
        await person.call(person.lobby.Rematch, lobby_pb2.RematchRequest(table=table))
    assert (await ann.view(table)).game.game == 2
    told = await until_presence(watcher, table, 1, connected=False)
    assert told.kept_until.ToMicroseconds() - time.now() == seconds(120)
