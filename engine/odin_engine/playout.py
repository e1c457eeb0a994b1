"""Random deals as fast as Python plays them: for research, and as the engine's benchmark.

The same rules and the same tables as everywhere, on masks and ranks instead of values. A step is
one decision: uniform over the legal plays and the pass, then uniform over the cards that may be
picked up. A pick-up of the only card is not a decision.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from odin_engine.cards import Mask
from odin_engine.sets import ALL_SETS, SET_OF_MASK, ranks_within

_MASKS: Final = [s.mask for s in ALL_SETS]
_FIRST_RESPONSE: Final = [s.responses.start for s in ALL_SETS]
_END_OF_RESPONSES: Final = [s.responses.stop for s in ALL_SETS]
_CARDS: Final = [[card.mask for card in s.cards] for s in ALL_SETS]
_RANK_OF_MASK: Final = {mask: s.rank for mask, s in SET_OF_MASK.items()}


class Playout(NamedTuple):
    """How a deal went."""

    out: int
    """The player who went out."""
    penalties: tuple[int, ...]
    """One per card left, by player (R15)."""
    steps: int
    """How many decisions were made."""


def play_out(hands: Sequence[Mask], opener: int, uniform: Callable[[], float]) -> Playout:
    """Plays a deal from these hands to its end.

    `uniform` gives numbers from 0 up to and without 1, such as `random.Random(7).random`. Any
    hands will do that have a card each and none in common, also in the middle of a deal, if the
    opener's round is about to begin.
    """
    hands = list(hands)
    players = len(hands)
    # The sets within each hand, until the hand changes.
    held: list[list[int] | None] = [None] * players
    centre = -1
    passes = steps = 0
    player = opener
    while True:
        steps += 1
        hand = hands[player]
        ranks = held[player]
        if ranks is None:
            ranks = held[player] = ranks_within(hand)
        if centre < 0:
            # R5, R6: a single card, or the whole hand when it is a set.
            count = hand.bit_count()
            whole = _RANK_OF_MASK.get(hand, -1) if count > 1 else -1
            chosen = int(uniform() * (count + (whole >= 0)))
            rank = whole if chosen == count else ranks[chosen]
            hands[player] = hand = hand ^ _MASKS[rank]
            if not hand:
                break
        else:
            first = bisect_left(ranks, _FIRST_RESPONSE[centre])
            end = bisect_left(ranks, _END_OF_RESPONSES[centre], first)
            chosen = first + int(uniform() * (end - first + 1))
            if chosen == end:
                passes += 1
                player += 1
                if player == players:
                    player = 0
                if passes == players - 1:
                    # R14: the turn is back at the player who put the centre down, who opens.
                    centre = -1
                    passes = 0
                continue
            rank = ranks[chosen]
            hand ^= _MASKS[rank]
            if not hand:
                # R12: the empty hand comes before the pick-up.
                hands[player] = 0
                break
            beaten = _CARDS[centre]
            if len(beaten) == 1:
                hand |= beaten[0]
            else:
                steps += 1
                hand |= beaten[int(uniform() * len(beaten))]
            hands[player] = hand
        held[player] = None
        centre = rank
        passes = 0
        player += 1
        if player == players:
            player = 0
    return Playout(player, tuple([hand.bit_count() for hand in hands]), steps)
