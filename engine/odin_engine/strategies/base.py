"""What every strategy is."""

from __future__ import annotations

from random import Random as RandomSource
from typing import Protocol

from odin_engine.game import Action, Decision
from odin_engine.views import View


class Strategy(Protocol):
    """Chooses for one seat."""

    def choose(self, view: View, rng: RandomSource) -> Action:
        """The action for the decision of this view, which is the viewer's own.

        Uses no other randomness than `rng`, so that equal arguments give equal actions.
        """
        ...


def own_decision(view: View) -> Decision:
    """The decision that this view's seat has to make; raises ValueError when it has none."""
    if view.decision is None:
        raise ValueError("This seat has nothing to decide now.")
    return view.decision
