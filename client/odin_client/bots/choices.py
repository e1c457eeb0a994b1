"""What a bot has chosen, or why it has not: the same wherever its code runs.

A failure is said in one line, and shown with the traceback from the bot's own frame on: the frames
above it are ours, and of no help to its author.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from odin_client.translatable import Translatable
from odin_contract import values
from odin_engine import Card, Pass, PickUp, PlayCards, View

if TYPE_CHECKING:
    from odin_client.bots import Bot

_NOT_OWN: Final = (
    str(Path(__file__).parent),
    str(Path(traceback.__file__).parent / "importlib"),
    "<frozen importlib",
)
"""How the files begin whose frames stand above a bot's own."""

_TEXT: Final = 300
"""Characters of what an exception says that a line shows."""

_FIRST_LINES: Final = 12
_LAST_LINES: Final = 28
"""How much of a long traceback is shown."""


@dataclass(frozen=True)
class Failure:
    """Why a bot has not chosen."""

    problem: str
    """In words, without a full stop, as what the bot did: "took more than 5 s"."""
    trace: str = ""
    """The traceback from the bot's own frame on, when it has raised something."""
    place: str = ""
    """Where that was."""


Choice: TypeAlias = values.Action | Failure


class Chooser(Protocol):
    """Lets a bot choose for one seat, wherever its code runs."""

    @property
    def shown(self) -> set[str]:
        """The places of failures whose traceback has been shown."""
        ...

    async def choose(self, view: View, seconds: float) -> Choice:
        """What the bot chooses within this time. Raises BadStrategy when it cannot be asked."""
        ...


def too_slow(seconds: float) -> str:
    """What a bot did that has not chosen in time."""
    return Translatable("took more than {seconds:g} s", seconds=seconds)


def choose(bot: Bot, view: View) -> Choice:
    """Asks the bot. Raises nothing, whatever the bot does."""
    try:
        chosen = bot.choose(view)
    except BaseException as error:  # noqa: BLE001 -- somebody else's code; even SystemExit
        return Failure(
            Translatable("raised {problem}", problem=in_one_line(error)),
            from_own_frame(error),
            _place(error),
        )
    try:
        return _without_seat(chosen)
    except BaseException as error:  # noqa: BLE001 -- what was chosen may be of any class
        return Failure(str(error))


def in_one_line(error: BaseException) -> str:
    """What was raised, by class and text."""
    said = " ".join(str(traceback.TracebackException.from_exception(error)).split())
    return f"{type(error).__name__}: {said[:_TEXT]}".removesuffix(": ")


def from_own_frame(error: BaseException) -> str:
    """The traceback of what a bot has raised, without the frames above its own."""
    report = traceback.TracebackException.from_exception(error)
    own = list(dropwhile(_is_not_own, report.stack))
    report.stack = traceback.StackSummary.from_list(own)
    lines = "".join(report.format()).splitlines(keepends=True) if own else []
    if len(lines) > _FIRST_LINES + _LAST_LINES:
        lines[_FIRST_LINES:-_LAST_LINES] = ["  ...\n"]
    return "".join(lines)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}:{type(error).__name__}"


def _is_not_own(frame: traceback.FrameSummary) -> bool:
    return frame.filename.startswith(_NOT_OWN)


def _without_seat(action: object) -> Choice:
    """What a bot has chosen, as a session takes it."""
    match action:
        case PlayCards(_, cards, pick_up):
            named = tuple(cards)
            if {*map(type, named), type(pick_up)} <= {Card, type(None)}:
                return values.PlayCards(named, pick_up)
        case PickUp(_, card) if type(card) is Card:
            return values.PickUp(card)
        case Pass():
            return values.Pass()
        case _:
            pass
    return Failure(Translatable("chose {text}, which is no action", text=repr(str(action)[:80])))
