"""The level `hard`: plans how to get rid of its hand in few plays.

A hand is worth what it still costs to go out: how many sets it has to be split into at least, a
little for each card, and a little less for high numbers, which beat more. Of all plays with all
their pick-ups it takes the one that leaves the best hand, and passes when none is better than
keeping the hand together.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random as RandomSource
from typing import Final

from odin_engine.cards import Card, Mask, cards_of
from odin_engine.game import Action, Decision, DecisionKind, Pass, PickUp, PlayCards
from odin_engine.sets import ALL_SETS, CardSet, ranks_within
from odin_engine.strategies.base import own_decision
from odin_engine.views import View

_PER_PLAY: Final = 1.0
"""What each set that the hand has to be split into costs."""
_PER_CARD: Final = 1.0
"""What each card costs: it is a penalty, should somebody else go out."""
_PER_NUMBER: Final = 0.03
"""What the number of a card is worth: a high one beats more."""
_FOR_PASSING: Final = 0.1
"""What passing costs besides: others come nearer to their end."""


class Hard:
    """Goes out if it can; otherwise leaves itself the hand that needs the fewest plays."""

    def choose(self, view: View, rng: RandomSource) -> Action:
        """See `Strategy.choose`. Uses no randomness."""
        decision = own_decision(view)
        seat, hand = decision.seat, decision.hand
        if decision.kind is DecisionKind.PICK_UP:
            return PickUp(seat, _best_pick_up(hand, decision))
        best: Action | None = Pass(seat) if decision.may_pass else None
        lowest = _cost(hand) + _FOR_PASSING if decision.may_pass else float("inf")
        for play in decision.plays:
            left = hand ^ play.mask
            if not left:
                return PlayCards(seat, play)
            card = _best_pick_up(left, decision) if decision.pick_ups else None
            cost = _cost(left | card.mask if card else left)
            if cost < lowest:
                best, lowest = PlayCards(seat, play, card), cost
        assert best is not None, "an opener has a card to play"
        return best


def _best_pick_up(hand: Mask, decision: Decision) -> Card:
    return min(decision.pick_ups, key=lambda card: _cost(hand | card.mask))


@lru_cache(maxsize=1 << 16)
def _cost(hand: Mask) -> float:
    cards = cards_of(hand)
    return (
        _PER_PLAY * plays_needed(hand)
        + _PER_CARD * len(cards)
        - _PER_NUMBER * sum(card.number for card in cards)
    )


def plays_needed(hand: Mask) -> int:
    """Into how few sets this hand can be split (R8): the plays that going out takes at least."""
    return _fewest(hand, tuple(ALL_SETS[rank] for rank in ranks_within(hand)))


def _fewest(hand: Mask, sets: tuple[CardSet, ...]) -> int:
    """The fewest of these sets that make up the hand, trying the largest sets first."""
    fewest = hand.bit_count()

    def split(left: Mask, used: int) -> None:
        nonlocal fewest
        if not left:
            fewest = min(fewest, used)
            return
        if used + 1 >= fewest:
            return
        # The first card left has to go down with some set.
        first = left & -left
        for s in reversed(sets):
            if s.mask & first and s.mask & left == s.mask:
                split(left ^ s.mask, used + 1)

    split(hand, 0)
    return fewest
