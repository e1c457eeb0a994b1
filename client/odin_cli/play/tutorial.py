"""The tutorial in plain lines: the learner types the move of each step."""

from __future__ import annotations

import re
from typing import Final, TextIO

from odin_cli.play.hand_order import by_colour
from odin_cli.play.lesson import Lesson, Step, farewell
from odin_cli.speech.languages import _
from odin_cli.speech.sentences import hand_sentence
from odin_cli.speech.text_width import broken
from odin_conformance.table import CLIENT
from odin_engine import State, cards_of, set_of

_TYPED: Final = re.compile(
    r"play\s+(?P<number>[1-9]+)(?:\s+take\s+(?P<card>[ROYGBV][1-9]))?", re.IGNORECASE
)


class Tutorial:
    """The lesson, over an input and an output of lines."""

    def __init__(self, commands: TextIO, out: TextIO) -> None:
        self._commands: Final = commands
        self._out: Final = out
        self._lesson: Final = Lesson()

    @property
    def state(self) -> State:
        """The game as it stands."""
        return self._lesson.table.state

    def run(self) -> bool:
        """Until the deal is over, or the learner stops; gives whether it is over."""
        while step := self._lesson.step:
            self._say(f"{step.told} {step.told_of_pick_up}".rstrip())
            self._say(hand_sentence(by_colour(cards_of(self.state.hands[CLIENT]))))
            self._say(_("Type: {command}").format(command=_typed(step)))
            if not self._taken(step):
                return False
            self._say("")
        self._say(self._lesson.summary())
        self._say(farewell())
        return True

    def _taken(self, step: Step) -> bool:
        """Reads lines until the step is taken; False when the learner stops."""
        while line := self._commands.readline():
            typed = " ".join(line.split())
            if typed.lower() == "quit":
                return False
            if typed.lower() == _typed(step).lower():
                self._lesson.advance()
                return True
            if typed:
                self._say(self._why_not(typed, step))
        return False

    def _why_not(self, typed: str, step: Step) -> str:
        found = _TYPED.fullmatch(typed)
        decision = self._lesson.table.decision
        if found is None or decision is None:
            return _("Type: {command} (or quit).").format(command=_typed(step))
        number = int(found["number"])
        if any(play.value == number for play in decision.plays):
            return _("The rules allow that. For this lesson type: {command}").format(
                command=_typed(step)
            )
        return _("You may not play {number} now. Type: {command}").format(
            number=number, command=_typed(step)
        )

    def _say(self, text: str) -> None:
        self._out.write(f"{broken(text, self._out)}\n")
        self._out.flush()


def _typed(step: Step) -> str:
    """The move as it is typed in lines."""
    play = f"play {set_of(step.cards).value}"
    return f"{play} take {step.pick_up}" if step.pick_up else play
