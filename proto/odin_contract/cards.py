"""Cards, sets and colours of the engine, and their numbers in the contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from odin_contract.two_way import NotUnderstoodError, TwoWay
from odin_engine import DECK, CardSet, Colour, OdinError, set_of
from odin_table.v1 import card_pb2

CARDS: Final = TwoWay("card", {card: card_pb2.Card.Value(f"CARD_{card}") for card in DECK})
"""All cards. A set is written as its cards: `CARDS.numbers(set)`."""

COLOURS: Final = TwoWay(
    "colour", {colour: card_pb2.Colour.Value(f"COLOUR_{colour.name}") for colour in Colour}
)
"""All colours."""


def set_from(numbers: Iterable[int]) -> CardSet:
    """The set of the cards with these numbers. Raises NotUnderstoodError when they are none."""
    try:
        return set_of(CARDS.values(numbers))
    except OdinError as error:
        raise NotUnderstoodError(f"these cards are not a set: {error.message}") from error
