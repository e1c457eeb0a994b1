"""The full-screen client at a table: what it hears, when it rings, what it does by itself."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Final

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from odin_cli.local.preferences import Preferences
from odin_cli.speech.check_sentence import check_notice
from odin_cli.speech.languages import _
from odin_cli.speech.sentences import result_sentences
from odin_cli.terminal.automatic import by_itself
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.commands import Commands
from odin_cli.terminal.full_screen import FullScreen
from odin_cli.terminal.views.cells import Click, Line
from odin_cli.terminal.views.guide import tip
from odin_cli.terminal.views.last_play import to_linger_on
from odin_cli.terminal.views.log import Log
from odin_cli.terminal.views.screen import Screen, Sort
from odin_cli.terminal.views.view import render, window_title
from odin_client.errors import ClientError
from odin_client.session.past import told_again
from odin_client.session.session import Session
from odin_client.table.model import OutOfStepError
from odin_client.table.updates import DealChecked, SnapshotTaken, Update
from odin_contract.enums import StreamEndReason
from odin_contract.events import CardPickedUp, ChatSaid, DecisionOpened, GameEnded, StreamEnded
from odin_contract.limits import CHAT_LENGTH
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import Game
from odin_engine import DecisionKind

_IDLE: Final = 5.0
"""Seconds without a key after which the bell rings when the turn comes."""

_FLASH: Final = 2.0
"""Seconds for which a card that was just picked up stands out."""


async def run(
    session: Session,
    *,
    caps: Capabilities,
    preferences: Preferences | None = None,
    invitation: str = "",
    rejoin: str = "",
    guided: bool = False,
    log_file: Path | None = None,
    at_game_over: Callable[[], Awaitable[str]] | None = None,
    at_sorting: Callable[[str], None] | None = None,
    terminal_input: Input | None = None,
    terminal_output: Output | None = None,
) -> int:
    """Plays or watches at this table until the person ends it; gives the exit code.

    `invitation` is what others type to sit down, one command a line; `rejoin` is what brings one
    back, printed at the end when the seat is kept. Without it nothing is left to come back to: the
    server is only for this person and ends with this client. `guided` tells a newcomer what to do
    in the first deal; `at_game_over` keeps the game that is over, and says where, in a line;
    `at_sorting` is told how the hand lies from now on. While the screen is full, what is written to
    standard error goes to `log_file`, or nowhere. Raises what `Session.follow` raises, with the
    terminal given back. Ends with 0, or as if killed by a signal: 130 (Ctrl-C), 129, 143.
    """
    preferences = preferences or Preferences()
    screen = Screen(
        session.table,
        address=session.address.server,
        invitation=invitation,
        ends_with_me=not rejoin,
        guided=guided,
        levels=tuple(session.connection.info.levels),
        sort=Sort(preferences.sort),
    )
    client = _AtTable(session, screen, caps, preferences, at_game_over, at_sorting)
    full = FullScreen(client, caps, terminal_input, terminal_output)
    client.take(full)
    code = await full.run(client.follow(), client.tick(), log_file=log_file)
    for said in result_sentences(session.table, screen.saved):
        with contextlib.suppress(OSError):  # the terminal may be gone
            sys.stdout.write(f"{said}\n")
            sys.stdout.flush()
    if (
        rejoin
        and not client.left
        and not session.table.closed
        and session.table.my_seat is not None
    ):
        with contextlib.suppress(OSError):  # the terminal may be gone
            said = _("You keep your seat. Come back with: {command}").format(command=rejoin)
            sys.stdout.write(f"{said}\n")
            sys.stdout.flush()
    return code


class _AtTable:
    """One person at one table."""

    def __init__(
        self,
        session: Session,
        screen: Screen,
        caps: Capabilities,
        preferences: Preferences,
        at_game_over: Callable[[], Awaitable[str]] | None,
        at_sorting: Callable[[str], None] | None,
    ) -> None:
        self.left = False
        """Whether the person has given the seat up."""
        self._session: Final = session
        self._screen: Final = screen
        self._caps: Final = caps
        self._preferences: Final = preferences
        self._at_game_over: Final = at_game_over
        self._at_sorting: Final = at_sorting
        self._since_snapshot: list[Update] | None = None
        """What was heard while the log is being filled with what was before; None: it is not."""
        self._seen = 0
        """The last decision of one's own that was announced."""

    def take(self, full: FullScreen) -> None:
        """Uses this terminal from now on."""
        self._full = full
        self._commands = Commands(
            self._screen,
            self._session,
            full.spawn,
            lambda: full.size,
            self._leave_for_good,
            self._caps.ascii_only,
            {
                **full.commands,
                "chat": self._open_chat,
                "ask_whom_to_remove": self._ask_whom_to_remove,
            },
        )

    # As the content of a full screen

    def draw(self, cols: int, rows: int) -> list[Line]:
        self._screen.now = self._session.server_now()
        return render(self._screen, cols, rows, self._caps)

    def press(self, key: str) -> None:
        with self._sorting_noticed():
            self._commands.press(key)

    def click(self, click: Click) -> None:
        with self._sorting_noticed():
            self._commands.click(click)

    @contextlib.contextmanager
    def _sorting_noticed(self) -> Generator[None]:
        before = self._screen.sort
        yield
        if self._screen.sort is not before and self._at_sorting is not None:
            self._at_sorting(self._screen.sort.value)

    def tell(self, notice: str) -> None:
        self._screen.notice = notice

    def _leave_for_good(self) -> None:
        self.left = True
        self._full.end(0)

    def _open_chat(self) -> None:
        limit = self._session.connection.info.max_chat_length or CHAT_LENGTH
        self._full.ask(_("say:"), self._commands.say, self._commands.unsaid, limit=limit)

    def _ask_whom_to_remove(self) -> None:
        self._full.ask(_("remove (name or seat number):"), self._commands.remove)

    # What runs beside it

    async def follow(self) -> None:
        """Hears what the table says."""
        async with contextlib.aclosing(self._session.follow()) as updates:
            async for update in updates:
                self._hear(update)
                self._full.draw_anew()

    async def tick(self) -> None:
        """Draws every second while a time is counted down."""
        while True:
            await asyncio.sleep(1)
            if self._screen.counts_down:
                self._full.draw_anew()

    async def _fill_log(self) -> None:
        """After a snapshot: lets the log begin with what led to it. Without an answer it stays."""
        log = Log()
        heard: list[Update] = []
        self._since_snapshot = heard
        try:
            async with contextlib.aclosing(told_again(self._session)) as past:
                async for update, then in past:
                    log.hear(update, then)
        except (ClientError, OutOfStepError, NotUnderstoodError):
            return
        finally:
            if self._since_snapshot is heard:
                self._since_snapshot = None
        for update in heard:
            if not isinstance(update, ChatSaid):  # what was said is part of what was told again
                log.hear(update, self._screen.table)
        self._screen.log = log

    def _hear(self, update: Update) -> None:
        self._commands.hear(update)
        self._linger(update)
        if self._since_snapshot is not None:
            self._since_snapshot.append(update)
        if isinstance(update, SnapshotTaken):
            self._full.spawn(self._fill_log())
        self._full.set_title(window_title(self._screen))
        match update:
            case StreamEnded(reason=StreamEndReason.SUPERSEDED):
                self.tell(_("You play this seat from elsewhere now. Ctrl-C quits here."))
            case CardPickedUp(seat=seat) if seat == self._screen.table.my_seat:
                self._full.spawn(self._flash())
            case DealChecked():
                quiet = update.in_full and not update.faults
                # What is quiet also stands below the scores; a newcomer needs the row for the tip.
                if not (quiet and self._screen.guided and tip(self._screen)):
                    self.tell(check_notice(update))
            case GameEnded() if self._at_game_over is not None:
                self._full.spawn(self._keep_game(self._at_game_over))
            case DecisionOpened() | SnapshotTaken():
                self._come_to_my_turn()
            case _:
                pass

    def _linger(self, update: Update) -> None:
        """Lets the last play of a round or deal stay for a moment; not over what I have to beat."""
        screen = self._screen
        if screen.my_decision is not None and screen.table.game and screen.table.game.centre:
            screen.lingering = None  # somebody has played already: that is what counts
        elif self._preferences.pace and (last := to_linger_on(update, screen.table)):
            screen.lingering = last
            self._full.spawn(self._linger_on(last))
        elif isinstance(update, SnapshotTaken):
            screen.lingering = None

    async def _linger_on(self, last: Game) -> None:
        await asyncio.sleep(self._preferences.pace)
        if self._screen.lingering is last:
            self._commands.linger_no_more()

    def _come_to_my_turn(self) -> None:
        """Rings once for each turn, and does by itself what may be done so."""
        decision = self._screen.my_decision
        if decision is None or decision.id <= self._seen:
            return
        self._seen = decision.id
        idle = self._full.idle > _IDLE
        if self._preferences.bell and idle and decision.kind is not DecisionKind.PICK_UP:
            self._full.ring()
        if automatic := by_itself(decision, self._screen.table.hand, self._preferences):
            self._full.spawn(
                self._commands.act_by_itself(decision, automatic, random.uniform(*automatic.delay))
            )

    async def _flash(self) -> None:
        await asyncio.sleep(_FLASH)
        self._screen.fresh = None

    async def _keep_game(self, keep: Callable[[], Awaitable[str]]) -> None:
        self._screen.saved = await keep()
