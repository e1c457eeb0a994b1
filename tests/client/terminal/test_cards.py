"""Cards: filled with their colour, readable, and as large as there is room for."""

from __future__ import annotations

import re

import pytest

from odin_cli.terminal.capabilities import Capabilities, Depth
from odin_cli.terminal.style import card_style, rules_of
from odin_cli.terminal.views.cards import LARGE, SMALL, BoxSize, DrawnCard, boxes
from odin_cli.terminal.views.cells import Line, Span
from odin_cli.terminal.views.view import render
from odin_engine import Card, Colour
from tests.client.terminal import samples

R7 = Card.parse("R7")


def text_of(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in one) for one in lines]


def styles_of(lines: list[Line], text: str) -> set[str]:
    """How these words are drawn, wherever they are a span of their own."""
    return {span.style for one in lines for span in one if span.text.strip() == text}


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_usable_card_is_filled_with_its_colour(size: BoxSize) -> None:
    lines = boxes([DrawnCard(R7)], size)
    assert len(lines) == size.rows
    card = [span for one in lines for span in one if span.text.strip()]
    assert sum(len(span.text) for span in card) + _blanks(lines, "card-red") == (
        size.cols * size.rows
    )
    assert {span.style for span in card} == {"card-red"}


def _blanks(lines: list[Line], style: str) -> int:
    """Cells of blank spans that are drawn like this."""
    spans = [span for one in lines for span in one]
    return sum(len(one.text) for one in spans if one.style == style and not one.text.strip())


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_an_unusable_card_is_an_outline_around_a_letter_that_stays_readable(size: BoxSize) -> None:
    lines = boxes([DrawnCard(R7, usable=False)], size)
    assert styles_of(lines, "R 7") == {"card-red"}, "not dimmed: black on red needs its contrast"
    outline = {span.style for one in lines for span in one if re.search("[╭╮╰╯│]", span.text)}
    assert outline == {"unusable"}


def _luminance(shade: str) -> float:
    parts = [int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("depth", [Depth.CUBE_256, Depth.TRUE])
@pytest.mark.parametrize("colour", Colour)
def test_letters_can_be_read_on_every_colour(colour: Colour, depth: Depth) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1."""
    ground, letter = re.findall(r"[bf]g:(#\w{6})", rules_of(depth)[card_style(colour)])
    light, dark = sorted((_luminance(ground), _luminance(letter)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("size", [(120, 40), (200, 60), (300, 100)])
def test_on_a_tall_terminal_cards_are_large_and_the_turn_stays_below_the_hand(
    size: tuple[int, int],
) -> None:
    rows = text_of(render(samples.SCREENS["your-turn"](), *size, Capabilities()))
    assert sum(row.count("╭─────╮") for row in rows) == 2 + 7
    hand_ends = next(at for at, row in enumerate(rows) if "▲" in row)
    turn = next(at for at, row in enumerate(rows) if "YOUR TURN" in row)
    assert 0 < turn - hand_ends <= 4
    assert "Enter" in rows[-1]
    assert len(rows) == size[1]


def test_cards_that_are_named_in_the_log_and_the_scores_have_their_colour() -> None:
    board = render(samples.SCREENS["your-turn"](), 120, 40, Capabilities())
    assert styles_of(board, "G6") == {"card-green"}
    over = render(samples.SCREENS["game-over"](), 120, 40, Capabilities())
    assert "card-red" in styles_of(over, "R4")
    assert Span("Ann") not in [span for one in over for span in one if "card" in span.style]
