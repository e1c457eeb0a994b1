"""The level `hard`, which plans in how few plays its hand can go down.

A set lies within one colour or one number (R8). So the fewest sets that a hand can be put down in
are the fewest colours and numbers that cover its cards; and these are as many as the most cards of
which no two share a colour or a number (König's theorem, on the grid of colours and numbers).

Of all plays with all their pick-ups, and the pass, hard chooses what leaves the hand that is
nearest to its end: few cards, few plays to put them down, and rather one large set than several
small ones. So it takes the card that goes with others, and does not tear a large set apart only
because it can play.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random as RandomSource
from typing import Final

from odin_engine.cards import DECK, NUMBERS, Colour, Mask, mask_of
from odin_engine.game import Action, Decision, DecisionKind, Pass, PickUp, PlayCards
from odin_engine.strategies.base import own_decision
from odin_engine.views import View

# What a hand costs. Of the weights that were tried, these won most games; more about the table,
# such as how many cards others hold or how much the centre is worth, did not win more.
_PER_CARD: Final = 10
_PER_PLAY: Final = 10
_PER_CARD_OF_THE_LARGEST_SET: Final = -3

_COLOURS: Final = [mask_of(card for card in DECK if card.colour is colour) for colour in Colour]
_NUMBERS: Final = [mask_of(card for card in DECK if card.number == number) for number in NUMBERS]
_COLUMNS: Final = [1 << column for column in range(len(NUMBERS))]
"""The numbers as bits, where a colour's nine cards are shifted to."""


class Hard:
    """Leaves itself the hand that is nearest to its end."""

    def choose(self, view: View, rng: RandomSource) -> Action:
        """See `Strategy.choose`. Uses no randomness."""
        # Of equally good ones the first: plays before the pass, the lowest first.
        return min(_choices(own_decision(view)), key=lambda choice: _cost(choice[0]))[1]


def _choices(decision: Decision) -> Iterator[tuple[Mask, Action]]:
    """All that may be done, each with the hand that it leaves."""
    seat, hand = decision.seat, decision.hand
    if decision.kind is DecisionKind.PICK_UP:
        for card in decision.pick_ups:
            yield hand | card.mask, PickUp(seat, card)
    for play in decision.plays:
        left = hand ^ play.mask
        if not left or decision.kind is DecisionKind.OPEN:
            yield left, PlayCards(seat, play)
        else:
            for card in decision.pick_ups:
                yield left | card.mask, PlayCards(seat, play, card)
    if decision.may_pass:
        yield hand, Pass(seat)


@lru_cache(maxsize=1 << 14)
def _cost(hand: Mask) -> int:
    return (
        _PER_CARD * hand.bit_count()
        + _PER_PLAY * plays_needed(hand)
        + _PER_CARD_OF_THE_LARGEST_SET * _largest_set(hand)
    )


def plays_needed(hand: Mask) -> int:
    """Into how few sets this hand can be split (R8): the plays that going out takes at least."""
    # The numbers that cards of the colours so far can have, each card one of its own.
    taken = {0}
    for row, colour in enumerate(_COLOURS):
        held = (hand & colour) >> row * len(_COLUMNS)
        free = [column for column in _COLUMNS if column & held]
        taken |= {columns | column for columns in taken for column in free if not columns & column}
    return max(map(int.bit_count, taken))


def _largest_set(hand: Mask) -> int:
    return max((hand & line).bit_count() for line in (*_COLOURS, *_NUMBERS))
