"""Why the engine says no: one class per reason, each with the rule that it follows.

    OdinError                     everything below
    ├── UnknownCard               a text that is not a card (R1)
    ├── InvalidOption             options of a game that the rules do not have (R2, R3, R4, R16)
    ├── WrongDeck                 a shuffled order that is not the deck of this game (R1, R2)
    └── IllegalAction             an action that is refused now
        ├── GameIsOver            R16: no action is left
        ├── GameNotStarted        R3: there is no game yet
        ├── AlreadyStarted        R3: a game starts once
        ├── DealIsRunning         R15: a deal starts only when the one before has ended
        ├── DealNotRunning        R15: between two deals nobody acts
        ├── NotYourTurn           R4: another seat has to act
        ├── PickUpPending         R13: first the pick-up
        ├── NoCards               R7: a play without any card
        ├── SameCardTwice         R1: there is one of each card
        ├── CardsNotHeld          R7: cards that are not in this hand
        ├── NotASet               R8: neither one number nor one colour
        ├── PartialHandOpening    R6: more than one card at an opening, yet not the whole hand
        ├── TooFewCards           R7
        ├── TooManyCards          R7
        ├── ValueTooLow           R9: equal or lower
        ├── OpenerMayNotPass      R5
        ├── NothingToPickUp       R11, R12: no pick-up is due
        └── NotInBeatenSet        R11: this card is not among those that were beaten

A refusal changes nothing: states are values, and no event comes out of a refused command.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class CopyableError(Exception):
    """An exception that pickle and copy rebuild as it was, whatever its constructor takes.

    Python itself calls the constructor with `args`. With other parameters that fails, and where
    it fails in a worker of a pool the pool waits for ever.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).__new__, (type(self), *self.args), vars(self)


class OdinError(CopyableError):
    """The engine refuses; `message` says what happened and what to do next."""

    message: str
    """Plain English, one or two sentences, fit to be shown to a player."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UnknownCard(OdinError):
    """A text or number that is none of the 54 cards (R1)."""


class InvalidOption(OdinError):
    """An option of a game that the rules do not offer."""

    def __init__(self, rule: str, option: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.option = option


class WrongDeck(OdinError):
    """A shuffled order that does not hold each card of this game's deck once (R1, R2)."""


class IllegalAction(OdinError):
    """An action that the rules do not allow now.

    The facts that a client may want to show are attributes; each is None where it says nothing.
    """

    refusal: ClassVar[str]
    """The name of this refusal for programs: the `refusal` of the contract's ILLEGAL_ACTION."""
    rule: str
    """The rule that refuses, such as "R7"."""
    needed_counts: tuple[int, ...] | None
    """How many cards would be right here (R5, R6, R7)."""
    value_to_beat: int | None
    """The centre's value (R9); None at an opening."""
    count: int | None
    """How many cards the refused play has."""
    value: int | None
    """The value of the refused play, if it is a set."""

    def __init__(
        self,
        rule: str,
        message: str,
        *,
        needed_counts: Iterable[int] | None = None,
        value_to_beat: int | None = None,
        count: int | None = None,
        value: int | None = None,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.needed_counts = None if needed_counts is None else tuple(needed_counts)
        self.value_to_beat = value_to_beat
        self.count = count
        self.value = value


class GameIsOver(IllegalAction):
    """The game has ended (R16)."""

    refusal = "GAME_IS_OVER"


class GameNotStarted(IllegalAction):
    """A deal cannot start before the game has (R3)."""

    refusal = "GAME_NOT_STARTED"


class AlreadyStarted(IllegalAction):
    """A game starts once (R3)."""

    refusal = "ALREADY_STARTED"


class DealIsRunning(IllegalAction):
    """The next deal has to wait for the end of this one (R15)."""

    refusal = "DEAL_IS_RUNNING"


class DealNotRunning(IllegalAction):
    """Nobody acts before the first deal or between two deals (R15)."""

    refusal = "DEAL_NOT_RUNNING"


class NotYourTurn(IllegalAction):
    """Another seat has to act (R4)."""

    refusal = "NOT_YOUR_TURN"


class PickUpPending(IllegalAction):
    """This seat has to pick up a card before anything else happens (R13)."""

    refusal = "PICK_UP_PENDING"


class NoCards(IllegalAction):
    """A play without any card (R7)."""

    refusal = "NO_CARDS"


class SameCardTwice(IllegalAction):
    """A play that names one card more than once (R1)."""

    refusal = "SAME_CARD_TWICE"


class CardsNotHeld(IllegalAction):
    """A play with cards that are not in the hand (R7)."""

    refusal = "CARDS_NOT_HELD"


class NotASet(IllegalAction):
    """Cards that are neither all of one number nor all of one colour (R8)."""

    refusal = "NOT_A_SET"


class PartialHandOpening(IllegalAction):
    """An opening of several cards that are not the whole hand (R6)."""

    refusal = "PARTIAL_HAND_OPENING"


class TooFewCards(IllegalAction):
    """A response of fewer cards than the centre has (R7)."""

    refusal = "TOO_FEW_CARDS"


class TooManyCards(IllegalAction):
    """A response of more cards than the centre has and one (R7)."""

    refusal = "TOO_MANY_CARDS"


class ValueTooLow(IllegalAction):
    """A response whose value is equal to the centre's or lower (R9)."""

    refusal = "VALUE_TOO_LOW"


class OpenerMayNotPass(IllegalAction):
    """A pass on an empty centre (R5)."""

    refusal = "OPENER_MAY_NOT_PASS"


class NothingToPickUp(IllegalAction):
    """A pick-up where none is due: after an opening, after going out, or twice (R11, R12)."""

    refusal = "NOTHING_TO_PICK_UP"


class NotInBeatenSet(IllegalAction):
    """A pick-up of a card that is not among those just beaten (R11)."""

    refusal = "NOT_IN_BEATEN_SET"
