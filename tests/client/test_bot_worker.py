"""What a bot's code does in its worker: it is reported, the default action follows, all play on.

`make bots` lets each of these happen twenty times (see `tests.support.often`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path
from typing import Final

import pytest

from odin_client.bots import BadStrategy
from odin_client.bots.choices import Chooser, Failure
from odin_client.bots.process import BotWorker
from odin_client.bots.runner import BotRunner
from odin_client.session.session import Session
from odin_contract.enums import Occupant
from odin_contract.values import Action, Options, PlayCards
from odin_engine import DECK, view_for
from tests.client.conftest import Connect
from tests.client.failing_bots import Lowest
from tests.engine.deals import dealt, started
from tests.support.leftovers import nothing_is_left
from tests.support.often import TIMES
from tests.support.patience import PATIENCE

__all__ = ["nothing_is_left"]

pytestmark = [pytest.mark.often, pytest.mark.usefixtures("nothing_is_left")]

HERE: Final = "tests.client.failing_bots"
FORGOTTEN: Final = "; its process starts again, and its memory is gone"
DEFAULT: Final = "; the default action is taken"


def bots_of(name: str, *, seats: int = 1) -> BotWorker:
    return BotWorker(f"{HERE}:{name}", seats=seats)


class Noting(Session):
    """Notes each action that was accepted, with the default action of its decision."""

    acted: list[tuple[Action, Action | None]]

    async def act(self, action: Action, *, decision_id: int | None = None) -> int:
        """See `Session.act`."""
        decision = self.table.decision
        assert decision is not None
        seq = await super().act(action, decision_id=decision_id)
        self.acted.append((action, decision.default_action))
        return seq


async def match(
    connect: Connect, chooser: Chooser, *, deadline: float = 20.0, failures: int | None = None
) -> list[str]:
    """What is reported of a bot in a match of one deal, up to so many failures."""
    Noting.acted = []
    reports: list[str] = []
    host = await Session.open_table(await connect(), Options(seats=3, threshold=None))
    sessions = [kind(await connect(), host.table.table) for kind in (Noting, Session)]
    for name, session in zip(("tried", "other"), sessions, strict=True):
        await session.take_seat(name, occupant=Occupant.REMOTE_BOT)
    tried = BotRunner(sessions[0], chooser, reports.append, deadline=deadline)
    playing = asyncio.gather(tried.play(), BotRunner(sessions[1], Lowest(), print).play())
    async with asyncio.timeout(PATIENCE):
        while not all(session.table.seq for session in sessions):
            await asyncio.wait([playing], timeout=0.005)
        await host.start()  # both see the deal from its beginning
        while not playing.done() and (failures is None or len(Noting.acted) < failures):
            await asyncio.wait([playing], timeout=0.01)
    playing.cancel()  # does nothing to a match that is over
    with contextlib.suppress(asyncio.CancelledError):
        await playing
    return reports


@pytest.mark.parametrize("name", ["UsesAPool", "UsesAnExecutor", "ForksAndReturns", "Prints"])
async def test_a_bot_may_fork_use_pools_and_print(
    connect: Connect, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    decisions = 0
    while decisions < TIMES:
        async with bots_of(name) as bots:
            assert await match(connect, bots.seat()) == []
        decisions += len(Noting.acted)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert ("my hand has" in printed.err) == (name == "Prints")
    assert ("written without Python" in printed.err) == (name == "Prints")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Raises", "raised ZeroDivisionError: oh no"),
        ("Exits", "raised SystemExit: 3"),
        ("Asks", "raised EOFError: EOF when reading a line"),
        ("RefusesInAPool", "raised CardsNotHeld: not in this hand"),
        ("SaysNothing", "chose 'None', which is no action"),
        ("NamesNoCards", "which is no action"),
        ("PlaysWhatItDoesNotHold", "chose something illegal: "),
        ("EndsItsProcess", f"ended its process (exit code 3){FORGOTTEN}"),
        ("Crashes", f"ended its process (signal 11){FORGOTTEN}"),
        ("Matches", f"took more than 0.1 s{FORGOTTEN}"),
        ("Computes", f"took more than 0.1 s{FORGOTTEN}"),
        ("LeavesChildren", f"took more than 0.1 s{FORGOTTEN}"),
    ],
)
async def test_a_bot_that_fails_is_reported_and_its_default_action_taken(
    connect: Connect, name: str, problem: str
) -> None:
    failures = 0
    while failures <= TIMES:
        async with bots_of(name) as bots:
            deadline = 0.1 if "0.1" in problem else 20.0
            reports = await match(connect, bots.seat(), deadline=deadline, failures=TIMES + 1)
        said = [report.splitlines()[0] for report in reports]
        assert all(problem in line and line.endswith(DEFAULT) for line in said), said
        assert Noting.acted
        assert all(action == default for action, default in Noting.acted)
        assert len(said) - len(Noting.acted) in (0, 1), "the last may have been cut off"
        failures += len(Noting.acted)


@pytest.mark.usefixtures("each_time")
async def test_time_to_think_begins_when_the_worker_is_ready(connect: Connect) -> None:
    async with bots_of("TakesTimeToBeMade") as bots:
        view = view_for(dealt(started(2), "", ""), 0)
        assert isinstance(await bots.choose(0, view, 0.001), Failure)
        assert not isinstance(await bots.choose(0, view, 0.5), Failure)


@pytest.mark.usefixtures("each_time")
async def test_decisions_that_wait_are_asked_again_when_another_has_overrun() -> None:
    async with bots_of("HangsAtSeat0", seats=2) as bots:
        views = [view_for(dealt(started(2), "", ""), player) for player in range(2)]
        assert await bots.seat(1).choose(views[1], 20) == PlayCards((DECK[1],))
        assert await bots.seat(1).choose(views[1], 20) == PlayCards((DECK[2],))
        overrun, asked_again = await asyncio.gather(
            bots.seat(0).choose(views[0], 0.1), bots.seat(1).choose(views[1], 20)
        )
        assert overrun == Failure(f"took more than 0.1 s{FORGOTTEN}")
        assert asked_again == PlayCards((DECK[1],)), "it remembers nothing"


@pytest.mark.usefixtures("each_time")
async def test_a_decision_that_nobody_waits_for_any_more_is_not_the_answer_to_the_next() -> None:
    async with bots_of("HangsAtSeat0", seats=2) as bots:
        views = [view_for(dealt(started(2), "", ""), player) for player in range(2)]
        abandoned = asyncio.create_task(bots.choose(0, views[0], 20))
        await asyncio.sleep(0.05)
        abandoned.cancel()
        assert await bots.choose(1, views[1], 20) == PlayCards((DECK[1],))


@pytest.mark.usefixtures("each_time")
async def test_what_a_bot_raises_is_shown_from_its_own_frame_on_once_and_always_logged(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "odin_client"):
        async with bots_of("Raises") as bots:
            first, *others = await match(connect, bots.seat(), failures=3)
            others += await match(connect, bots.seat(), failures=2)  # at another table
    lines = first.splitlines()[1:]
    assert lines[0] == "Traceback (most recent call last):"
    frames = [line.partition("tests/client/")[2] for line in lines if line.startswith("  File")]
    assert [frame.split(", ")[0::2] for frame in frames] == [
        ['failing_bots.py"', "in choose"],
        ['failing_bots.py"', "in helper"],
    ]
    assert lines[-1] == "ZeroDivisionError: oh no"
    assert len(others) >= 3
    assert {len(report.splitlines()) for report in others} == {1}
    logged = [record.getMessage() for record in caplog.records]
    assert sum("in helper" in message for message in logged) == len(others) + 1


@pytest.mark.usefixtures("each_time")
async def test_a_worker_that_cannot_begin_again_ends_the_bot_after_a_default_action(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADE", str(tmp_path / "made"))
    with pytest.raises(BadStrategy, match="IsMadeOnce cannot be made: FileExistsError"):
        async with bots_of("IsMadeOnce") as bots:
            await match(connect, bots.seat())
    assert len(Noting.acted) == 2
    assert all(action == default for action, default in Noting.acted)
