"""How a hand lies, everywhere: by colour or by number, the highest number first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from odin_engine import Card, Colour

_PLACE: Final = {colour: place for place, colour in enumerate(Colour)}


def by_colour(cards: Iterable[Card]) -> tuple[Card, ...]:
    """`R4 O7 B9 B6 B1`: the colours in the order of their letters R O Y G B V."""
    return tuple(sorted(cards, key=lambda card: (_PLACE[card.colour], -card.number)))


def by_number(cards: Iterable[Card]) -> tuple[Card, ...]:
    """`B9 O7 B6 R4 B1`: among equals the first colour first."""
    return tuple(sorted(cards, key=lambda card: (-card.number, _PLACE[card.colour])))
