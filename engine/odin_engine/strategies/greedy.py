"""The level `greedy`, which is fixed (D2): others are measured against it, and it substitutes."""

from __future__ import annotations

from random import Random as RandomSource

from odin_engine.game import Action, DecisionKind, Pass, PickUp, PlayCards
from odin_engine.strategies.base import own_decision
from odin_engine.views import View


class Greedy:
    """The strategy of D2, to the letter.

    Goes out if it can; opens with its lowest single card; responds with the most cards it can,
    among those with the lowest sufficient value; picks up the highest number; never passes when it
    can play; ties in the order R O Y G B V (D1).
    """

    def choose(self, view: View, rng: RandomSource) -> Action:
        """See `Strategy.choose`. Uses no randomness."""
        decision = own_decision(view)
        seat = decision.seat
        if decision.kind is DecisionKind.PICK_UP:
            # The cards of a set are in descending order of number, then in colour order.
            return PickUp(seat, decision.pick_ups[0])
        plays = decision.plays
        if out := next(filter(decision.goes_out, plays), None):
            return PlayCards(seat, out)
        if not plays:
            return Pass(seat)
        # Plays are in order of value, then of colour, so the first of them is the lowest.
        if decision.kind is DecisionKind.OPEN:
            return PlayCards(seat, plays[0])
        most = plays[-1].count
        chosen = next(play for play in plays if play.count == most)
        return PlayCards(seat, chosen, decision.pick_ups[0])
