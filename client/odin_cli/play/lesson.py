"""The lesson of the tutorial: a first deal with fixed cards, one text per step.

It shows opening, responding, picking up and going out. The engine checks every move, but only the
move that the step is about leads on; the other player's replies are fixed as well. `tutorial`
plays it in plain lines, `terminal.lesson_app` on the board.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from odin_cli.speech.languages import _
from odin_conformance.table import CLIENT, OTHER, Table
from odin_contract.options import options_message
from odin_contract.values import Options as TableOptions
from odin_engine import DECK, Action, Card, Options, Pass, PlayCards, StartDeal, StartGame
from odin_table.v1 import event_pb2, table_pb2

_HANDS: Final = "Y4 O4 G1 G3 V2 V8 R5 Y7 G9 R4 B9 B6 O1 O2 O3 O5 O7 O8"
"""Nine cards for Astrid, then nine for the learner."""

_OPTIONS: Final = TableOptions(seats=2, short_deck=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One move of the learner."""

    told: str
    """What the learner is told before it."""
    cards: tuple[Card, ...]
    keys: str
    """The keys that choose these cards on the board."""
    reply: Action | None
    """What Astrid does then."""
    pick_up: Card | None = None
    told_of_pick_up: str = ""
    """Why this card is the one to take."""


def _cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


def _steps() -> tuple[Step, ...]:
    return (
        Step(
            _("You and Astrid have nine cards each. Whoever has none left first ends the deal.")
            + " "
            + _("You open the first round: one card, any card. Get rid of the red one."),
            _cards("R4"),
            "4",
            PlayCards(OTHER, _cards("Y4 O4")),
        ),
        Step(
            _(
                "Astrid beat it with 44, one card more, and took your red 4. Beat 44 with two or "
                "three cards of one colour or one number: 9 and 6 make 96."
            ),
            _cards("B9 B6"),
            "9 6",
            Pass(OTHER),
            Card.parse("O4"),
            _("You have to take one of the two cards you beat: the orange 4 fits your hand."),
        ),
        Step(
            _(
                "Astrid passed, as you may when you respond. You open again: one card, or the "
                "whole hand when it is of one colour. Yours is: put it all down, and go out."
            ),
            _cards("O1 O2 O3 O4 O5 O7 O8"),
            "a",
            None,
        ),
    )


class LessonTable(Table):
    """The learner's table: two seats and the fixed deal, without a clock."""

    def __init__(self, name: str) -> None:
        """The deal has started, and the learner opens it."""
        super().__init__()
        astrid = self.seats[OTHER]
        astrid.name, astrid.host = "Astrid", False
        astrid.occupant = table_pb2.OCCUPANT_BUILT_IN_BOT
        self.sit_down(name, table_pb2.OCCUPANT_PERSON)
        self.start()

    @property
    def options(self) -> table_pb2.TableOptions:
        """How it plays."""
        return options_message(_OPTIONS)

    def start(self) -> None:
        """Starts the deal."""
        dealt = _cards(_HANDS)
        order = (*dealt, *(card for card in DECK if card not in dealt))
        options = Options(players=2, threshold=_OPTIONS.threshold, short_deck=False)
        start = StartGame(options, removed=(), first_opener=CLIENT)
        self._do(start, event_pb2.ACTOR_UNSPECIFIED)
        self._do(StartDeal(order), event_pb2.ACTOR_UNSPECIFIED)
        self._open_decision()

    def view(self) -> table_pb2.TableView:
        """What a snapshot holds now."""
        view = super().view()
        view.table = _("TUTORIAL")
        return view


class Lesson:
    """How far the learner has come."""

    def __init__(self, name: str = "") -> None:
        """Before the first step; `name` is the learner's."""
        self.table: Final = LessonTable(name)
        self._steps: Final = _steps()
        self._done = 0

    @property
    def step(self) -> Step | None:
        """The move to make now; None when the deal is over."""
        return self._steps[self._done] if self._done < len(self._steps) else None

    def advance(self) -> None:
        """Makes the move of the step, and Astrid's reply."""
        step = self._steps[self._done]
        play = PlayCards(CLIENT, step.cards, step.pick_up)
        self.table.act(play, event_pb2.ACTOR_PERSON)
        if step.reply is not None:
            self.table.act(step.reply, event_pb2.ACTOR_BOT)
        self._done += 1

    def summary(self) -> str:
        """What the deal has cost, once it is over."""
        left = self.table.state.penalties[-1][OTHER]
        return _(
            "You went out, and Astrid has {count} cards left: {count} points for her, none for "
            "you. A game ends when somebody has 15 points; the fewest win."
        ).format(count=left)


def farewell() -> str:
    """What to do after the lesson."""
    return _("Now play: odin-table play. All the rules: odin-table rules.")
