"""The full-screen client: prompt_toolkit paints the picture and feeds the keys, nothing more.

One asyncio loop does it all. A key changes the screen or sets a call going, never both waits;
what goes wrong in a task ends the application, and the error is shown by whoever called `run`,
after the terminal has been given back.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import OneStyleAndTextTuple, StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.mouse_events import MouseButton, MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from odin_client.languages import _
from odin_client.session import Session
from odin_client.terminal.capabilities import Capabilities, Depth
from odin_client.terminal.cells import Click
from odin_client.terminal.commands import Commands
from odin_client.terminal.screen import Screen
from odin_client.terminal.style import rules_of
from odin_client.terminal.takeover import ended_by_signals, errors_to, output_to
from odin_client.terminal.view import render
from odin_client.updates import DecisionOpened, StreamEnded, Update
from odin_client.values import StreamEndReason

_DEPTHS: Final = {
    Depth.MONOCHROME: ColorDepth.DEPTH_1_BIT,
    Depth.ANSI_16: ColorDepth.DEPTH_4_BIT,
    Depth.CUBE_256: ColorDepth.DEPTH_8_BIT,
    Depth.TRUE: ColorDepth.DEPTH_24_BIT,
}

_KEY_NAMES: Final = {
    Keys.ControlM: "enter",
    Keys.ControlJ: "enter",
    Keys.ControlI: "tab",
    Keys.BackTab: "s-tab",
    Keys.ControlH: "backspace",
    Keys.Escape: "escape",
    Keys.Left: "left",
    Keys.Right: "right",
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.PageUp: "pageup",
    Keys.PageDown: "pagedown",
    Keys.F1: "f1",
    Keys.F2: "f2",
    Keys.ControlC: "c-c",
    Keys.SIGINT: "c-c",
    Keys.ControlL: "c-l",
    Keys.ControlZ: "c-z",
    " ": "space",
}
"""prompt_toolkit's keys by the names that our bindings use. Printable characters are themselves."""

_TERMINAL_GONE: Final = (errno.EIO, errno.EBADF, errno.EPIPE)
"""What writing to a terminal fails with after its window was closed."""

_IDLE: Final = 5.0
"""Seconds without a key after which the bell rings when the turn comes."""

_RESIZE_PAUSE: Final = 0.05
"""Seconds in which many changes of size become one: each draws the whole screen."""


async def run(
    session: Session,
    *,
    caps: Capabilities,
    invitation: str = "",
    rejoin: str = "",
    log_file: Path | None = None,
    terminal_input: Input | None = None,
    terminal_output: Output | None = None,
) -> int:
    """Plays or watches at this table until the person ends it; gives the exit code.

    `invitation` is what others type to sit down, one command a line; `rejoin` is what brings one
    back, printed at the end when the seat is kept. Without it nothing is left to come back to: the
    server is only for this person and ends with this client. While the screen is full, what is
    written to standard error goes to `log_file`, or nowhere. Raises what `Session.follow` raises,
    with the terminal given back. Ends with 0, or as if killed by a signal: 130 (Ctrl-C), 129, 143.
    """
    screen = Screen(
        session.table,
        address=session.address.server,
        invitation=invitation,
        ends_with_me=not rejoin,
        levels=tuple(session.connection.info.levels),
    )
    client = _Client(session, screen, caps, terminal_input, terminal_output)
    code = await client.run(log_file)
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


class _Application(Application[int]):
    """Draws once when the size changes many times in a row."""

    _resizing = False

    def _on_resize(self) -> None:
        if not self._resizing:
            self._resizing = True
            asyncio.get_running_loop().call_later(_RESIZE_PAUSE, self._resized)

    def _resized(self) -> None:
        self._resizing = False
        if self.is_running:
            super()._on_resize()


class _Client:
    """One person's screen."""

    def __init__(
        self,
        session: Session,
        screen: Screen,
        caps: Capabilities,
        terminal_input: Input | None,
        terminal_output: Output | None,
    ) -> None:
        self.left = False
        """Whether the person has given the seat up."""
        self._session = session
        self._caps = caps
        self._mouse = caps.mouse
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_key = time.monotonic()
        self._screen = screen
        self._commands = Commands(
            self._screen,
            session,
            self._spawn,
            self._size,
            self._leave_for_good,
            {
                "quit": lambda: self._end(130),
                "redraw": self._redraw,
                "suspend": self._suspend,
                "switch_mouse": self._switch_mouse,
                "chat": self._open_chat,
            },
        )
        self._picture = FormattedTextControl(
            self._fragments, focusable=True, show_cursor=False, get_cursor_position=_top_left
        )
        self._chat_line = Buffer(accept_handler=self._said, multiline=False)
        self._app = self._application(terminal_input, terminal_output)

    def _application(self, source: Input | None, target: Output | None) -> _Application:
        app = _Application(
            layout=Layout(self._layout(), focused_element=self._picture),
            key_bindings=self._key_bindings(),
            style=Style.from_dict(dict(rules_of(self._caps.depth))),
            color_depth=_DEPTHS[self._caps.depth],
            full_screen=True,
            mouse_support=Condition(lambda: self._mouse),
            min_redraw_interval=0.03,
            input=source or create_input(sys.stdin),
            output=target or output_to(sys.stdout),
        )
        # A lone Esc is told from the beginning of another key by waiting; stock waits a second.
        app.ttimeoutlen = app.timeoutlen = self._caps.escape_seconds
        return app

    def _layout(self) -> HSplit:
        prompt = Window(
            BufferControl(
                self._chat_line, input_processors=[BeforeInput(f" {_('say:')} ", "class:question")]
            ),
            height=1,
        )
        return HSplit(
            [
                Window(self._picture, wrap_lines=False, always_hide_cursor=True),
                ConditionalContainer(prompt, Condition(self._chatting)),
            ]
        )

    # Life

    async def run(self, log_file: Path | None) -> int:
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()
        loop.set_exception_handler(self._fail_from_loop)
        try:
            with errors_to(log_file), ended_by_signals(self._end):
                try:
                    return await self._app.run_async(
                        pre_run=self._begin, set_exception_handler=False
                    )
                except EOFError:
                    return 0  # the input has ended; the seat is kept
                except OSError as problem:
                    if problem.errno not in _TERMINAL_GONE:
                        raise
                    return 129
                finally:
                    await self._stop_tasks()
        finally:
            loop.set_exception_handler(before)

    def _begin(self) -> None:
        self._spawn(self._follow())
        self._spawn(self._tick())

    async def _stop_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self) -> None:
        async with contextlib.aclosing(self._session.follow()) as updates:
            async for update in updates:
                self._hear(update)
                self._app.invalidate()

    def _hear(self, update: Update) -> None:
        self._commands.hear(update)
        if isinstance(update, StreamEnded) and update.reason is StreamEndReason.SUPERSEDED:
            self._screen.notice = _("You play this seat from elsewhere now. Ctrl-C quits here.")
        idle = time.monotonic() - self._last_key > _IDLE
        if isinstance(update, DecisionOpened) and self._screen.my_decision and idle:
            self._app.output.bell()

    async def _tick(self) -> None:
        """Draws every second while a time is counted down."""
        while True:
            await asyncio.sleep(1)
            decision = self._screen.table.decision
            if self._screen.table.next_deal_time or (decision and decision.deadline):
                self._app.invalidate()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            self._fail(problem)
        self._app.invalidate()

    def _fail_from_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if isinstance(problem, BaseException):
            self._fail(problem)
        else:
            loop.default_exception_handler(context)

    def _fail(self, problem: BaseException) -> None:
        if self._may_exit():
            self._app.exit(exception=problem)

    def _end(self, code: int) -> None:
        if self._may_exit():
            self._app.exit(result=code)

    def _may_exit(self) -> bool:
        return self._app.future is not None and not self._app.future.done()

    # What is drawn

    def _size(self) -> tuple[int, int]:
        """Columns and rows of the picture."""
        size = self._app.output.get_size()
        return size.columns, size.rows - (1 if self._chatting() else 0)

    def _fragments(self) -> StyleAndTextTuples:
        self._screen.now = self._session.server_now()
        fragments: StyleAndTextTuples = []
        for number, line in enumerate(render(self._screen, *self._size(), self._caps)):
            if number:
                fragments.append(("", "\n"))
            for span in line:
                style = " ".join(f"class:{name}" for name in span.style.split())
                fragments.append(self._fragment(style, span.text, span.click))
        return fragments

    def _fragment(self, style: str, text: str, click: Click | None) -> OneStyleAndTextTuple:
        if click is None:
            return (style, text)

        def clicked(event: MouseEvent) -> None:
            if event.event_type is MouseEventType.MOUSE_UP and event.button in (
                MouseButton.LEFT,
                MouseButton.UNKNOWN,
            ):
                self._commands.click(click)

        return (style, text, clicked)

    # What is pressed

    def _key_bindings(self) -> KeyBindings:
        keys = KeyBindings()
        at_the_table = ~Condition(self._chatting)

        @keys.add(Keys.Any, filter=at_the_table)
        def _pressed(event: KeyPressEvent) -> None:
            self._press(event)

        for key in _KEY_NAMES:
            keys.add(key, filter=at_the_table, eager=key == Keys.Escape)(self._press)

        keys.add(Keys.Escape, filter=~at_the_table, eager=True)(self._close_chat)
        keys.add(Keys.ControlC, filter=~at_the_table)(self._close_chat)
        keys.add(Keys.SIGINT, filter=~at_the_table)(self._interrupted)
        keys.add(Keys.BracketedPaste, filter=~at_the_table)(self._paste)
        return keys

    def _press(self, event: KeyPressEvent) -> None:
        self._last_key = time.monotonic()
        key = event.key_sequence[-1].key
        name = _KEY_NAMES.get(key, key if len(key) == 1 else "")
        if name:
            self._commands.press(name)

    def _interrupted(self, event: KeyPressEvent) -> None:
        self._end(130)

    # Commands about the terminal

    def _redraw(self) -> None:
        self._app.renderer.clear()

    def _suspend(self) -> None:
        self._app.suspend_to_background()

    def _switch_mouse(self) -> None:
        self._mouse = not self._mouse
        self._screen.notice = (
            _("Clicks work.")
            if self._mouse
            else _("The mouse is the terminal's: you can select text.")
        )

    def _leave_for_good(self) -> None:
        self.left = True
        self._end(0)

    # The line of chat

    def _chatting(self) -> bool:
        return self._app.layout.has_focus(self._chat_line)

    def _open_chat(self) -> None:
        self._app.layout.focus(self._chat_line)

    def _close_chat(self, event: KeyPressEvent) -> None:
        self._chat_line.reset()
        self._app.layout.focus(self._picture)

    def _said(self, buffer: Buffer) -> bool:
        self._commands.say(buffer.text)
        self._app.layout.focus(self._picture)
        return False  # and empties the line

    def _paste(self, event: KeyPressEvent) -> None:
        self._chat_line.insert_text(" ".join(event.data.split()))


def _top_left() -> Point:
    return Point(0, 0)
