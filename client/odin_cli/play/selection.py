"""Building a play: the cards that a person has chosen so far, and what is to be said about them.

A `Selection` is a value; each step makes a new one, and none of them can fail. Whether it may be
played is looked up among the legal plays that came with the decision; why not is what the engine
says (R5 to R9), in fewer words.

The full-screen client and line mode share this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

from odin_cli.speech.languages import _
from odin_engine import (
    Card,
    CardSet,
    Colour,
    IllegalAction,
    OdinError,
    PartialHandOpening,
    TooFewCards,
    TooManyCards,
    ValueTooLow,
    check_play,
    mask_of,
    set_of,
)


@dataclass(frozen=True, slots=True)
class Situation:
    """What a selection is measured against."""

    hand: tuple[Card, ...] = ()
    centre: CardSet | None = None
    """The set to beat; None at an opening."""
    plays: tuple[CardSet, ...] | None = None
    """The legal plays of this seat's open decision, lowest value first; None while another seat
    has to act, when nothing is known to be legal."""

    @property
    def whole_hand(self) -> CardSet | None:
        """The hand as one set, if it is one (R6)."""
        return _as_set(self.hand)

    @property
    def needed(self) -> str:
        """How many cards a play takes here, in words (R5, R6, R7)."""
        if self.centre:
            count = self.centre.count
            return _("{count} or {more} cards").format(count=count, more=count + 1)
        if len(self.hand) > 1 and self.whole_hand:
            return _("1 card or all {count}").format(count=len(self.hand))
        return _("1 card")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said about a selection."""

    good: bool
    """Whether nothing speaks against it. With a decision open: whether it is legal."""
    text: str
    """Why, in a few words: `beats 64`, or the exact reason why not. Empty without any card."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Cards chosen so far, in the order in which they were chosen."""

    cards: tuple[Card, ...] = ()
    colour: Colour | None = None
    """The only colour that typed numbers take cards of; None for all."""
    pick_up: Card | None = None
    """The card of the centre that is to be taken (R11), once chosen."""

    @property
    def card_set(self) -> CardSet | None:
        """The chosen cards as a set, if they are one (R8)."""
        return _as_set(self.cards)

    def typed(self, number: int, hand: Sequence[Card]) -> Selection:
        """Adds a card of this number.

        The number alone says what is wanted: 9 6 1 is 961 in whichever colour has all three, so
        cards typed before may change their colour. The same number again adds the next equal card.
        Unchanged when the hand has no further card of this number (in the colour asked for).
        """
        wanted = [card.number for card in self.cards] + [number]
        further = [
            c for c in hand if c.number == number and c not in self.cards and self._allows(c)
        ]
        if set(wanted) == {number}:
            return replace(self, cards=(*self.cards, *further[:1]))
        of_one_colour = [
            found
            for colour in Colour
            if self.colour in (None, colour)
            and (found := _in_one_colour(colour, wanted, hand)) is not None
        ]
        if of_one_colour:
            # As few changes as possible; of equal ones the first colour (max keeps the first).
            best = max(of_one_colour, key=lambda cards: len(set(cards) & set(self.cards)))
            return replace(self, cards=best)
        return replace(self, cards=(*self.cards, *further[:1]))

    def limited_to(self, colour: Colour) -> Selection:
        """Lets the numbers typed from now on take cards of one colour only; again: of all."""
        return replace(self, colour=None if self.colour is colour else colour)

    def toggled(self, card: Card) -> Selection:
        """Takes a card up or puts it back. A card that makes no set with the others starts anew."""
        if card in self.cards:
            return replace(self, cards=tuple(c for c in self.cards if c != card))
        together = (*self.cards, card)
        return replace(self, cards=together if _as_set(together) else (card,))

    def walked(self, plays: Sequence[CardSet], step: int) -> Selection:
        """The next legal play (step 1) or the one before (step -1), round and round.

        From cards that are no legal play it goes to the nearest one that contains them all, or to
        the first (the last). Unchanged when there are no plays.
        """
        if not plays:
            return self
        if self.card_set in plays:
            return self._with(plays[(plays.index(self.card_set) + step) % len(plays)])
        ahead = plays if step > 0 else plays[::-1]
        return self._with(next((play for play in ahead if self._within(play)), ahead[0]))

    def without_last(self) -> Selection:
        """Puts the card chosen last back."""
        return replace(self, cards=self.cards[:-1])

    def whole(self, hand: Sequence[Card]) -> Selection:
        """Takes the whole hand."""
        return replace(self, cards=tuple(sorted(hand, key=lambda c: (-c.number, c.index))))

    def taking(self, card: Card | None) -> Selection:
        """Chooses the card to pick up."""
        return replace(self, pick_up=card)

    def kept(self, hand: Sequence[Card], takeable: Sequence[Card]) -> Selection:
        """What is left of it after something happened: cards that are no longer there drop out."""
        return replace(
            self,
            cards=tuple(card for card in self.cards if card in hand),
            pick_up=self.pick_up if self.pick_up in takeable else None,
        )

    def candidates(self, plays: Sequence[CardSet]) -> frozenset[Card]:
        """The cards of all legal plays that contain the selection: those worth choosing now."""
        return frozenset(card for play in plays if self._within(play) for card in play)

    def _within(self, play: CardSet) -> bool:
        return all(card in play for card in self.cards)

    def _with(self, play: CardSet) -> Selection:
        return replace(self, cards=play.cards)

    def _allows(self, card: Card) -> bool:
        return self.colour in (None, card.colour)


def _in_one_colour(
    colour: Colour, numbers: Iterable[int], hand: Sequence[Card]
) -> tuple[Card, ...] | None:
    """The cards of these numbers in one colour, in that order; None when one is missing."""
    cards = tuple(Card(colour, number) for number in numbers)
    return cards if len(set(cards)) == len(cards) and set(cards) <= set(hand) else None


def _as_set(cards: Iterable[Card]) -> CardSet | None:
    try:
        return set_of(cards)
    except OdinError:
        return None


def judge(selection: Selection, situation: Situation) -> Verdict:
    """What speaks against playing the selection now; nothing does when the verdict is good."""
    if not selection.cards:
        return Verdict(good=False, text="")
    if situation.plays is None and situation.centre is None and selection.card_set:
        # Somebody else opens first: what will have to be beaten is not known yet.
        return Verdict(good=True, text=_("kept for your turn"))
    if reason := _reason_against(selection, situation):
        return Verdict(good=False, text=reason)
    chosen = selection.card_set
    assert chosen is not None, "a selection that is no set has a reason against it"
    if situation.plays is not None and chosen not in situation.plays:
        return Verdict(good=False, text=_("the table does not allow it"))
    if goes_out(chosen, situation):
        return Verdict(good=True, text=_("goes out"))
    if situation.centre is None:
        return Verdict(good=True, text=_("opens"))
    return Verdict(good=True, text=_("beats {value}").format(value=situation.centre.value))


def _reason_against(selection: Selection, situation: Situation) -> str | None:
    """What the rules say against it, in few words; all of its cards are in the hand."""
    try:
        check_play(mask_of(situation.hand), situation.centre, selection.cards)
    except ValueTooLow as error:  # R9
        return _("{value} does not beat {centre}").format(
            value=error.value, centre=error.value_to_beat
        )
    except (TooFewCards, TooManyCards):  # R7
        return _("needs {needed}").format(needed=situation.needed)
    except PartialHandOpening as error:  # R5, R6
        if error.value is not None:
            return _("an opening is {needed}").format(needed=situation.needed)
        return _("same colour or same number only")
    except IllegalAction:  # R8
        return _("same colour or same number only")
    return None


def goes_out(play: CardSet, situation: Situation) -> bool:
    """Whether the play empties the hand, which ends the deal and takes nothing (R12)."""
    return play.count == len(situation.hand)


def pick_ups(play: CardSet, situation: Situation) -> tuple[Card, ...]:
    """The cards of which this play takes one (R11): none at an opening and when it goes out."""
    if situation.centre is None or goes_out(play, situation):
        return ()
    return situation.centre.cards


def plays_that_make(value: int, plays: Iterable[CardSet]) -> tuple[CardSet, ...]:
    """The legal plays with this number; more than one when colours have to tell them apart."""
    return tuple(play for play in plays if play.value == value)


def next_of_number(number: int, cards: Sequence[Card], current: Card | None) -> Card | None:
    """The card with this number; asked again, the next one with it. None: there is none."""
    equal = [card for card in cards if card.number == number]
    if not equal:
        return None
    start = equal.index(current) + 1 if current in equal else 0
    return next(islice(cycle(equal), start, None))
