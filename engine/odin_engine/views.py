"""What one viewer may know of a game (R17): the only way from a state to a viewer.

A view is put together from what the viewer may have. Two games that differ only in cards hidden
from a viewer give that viewer equal views.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from odin_engine.cards import Card, Colour, cards_of
from odin_engine.game import Decision, DecisionKind, Phase, State, decision_of
from odin_engine.rules import Options
from odin_engine.sets import CardSet


@dataclass(frozen=True, slots=True)
class View:
    """A game as one seat or a spectator sees it."""

    viewer: int | None
    """The seat that sees this; None for a spectator."""
    phase: Phase
    options: Options
    removed: tuple[Colour, ...]
    """The colours that left the deck (R2)."""
    deal: int
    """The number of the running or last deal, from 1; 0 before the first."""
    opener: int
    """The seat that opened that deal (R4)."""
    turn: int | None
    """The seat that has to act; None while no deal is played."""
    kind: DecisionKind | None
    """What that seat has to decide."""
    decision: Decision | None
    """The viewer's own decision, with its legal plays; None unless the viewer has to act."""
    hand: tuple[Card, ...]
    """The viewer's own hand, in order of index; empty for a spectator."""
    card_counts: tuple[int, ...]
    """How many cards each seat holds."""
    centre: CardSet | None
    """The set to beat. While a pick-up is due, the set that has just been put down."""
    centre_seat: int | None
    """Who put the centre down."""
    beaten: CardSet | None
    """The set just beaten, while one of its cards has to be picked up (R13)."""
    passed: tuple[bool, ...]
    """By seat: whether its last turn in the running round was a pass (R10)."""
    discarded: tuple[Card, ...]
    """All cards that left play in this deal, oldest first."""
    penalties: tuple[tuple[int, ...], ...]
    """One entry per finished deal, by seat."""
    totals: tuple[int, ...]
    """Each seat's penalties, added up."""
    remaining_hands: tuple[tuple[Card, ...], ...]
    """What each seat had left, once the deal is over; empty while it is played."""
    undealt: tuple[Card, ...]
    """The cards that were out of the deal, once it is over; empty while it is played."""
    out: int | None
    """The seat that went out, once the deal is over."""
    winners: tuple[int, ...]
    """The seats that won, once the game is over (R16)."""

    @property
    def players(self) -> int:
        """How many play."""
        return self.options.players


def view_for(state: State, viewer: int | None) -> View:
    """What this seat may know, or a spectator (None)."""
    decision = decision_of(state)
    is_over = state.out is not None
    return View(
        viewer=viewer,
        phase=state.phase,
        options=state.options,
        removed=state.removed,
        deal=state.deal,
        opener=state.opener,
        turn=decision.seat if decision else None,
        kind=decision.kind if decision else None,
        decision=decision if decision and decision.seat == viewer else None,
        hand=() if viewer is None or not state.hands else cards_of(state.hands[viewer]),
        card_counts=tuple([hand.bit_count() for hand in state.hands]) or (0,) * state.players,
        centre=state.centre,
        centre_seat=state.centre_seat,
        beaten=state.beaten,
        passed=tuple([bool(state.passed >> seat & 1) for seat in range(state.players)]),
        discarded=state.discarded,
        penalties=state.penalties,
        totals=state.totals,
        remaining_hands=tuple(map(cards_of, state.hands)) if is_over else (),
        undealt=cards_of(state.undealt) if is_over else (),
        out=state.out,
        winners=state.winners,
    )


class Own(NamedTuple):
    """What one seat may know besides the public, for the parts of events (`visibility`)."""

    player: int
    """The seat."""
    decision: Decision | None
    """The open one, with its legal plays; None unless this seat has to act."""


def own_for(state: State, player: int) -> Own:
    """What this seat may know besides the public."""
    decision = decision_of(state)
    return Own(player, decision if decision and decision.seat == player else None)
