r"""Line mode: one sentence per event, plain commands, no escape sequences at all.

For pipes, for terminals that can do nothing, and for screen readers. Sentences go to stdout, what
is wrong with a command goes to stderr. The prompt is shown only when a person types.

Commands that come through a pipe are done in order, each as soon as it can be: `play` waits for
the own turn, `ready` for the end of a deal. So `printf 'legal\npass\n' | odin-table join TABLE`
does what it says. The end of the input leaves the seat as it is.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Final, TextIO

from odin_cli.line.input_lines import InputLines
from odin_cli.line.line_commands import LineCommands, MistakeError
from odin_cli.line.output_lines import OutputLines
from odin_cli.line.side_by_side import until_first_ends
from odin_cli.speech import sentences
from odin_cli.speech.complaints import complaint
from odin_cli.speech.languages import _
from odin_cli.speech.words import listed
from odin_client.errors import Refused, Unreachable
from odin_client.session.session import Session
from odin_client.table.updates import LinkChanged, SnapshotTaken, Update
from odin_contract.enums import Phase
from odin_contract.events import DealEnded, DecisionOpened, GameEnded, RematchAsked
from odin_contract.values import Decision

PIPE_PATIENCE: Final = 120.0
"""Seconds without a server after which a pipe gives up. A person decides that by themselves."""

HURRY: Final = 10
"""When so many seconds are left it is said once more."""


class LineMode:
    """A person, or a pipe, at one table."""

    def __init__(
        self,
        session: Session,
        commands: TextIO,
        output: OutputLines,
        *,
        asks_to_close: bool = False,
        at_game_over: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        """`asks_to_close`: a host who quits is asked whether the table is to be closed.

        `at_game_over` keeps the game that is over, and says where, in a line.
        """
        self.left = False
        """Whether the seat was given up."""
        self._session: Final = session
        self._table: Final = session.table
        self._input: Final = commands
        self._output: Final = output
        self._asks_to_close: Final = asks_to_close
        self._at_game_over: Final = at_game_over
        self._typed: Final = commands.isatty()
        self._news: Final = asyncio.Condition()
        self._commands: Final = LineCommands(session, self._say, self._settled)
        self._prompted = False
        self._warning: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Until the table has ended, the input has, or the person stops.

        A watcher whose input is no terminal watches on after its end. Raises what
        `Session.follow` raises.
        """
        try:
            await until_first_ends(self._follow(), self._obey())
        finally:
            if self._warning:
                self._warning.cancel()

    # What happens

    async def _follow(self) -> None:
        async for update in self._session.follow(patience=None if self._typed else PIPE_PATIENCE):
            self._tell(update)
            if isinstance(update, GameEnded):
                await self._keep_game()
            async with self._news:
                self._news.notify_all()
            await self._output.room()

    async def _keep_game(self) -> None:
        if self._at_game_over is not None and (kept := await self._at_game_over()):
            self._say(kept)

    def _tell(self, update: Update) -> None:
        if isinstance(update, SnapshotTaken):
            self._say(sentences.centre_sentence(self._table))
        elif isinstance(update, LinkChanged):
            self._complain(sentences.link_sentence(update))
        elif said := sentences.sentence(update, self._table):
            self._say(said)
        if self._opens_my_decision(update):
            self._say_my_turn()
        if self._is_pause(update) and (hint := sentences.next_sentence(self._table)):
            self._say(hint)
            self._prompt()

    def _opens_my_decision(self, update: Update) -> bool:
        """Not a decision of the past, which comes along when catching up."""
        if not self._table.my_turn or self._table.decision is None:
            return False
        if isinstance(update, DecisionOpened):
            return update.decision.id == self._table.decision.id
        return isinstance(update, SnapshotTaken)

    def _say_my_turn(self) -> None:
        assert self._table.decision is not None, "it is the own turn"
        self._say(sentences.turn_sentence(self._table, self._table.decision))
        self._say_time_left(self._table.decision)
        self._say(sentences.hand_sentence(self._commands.hand_in_order()))
        self._prompt()

    def _say_time_left(self, decision: Decision) -> None:
        """Now, and once more when there is little of it; says nothing without a clock."""
        now = self._session.server_now()
        if said := sentences.time_sentence(decision, now):
            self._say(said)
        left = decision.seconds_left(now)
        if left is not None and left > HURRY:
            if self._warning:
                self._warning.cancel()
            loop = asyncio.get_running_loop()
            self._warning = loop.call_later(left - HURRY, self._warn, decision.id)

    def _warn(self, decision_id: int) -> None:
        decision = self._table.decision
        if decision is not None and decision.id == decision_id:
            self._say_time_left(decision)
            self._prompt()

    def _is_pause(self, update: Update) -> bool:
        if self._table.my_seat is None:
            return False
        if isinstance(update, DealEnded):
            return self._table.phase is Phase.BETWEEN_DEALS
        return isinstance(update, GameEnded | RematchAsked | SnapshotTaken)

    # What is typed

    async def _obey(self) -> None:
        lines = InputLines(self._input)
        while (line := await lines.next()) is not None:
            self._prompted = False  # the person has ended the line of the prompt
            word, *rest = line.split(maxsplit=1) or [""]
            word = unicodedata.normalize("NFKC", word)  # it may be of full width
            if word in ("quit", "leave"):
                await self._stop(lines, leaving=word == "leave")
                return
            if word:
                await self._do(word.lower(), "".join(rest).strip())
            self._prompt()
            await self._output.room()
        if self._table.my_seat is None and not self._typed:
            await asyncio.Event().wait()  # a watcher watches on

    async def _do(self, word: str, rest: str) -> None:
        command = self._commands.all.get(word)
        if command is None:
            names = ", ".join((*self._commands.all, "quit", "leave"))
            self._mistake(_("unknown command, try: {names}").format(names=names))
            return
        if self._typed and not command.possible():
            self._mistake(command.otherwise or _("not yet"))
            return
        await self._until(command.possible)
        try:
            await command.do(rest)
        except MistakeError as problem:
            self._mistake(str(problem))
        except Refused as problem:
            self._mistake(complaint(problem))
        except Unreachable as problem:
            said = _("{problem} It may not have been done: look at the table.")
            self._mistake(said.format(problem=complaint(problem)))

    async def _stop(self, lines: InputLines, *, leaving: bool) -> None:
        closable = self._asks_to_close and self._table.i_am_host and not self._table.closed
        try:
            if closable and self._typed and await self._wants_to_close(lines):
                await self._session.close_table()
            elif leaving and self._table.my_seat is not None:
                await self._session.leave()
                self.left = True
        except (Refused, Unreachable) as problem:
            self._mistake(complaint(problem))

    async def _wants_to_close(self, lines: InputLines) -> bool:
        question = _("Close your table, or keep it? [close/keep]")
        if others := self._table.other_people:
            question = _("Close your table for {names} as well, or keep it? [close/keep]").format(
                names=listed(others)
            )
        self._output.out(f"{question} ")
        answer = await lines.next()
        return answer is not None and answer.strip().lower() in ("c", "close", "y", "yes")

    async def _settled(self, seq: int) -> None:
        await self._until(lambda: self._table.seq >= seq)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self._news:
            await self._news.wait_for(condition)

    # What is printed

    def _say(self, text: str) -> None:
        self._print(text, self._output.say)

    def _mistake(self, problem: str) -> None:
        self._complain(_("error: {problem}").format(problem=problem))

    def _complain(self, text: str) -> None:
        self._print(text, self._output.complain)

    def _print(self, text: str, write: Callable[[str], None]) -> None:
        if self._prompted:
            self._prompted = False
            self._output.out("\n")
        write(f"{text}\n")

    def _prompt(self) -> None:
        if self._typed and not self._prompted:
            self._prompted = True
            self._output.out("> ")
