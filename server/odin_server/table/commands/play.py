"""Acting: for a seat that its holder plays, for one that the server plays, and on time."""

from __future__ import annotations

from odin_contract.enums import PLAYED_BY, Actor
from odin_engine import Action, IllegalAction, decide, decision_of
from odin_server.errors import Reason, Refusal, by_the_rules, not_allowed
from odin_server.table.commands.checks import seat_at
from odin_server.table.commands.phases import check_phase
from odin_server.table.commands.seats import resume_seat
from odin_server.table.draft import Draft
from odin_server.table.events import BotFailed, DeadlineMoved


def act(draft: Draft, holder: bytes, decision_id: int, action: Action) -> None:
    """Acts for the seat that the caller holds; the player named in the action does not matter."""
    state = draft.state
    number = state.seat_held_by(holder)
    if number is None or (state.in_game and number not in state.players):
        raise not_allowed("You hold no seat in this game.")
    check_phase("act", state)
    if state.decision is None or state.decision.id != decision_id:
        raise Refusal(
            Reason.STALE_DECISION,
            "That decision is not open any more. Look at the table again, then decide.",
            facts={"decision_id": str(state.decision.id)} if state.decision else {},
        )
    if state.decision.seat != number:
        raise Refusal(
            Reason.NOT_YOUR_TURN,
            f"It is the turn of seat {state.decision.seat}. Wait for your decision.",
            facts={"seat": str(state.decision.seat)},
        )
    if draft.time_is_up:
        # The time-out is on its way, and nothing else may come of this decision.
        raise Refusal(Reason.STALE_DECISION, "Your time is up. Look at the table again.")
    resume_seat(draft, number)
    seat = seat_at(state, number)
    _apply(draft, number, action, PLAYED_BY[seat.occupant])


def time_out(draft: Draft) -> None:
    """Takes the default action (D1) of the open decision if its time is up; else does nothing."""
    decision = draft.state.decision
    if decision is not None and draft.time_is_up:
        _apply_default(draft, decision.seat)


def give_back_time(draft: Draft, microseconds: int) -> None:
    """Gives back time in which nobody could act; nothing when no time runs."""
    state = draft.state
    runs = state.decision is not None and state.decision.deadline is not None
    if microseconds > 0 and (runs or state.next_deal is not None):
        draft.add(DeadlineMoved(microseconds))


def act_for_bot(draft: Draft, decision_id: int, action: Action) -> None:
    """Acts for a seat that the server plays; does nothing if it no longer plays this decision."""
    number = _seat_played_here(draft, decision_id)
    if number is not None:
        seat = seat_at(draft.state, number)
        _apply(draft, number, action, Actor.SUBSTITUTE if seat.substitute else Actor.BOT)


def bot_failed(draft: Draft, decision_id: int, problem: str) -> None:
    """Reports a bot and takes its default action (D1); does nothing if it no longer plays this."""
    number = _seat_played_here(draft, decision_id)
    if number is not None:
        draft.add(BotFailed(number, problem))
        _apply_default(draft, number)


def _seat_played_here(draft: Draft, decision_id: int) -> int | None:
    """The seat of this decision, if it is open, in time, and the server plays that seat."""
    decision = draft.state.decision
    if decision is None or decision.id != decision_id or draft.time_is_up:
        return None
    seat = draft.state.seats[decision.seat]
    return decision.seat if seat and seat.played_by else None


def _apply_default(draft: Draft, number: int) -> None:
    """Takes the default action (D1) of the open decision, which is this seat's."""
    decision = decision_of(draft.state.game)
    assert decision is not None, "an open decision is the engine's"
    _apply(draft, number, decision.default, Actor.CLOCK)


def _apply(draft: Draft, number: int, action: Action, actor: Actor) -> None:
    player = draft.state.player_of(number)
    assert player is not None, "the seat that has to decide plays"
    try:
        events = decide(draft.state.game, action._replace(seat=player))
    except IllegalAction as error:
        raise by_the_rules(error, number) from None
    draft.add_game_events(events, actor)
