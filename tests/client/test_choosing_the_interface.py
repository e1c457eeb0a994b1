"""Which interface a person gets: the option, then ODIN_UI, then what the terminal can."""

import pytest

from odin_client.commands.options import Ui, choose_ui


@pytest.mark.parametrize(
    ("option", "environment", "at_a_terminal", "ui"),
    [
        (None, {"TERM": "xterm-256color"}, True, Ui.TUI),
        (None, {"TERM": "xterm-256color"}, False, Ui.LINE),
        (None, {"TERM": "dumb"}, True, Ui.LINE),
        (None, {"TERM": "unknown"}, True, Ui.LINE),
        (None, {"TERM": ""}, True, Ui.LINE),
        (None, {}, True, Ui.LINE),
        (None, {"TERM": "xterm", "ODIN_UI": "line"}, True, Ui.LINE),
        (None, {"TERM": "xterm", "ODIN_UI": ""}, True, Ui.TUI),
        (None, {"ODIN_UI": "json"}, False, Ui.JSON),
        ("tui", {"TERM": "dumb", "ODIN_UI": "line"}, False, Ui.TUI),
        ("JSON", {}, True, Ui.JSON),
    ],
)
def test_the_interface(
    option: str | None, environment: dict[str, str], at_a_terminal: bool, ui: Ui
) -> None:
    assert choose_ui(option, environment, at_a_terminal) is ui


@pytest.mark.parametrize(("option", "environment"), [("gui", {}), (None, {"ODIN_UI": "gui"})])
def test_an_interface_that_there_is_not(option: str | None, environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="gui"):
        choose_ui(option, environment, True)
