"""Actions as the events of a game file tell them."""

from __future__ import annotations

from typing import Any

from odin_contract.cards import CARDS
from odin_engine import Action, Decision, Pass, PickUp, PlayCards


def action_of(kind: str, told: Any, seat: int) -> Action:
    """What was done, when an event of this kind tells it of this player."""
    match kind:
        case "cards_played":
            return PlayCards(seat, CARDS.values(told.cards))
        case "card_picked_up":
            return PickUp(seat, CARDS.value(told.card))
        case _:
            return Pass(seat)


def is_default(action: Action, decision: Decision) -> bool:
    """Whether that is what happens when time is up (D1)."""
    default = decision.default
    if isinstance(action, PlayCards) and isinstance(default, PlayCards):
        return set(action.cards) == set(default.cards)
    return action == default
