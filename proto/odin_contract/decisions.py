"""Decisions, what may be chosen, and actions: the engine's, as plain values, and as messages."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Final

import odin_engine as engine
from odin_contract.cards import CARDS, set_from
from odin_contract.times import time_in, timestamp
from odin_contract.two_way import TwoWay
from odin_contract.values import Action, Decision, LegalPlay, Pass, PickUp, PlayCards
from odin_table.v1 import decision_pb2

DECISION_KINDS: Final = TwoWay(
    "kind of decision",
    {
        kind: decision_pb2.DecisionKind.Value(f"DECISION_KIND_{kind.name}")
        for kind in engine.DecisionKind
    },
)
"""What kind of thing has to be decided."""


# Actions


def action_message(action: Action | engine.Action) -> decision_pb2.Action:
    """An action as a message, which has no seat: that follows from the credential."""
    match action:
        case PlayCards(cards, pick_up) | engine.PlayCards(_, cards, pick_up):
            play = decision_pb2.PlayCards(cards=CARDS.numbers(cards))
            if pick_up is not None:
                play.pick_up = CARDS.number(pick_up)
            return decision_pb2.Action(play_cards=play)
        case PickUp(card) | engine.PickUp(_, card):
            return decision_pb2.Action(pick_up=decision_pb2.PickUp(card=CARDS.number(card)))
        case Pass() | engine.Pass():
            return decision_pb2.Action(pass_turn=decision_pb2.PassTurn())


def action_of(message: decision_pb2.Action) -> Action | None:
    """The action; None for a kind that this version does not know.

    Raises NotUnderstoodError, with the field, for a card that there is not.
    """
    match message.WhichOneof("action"):
        case "play_cards":
            play = message.play_cards
            taken = CARDS.value(play.pick_up, "play_cards.pick_up") if play.pick_up else None
            return PlayCards(CARDS.values(play.cards, "play_cards.cards"), taken)
        case "pick_up":
            return PickUp(CARDS.value(message.pick_up.card, "pick_up.card"))
        case "pass_turn":
            return Pass()
        case _:
            return None


def at_seat(action: Action, player: int) -> engine.Action:
    """The action as the engine takes it, for this player."""
    match action:
        case PlayCards(cards, pick_up):
            return engine.PlayCards(player, cards, pick_up)
        case PickUp(card):
            return engine.PickUp(player, card)
        case Pass():
            return engine.Pass(player)


# Decisions


def choices_message(decision: engine.Decision) -> decision_pb2.Choices:
    """What may be chosen: for the seat that has to decide alone."""
    message = decision_pb2.Choices()
    write_choices(message, decision)
    return message


def write_choices(to: decision_pb2.Choices, decision: engine.Decision) -> None:
    """Writes what may be chosen into a message, without a copy of it."""
    to.plays.extend([_legal_play(play, decision.goes_out(play)) for play in decision.plays])
    to.pick_ups.extend(CARDS.numbers(decision.pick_ups))
    to.default_action.CopyFrom(action_message(decision.default))


@cache
def _legal_play(play: engine.CardSet, goes_out: bool) -> decision_pb2.LegalPlay:
    """Made once for each set; a message that takes it copies it."""
    return decision_pb2.LegalPlay(cards=CARDS.numbers(play), value=play.value, goes_out=goes_out)


def decision_message(
    number: int,
    seat: int,
    kind: engine.DecisionKind,
    deadline: int | datetime | None,
    own: engine.Decision | None = None,
) -> decision_pb2.Decision:
    """A decision with this id; `own` is the engine's, for the seat that has to decide alone."""
    return decision_pb2.Decision(
        id=number,
        seat=seat,
        kind=DECISION_KINDS.number(kind),
        may_pass=kind is engine.DecisionKind.RESPOND,
        deadline=None if deadline is None else timestamp(deadline),
        choices=choices_message(own) if own else None,
    )


def decision_of(message: decision_pb2.Decision) -> Decision:
    """A decision, with its choices if they are for this viewer."""
    choices = message.choices
    return Decision(
        id=message.id,
        seat=message.seat,
        kind=DECISION_KINDS.get(message.kind),
        may_pass=message.may_pass,
        deadline=time_in(message, "deadline"),
        plays=tuple(LegalPlay(set_from(play.cards), play.goes_out) for play in choices.plays),
        pick_ups=CARDS.values(choices.pick_ups),
        default_action=action_of(choices.default_action),
    )
