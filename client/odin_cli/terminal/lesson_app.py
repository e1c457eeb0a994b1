"""The tutorial on the full-screen board: the lesson instead of a server behind the real keys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from odin_cli.play.lesson import Lesson, farewell
from odin_cli.play.selection import Selection
from odin_cli.speech.languages import _
from odin_cli.speech.text_width import broken
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.commands import Commands
from odin_cli.terminal.full_screen import FullScreen
from odin_cli.terminal.keys import bindings, bound
from odin_cli.terminal.views.cells import Click, Line
from odin_cli.terminal.views.guide import tip
from odin_cli.terminal.views.screen import Question, Screen
from odin_cli.terminal.views.view import render
from odin_client.errors import ClientError
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked
from odin_contract.values import Action, PlayCards
from odin_engine import Card
from odin_table.v1 import event_pb2, play_pb2


async def run(
    lesson: Lesson,
    *,
    caps: Capabilities,
    log_file: Path | None = None,
    terminal_input: Input | None = None,
    terminal_output: Output | None = None,
) -> int:
    """Plays the lesson until it is over or the learner leaves; gives the exit code, as a table."""
    content = _Content(lesson, caps)
    full = FullScreen(content, caps, terminal_input, terminal_output)
    content.take(full)
    code = await full.run(log_file=log_file)
    if lesson.step is None:
        sys.stdout.write(f"{broken(farewell(), sys.stdout)}\n")
    return code


def told(lesson: Lesson, screen: Screen) -> str:
    """What the learner is told now."""
    step = lesson.step
    if step is None:
        return f"{lesson.summary()} {_('Enter ends the tutorial.')}"
    if screen.choosing_pick_up:
        return f"{step.told_of_pick_up} {to_type(_key_of(step.pick_up))}"
    chosen = set(screen.selection.cards)
    if chosen == set(step.cards):
        return tip(screen)
    if not chosen <= set(step.cards):
        return _("This step needs other cards. Esc puts these back.")
    return f"{step.told} {to_type(step.keys)}"


def _key_of(pick_up: Card | None) -> str:
    """The key that chooses this card: both cards of Astrid's set have one number."""
    return pick_up.colour.value if pick_up else ""


def to_type(keys: str) -> str:
    """Which keys make the move."""
    return _("Type: {command}").format(command=_then_enter(keys))


def _then_enter(keys: str) -> str:
    return _("{keys}, then Enter").format(keys=keys)


class _LessonCalls:
    """What a key asks of the lesson. Only the move of the step is taken."""

    def __init__(self, content: _Content, lesson: Lesson) -> None:
        self._content: Final = content
        self._lesson: Final = lesson

    async def act(self, action: Action, *, decision_id: int | None = None) -> None:
        step = self._lesson.step
        assert step is not None, "nobody has to act after the last step"
        if not isinstance(action, PlayCards) or set(action.cards) != set(step.cards):
            raise _not_now(step.keys)
        if action.pick_up != step.pick_up:
            self._content.ask_again()
            raise _not_now(_key_of(step.pick_up))
        self._lesson.advance()
        self._content.hear()

    async def ready(self, ready: bool = True) -> None:
        self._content.leave()

    def retry_now(self) -> None:
        """Nothing to reconnect to."""

    async def _refuse(self, *_args: object, **_options: object) -> None:
        raise ClientError(_("This is the tutorial: nobody else is here."))

    start = rematch = add_bot = remove_bot = free_seat = chat = leave = close_table = _refuse


def _not_now(keys: str) -> ClientError:
    said = _("The rules allow that. For this lesson type: {command}")
    return ClientError(said.format(command=_then_enter(keys)))


class _Content:
    """The lesson as the content of a full screen."""

    def __init__(self, lesson: Lesson, caps: Capabilities) -> None:
        self._lesson: Final = lesson
        self._caps: Final = caps
        table = TableModel()
        table.apply(play_pb2.WatchTableResponse(snapshot=lesson.table.view()))
        self._screen: Final = Screen(table, ends_with_me=True)

    def take(self, full: FullScreen) -> None:
        self._full = full
        self._commands = Commands(
            self._screen,
            _LessonCalls(self, self._lesson),
            full.spawn,
            lambda: full.size,
            self.leave,
            self._caps.ascii_only,
            {
                **full.commands,
                "leave": self.leave,  # without a question: nothing is lost
                "chat": lambda: self.tell(_("This is the tutorial: nobody else is here.")),
            },
        )

    def draw(self, cols: int, rows: int) -> list[Line]:
        self._screen.lesson = told(self._lesson, self._screen)
        return render(self._screen, cols, rows, self._caps)

    def press(self, key: str) -> None:
        binding = bound(key, bindings(self._screen))
        nothing_to_clear = self._screen.selection == Selection()
        if key == "escape" and (binding is None or binding.command == "clear") and nothing_to_clear:
            self.leave()
        else:
            self._commands.press(key)

    def click(self, click: Click) -> None:
        self._commands.click(click)

    def tell(self, notice: str) -> None:
        self._screen.notice = notice

    def hear(self) -> None:
        """Takes note of what has happened since."""
        batch = event_pb2.EventBatch(events=self._lesson.table.events)
        for update in self._screen.table.apply(play_pb2.WatchTableResponse(events=batch)):
            if not isinstance(update, DealChecked):  # no server has promised anything
                self._commands.hear(update)

    def ask_again(self) -> None:
        """Asks again which card to take."""
        self._screen.question = Question.PICK_UP

    def leave(self) -> None:
        self._full.end(0)
