"""How cards are drawn: as boxes in two sizes, as chips of four cells, and as letters in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from odin_cli.terminal.style import card_style
from odin_cli.terminal.views.cells import Click, Line, Span, line
from odin_engine import Card, Colour

_NAMED: Final = re.compile(rf"\b[{''.join(colour.value for colour in Colour)}][1-9]\b")


@dataclass(frozen=True, slots=True)
class BoxSize:
    """How large a card is drawn, its border included."""

    cols: int
    rows: int
    """Odd, so that the face has a middle."""

    @property
    def step(self) -> int:
        """From one card to the next."""
        return self.cols + 1


SMALL: Final = BoxSize(cols=5, rows=3)
LARGE: Final = BoxSize(cols=7, rows=5)


@dataclass(frozen=True, slots=True)
class DrawnCard:
    """How a card is drawn."""

    card: Card
    chosen: bool = False
    usable: bool = True
    """Bright, or dim."""
    fresh: bool = False
    """Just picked up."""
    click: Click | None = None

    @property
    def frame(self) -> str:
        """The meaning of what is around the face: a usable card is filled with its colour."""
        return card_style(self.card.colour) if self.usable else "unusable"

    @property
    def face(self) -> str:
        """The meaning of the face, which has the colour of the card in any case."""
        state = "chosen" if self.chosen else "fresh" if self.fresh else ""
        return f"{card_style(self.card.colour)} {state}".strip()


def boxes_fit(cards: Sequence[Card], cols: int, size: BoxSize) -> bool:
    """Whether the boxes have room side by side."""
    return size.step * len(cards) + 2 <= cols


def boxes(cards: Sequence[DrawnCard], size: BoxSize, *, raised: bool = False) -> list[Line]:
    """Cards as boxes; with `raised` in one row more, so that chosen cards can rise."""
    if not cards:
        return []
    height = size.rows + (1 if raised else 0)
    rows: list[list[Span | str]] = [[" " if raised else "  "] for _row in range(height)]
    for drawn in cards:
        box = _box(drawn, size)
        if raised:
            gap = (Span(" " * size.cols, "", drawn.click),)
            box = [*box, gap] if drawn.chosen else [gap, *box]
        for row, spans in zip(rows, box, strict=True):
            row += [*spans, " "]
    return [line(*row) for row in rows]


def _box(drawn: DrawnCard, size: BoxSize) -> list[tuple[Span, ...]]:
    """One card."""
    card, frame, face, click = drawn.card, drawn.frame, drawn.face, drawn.click
    inside = size.cols - 2

    def row(left: str, middle: str, right: str, style: str) -> tuple[Span, ...]:
        return (Span(left, frame, click), Span(middle, style, click), Span(right, frame, click))

    # What is around the letter of an unusable card stays empty, so that the letter looks small.
    padding = [row("│", " " * inside, "│", frame)] * ((size.rows - 3) // 2)
    return [
        row("╭", "─" * inside, "╮", frame),
        *padding,
        row("│", f"{card.colour.value} {card.number}".center(inside), "│", face),
        *padding,
        row("╰", "─" * inside, "╯", frame),
    ]


def chip(drawn: DrawnCard) -> Span:
    """A card in four cells; in brackets when it is chosen."""
    if drawn.chosen:
        return Span(f"[{drawn.card}]", drawn.face, drawn.click)
    style = drawn.face if drawn.usable else "unusable"
    return Span(f" {drawn.card} ", style, drawn.click)


def with_cards(text: str, style: str = "") -> Iterator[Span]:
    """A text in which each card that is named (`R7`) has its colour."""
    at = 0
    for named in _NAMED.finditer(text):
        yield Span(text[at : named.start()], style)
        yield Span(named[0], card_style(Colour(named[0][0])))
        at = named.end()
    yield Span(text[at:], style)
