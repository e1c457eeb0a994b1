"""Decks that a test chooses, where a server would draw one that follows from its secret.

The secret, and with it the commitment, is what the server's chance gives: only the cards differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from odin_engine import Card
from odin_engine.fair_deal import FirstDraw
from odin_server.table.dealing import Dealer, Drawing, Drawn


class ArrangedDealer(Dealer):
    """Lets every deal of a server be of these cards, in this order; seat 0 opens the first."""

    def __init__(self, order: Sequence[Card]) -> None:
        super().__init__()
        self._order = tuple(order)

    def deal(self, drawing: Drawing) -> Drawn:
        first = FirstDraw(0, ()) if drawing.deal == 1 else None
        return Drawn(first, self._order)


def order_of(*hands: Sequence[Card], deck: Sequence[Card]) -> list[Card]:
    """The deck in an order that deals these hands, in the order of the seats."""
    dealt = [card for hand in hands for card in hand]
    return [*dealt, *(card for card in deck if card not in dealt)]
