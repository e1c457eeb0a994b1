"""How cards are drawn: as boxes, or as chips of four cells where there is little room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from odin_client.terminal.cells import Click, Line, Span, line
from odin_client.terminal.style import card_style
from odin_engine import Card


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
        """The meaning of what is around the face."""
        return "" if self.usable else "unusable"

    @property
    def face(self) -> str:
        """The meaning of the face."""
        state = "chosen" if self.chosen else "fresh" if self.fresh else self.frame
        return f"{card_style(self.card.colour)} {state}".strip()


def boxes_fit(cards: Sequence[Card], cols: int) -> bool:
    """Whether so many boxes have room side by side."""
    return 6 * len(cards) + 2 <= cols


def boxes(cards: Sequence[DrawnCard], *, raised: bool = False) -> list[Line]:
    """Cards as boxes of three rows; with `raised` in four, so that chosen cards can rise."""
    if not cards:
        return []
    rows: list[list[Span | str]] = [[" " if raised else "  "] for _row in range(4 if raised else 3)]
    for drawn in cards:
        card, frame, click = drawn.card, drawn.frame, drawn.click
        box: list[tuple[Span, ...]] = [
            (Span("╭───╮", frame, click),),
            (
                Span("│", frame, click),
                Span(f"{card.colour.value} {card.number}", drawn.face, click),
                Span("│", frame, click),
            ),
            (Span("╰───╯", frame, click),),
        ]
        if raised:
            gap = (Span(" " * 5, "", click),)
            box = [*box, gap] if drawn.chosen else [gap, *box]
        for row, spans in zip(rows, box, strict=True):
            row += [*spans, " "]
    return [line(*row) for row in rows]


def chip(drawn: DrawnCard) -> Span:
    """A card in four cells; in brackets when it is chosen."""
    if drawn.chosen:
        return Span(f"[{drawn.card}]", drawn.face, drawn.click)
    style = drawn.face if drawn.usable else "unusable"
    return Span(f" {drawn.card} ", style, drawn.click)
