"""The first deal that explains itself."""

from __future__ import annotations

import io

import pytest

from odin_cli.play.tutorial import Tutorial
from odin_engine import Phase

LESSON = "play 4\nplay 96 take O4\nplay 8754321\n"


def taught(typed: str) -> tuple[Tutorial, bool, str]:
    """What a learner who types this gets to see."""
    out = io.StringIO()
    tutorial = Tutorial(io.StringIO(typed), out)
    return tutorial, tutorial.run(), out.getvalue()


def test_three_moves_open_respond_pick_up_and_go_out() -> None:
    tutorial, over, said = taught(LESSON)
    assert over
    assert tutorial.state.phase is Phase.BETWEEN_DEALS
    assert tutorial.state.penalties == ((8, 0),)
    for command in LESSON.splitlines():
        assert f"Type: {command}" in said
    assert "Astrid has 8 cards left" in said


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("play 7", "The rules allow that. For this lesson type: play 4"),
        ("play 64", "You may not play 64 now. Type: play 4"),
        ("hello", "Type: play 4 (or quit)."),
    ],
)
def test_something_else_is_answered_and_changes_nothing(typed: str, said: str) -> None:
    tutorial, over, lines = taught(f"{typed}\n{LESSON}")
    assert over
    assert said in lines.splitlines()
    assert tutorial.state.penalties == ((8, 0),)


@pytest.mark.parametrize("typed", ["", "quit\n", "play 4\nquit\n"])
def test_whoever_stops_is_let_go(typed: str) -> None:
    assert not taught(typed)[1]
