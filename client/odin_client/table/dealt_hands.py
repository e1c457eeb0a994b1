"""`DealtHands`: who was dealt which cards, by what was seen of a deal.

What a seat was dealt is what it played or had left, without what it picked up. Where a snapshot
took the place of events, whose a card was in between is not known; but no card changes hands
without two events, a play and a pick-up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from odin_engine import Card

Counts: TypeAlias = Counter[Card]


class DealtHands:
    """The cards of one deal, seat by seat."""

    def __init__(self) -> None:
        """Nothing of it was seen; `begin` when it is seen from its start."""
        self.own: tuple[int, tuple[Card, ...]] | None = None
        """The viewer's seat and what was dealt to it, when that was seen."""
        self._first: dict[int, Counts] | None = None
        """What each seat gave away until the first gap. None: the start was not seen."""
        self._last: dict[int, Counts] = {}
        """The same since the last gap."""
        self._gap = True
        self._missed = 0

    def begin(self, own: tuple[int, tuple[Card, ...]] | None) -> None:
        """Sees the deal from its start."""
        self.own = own
        self._gap = False

    def gave(self, seat: int, cards: Iterable[Card]) -> None:
        """A seat played these, or had them left."""
        self._last.setdefault(seat, Counter()).update(cards)

    def got(self, seat: int, card: Card) -> None:
        """A seat picked this up."""
        self._last.setdefault(seat, Counter())[card] -= 1

    def miss(self, events: int) -> None:
        """So many events were not seen."""
        if not self._gap:
            self._first = self._last
        self._gap = True
        self._last = {}
        self._missed += events

    def are(self, dealt: Mapping[int, Counts]) -> bool:
        """Whether these can have been dealt. The deal is over, and what was left has been given."""
        if self.own is not None and dealt.get(self.own[0]) != Counter(self.own[1]):
            return False
        if not self._gap:
            return all(hand == self._last.get(seat) for seat, hand in dealt.items())
        if self._first is None:
            return True
        changed = 0
        for seat, hand in dealt.items():
            held = Counter(hand)
            held.subtract(self._first.get(seat, Counter()))
            if any(count < 0 for count in held.values()):
                return False  # it played what it had not
            changed += sum((self._last.get(seat, Counter()) - held).values())
        return may_change(changed, self._missed)


def may_change(cards: int, events: int) -> bool:
    """Whether so many cards can have changed hands in so many events."""
    # The play that the first pick-up belongs to may have been seen before them.
    return cards == 0 or (2 * cards <= events + 1 and events > 0)
