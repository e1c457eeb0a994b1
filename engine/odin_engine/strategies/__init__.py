"""Players that are fixed functions: a view of a seat and randomness in, an action out.

A strategy is given nothing but `View`, so it cannot know more than the seat that it plays.
"""

from collections.abc import Callable, Mapping
from typing import Final

from odin_engine.strategies.base import Strategy
from odin_engine.strategies.greedy import Greedy
from odin_engine.strategies.hard import Hard
from odin_engine.strategies.random import Random

STRATEGIES: Final[Mapping[str, Callable[[], Strategy]]] = {
    "random": Random,
    "greedy": Greedy,
    "hard": Hard,
}
"""What makes a player of each level, weakest first."""

__all__ = ["STRATEGIES", "Greedy", "Hard", "Random", "Strategy"]
