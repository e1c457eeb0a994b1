"""Which interface a person gets: what was asked for, else what the terminal can."""

import pytest

from odin_cli.options import Ui, choose_ui


@pytest.mark.parametrize(
    ("asked", "environment", "at_a_terminal", "ui"),
    [
        ("auto", {"TERM": "xterm-256color"}, True, Ui.TUI),
        ("auto", {"TERM": "xterm-256color"}, False, Ui.LINE),
        ("auto", {"TERM": "dumb"}, True, Ui.LINE),
        ("auto", {"TERM": "unknown"}, True, Ui.LINE),
        ("auto", {"TERM": ""}, True, Ui.LINE),
        ("auto", {}, True, Ui.LINE),
        ("line", {"TERM": "xterm"}, True, Ui.LINE),
        ("json", {}, False, Ui.JSON),
        ("tui", {"TERM": "dumb"}, False, Ui.TUI),
        ("JSON", {}, True, Ui.JSON),
    ],
)
def test_the_interface(
    asked: str, environment: dict[str, str], at_a_terminal: bool, ui: Ui
) -> None:
    assert choose_ui(asked, environment, at_a_terminal) is ui


def test_an_interface_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="gui"):
        choose_ui("gui", {}, True)
