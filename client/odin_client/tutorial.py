"""A first deal, explained: fixed cards, played by the real rules, one sentence per step.

It shows opening, responding, picking up and going out, in plain lines. The other player's part is
fixed as well; what the learner types is checked by the engine, and only the step that the lesson is
about leads on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TextIO

from odin_client.hand_order import by_colour
from odin_client.languages import _
from odin_client.sentences import hand_sentence
from odin_client.text_width import broken
from odin_engine import (
    DECK,
    NEW,
    Action,
    Card,
    Options,
    Pass,
    PlayCards,
    StartDeal,
    StartGame,
    State,
    cards_of,
    decide,
    decision_of,
    fold,
)

_ME: Final = 0
_OTHER: Final = 1
_HANDS: Final = ("R4 B9 B6 O1 O2 O3 O5 O7 O8", "Y4 O4 G1 G3 V2 V8 R5 Y7 G9")

_TYPED: Final = re.compile(
    r"play\s+(?P<number>[1-9]+)(?:\s+take\s+(?P<card>[ROYGBV][1-9]))?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Step:
    """One choice of the learner."""

    told: str
    """What they are told before."""
    typed: str
    """What they have to type."""
    reply: Action | None
    """What the other player does then."""


def _cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


def _steps() -> tuple[_Step, ...]:
    return (
        _Step(
            _("You open the first round: one card, any card. Get rid of the red one."),
            "play 4",
            PlayCards(_OTHER, _cards("Y4 O4")),
        ),
        _Step(
            _(
                "Astrid responded with 44, one card more, and took your red 4 into her hand. Beat "
                "44 with two or three cards of one colour or one number: 9 and 6 make 96. You have "
                "to take one of her two cards; the orange 4 fits your hand."
            ),
            "play 96 take O4",
            Pass(_OTHER),
        ),
        _Step(
            _(
                "Astrid passed (you may, too, with `pass`, whenever you respond). The round is "
                "over, and you open the next one. An opener puts down one card, or the whole hand "
                "when it is of one colour: yours is. Put it all down, and go out."
            ),
            "play 8754321",
            None,
        ),
    )


class Tutorial:
    """The lesson, over an input and an output of lines."""

    def __init__(self, commands: TextIO, out: TextIO) -> None:
        self._commands: Final = commands
        self._out: Final = out
        order = _cards(" ".join(_HANDS))
        rest = tuple(card for card in DECK if card not in order)
        options = Options(players=2, threshold=None, short_deck=False)
        self._state = fold(decide(NEW, StartGame(options, removed=(), first_opener=_ME)))
        self._do(StartDeal((*order, *rest)))

    @property
    def state(self) -> State:
        """The game as it stands."""
        return self._state

    def run(self) -> bool:
        """Until the deal is over, or the learner stops; gives whether it is over."""
        self._say(
            _("You and Astrid have nine cards each. Whoever has none left first ends the deal.")
        )
        for step in _steps():
            self._say("")
            self._say(step.told)
            self._say(hand_sentence(by_colour(cards_of(self._state.hands[_ME]))))
            self._say(_("Type: {command}").format(command=step.typed))
            if not self._taken(step):
                return False
            if step.reply is not None:
                self._do(step.reply)
        left = self._state.penalties[-1][_OTHER]
        self._say("")
        self._say(
            _(
                "You went out, and Astrid has {count} cards left: {count} points for her, none for "
                "you. A game ends when somebody has 15 points; the fewest win."
            ).format(count=left)
        )
        self._say(_("Now play: odin-table play. All the rules: odin-table rules."))
        return True

    def _taken(self, step: _Step) -> bool:
        """Reads lines until the step is taken; False when the learner stops."""
        while line := self._commands.readline():
            typed = " ".join(line.split())
            if typed.lower() == "quit":
                return False
            if typed.lower() == step.typed.lower():
                self._do(self._action_of(step.typed))
                return True
            if typed:
                self._say(self._why_not(typed, step))
        return False

    def _action_of(self, typed: str) -> PlayCards:
        found = _TYPED.fullmatch(typed)
        decision = decision_of(self._state)
        assert found is not None, "the lesson is typed in this form"
        assert decision is not None, "the deal is not over before the lesson"
        play = next(play for play in decision.plays if play.value == int(found["number"]))
        return PlayCards(_ME, play, Card.parse(found["card"]) if found["card"] else None)

    def _why_not(self, typed: str, step: _Step) -> str:
        found = _TYPED.fullmatch(typed)
        decision = decision_of(self._state)
        if found is None or decision is None:
            return _("Type: {command} (or quit).").format(command=step.typed)
        number = int(found["number"])
        if any(play.value == number for play in decision.plays):
            return _("The rules allow that. For this lesson type: {command}").format(
                command=step.typed
            )
        return _("You may not play {number} now. Type: {command}").format(
            number=number, command=step.typed
        )

    def _do(self, command: StartDeal | Action) -> None:
        self._state = fold(decide(self._state, command), self._state)

    def _say(self, text: str) -> None:
        self._out.write(f"{broken(text, self._out)}\n")
        self._out.flush()
