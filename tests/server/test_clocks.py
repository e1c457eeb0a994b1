"""Clocks: deadlines, time-outs, banks, and time that is given back."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from odin_contract.times import timestamp
from odin_contract.values import Options as TableOptions
from odin_server.event_log.codec import decode
from odin_server.main import Server
from odin_server.table import commands
from odin_server.table.events import TableOpened
from odin_table.v1 import decision_pb2, event_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.clocks import SetClock
from tests.support.decisions import OPEN, PICK_UP, RESPOND, play_to_the_end, reach
from tests.support.people import Person, Refused, first_choice, payload, told_until

PAUSES = replace(QUICK, deal_pause=3600, away_budget=36000)

ACTS = ("cards_played", "card_picked_up", "passed")


def clock(per_turn: int, bank: int = 0) -> table_pb2.Clock:
    return table_pb2.Clock(per_turn=Duration(seconds=per_turn), bank=Duration(seconds=bank))


class Two:
    """Two people in a game with a clock, and the time in a test's hand."""

    def __init__(self, server: Server, time: SetClock, ann: Person, bob: Person) -> None:
        self.server, self.time, self.ann, self.bob = server, time, ann, bob
        self.table = ""

    async def start(self, per_turn: int, bank: int) -> None:
        options = table_pb2.TableOptions(seats=2, threshold=100, clock=clock(per_turn, bank))
        self.table = await self.ann.open_table(options)
        for person in (self.ann, self.bob):
            await person.sit(self.table)
        await self.ann.start(self.table)

    async def reach(self, kind: decision_pb2.DecisionKind.ValueType) -> decision_pb2.Decision:
        return await reach(self.table, self.ann, self.bob, kind)

    async def bank_of_ann(self) -> float:
        """In seconds."""
        bank = (await self.ann.view(self.table)).game.players[0].bank
        return bank.ToTimedelta().total_seconds()

    def seconds_left(self, decision: decision_pb2.Decision) -> float:
        return (decision.deadline.ToMicroseconds() - self.time.now()) / 1e6

    async def after(self, seq: int, person: Person | None = None) -> list[event_pb2.Event]:
        """What has happened by now after this number."""
        person = person or self.ann
        last = (await person.view(self.table)).seq
        seen: list[event_pb2.Event] = []
        async with aclosing(person.events(self.table)) as events:
            async for event in events:
                if event.seq > seq:
                    seen.append(event)
                if event.seq >= last:
                    break
        return seen

    async def timed_out(self, decision: decision_pb2.Decision) -> list[event_pb2.Event]:
        """Waits until this decision is over; gives the acts of it."""
        async with aclosing(self.bob.events(self.table)) as events:
            async for event in events:
                if event.seq > decision.id and payload(event) in (*ACTS, "table_closed"):
                    break
        seen = await self.after(decision.id)
        upto = next((i for i, e in enumerate(seen) if payload(e) == "decision_opened"), None)
        return [event for event in seen[:upto] if payload(event) in ACTS]


async def two(serve: Serve, meet: Meet, per_turn: int = 30, bank: int = 0) -> Two:
    time = SetClock()
    server = await serve(PAUSES, clock=time)
    game = Two(server, time, meet(server, "Ann"), meet(server, "Bob"))
    await game.start(per_turn, bank)
    return game


async def test_everybody_sees_the_deadline_in_the_decision_and_the_clock_in_the_options(
    serve: Serve, meet: Meet
) -> None:
    game = await two(serve, meet, per_turn=30, bank=60)
    due = timestamp(game.time.now() + 90_000_000)
    for person in (game.ann, game.bob, meet(game.server, "watcher")):
        view = await person.view(game.table)
        assert view.decision.deadline == due
        assert view.options.clock == clock(30, 60)
        assert [player.bank.seconds for player in view.game.players] == [60, 60]
        opened = (await told_until(person, game.table, "decision_opened"))[-1]
        assert opened.decision_opened.decision.deadline == due


async def test_without_a_clock_there_is_no_deadline(serve: Serve, meet: Meet) -> None:
    server = await serve(PAUSES)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    view = await ann.view(table)
    assert not view.options.HasField("clock")
    assert not view.decision.HasField("deadline")
    assert not view.game.players[0].HasField("bank")


@pytest.mark.parametrize("kind", [OPEN, RESPOND, PICK_UP])
async def test_when_time_is_up_the_default_action_is_taken_once(
    serve: Serve, meet: Meet, kind: decision_pb2.DecisionKind.ValueType
) -> None:
    """D1, for each kind of decision."""
    game = await two(serve, meet)
    decision = await game.reach(kind)
    hand = (await game.ann.view(game.table)).game.hand.cards
    game.time.let_pass(29.999, game.server)
    assert (await game.ann.view(game.table)).decision.id == decision.id
    game.time.let_pass(0.001, game.server)
    (act,) = await game.timed_out(decision)
    what: Any = getattr(act, payload(act))
    assert (what.seat, what.actor) == (0, event_pb2.ACTOR_CLOCK)
    if kind == OPEN:
        lowest = min(hand, key=lambda card: ((card - 1) % 9, card))
        assert list(act.cards_played.cards) == [lowest]
    elif kind == PICK_UP:
        highest = max(decision.choices.pick_ups, key=lambda card: ((card - 1) % 9, -card))
        assert act.card_picked_up.card == highest
    else:
        assert payload(act) == "passed"


async def test_a_pick_up_has_the_time_of_a_turn_anew(serve: Serve, meet: Meet) -> None:
    game = await two(serve, meet)
    decision = await game.reach(RESPOND)
    game.time.let_pass(20, game.server)
    decision = await game.reach(PICK_UP)
    assert game.seconds_left(decision) == 30


@pytest.mark.parametrize("late", [0, 1])
async def test_an_action_at_the_deadline_or_later_is_too_late(
    serve: Serve, meet: Meet, late: int
) -> None:
    """Also when the timer has not rung yet: the time-out comes of it, and nothing else."""
    game = await two(serve, meet)
    decision = await game.reach(RESPOND)
    game.time.time = decision.deadline.ToMicroseconds() + late
    with pytest.raises(Refused) as refused:
        await game.ann.act(game.table, decision.id, first_choice(decision.choices))
    assert refused.value.reason == "STALE_DECISION"
    game.time.let_pass(0, game.server)
    (act,) = await game.timed_out(decision)
    assert payload(act) == "passed"
    assert act.passed.actor == event_pb2.ACTOR_CLOCK


async def test_an_action_just_before_the_deadline_counts(serve: Serve, meet: Meet) -> None:
    game = await two(serve, meet)
    decision = await game.reach(OPEN)
    game.time.time = decision.deadline.ToMicroseconds() - 1
    await game.ann.act(game.table, decision.id, first_choice(decision.choices))
    (act,) = await game.timed_out(decision)
    assert act.cards_played.actor == event_pb2.ACTOR_PERSON


async def test_an_action_and_the_end_of_its_time_together_are_one_event(
    serve: Serve, meet: Meet
) -> None:
    game = await two(serve, meet)
    for _ in range(20):
        decision = await game.reach(OPEN)
        # Both are on their way at the same moment; which is first is left to chance.
        answer = asyncio.create_task(
            game.ann.act(game.table, decision.id, first_choice(decision.choices))
        )
        await asyncio.sleep(0)
        game.time.let_pass(30, game.server)
        (outcome,) = await asyncio.gather(answer, return_exceptions=True)
        (act,) = await game.timed_out(decision)
        if isinstance(outcome, Refused):
            assert outcome.reason == "STALE_DECISION"
            assert act.cards_played.actor == event_pb2.ACTOR_CLOCK
        else:
            assert not isinstance(outcome, BaseException)
            assert act.cards_played.actor == event_pb2.ACTOR_PERSON


async def test_a_bank_is_used_after_the_time_of_a_turn_and_does_not_grow_again(
    serve: Serve, meet: Meet
) -> None:
    game = await two(serve, meet, per_turn=10, bank=20)
    decision = await game.reach(OPEN)
    assert game.seconds_left(decision) == 30
    game.time.let_pass(10, game.server)
    await game.ann.act(game.table, decision.id, first_choice(decision.choices))
    assert await game.bank_of_ann() == 20, "the time of the turn was enough"
    decision = await game.reach(OPEN)
    game.time.let_pass(10 + 12.5, game.server)
    assert await game.bank_of_ann() == 20, "what runs is not counted yet"
    await game.ann.act(game.table, decision.id, first_choice(decision.choices))
    assert await game.bank_of_ann() == 7.5
    decision = await game.reach(OPEN)
    assert game.seconds_left(decision) == 17.5
    game.time.let_pass(17.5, game.server)
    await game.timed_out(decision)
    assert await game.bank_of_ann() == 0
    decision = await game.reach(OPEN)
    assert game.seconds_left(decision) == 10
    assert (await game.bob.view(game.table)).game.players[1].bank.seconds == 20


async def test_time_is_given_back_to_the_decision_and_not_charged(serve: Serve, meet: Meet) -> None:
    game = await two(serve, meet, per_turn=10, bank=20)
    decision = await game.reach(OPEN)
    table = await game.server.lobby.find(game.table, "", None)
    game.time.let_pass(5, game.server)
    game.time.time += 3_600_000_000
    await table.submit(lambda draft: commands.give_back_time(draft, 3_600_000_000))
    moved = (await game.after(decision.id))[-1]
    assert payload(moved) == "deadline_moved"
    assert moved.deadline_moved.given_back.seconds == 3600
    decision = (await game.ann.view(game.table)).decision
    assert moved.deadline_moved.deadline == decision.deadline
    assert game.seconds_left(decision) == 25
    game.time.let_pass(8, game.server)
    await game.ann.act(game.table, decision.id, first_choice(decision.choices))
    assert await game.bank_of_ann() == 17, "five and eight seconds were used, ten of them free"


async def test_time_is_given_back_to_the_pause_between_deals(serve: Serve, meet: Meet) -> None:
    game = await two(serve, meet, per_turn=600)
    await play_to_the_end(game.table, game.ann, game.bob)
    before = await game.ann.view(game.table)
    assert before.phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS
    table = await game.server.lobby.find(game.table, "", None)
    await table.submit(lambda draft: commands.give_back_time(draft, 1_500_000))
    after = await game.ann.view(game.table)
    moved = (await game.after(before.seq))[-1].deadline_moved
    assert after.next_deal_time == moved.deadline
    assert after.next_deal_time.ToMicroseconds() - before.next_deal_time.ToMicroseconds() == 1.5e6


async def test_nothing_is_given_back_where_no_time_runs(serve: Serve, meet: Meet) -> None:
    server = await serve(PAUSES)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    for starts in (ann.start(table), asyncio.sleep(0)):
        before = (await ann.view(table)).seq
        found = await server.lobby.find(table, "", None)
        done = await found.submit(lambda draft: commands.give_back_time(draft, 1_000_000))
        assert done.seq == before
        await starts


async def test_bots_and_substitutes_play_by_the_same_clock(serve: Serve, meet: Meet) -> None:
    server = await serve(QUICK)
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True, clock=clock(5)))
    await ann.sit(table)
    await ann.add_bot(table, "hard")
    await ann.start(table)
    await ann.leave(table)
    events = await told_until(ann, table)
    decisions = [e.decision_opened.decision for e in events if payload(e) == "decision_opened"]
    assert {decision.seat for decision in decisions} == {0, 1}
    assert all(decision.HasField("deadline") for decision in decisions)
    acts: list[Any] = [getattr(event, payload(event)) for event in events if payload(event) in ACTS]
    assert {act.actor for act in acts} <= {
        event_pb2.ACTOR_BOT,
        event_pb2.ACTOR_SUBSTITUTE,
        event_pb2.ACTOR_PERSON,
    }


async def test_a_clock_ends_a_turn_by_itself(serve: Serve, meet: Meet) -> None:
    """With the machine's own clock, and nobody there."""
    server = await serve(QUICK)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table(table_pb2.TableOptions(clock=clock(5)))
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    decided = (await told_until(ann, table, "cards_played"))[-2:]
    opened, played = decided[0].decision_opened.decision, decided[1]
    assert played.cards_played.actor == event_pb2.ACTOR_CLOCK
    assert played.time.ToMicroseconds() >= opened.deadline.ToMicroseconds()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (table_pb2.Clock(), "per_turn"),
        (table_pb2.Clock(bank=Duration(seconds=60)), "per_turn"),
        (clock(4), "per_turn"),
        (clock(601), "per_turn"),
        (clock(-5), "per_turn"),
        (table_pb2.Clock(per_turn=Duration(seconds=5, nanos=1)), "per_turn"),
        (clock(5, 3601), "bank"),
        (clock(5, -1), "bank"),
    ],
)
async def test_a_clock_that_there_is_not_is_refused(
    serve: Serve, meet: Meet, wrong: table_pb2.Clock, field: str
) -> None:
    ann = meet(await serve(QUICK), "Ann")
    with pytest.raises(Refused) as refused:
        await ann.open_table(table_pb2.TableOptions(clock=wrong))
    assert (refused.value.reason, refused.value.fields) == (
        "INVALID_OPTION",
        [f"options.clock.{field}"],
    )


def test_a_log_of_a_table_from_before_there_were_clocks_can_be_read() -> None:
    (record,) = decode(
        b'[1,[1,5,null,null,"table_opened",[4,15,true,false,true,"Old"],"aa","","log"]]'
    )
    assert record.event == TableOpened(TableOptions(4, title="Old"), b"\xaa", "", "log")
