"""The level `random`: any legal action is as likely as any other."""

from __future__ import annotations

from random import Random as RandomSource

from odin_engine.game import Action, Pass, PickUp, PlayCards
from odin_engine.strategies.base import own_decision
from odin_engine.views import View


class Random:
    """Uniform over the legal plays and the pass; then uniform over the pick-ups."""

    def choose(self, view: View, rng: RandomSource) -> Action:
        """See `Strategy.choose`."""
        decision = own_decision(view)
        plays = decision.plays
        if not plays and decision.pick_ups and not decision.may_pass:
            return PickUp(decision.seat, rng.choice(decision.pick_ups))
        chosen = rng.randrange(len(plays) + decision.may_pass)
        if chosen == len(plays):
            return Pass(decision.seat)
        play = plays[chosen]
        takes = bool(decision.pick_ups) and not decision.goes_out(play)
        return PlayCards(decision.seat, play, rng.choice(decision.pick_ups) if takes else None)
