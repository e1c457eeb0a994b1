"""Bots: the base class, and how a bot is made from its name.

The smallest bot:

    from odin_client.bots import Action, Bot, Pass, PickUp, PlayCards, View

    class Lowest(Bot):
        def choose(self, view: View) -> Action:
            decision = view.decision
            if decision.plays:
                return PlayCards(view.viewer, decision.plays[0])
            if decision.may_pass:
                return Pass(view.viewer)
            return PickUp(view.viewer, decision.pick_ups[0])

    $ odin-table bot 192.168.1.20 --strategy my_module:Lowest

A bot is a client like any other and sees what its seat may see. One that raises, is too slow, or
chooses something illegal is reported, and its decision gets the default action (D1): it never
keeps a table waiting, and plays on with the next decision.

`odin-table bot` runs a class of your own in a process of its own (`bot_worker`), which imports this
module and your own. So nothing here needs gRPC.
"""

from __future__ import annotations

import importlib
import random
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from odin_client.choices import from_own_frame, in_one_line
from odin_client.errors import ClientError
from odin_client.languages import _
from odin_engine import Action, Card, Decision, Pass, PickUp, PlayCards, View
from odin_engine.strategies import STRATEGIES, Strategy

if TYPE_CHECKING:
    from odin_client.bot_runner import BotRunner

__all__ = [
    "Action",
    "BadStrategy",
    "Bot",
    "BotRunner",
    "Card",
    "Decision",
    "Pass",
    "PickUp",
    "PlayCards",
    "View",
    "make_bot",
]

_ELSEWHERE: Final = {"BotRunner": "odin_client.bot_runner"}


def __getattr__(name: str) -> Any:  # what needs gRPC is loaded when it is asked for
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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


class BadStrategy(ClientError):
    """There is no such strategy, or it cannot be made."""

    exit_code = 2


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
            _("There is no strategy {name}.").format(name=repr(strategy)),
            _("There are {names}, and your own as module:Class.").format(
                names=", ".join(STRATEGIES)
            ),
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        bot = getattr(importlib.import_module(module_name), class_name)()
    except BaseException as error:  # somebody else's module; even SystemExit
        raise BadStrategy(
            _("{name} cannot be made: {problem}.").format(
                name=strategy, problem=in_one_line(error).rstrip(".")
            ),
            from_own_frame(error)
            or _("It has to be module:Class, with the module in this folder or installed."),
        ) from error
    if not isinstance(bot, Bot):
        raise BadStrategy(
            _("{name} is no bot.").format(name=strategy),
            _("Let it inherit from odin_client.bots.Bot."),
        )
    return bot
