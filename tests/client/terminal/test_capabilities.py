"""What the terminal can show, and in which order the hints count."""

from __future__ import annotations

import pytest
from prompt_toolkit.output.vt100 import (
    _256_colors,  # pyright: ignore[reportPrivateUsage] # the table that decides what is sent
)
from prompt_toolkit.styles import Style

from odin_cli.terminal.capabilities import Depth, capabilities
from odin_cli.terminal.style import card_style, rules_of
from odin_engine import Colour

MONO, ANSI, CUBE, TRUE = Depth.MONOCHROME, Depth.ANSI_16, Depth.CUBE_256, Depth.TRUE
XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        (XTERM, CUBE),
        (XTERM | {"COLORTERM": "truecolor"}, TRUE),
        (XTERM | {"COLORTERM": "24bit"}, TRUE),
        (XTERM | {"COLORTERM": "yes"}, CUBE),
        (XTERM | {"WT_SESSION": "1"}, TRUE),
        ({"TERM": "xterm-kitty"}, TRUE),
        ({"TERM": "xterm-direct"}, TRUE),
        ({"TERM": "screen-256color"}, CUBE),
        ({"TERM": "tmux"}, CUBE),
        ({"TERM": "linux"}, ANSI),
        ({"TERM": "xterm-16color"}, ANSI),
        ({"TERM": "dumb"}, MONO),
        ({"TERM": "vt100"}, MONO),
        ({"TERM": "vt220-w", "COLORTERM": "truecolor"}, MONO),
        ({"TERM": "xterm-mono"}, MONO),
        ({"TERM": "vt100", "FORCE_COLOR": "1"}, CUBE),
        ({"TERM": ""}, MONO),
        ({}, MONO),
        (XTERM | {"NO_COLOR": "1"}, MONO),
        (XTERM | {"NO_COLOR": ""}, CUBE),
        (XTERM | {"NO_COLOR": "0"}, MONO),
        (XTERM | {"NO_COLOR": "1", "FORCE_COLOR": "1"}, MONO),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, CUBE),
        ({"TERM": "dumb", "FORCE_COLOR": "0"}, CUBE),
        ({"TERM": "dumb", "FORCE_COLOR": ""}, MONO),
    ],
)
def test_the_environment_decides_on_colours(environment: dict[str, str], depth: Depth) -> None:
    assert capabilities(environment).depth is depth


@pytest.mark.parametrize(
    ("option", "depth"),
    [("never", MONO), ("16", ANSI), ("256", CUBE), ("24", TRUE), ("always", CUBE)],
)
def test_the_option_beats_the_environment(option: str, depth: Depth) -> None:
    environment = {"TERM": "dumb", "NO_COLOR": "1"}
    assert capabilities(environment, colour=option, is_terminal=False).depth is depth


def test_without_a_terminal_there_are_no_colours_unless_they_are_forced() -> None:
    assert capabilities(XTERM, is_terminal=False).depth is MONO
    assert capabilities(XTERM | {"FORCE_COLOR": "1"}, is_terminal=False).depth is CUBE


@pytest.mark.parametrize(
    ("environment", "encoding", "asked", "ascii_only"),
    [
        (XTERM, "utf-8", False, False),
        (XTERM, "UTF8", False, False),
        (XTERM, "ANSI_X3.4-1968", False, True),
        (XTERM, "latin-1", False, True),
        ({"TERM": "linux"}, "utf-8", False, True),
        (XTERM | {"LC_ALL": "C"}, "utf-8", False, True),
        (XTERM | {"LANG": "C"}, "utf-8", False, True),
        (XTERM | {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", False, True),
        (XTERM | {"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, "utf-8", False, False),
        (XTERM | {"LANG": "C", "LC_ALL": "C.UTF-8"}, "utf-8", False, False),
        (XTERM, "utf-8", True, True),
    ],
)
def test_ascii_is_for_whoever_asks_and_where_nothing_else_works(
    environment: dict[str, str], encoding: str, asked: bool, ascii_only: bool
) -> None:
    caps = capabilities(environment, encoding=encoding, ascii_only=asked)
    assert caps.ascii_only is ascii_only


def test_over_ssh_an_escape_may_take_longer() -> None:
    assert capabilities(XTERM).escape_seconds == 0.05
    assert capabilities(XTERM | {"SSH_CONNECTION": "a b c d"}).escape_seconds == 0.1


def test_the_cards_have_exact_colours_of_the_256_cube() -> None:
    """So 24 bit and 256 colours look the same, whichever was guessed."""
    style = Style.from_dict(dict(rules_of(CUBE)))
    numbers: list[int] = []
    for colour in Colour:
        shade = style.get_attrs_for_style_str(f"class:{card_style(colour)}").bgcolor
        assert shade is not None
        numbers.append(_256_colors[(int(shade[:2], 16), int(shade[2:4], 16), int(shade[4:], 16))])
    assert numbers == [196, 214, 228, 29, 75, 169]
    assert rules_of(TRUE) == rules_of(CUBE)


def test_in_16_colours_all_six_differ() -> None:
    style = Style.from_dict(dict(rules_of(ANSI)))
    shades = {
        style.get_attrs_for_style_str(f"class:{card_style(colour)}").bgcolor for colour in Colour
    }
    assert len(shades) == 6
    assert all(shade and shade.startswith("ansi") for shade in shades)


def test_without_colours_what_is_chosen_is_in_reverse_video() -> None:
    style = Style.from_dict(dict(rules_of(MONO)))
    attributes = style.get_attrs_for_style_str("class:card-red class:chosen")
    assert attributes.reverse
    assert attributes.bold
    assert not attributes.bgcolor
