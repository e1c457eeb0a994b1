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

`odin-table bot` runs a class of your own in a process of its own (`bots.worker`), which imports
this package and your own module. So what it needs is loaded without gRPC.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from odin_client.bots.bot import Bot, make_bot
from odin_client.errors import BadStrategy
from odin_engine import Action, Card, Decision, Pass, PickUp, PlayCards, View

if TYPE_CHECKING:
    from odin_client.bots.runner import BotRunner

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

_ELSEWHERE: Final = {"BotRunner": "odin_client.bots.runner"}


def __getattr__(name: str) -> Any:  # what needs gRPC is loaded when it is asked for
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
