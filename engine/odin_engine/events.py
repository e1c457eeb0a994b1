"""What happened in a game, as values. A game is the fold of its events (`game.evolve`).

Who may know which part (R17) is declared with each class. All events are public as they are but
one, the start of a deal.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from odin_engine.cards import Card, Colour, Mask, cards_of, mask_of
from odin_engine.rules import HAND_SIZE, Options
from odin_engine.sets import CardSet
from odin_engine.visibility import Until, public, require, show


@public
class GameStarted(NamedTuple):
    """A game starts."""

    options: Options
    removed: tuple[Colour, ...]
    """The colours that leave the deck, or none (R2)."""
    first_opener: int
    """The seat that opens the first deal (R4)."""


class DealStarted(NamedTuple):
    """A deal starts.

    Each player gets nine cards of the order: seat 0 the first nine, seat 1 the next nine (R3).
    """

    number: int
    """From 1; counts the deals of this game."""
    opener: int
    """The seat that opens it (R4)."""
    players: int
    order: tuple[Card, ...]
    """The shuffled deck. Secret: give a viewer `hand_of` their own seat, and nothing else."""

    def hand_of(self, seat: int) -> tuple[Card, ...]:
        """The cards dealt to this seat, for its eyes only, in order of index."""
        return cards_of(self.hand_masks[seat])

    @property
    def hand_masks(self) -> tuple[Mask, ...]:
        """What each seat was dealt. Secret."""
        starts = range(0, self.players * HAND_SIZE, HAND_SIZE)
        return tuple([mask_of(self.order[start : start + HAND_SIZE]) for start in starts])

    @property
    def hands(self) -> tuple[tuple[Card, ...], ...]:
        """What each seat was dealt, as cards in order of index. Secret."""
        return tuple(map(cards_of, self.hand_masks))

    @property
    def undealt(self) -> tuple[Card, ...]:
        """The cards out of play for the whole deal (R3). Nobody's to see until it is over."""
        return self.order[self.players * HAND_SIZE :]


show(
    DealStarted,
    everybody=lambda deal: (deal.number, deal.opener),
    each_seat=lambda deal, own: (own.player, deal.hand_of(own.player)),
    hidden=(Until.GAME_IS_OVER, lambda deal: (deal.hands, deal.undealt)),
)


@public
class CardsPlayed(NamedTuple):
    """A seat put a set down: it is the centre now."""

    seat: int
    cards: CardSet
    opening: bool
    """Whether it opened a round (R5, R6) or responded (R7)."""


@public
class CardPickedUp(NamedTuple):
    """A seat took one card of the set it had beaten; the others were discarded (R11)."""

    seat: int
    card: Card
    discarded: tuple[Card, ...]


@public
class Passed(NamedTuple):
    """A seat passed (R10)."""

    seat: int


@public
class RoundEnded(NamedTuple):
    """Everybody else passed: the centre is discarded, and its owner opens the next round (R14)."""

    opener: int
    discarded: tuple[Card, ...]


@public
class DealEnded(NamedTuple):
    """A hand is empty (R15). The hands that are left, and the undealt cards, are shown (R17)."""

    number: int
    out: int
    """The seat that went out."""
    hands: tuple[tuple[Card, ...], ...]
    """What each seat has left, in order of index."""
    undealt: tuple[Card, ...]
    penalties: tuple[int, ...]
    """One per card left, by seat."""
    totals: tuple[int, ...]
    """The sums of this game's penalties, this deal's included."""


@public
class GameEnded(NamedTuple):
    """The game is over (R16)."""

    winners: tuple[int, ...]
    """The seats with the lowest total."""
    totals: tuple[int, ...]


Event: TypeAlias = (
    GameStarted
    | DealStarted
    | CardsPlayed
    | CardPickedUp
    | Passed
    | RoundEnded
    | DealEnded
    | GameEnded
)
require(Event)
