"""A finished game, looked at step by step. All hands are known by then (R17).

A step is one thing that happened: a play, a pick-up, a pass, the end of a round, a deal, the game.
Going back folds the game anew from its beginning, which takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from odin_cli.games.game_file import SavedGame
from odin_cli.speech.languages import _
from odin_client.errors import ClientError
from odin_client.table.deal_check import DealCheck
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, Update
from odin_contract.events import DealStarted
from odin_contract.two_way import NotUnderstoodError
from odin_engine import Card
from odin_table.v1 import event_pb2, play_pb2

_JOINS_ITS_STEP: Final = ("decision_opened", "ready_changed", "deadline_moved", "bot_failed")
"""What happens together with what went before."""


@dataclass
class Position:
    """The game after so many steps."""

    table: TableModel
    news: list[Update] = field(default_factory=list[Update])
    """What the last step brought."""
    checked: DealChecked | None = None
    """After a deal: whether it was dealt as the server had promised."""

    @property
    def hands(self) -> dict[int, tuple[Card, ...]]:
        """Of every player, by seat."""
        return dict(self.table.game.hands) if self.table.game else {}


class Replay:
    """A finished game and where one is in it. Raises ClientError when it does not add up."""

    def __init__(self, game: SavedGame) -> None:
        """Starts before the first step."""
        self._game: Final = game
        self._steps: Final = _in_steps(game)
        self.step = 0
        """How many steps have been made."""
        self.position = self._beginning()
        self.go(len(self._steps))  # what does not add up is told at once
        self.go(0)

    @property
    def last(self) -> int:
        """The number of steps."""
        return len(self._steps)

    @property
    def deals(self) -> list[int]:
        """The steps after which a deal has just been dealt."""
        return [
            number
            for number, step in enumerate(self._steps, start=1)
            if step[0].HasField("deal_started")
        ]

    def go(self, step: int) -> list[Update]:
        """Goes to this step, at most to the last one; gives what happened since the beginning."""
        self.step = max(0, min(step, self.last))
        self.position = self._beginning()
        happened: list[Update] = []
        try:
            for events in self._steps[: self.step]:
                self.position.news = []
                for event in events:
                    self._fold(event)
                happened += self.position.news
        except NotUnderstoodError as error:
            raise ClientError(
                _("This game does not add up at step {step}.").format(step=self.step),
                _("The file was changed, or is of another version."),
            ) from error
        return happened

    def _beginning(self) -> Position:
        starts = (event.game_started.game for event in self._game.events)
        table = TableModel(check=DealCheck(game=next(filter(None, starts), 1)))
        view = play_pb2.WatchTableResponse(snapshot=self._game.view)
        table.apply(view)
        return Position(table)

    def _fold(self, event: event_pb2.Event) -> None:
        position = self.position
        # What happened between two games is not in the file, so that numbers may be missing.
        position.table.view = replace(position.table.view, seq=event.seq - 1)
        batch = event_pb2.EventBatch(events=[event])
        news = position.table.apply(play_pb2.WatchTableResponse(events=batch))
        position.news += news
        for update in news:
            if isinstance(update, DealStarted | DealChecked):
                position.checked = update if isinstance(update, DealChecked) else None


def _in_steps(game: SavedGame) -> list[list[event_pb2.Event]]:
    steps: list[list[event_pb2.Event]] = []
    for event in game.events:
        if steps and event.WhichOneof("payload") in _JOINS_ITS_STEP:
            steps[-1].append(event)
        else:
            steps.append([event])
    return steps
