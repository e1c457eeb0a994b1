"""The replay on the screen: fits, looks as it did, obeys its keys."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from odin_cli.games import game_file
from odin_cli.games.replay import Replay
from odin_cli.terminal import replay_app
from odin_cli.terminal.takeover import ClickOutput
from odin_cli.terminal.views.replay_view import ReplayScreen, render_replay
from tests.client.terminal.drawing import Drawn, Person
from tests.client.terminal.test_view import ASCII, SIZES, UNICODE, misfit, text_of
from tests.client.test_replay import GAME
from tests.support.terminals import UNKNOWN_SEQUENCES


def at(step: int) -> ReplayScreen:
    replay = Replay(game_file.read(GAME))
    screen = ReplayScreen(replay.position, last=replay.last)
    for update in replay.go(step):
        screen.log.hear(update, replay.position.table)
    screen.position, screen.step = replay.position, step
    return screen


def test_every_step_fits_every_terminal(language: str) -> None:
    for step in (0, 1, 2, 7, 20, 51):
        screen = at(step)
        for (cols, rows), caps in itertools.product(SIZES, (UNICODE, ASCII)):
            lines = render_replay(screen, cols, rows, caps)
            assert misfit(lines, cols, rows, caps) == "", (language, step, cols, rows, caps)


@pytest.mark.parametrize(("cols", "rows"), [(40, 16), (80, 24), (200, 60)])
def test_a_deal_that_can_be_checked_is_and_it_says_so(cols: int, rows: int) -> None:
    replay = Replay(game_file.read(GAME.with_name("game-2.jsonl")))
    replay.go(replay.last)
    screen = ReplayScreen(replay.position, last=replay.last, step=replay.last)
    assert "Deal 1 was checked" in text_of(render_replay(screen, cols, rows, UNICODE))
    replay.go(3)
    assert replay.position.checked is None, "it is not over yet"


@pytest.mark.parametrize(("cols", "rows"), [(40, 16), (80, 24), (200, 60)])
def test_all_hands_and_the_centre_are_in_sight(cols: int, rows: int) -> None:
    text = text_of(render_replay(at(7), cols, rows, UNICODE))
    for wanted in ("step 7 of 51", "Zoe", "Astrid", "Bjorn", "V9", "O8", "CENTRE 111 by Bjorn"):
        assert wanted in text
    assert "▶ Zoe" in text


@asynccontextmanager
async def replaying() -> AsyncGenerator[Person]:
    screen = Drawn(80, 24)
    with create_pipe_input() as keys:
        running = asyncio.create_task(
            replay_app.run(
                Replay(game_file.read(GAME)),
                caps=UNICODE,
                terminal_input=keys,
                terminal_output=ClickOutput(screen, lambda: Size(rows=24, columns=80)),
            )
        )
        person = Person(keys, screen)
        try:
            await person.wait_for("REPLAY")
            yield person
        finally:
            person.press("c-c")
            await running


async def test_the_keys_go_forward_back_and_from_deal_to_deal() -> None:
    async with replaying() as person:
        await person.wait_for("step 1 of 51")
        person.press("pagedown")
        await person.wait_for("step 2 of 51", "CENTRE empty")
        person.press("right", "right")
        await person.wait_for("step 4 of 51")
        person.press("left")
        await person.wait_for("step 3 of 51", "CENTRE 2 by Zoe")
        person.press("end")
        await person.wait_for("step 51 of 51", "GAME OVER", "Astrid wins with 0.")
        person.press("home")
        await person.wait_for("step 0 of 51")
        person.click("PgDn")
        await person.wait_for("step 2 of 51")


async def test_it_runs_by_itself_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_app, "PACE", 0.01)
    async with replaying() as person:
        person.press("space")
        await person.wait_for("step 51 of 51", "Space run")
        person.press("home", "space", "left")
        await person.wait_for("Space run", without="Space stop")


async def test_what_a_terminal_sends_besides_keys_does_nothing() -> None:
    async with replaying() as person:
        person.press(*UNKNOWN_SEQUENCES, "pagedown")
        await person.wait_for("step 2 of 51")
