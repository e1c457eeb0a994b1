"""What the full-screen client does by itself, for people who want that. Pure.

Nothing of it decides anything that the person might have decided otherwise, unless they asked for
it: a last single card on an empty centre is all that can be played. A pass by itself comes after a
random delay, so that others do not learn from the speed that nothing could be played.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from odin_cli.local.preferences import Preferences
from odin_cli.speech.languages import _
from odin_contract.values import (
    Action,
    Decision,
    Pass,
    PlayCards,
)
from odin_engine import Card, DecisionKind

PASS_DELAY: Final = (1.5, 4.0)
"""The least and the most seconds until a pass by itself."""

PLAY_DELAY: Final = (0.6, 0.6)
"""Seconds until cards are played by themselves: long enough to be seen."""


@dataclass(frozen=True, slots=True)
class Automatic:
    """Something that will be done by itself."""

    action: Action
    delay: tuple[float, float]
    """The least and the most seconds to wait."""
    notice: str
    """What the log says of it."""


def by_itself(
    decision: Decision, hand: tuple[Card, ...], preferences: Preferences
) -> Automatic | None:
    """What is to be done with the own decision without asking; None: ask."""
    out = next((play for play in decision.plays if play.goes_out), None)
    # What empties the hand takes nothing (R12), so there is no card to choose either.
    last_card = decision.kind is DecisionKind.OPEN and len(hand) == 1
    if out is not None and last_card:
        return Automatic(
            PlayCards(out.set.cards), PLAY_DELAY, _("Your last card was played for you.")
        )
    if out is not None and preferences.auto_finish:
        return Automatic(PlayCards(out.set.cards), PLAY_DELAY, _("Played for you: you go out."))
    nothing = decision.kind is DecisionKind.RESPOND and not decision.plays
    if nothing and decision.may_pass and preferences.auto_pass:
        return Automatic(Pass(), PASS_DELAY, _("Nothing to play: passed for you."))
    return None
