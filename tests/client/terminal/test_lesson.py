"""The tutorial on the board: real key bytes in, a drawn screen out, and no server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from odin_cli.play.lesson import Lesson
from odin_cli.speech.languages import ENGLISH, LANGUAGES, use
from odin_cli.terminal import lesson_app
from odin_cli.terminal.takeover import ClickOutput
from odin_engine import Phase
from tests.client.terminal.drawing import Drawn, Person
from tests.client.terminal.test_view import UNICODE
from tests.support.patience import PATIENCE


class Learner(Person):
    """Somebody at the tutorial."""

    lesson: Lesson
    running: asyncio.Task[int]

    async def wait_for_told(self, text: str) -> None:
        """Waits for a text that may be broken over several lines."""
        await self.wait_until(
            lambda: " ".join(text.split()) in " ".join(self.screen().split()), text
        )

    async def end(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.running


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odin_cli.terminal.commands.SCORES_STAY", 0.0)


@pytest.fixture(params=LANGUAGES)
def _language(request: pytest.FixtureRequest) -> Iterator[None]:
    use(request.param)
    yield
    use(ENGLISH)


@asynccontextmanager
async def learning(cols: int = 80, rows: int = 24) -> AsyncGenerator[Learner]:
    screen = Drawn(cols, rows)
    with create_pipe_input() as keys:
        learner = Learner(keys, screen)
        learner.lesson = Lesson("Zoe")
        learner.running = asyncio.create_task(
            lesson_app.run(
                learner.lesson,
                caps=UNICODE,
                terminal_input=keys,
                terminal_output=ClickOutput(screen, lambda: Size(rows=rows, columns=cols)),
            )
        )
        try:
            await learner.wait_for("Zoe")
            yield learner
        finally:
            if not learner.running.done():
                learner.press("c-c")
                await learner.end()


async def test_the_three_moves_are_made_with_the_keys_of_the_game(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with learning() as zoe:
        await zoe.wait_for("YOUR HAND 9", "CENTRE empty", "Type: 4, then Enter")
        zoe.press("4")
        await zoe.wait_for("✓ opens", "Enter plays it.")
        zoe.press("enter")
        await zoe.wait_for("CENTRE 44 by Astrid", "Astrid 44 (O4 Y4) took R4", "Type: 9 6, then")
        zoe.press("9", "6")
        await zoe.wait_for("✓ beats 44", "then you choose one of the beaten cards")
        zoe.press("enter")
        await zoe.wait_for("TAKE WHICH CARD?", "the orange 4 fits your hand", "Type: O, then Enter")
        zoe.press("O", "enter")
        await zoe.wait_for("YOUR HAND 7", "Astrid passed", "Type: a, then Enter")
        zoe.press("a")
        await zoe.wait_for("✓ goes out", "Enter plays it.")
        zoe.press("enter")
        await zoe.wait_for("DEAL 1 OVER", "Astrid has 8 cards left")
        await zoe.wait_for_told("Enter ends the tutorial.")
        assert zoe.lesson.table.state.penalties == ((8, 0),)
        zoe.press("enter")
        assert await zoe.end() == 0
    assert "Now play: odin-table play." in capsys.readouterr().out


async def test_other_keys_get_the_reasons_of_the_game_or_lead_back_to_the_step() -> None:
    async with learning() as zoe:
        zoe.press("p")
        await zoe.wait_for("Whoever opens a round may not pass")
        zoe.press("9", "6", "enter")
        await zoe.wait_for("Not sent: an opening is 1 card")
        zoe.press("escape", "7")
        await zoe.wait_for("✓ opens", "This step needs other cards. Esc puts these back.")
        zoe.press("enter")
        await zoe.wait_for("The rules allow that. For this lesson type: 4, then Enter")
        zoe.press("escape", "4", "enter")
        await zoe.wait_for("CENTRE 44 by Astrid")
        zoe.press("p")
        await zoe.wait_for("PASS?", "You could play.")
        zoe.press("p")
        await zoe.wait_for("The rules allow that. For this lesson type: 9 6, then Enter")
        zoe.press("9", "6", "enter", "Y", "enter")
        await zoe.wait_for("TAKE WHICH CARD?", "For this lesson type: O, then Enter")
        zoe.press("c")
        await zoe.wait_for("TAKE WHICH CARD?", "This is the tutorial: nobody else is here.")
        zoe.press("O", "enter")
        await zoe.wait_for("YOUR HAND 7", "Type: a, then Enter")
        assert zoe.lesson.table.state.phase is Phase.PLAYING


@pytest.mark.usefixtures("_language")
async def test_every_text_has_room_in_the_smallest_terminal() -> None:
    async with learning(40, 16) as zoe:
        for text, keys in moments():
            await zoe.wait_for_told(f"{text} {lesson_app.to_type(keys)}")
            # Below the cursor there is one more row, for what is said of the chosen cards.
            rows = zoe.screen().split("\n")
            cursor = next(row for row, text in enumerate(rows) if text.strip() == "▲")
            assert rows[cursor + 1].strip(), zoe.screen()
            zoe.press(*keys.split(), "enter")
        await zoe.wait_until(lambda: zoe.lesson.step is None, "the end of the deal")
        await zoe.wait_for_told(zoe.lesson.summary())


def moments() -> Iterator[tuple[str, str]]:
    """What is told at each point of the lesson, and the keys that lead on before Enter."""
    lesson = Lesson()
    while step := lesson.step:
        yield step.told, step.keys
        if step.pick_up:
            yield step.told_of_pick_up, step.pick_up.colour.value
        lesson.advance()


@pytest.mark.parametrize("key", ["q", "escape"])
async def test_it_can_be_left(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with learning() as zoe:
        zoe.press("4", "enter")
        await zoe.wait_for("CENTRE 44 by Astrid")
        zoe.press("9", "escape", key)
        assert await zoe.end() == 0
    assert capsys.readouterr().out == ""
