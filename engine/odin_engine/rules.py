"""The options of a game and the one move generator: what may be put down, and why not.

`legal_plays` serves the moves shown to a client, the check of what a client sends, and the
bots, so they cannot disagree. `check_play` says why a play is not among them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from odin_engine.cards import Card, Mask, cards_of, mask_of
from odin_engine.errors import (
    CardsNotHeld,
    IllegalAction,
    InvalidOption,
    NoCards,
    PartialHandOpening,
    TooFewCards,
    TooManyCards,
    ValueTooLow,
)
from odin_engine.sets import (
    ALL_SETS,
    SET_OF_MASK,
    CardSet,
    listed,
    not_a_set,
    ranks_within,
    same_card_twice,
)

HAND_SIZE: Final = 9
"""Cards dealt to each player (R3). No hand ever has more."""
MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 6
THRESHOLDS: Final = range(5, 101, 5)
"""The thresholds that a game may have (R16)."""
DEFAULT_THRESHOLD: Final = 15


@dataclass(frozen=True, slots=True)
class Options:
    """How a game is played. Raises InvalidOption for what the rules do not offer."""

    players: int
    """2 to 6 (R3)."""
    threshold: int | None = DEFAULT_THRESHOLD
    """The total that ends the game (R16). None: the game is a single deal."""
    short_deck: bool = True
    """Whether two players play without two colours (R2); says nothing for more players."""

    def __post_init__(self) -> None:
        if not MIN_PLAYERS <= self.players <= MAX_PLAYERS:
            raise InvalidOption("R3", "players", f"A game has 2 to 6 players, not {self.players}.")
        if self.threshold is not None and self.threshold not in THRESHOLDS:
            raise InvalidOption(
                "R16",
                "threshold",
                f"The threshold is a multiple of five from 5 to 100, not {self.threshold}.",
            )

    @property
    def colours_to_remove(self) -> int:
        """How many colours leave the deck for the whole game (R2): two or none."""
        return 2 if self.short_deck and self.players == MIN_PLAYERS else 0


def legal_plays(hand: Mask | Iterable[Card], centre: CardSet | None) -> tuple[CardSet, ...]:
    """Every set that this hand may put down, lowest value first.

    On an empty centre (None): each single card (R5), and the whole hand when it is a set (R6).
    Over a centre: as many cards as it has or one more (R7), of a greater value (R9).
    """
    return plays_of(hand if isinstance(hand, int) else mask_of(hand), centre)


def plays_of(hand: Mask, centre: CardSet | None) -> tuple[CardSet, ...]:
    """`legal_plays` for a hand that is a mask already."""
    ranks = _RANKS_WITHIN[hand]
    if centre is not None:
        responses = centre.responses
        first = bisect_left(ranks, responses.start)
        end = bisect_left(ranks, responses.stop, first)
        return tuple(map(_set_of_rank, ranks[first:end])) if first < end else ()
    # The single cards come first: their values are below all others.
    count = hand.bit_count()
    singles = tuple(map(_set_of_rank, ranks[:count]))
    whole = SET_OF_MASK.get(hand)
    return (*singles, whole) if whole is not None and count > 1 else singles


_set_of_rank: Final = ALL_SETS.__getitem__


@final
class _RanksWithin(dict[Mask, list[int]]):
    """The ranks of the sets within the hands that were asked for lately.

    A hand is asked for again when its seat has passed, and when a client and a bot look. A dict
    answers in half the time of a cached function.
    """

    def __missing__(self, hand: Mask) -> list[int]:
        if len(self) >= _MOST_HANDS:
            self.clear()
        ranks = self[hand] = ranks_within(hand)
        return ranks


_MOST_HANDS: Final = 1 << 12
_RANKS_WITHIN: Final = _RanksWithin()


def check_play(hand: Mask, centre: CardSet | None, cards: Iterable[Card]) -> CardSet:
    """The set that these cards are, if this hand may put it down now.

    Otherwise raises the exact refusal: NoCards, SameCardTwice, CardsNotHeld, NotASet (R8); at an
    opening PartialHandOpening (R6); over a centre TooFewCards, TooManyCards (R7), ValueTooLow (R9).
    """
    played: CardSet | None
    if isinstance(cards, CardSet):
        played, mask, named = cards, cards.mask, cards.cards
    else:
        named = tuple(cards)
        mask = mask_of(named)
        played = SET_OF_MASK.get(mask)
    if (
        played is not None
        and mask & hand == mask
        and played.count == len(named)
        and (
            played.count == 1 or mask == hand if centre is None else played.rank in centre.responses
        )
    ):
        return played
    raise _refusal(hand, centre, named, mask, played)


def _refusal(
    hand: Mask, centre: CardSet | None, named: tuple[Card, ...], mask: Mask, played: CardSet | None
) -> IllegalAction:
    """Why these cards may not be put down, with all the facts that a client may want to show."""
    count = len(named)
    if centre is None:
        whole_hand = hand.bit_count() if hand in SET_OF_MASK else 1
        needed: tuple[int, ...] = tuple(sorted({1, whole_hand}))
    else:
        needed = (centre.count, centre.count + 1)
    counts = " or ".join(map(str, needed))

    if not named:
        return NoCards(
            "R7", f"No card was named. Put down {counts}.", needed_counts=needed, count=0
        )
    if mask.bit_count() != count:
        return same_card_twice(named, needed)
    if missing := mask & ~hand:
        return CardsNotHeld(
            "R7",
            f"{listed(cards_of(missing))} is not in this hand. Choose among the cards you hold.",
            needed_counts=needed,
            count=count,
        )
    if centre is None and mask != hand:
        return PartialHandOpening(
            "R6",
            "An opening is one card, or the whole hand when it is of one number or one colour.",
            needed_counts=needed,
            count=count,
            value=played.value if played else None,
        )
    if played is None:
        return not_a_set(named, needed, centre.value if centre else None)
    assert centre is not None, "a whole hand that is a set may always open"
    if count < centre.count:
        reason: type[IllegalAction] = TooFewCards
        rule, message = "R7", f"{count} is too few cards. Put down {counts}."
    elif count > centre.count + 1:
        reason = TooManyCards
        rule, message = "R7", f"{count} is too many cards. Put down {counts}."
    else:
        reason = ValueTooLow
        rule, message = "R9", f"{played.value} does not beat {centre.value}. Make a greater number."
    return reason(
        rule,
        message,
        needed_counts=needed,
        value_to_beat=centre.value,
        count=count,
        value=played.value,
    )
