"""Brings a game to a decision of a given kind, by playing it."""

from __future__ import annotations

from odin_table.v1 import decision_pb2, table_pb2
from tests.support.people import Person, first_choice

OPEN = decision_pb2.DECISION_KIND_OPEN
RESPOND = decision_pb2.DECISION_KIND_RESPOND
PICK_UP = decision_pb2.DECISION_KIND_PICK_UP

_MOST_ACTS = 600
"""Far more than any of this takes."""


async def reach(
    table: str, subject: Person, other: Person, kind: decision_pb2.DecisionKind.ValueType
) -> decision_pb2.Decision:
    """Plays both seats of a game until the subject has a decision of this kind; gives it."""
    for _ in range(_MOST_ACTS):
        view = await subject.view(table)
        decision = view.decision
        if decision.HasField("choices") and decision.kind == kind:
            return decision
        if decision.HasField("choices"):
            await subject.act(table, decision.id, _towards(kind, view, named=kind != PICK_UP))
        else:
            await _other_goes_on(table, subject, other, kind)
    raise AssertionError("the game never came to this decision")


async def _other_goes_on(
    table: str, subject: Person, other: Person, kind: decision_pb2.DecisionKind.ValueType
) -> None:
    view = await other.view(table)
    if view.phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS:
        for person in (subject, other):
            await person.ready(table)
    elif kind == OPEN and view.decision.may_pass:
        await other.act(table, view.decision.id, view.decision.choices.default_action)
    else:
        await other.act(table, view.decision.id, _towards(kind, view, named=True))


def _towards(
    kind: decision_pb2.DecisionKind.ValueType, view: table_pb2.TableView, *, named: bool
) -> decision_pb2.Action:
    """What to choose. Towards a pick-up: sets that are long, since one old card is no choice."""
    choices = view.decision.choices
    staying = [play for play in choices.plays if not play.goes_out]
    if kind != PICK_UP or not staying:
        return first_choice(choices)
    longest = max(staying, key=lambda play: len(play.cards))
    action = first_choice(decision_pb2.Choices(plays=[longest], pick_ups=choices.pick_ups))
    if not named:
        action.play_cards.ClearField("pick_up")
    return action


async def play_to_the_end(table: str, *people: Person) -> table_pb2.TableView:
    """Plays every seat of a game until the deal, and perhaps the game, is over."""
    for _ in range(_MOST_ACTS):
        for person in people:
            view = await person.view(table)
            if view.phase != table_pb2.TABLE_PHASE_PLAYING:
                return view
            if view.decision.HasField("choices"):
                await person.act(table, view.decision.id, first_choice(view.decision.choices))
    raise AssertionError("the deal never ended")
