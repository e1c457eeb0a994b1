"""Decks that a test chooses, where a server would draw one that follows from its secret.

The secret, and with it the commitment, is what the server's chance gives: only the cards differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from odin_engine import Card, Colour
from odin_engine.fair_deal import FirstDraw
from odin_server.table import dealing


def arrange(
    monkeypatch: pytest.MonkeyPatch,
    order: Sequence[Card],
    *,
    first_opener: int = 0,
    removed: tuple[Colour, ...] = (),
) -> None:
    """Lets every deal at a server in this process be of these cards, in this order."""
    drawn = FirstDraw(first_opener, removed), tuple(order)

    def first(*_: Any, **__: Any) -> tuple[FirstDraw, tuple[Card, ...]]:
        return drawn

    def later(*_: Any, **__: Any) -> tuple[Card, ...]:
        return drawn[1]

    monkeypatch.setattr(dealing, "draw_first", first)
    monkeypatch.setattr(dealing, "draw_deal", later)


def order_of(*hands: Sequence[Card], deck: Sequence[Card]) -> list[Card]:
    """The deck in an order that deals these hands, in the order of the seats."""
    dealt = [card for hand in hands for card in hand]
    return [*dealt, *(card for card in deck if card not in dealt)]
