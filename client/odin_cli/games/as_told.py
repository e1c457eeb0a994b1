"""What the engine works out of a decision or an action, as the contract tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from odin_contract import reading
from odin_engine import Action, Card, Decision, DecisionKind, Pass, PickUp, PlayCards
from odin_table.v1 import card_pb2, decision_pb2

KINDS: Final[Mapping[DecisionKind, decision_pb2.DecisionKind.ValueType]] = {
    DecisionKind.OPEN: decision_pb2.DECISION_KIND_OPEN,
    DecisionKind.RESPOND: decision_pb2.DECISION_KIND_RESPOND,
    DecisionKind.PICK_UP: decision_pb2.DECISION_KIND_PICK_UP,
}
"""The kinds of a decision."""


def action_of(kind: str, told: Any, seat: int) -> Action:
    """What was done, when an event of this kind tells it of this player."""
    match kind:
        case "cards_played":
            return PlayCards(seat, reading.cards_of(told.cards))
        case "card_picked_up":
            return PickUp(seat, reading.card_of(told.card))
        case _:
            return Pass(seat)


def is_default(action: Action, decision: Decision) -> bool:
    """Whether that is what happens when time is up (D1)."""
    default = decision.default
    if isinstance(action, PlayCards) and isinstance(default, PlayCards):
        return set(action.cards) == set(default.cards)
    return action == default


def choices_of(decision: Decision) -> decision_pb2.Choices:
    """What the seat that must act may choose."""
    default = decision.default
    match default:
        case PlayCards():
            action = decision_pb2.Action(
                play_cards=decision_pb2.PlayCards(cards=numbers_of(tuple(default.cards)))
            )
        case PickUp():
            action = decision_pb2.Action(
                pick_up=decision_pb2.PickUp(card=reading.card_value(default.card))
            )
        case _:
            action = decision_pb2.Action(pass_turn=decision_pb2.PassTurn())
    return decision_pb2.Choices(
        plays=[
            decision_pb2.LegalPlay(
                cards=numbers_of(play.cards), value=play.value, goes_out=decision.goes_out(play)
            )
            for play in decision.plays
        ],
        pick_ups=numbers_of(decision.pick_ups),
        default_action=action,
    )


def numbers_of(cards: Iterable[Card]) -> list[card_pb2.Card.ValueType]:
    """These cards as the contract has them."""
    return [reading.card_value(card) for card in cards]
