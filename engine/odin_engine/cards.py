"""The cards: six colours, nine numbers, one of each (R1), and masks: sets of cards as integers.

A card is written colour then number, `R7`. Inside the engine a hand is a mask, an integer whose
bit `card.index` says whether the card is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import total_ordering
from typing import Final, TypeAlias, final

from odin_engine.errors import UnknownCard

NUMBERS: Final = range(1, 10)
"""The numbers on the cards of each colour (R1)."""


class Colour(Enum):
    """The six colours in the order that breaks ties (D1); the value is the letter (R1)."""

    RED = "R"
    ORANGE = "O"
    YELLOW = "Y"
    GREEN = "G"
    BLUE = "B"
    VIOLET = "V"


Mask: TypeAlias = int
"""A set of cards: bit `card.index` is set when the card is in it."""


@final
@total_ordering
@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Card:
    """One of the 54 cards, ordered by colour, then number.

    There is one object for each card, so equality is identity:

    >>> Card(Colour.RED, 7) is Card.parse("R7")
    True
    """

    colour: Colour
    number: int
    """1 to 9."""
    index: int
    """0 to 53: its place in the unshuffled deck, and its bit in a mask."""
    mask: Mask
    """The mask that holds this card alone."""

    def __new__(cls, colour: Colour, number: int) -> Card:
        """The card of this colour and number; raises UnknownCard when there is none."""
        try:
            return _CARDS[f"{colour.value}{number}"]
        except KeyError:
            raise _unknown(f"{colour.value}{number}") from None

    @staticmethod
    def parse(text: str) -> Card:
        """The card that is written so, such as "R7"; raises UnknownCard for any other text."""
        try:
            return _CARDS[text]
        except KeyError:
            raise _unknown(text) from None

    def __str__(self) -> str:
        return f"{self.colour.value}{self.number}"

    def __repr__(self) -> str:
        return f"Card.parse({str(self)!r})"

    def __lt__(self, other: Card) -> bool:
        return self.index < other.index

    def __reduce__(self) -> tuple[object, tuple[str]]:
        # Copies and pickles give back the one object.
        return (Card.parse, (str(self),))


def _unknown(text: str) -> UnknownCard:
    return UnknownCard(
        f"{text[:20]!r} is not a card. A card is a colour (R O Y G B V) and a number (1 to 9): R7."
    )


def _make_card(index: int, colour: Colour, number: int) -> Card:
    card = object.__new__(Card)
    for field, value in zip(Card.__slots__, (colour, number, index, 1 << index), strict=True):
        object.__setattr__(card, field, value)
    return card


DECK: Final[tuple[Card, ...]] = tuple(
    _make_card(index, colour, number)
    for index, (colour, number) in enumerate((c, n) for c in Colour for n in NUMBERS)
)
"""All 54 cards in order of index (R1)."""

_CARDS: Final = {str(card): card for card in DECK}


def deck(removed: Iterable[Colour] = ()) -> tuple[Card, ...]:
    """The cards of a game without the removed colours (R2), in order of index."""
    without = frozenset(removed)
    if not without:
        return DECK
    return tuple(card for card in DECK if card.colour not in without)


def mask_of(cards: Iterable[Card]) -> Mask:
    """These cards as a mask. A card named twice is in it once."""
    mask = 0
    for card in cards:
        mask |= card.mask
    return mask


def cards_of(mask: Mask) -> tuple[Card, ...]:
    """The cards of a mask in order of index."""
    cards: list[Card] = []
    while mask:
        lowest = mask & -mask
        cards.append(DECK[lowest.bit_length() - 1])
        mask ^= lowest
    return tuple(cards)
