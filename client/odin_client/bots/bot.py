"""The base class of bots, and how a bot is made from its name."""

from __future__ import annotations

import importlib
import random
import sys
from abc import ABC, abstractmethod
from pathlib import Path

from odin_client.bots.choices import from_own_frame, in_one_line
from odin_client.errors import BadStrategy
from odin_client.translatable import Translatable, clause
from odin_engine import Action, View
from odin_engine.strategies import STRATEGIES, Strategy


class Bot(ABC):
    """Plays one seat. One object plays any number of games, one decision at a time.

    In `odin-table bot` a bot of your own lives in a worker process that plays nothing else: it is
    imported and built there, in the folder where the command was started. It may start processes,
    use pools, and print, which goes to stderr; `input` raises EOFError, as there is nobody to
    answer. A choice that takes longer than `--think` ends that process with all that it has
    started, and another one begins with a new object: what the old one had remembered is gone.
    """

    rng: random.Random = random.Random()
    """Randomness to choose with; one of its own for each bot that `make_bot` makes."""

    @abstractmethod
    def choose(self, view: View) -> Action:
        """The action for `view.decision`, which is the bot's own and open now.

        Whatever it raises is reported. Called in the main thread of its worker process, or, by a
        `BotRunner` that was given the bot itself, in a thread.
        """


class _BuiltIn(Bot):
    """A strategy of the engine."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def choose(self, view: View) -> Action:
        return self._strategy.choose(view, self.rng)


def make_bot(strategy: str, seed: int | str | None = None) -> Bot:
    """The bot of this name, or of this class, written `module:Class`.

    A module is looked for in the current folder, too. Raises BadStrategy.
    """
    if strategy in STRATEGIES:
        bot: Bot = _BuiltIn(STRATEGIES[strategy]())
    else:
        bot = _load(strategy)
    bot.rng = random.Random(seed)
    return bot


def _load(strategy: str) -> Bot:
    module_name, colon, class_name = strategy.partition(":")
    if not colon:
        raise BadStrategy(
            Translatable("There is no strategy {name}.", name=repr(strategy)),
            Translatable(
                "There are {names}, and your own as module:Class.", names=", ".join(STRATEGIES)
            ),
            reason="UNKNOWN",
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        bot = getattr(importlib.import_module(module_name), class_name)()
    except BaseException as error:  # somebody else's module; even SystemExit
        raise BadStrategy(
            Translatable(
                "{name} cannot be made: {problem}.",
                name=strategy,
                problem=clause(in_one_line(error)),
            ),
            from_own_frame(error)
            or Translatable(
                "It has to be module:Class, with the module in this folder or installed."
            ),
            reason="NOT_MADE",
        ) from error
    if not isinstance(bot, Bot):
        raise BadStrategy(
            Translatable("{name} is no bot.", name=strategy),
            Translatable("Let it inherit from odin_client.bots.Bot."),
            reason="NOT_A_BOT",
        )
    return bot
