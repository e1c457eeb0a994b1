"""Bots at a real table: whatever they do, the game goes on."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import secrets
import sys
import threading
from pathlib import Path
from typing import cast

import pytest

from odin_client.bots import (
    Action,
    BadStrategy,
    Bot,
    BotRunner,
    Card,
    Pass,
    PickUp,
    PlayCards,
    View,
    make_bot,
)
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_client.table.seat_view import seat_view
from odin_contract.enums import Occupant, Phase
from odin_contract.values import Options
from odin_engine import DECK, DecisionKind, view_for
from odin_engine.strategies import STRATEGIES
from odin_server.main import Server
from tests.client.conftest import Connect
from tests.support.patience import PATIENCE


class Lowest(Bot):
    """The smallest bot, as in the documentation."""

    def choose(self, view: View) -> Action:
        decision = view.decision
        assert decision is not None
        if decision.plays:
            return PlayCards(decision.seat, decision.plays[0])
        if decision.may_pass:
            return Pass(decision.seat)
        return PickUp(decision.seat, decision.pick_ups[0])


class Raises(Bot):
    def choose(self, view: View) -> Action:
        raise ZeroDivisionError("oh no")


class Exits(Bot):
    def choose(self, view: View) -> Action:
        raise SystemExit(3)


class NeverAnswers(Bot):
    def choose(self, view: View) -> Action:
        threading.Event().wait(PATIENCE * 10)
        raise AssertionError("nobody waits for this")


class SaysNothing(Bot):
    def choose(self, view: View) -> Action:
        return cast("Action", None)  # what a careless author writes


class NamesNoCards(Bot):
    def choose(self, view: View) -> Action:
        return PlayCards(0, cast("tuple[Card, ...]", ("R1",)))  # what a careless author writes


class PlaysWhatItDoesNotHold(Bot):
    def choose(self, view: View) -> Action:
        return PlayCards(0, (next(card for card in DECK if card not in view.hand),))


async def sit(
    connect: Connect,
    host: Session,
    bot: Bot,
    reports: list[str],
    *,
    seat: int | None = None,
    deadline: float = 5.0,
) -> BotRunner:
    """A bot that has taken a seat."""
    session = Session(await connect(), host.table.table)
    name = secrets.token_hex(8)
    await session.take_seat(name, seat=seat, occupant=Occupant.REMOTE_BOT)
    return BotRunner(session, bot, reports.append, deadline=deadline)


async def play(host: Session, *runners: BotRunner, games: int = 1) -> list[int]:
    """All of them, until they are done."""
    with contextlib.suppress(Refused):  # a table of bots alone starts when it is full
        await host.start()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(runner.play(games) for runner in runners))
    return [runner.played for runner in runners]


async def test_a_bot_plays_to_the_end_and_again(connect: Connect) -> None:
    reports: list[str] = []
    host = await Session.open_table(await connect(), Options(seats=2, threshold=5))
    runners = [await sit(connect, host, bot, reports) for bot in (Lowest(), make_bot("greedy"))]
    assert await play(host, *runners, games=3) == [3, 3]
    assert reports == []


@pytest.mark.parametrize(
    ("bot", "problem"),
    [
        (Raises(), "raised ZeroDivisionError: oh no"),
        (Exits(), "raised SystemExit: 3"),
        (SaysNothing(), "chose 'None', which is no action"),
        (NamesNoCards(), "which is no action"),
        (PlaysWhatItDoesNotHold(), "chose something illegal: "),
    ],
)
async def test_a_bot_that_fails_is_reported_and_its_default_action_taken(
    connect: Connect, bot: Bot, problem: str
) -> None:
    reports: list[str] = []
    host = await Session.open_table(await connect(), Options(seats=2, threshold=None))
    runners = [await sit(connect, host, bot, reports), await sit(connect, host, Lowest(), [])]
    assert await play(host, *runners) == [1, 1]
    assert reports
    said = [report.splitlines()[0] for report in reports]
    assert all(problem in line for line in said)
    assert all(line.endswith("; the default action is taken") for line in said)


async def test_a_bot_that_never_answers_keeps_nobody_waiting(connect: Connect) -> None:
    reports: list[str] = []
    host = await Session.open_table(await connect(), Options(seats=2, threshold=None))
    before = threading.active_count()
    runners = [
        await sit(connect, host, NeverAnswers(), reports, deadline=0.2),
        await sit(connect, host, Lowest(), []),
    ]
    assert await play(host, *runners) == [1, 1]
    assert "took more than 0.2 s" in reports[0]
    assert all("still thinking" in report for report in reports[1:])
    assert threading.active_count() <= before + 4  # it is asked once, not once for each decision


async def test_a_bot_whose_seat_is_played_from_elsewhere_ends_and_leaves_the_seat_alone(
    connect: Connect,
) -> None:
    reports: list[str] = []
    host = await Session.open_table(await connect(), Options(seats=2))
    connection = await connect()
    session = Session(connection, host.table.table)
    seat = await session.take_seat("bot", occupant=Occupant.REMOTE_BOT)
    runner = BotRunner(session, Lowest(), reports.append)
    async with asyncio.timeout(PATIENCE):
        playing = asyncio.ensure_future(runner.play())
        async for _ in host.follow():
            if seat in host.table.presence and host.table.presence[seat].connected:
                break
        async for _ in Session(connection, host.table.table).follow():
            break
        await playing
    await runner.leave()
    assert reports == ["ends: its seat is played from elsewhere now"]
    async for _ in host.follow():
        break
    assert host.table.seats[seat].name == "bot"


async def test_a_bot_stays_at_its_table_until_that_is_closed(connect: Connect) -> None:
    host = await Session.open_table(await connect(), Options(seats=2))
    runner = await sit(connect, host, Lowest(), [])
    async with asyncio.timeout(PATIENCE):
        playing = asyncio.ensure_future(runner.play())
        async for _ in host.follow():
            if host.table.presence.get(0) and host.table.presence[0].connected:
                break
        await host.close_table()
        await playing
    assert runner.played == 0
    await runner.leave()


@pytest.mark.parametrize("seats", [(0, 1), (1, 4), (0, 2, 3)])
async def test_a_bot_sees_exactly_what_the_server_has_for_its_seat(
    server: Server, connect: Connect, seats: tuple[int, ...]
) -> None:
    """Also when the seats of the game have gaps: then a view counts players."""
    compared: list[DecisionKind] = []

    class Compares(Bot):
        def __init__(self, player: int) -> None:
            self.player = player

        def choose(self, view: View) -> Action:
            (table,) = server.lobby.tables()
            assert view == view_for(table.state.game, self.player)
            assert view.kind is not None
            compared.append(view.kind)
            return make_bot("random", seed=len(compared)).choose(view)

    reports: list[str] = []
    host = await Session.open_table(await connect(), Options(seats=5, threshold=20))
    people = [await sit(connect, host, Compares(n), reports, seat=s) for n, s in enumerate(seats)]
    await play(host, *people)
    assert reports == []
    assert set(compared) >= {DecisionKind.OPEN, DecisionKind.RESPOND}


async def test_the_view_of_a_finished_game_holds_what_is_public(
    server: Server, connect: Connect
) -> None:
    host = await Session.open_table(await connect(), Options(seats=2, threshold=10))
    runners = [await sit(connect, host, Lowest(), []) for _ in range(2)]
    await play(host, *runners)
    looking_on = Session(await connect(), host.table.table)
    async for _ in looking_on.follow():
        break
    assert looking_on.table.phase is Phase.GAME_OVER
    table = await server.lobby.find(host.table.table, "", None)
    theirs = view_for(table.state.game, None)
    # What was not dealt is no part of the contract's view.
    assert seat_view(looking_on.table) == dataclasses.replace(theirs, undealt=())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_built_in_strategies_are_made_by_name(strategy: str) -> None:
    assert isinstance(make_bot(strategy), Bot)


def test_a_bot_of_ones_own_is_found_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "bots_of_mine.py").write_text(
        "from odin_client.bots import Bot, Pass\n"
        "class Mine(Bot):\n"
        "    def choose(self, view):\n"
        "        return Pass(view.viewer)\n"
        "class Other: pass\n"
        "class Broken(Bot):\n"
        "    def __init__(self): raise OSError('no model')\n"
        "    def choose(self, view): pass\n"
    )
    assert type(make_bot("bots_of_mine:Mine")).__name__ == "Mine"
    for strategy, why in {
        "nobody": "There is no strategy 'nobody'",
        "bots_of_mine:Nobody": "AttributeError",
        "no_such_module:Mine": "ModuleNotFoundError",
        "bots_of_mine:Other": "is no bot",
        "bots_of_mine:Broken": "no model",
        ":": "cannot be made",
    }.items():
        with pytest.raises(BadStrategy, match=why):
            make_bot(strategy)


def test_the_same_seed_chooses_the_same_way() -> None:
    assert [make_bot("random", seed=4).rng.random() for _ in range(2)] == [
        make_bot("random", seed=4).rng.random() for _ in range(2)
    ]
    assert make_bot("random").rng.random() != make_bot("random").rng.random()
