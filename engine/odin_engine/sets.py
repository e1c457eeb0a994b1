"""Every set that can be put down (R8) with its value (R9), and which of them a hand holds.

All 3,579 sets are numbered in order of value; that number is a set's rank. Of equal values the
first in the colour order R O Y G B V has the lower rank (D1). A set with more cards always has
the greater value, so the sets that may be put down over a centre (R7 and R9 together) are one
range of ranks: `CardSet.responses`.

The sets that a hand holds are found in six tables: two colours or three numbers have so few cards
that nearly every hand's share of them was seen before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final, final

from odin_engine.cards import DECK, NUMBERS, Card, Colour, Mask, mask_of
from odin_engine.errors import NoCards, NotASet, SameCardTwice


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CardSet:
    """Cards that may be put down together (R8). One object per set, so equality is identity.

    Get one from `set_of` or `ALL_SETS`. Iterating gives its cards.
    """

    cards: tuple[Card, ...]
    """Highest number first, then in colour order: as the value is read."""
    mask: Mask
    count: int
    value: int
    """The number read from the digits in descending order (R9)."""
    rank: int
    """The place in `ALL_SETS`, which is in order of value."""
    responses: range
    """The ranks of all sets that may be put down over this one: as many cards or one more (R7),
    and a greater value (R9)."""

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards)

    def __len__(self) -> int:
        return self.count

    def __contains__(self, card: Card) -> bool:
        return bool(self.mask & card.mask)

    def __str__(self) -> str:
        return " ".join(map(str, self.cards))

    def __repr__(self) -> str:
        return f"<CardSet {self}>"

    def __reduce__(self) -> tuple[object, tuple[tuple[Card, ...]]]:
        # Copies and pickles give back the one object.
        return (set_of, (self.cards,))


def _cards_of_colour(colour: Colour) -> tuple[Card, ...]:
    return tuple(card for card in reversed(DECK) if card.colour is colour)


def _cards_of_number(number: int) -> tuple[Card, ...]:
    return tuple(card for card in DECK if card.number == number)


def _value(cards: Iterable[Card]) -> int:
    """R9 for cards that are in descending order already."""
    return int("".join(str(card.number) for card in cards))


def _all_sets() -> tuple[CardSet, ...]:
    found: list[tuple[Card, ...]] = [(card,) for card in DECK]
    for line in (*map(_cards_of_colour, Colour), *map(_cards_of_number, NUMBERS)):
        for count in range(2, len(line) + 1):
            found += combinations(line, count)
    found.sort(key=lambda cards: (_value(cards), cards))
    values = [_value(cards) for cards in found]
    return tuple(
        CardSet(
            cards=cards,
            mask=mask_of(cards),
            count=len(cards),
            value=value,
            rank=rank,
            responses=range(
                bisect_right(values, value), bisect_left(values, 10 ** (len(cards) + 1))
            ),
        )
        for rank, (cards, value) in enumerate(zip(found, values, strict=True))
    )


ALL_SETS: Final[tuple[CardSet, ...]] = _all_sets()
"""All sets in order of value: `ALL_SETS[s.rank] is s`."""

SET_OF_MASK: Final[dict[Mask, CardSet]] = {s.mask: s for s in ALL_SETS}
"""The set that consists of exactly the cards of a mask; masks that are no set are missing."""


def set_of(cards: Iterable[Card]) -> CardSet:
    """The set of these cards, named in any order.

    Raises NoCards, SameCardTwice (R1) or NotASet (R8).
    """
    if isinstance(cards, CardSet):
        return cards
    named = tuple(cards)
    mask = mask_of(named)
    if not named:
        raise NoCards("R7", "No card was named. Name the cards to put down.", count=0)
    if mask.bit_count() != len(named):
        raise same_card_twice(named)
    try:
        return SET_OF_MASK[mask]
    except KeyError:
        raise not_a_set(named) from None


def same_card_twice(
    named: tuple[Card, ...], needed_counts: Iterable[int] | None = None
) -> SameCardTwice:
    """The refusal of cards of which one is named more than once (R1)."""
    twice = sorted({card for card in named if named.count(card) > 1})
    return SameCardTwice(
        "R1",
        f"{listed(twice)} was named more than once. There is one of each card: name it once.",
        needed_counts=needed_counts,
        count=len(named),
    )


def not_a_set(
    named: tuple[Card, ...],
    needed_counts: Iterable[int] | None = None,
    value_to_beat: int | None = None,
) -> NotASet:
    """The refusal of cards that are not a set (R8)."""
    return NotASet(
        "R8",
        f"{listed(named)} are not a set. Put down cards of one number or of one colour.",
        needed_counts=needed_counts,
        value_to_beat=value_to_beat,
        count=len(named),
    )


def listed(cards: Iterable[Card]) -> str:
    """These cards in a sentence."""
    return ", ".join(map(str, cards))


@final
class _Group(dict[Mask, tuple[int, ...]]):
    """Some of the cards: the ranks of the sets that lie within any choice of them.

    Each answer is put together when it is first asked for, since most are never needed. `parts`
    are the lines (colours, or numbers) that the group consists of.
    """

    def __init__(self, lines: Iterable[tuple[Card, ...]], least_count: int) -> None:
        super().__init__()
        lines = list(lines)
        self.cards: Final = mask_of(card for line in lines for card in line)
        self._parts: Final = [
            [
                (s.mask, s.rank)
                for s in ALL_SETS
                if s.count >= least_count and s.mask & mask_of(line) == s.mask
            ]
            for line in lines
        ]
        self._line_masks: Final = [mask_of(line) for line in lines]
        self._of_line: Final[dict[Mask, list[int]]] = {}

    def __missing__(self, held: Mask) -> tuple[int, ...]:
        ranks: list[int] = []
        for whole, sets in zip(self._line_masks, self._parts, strict=True):
            if part := held & whole:
                if part not in self._of_line:
                    self._of_line[part] = [rank for mask, rank in sets if mask & part == mask]
                ranks += self._of_line[part]
        if len(self) >= _MOST_CHOICES:
            self.clear()
        found = self[held] = tuple(ranks)
        return found


_MOST_CHOICES: Final = 1 << 15
"""How many choices of a group's cards are remembered; real hands need about a tenth of it."""

# A colour has few enough cards, and two or three lines together still have few enough hands, that
# nearly every hand's share of a group was asked for before. Single cards belong to their colour,
# so that no set is found twice.
_COLOURS: Final = tuple(map(_cards_of_colour, Colour))
_NUMBERS: Final = tuple(map(_cards_of_number, NUMBERS))
_GROUPS: Final = (
    *(_Group(_COLOURS[first : first + 2], least_count=1) for first in (0, 2, 4)),
    *(_Group(_NUMBERS[first : first + 3], least_count=2) for first in (0, 3, 6)),
)
_GROUP_MASKS: Final = tuple(group.cards for group in _GROUPS)


def ranks_within(hand: Mask) -> list[int]:
    """The ranks of all sets that this hand holds, in ascending order.

    The first `hand.bit_count()` of them are the single cards.
    """
    a, b, c, d, e, f = _GROUPS
    in_a, in_b, in_c, in_d, in_e, in_f = _GROUP_MASKS
    ranks = [
        *a[hand & in_a],
        *b[hand & in_b],
        *c[hand & in_c],
        *d[hand & in_d],
        *e[hand & in_e],
        *f[hand & in_f],
    ]
    ranks.sort()
    return ranks
