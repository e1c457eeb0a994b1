"""The machinery of a full-screen interface: prompt_toolkit paints lines and feeds keys, no more.

What is on the screen and what a key does is handed in as `Content`; the table, the table browser
and the replay are three of these. One asyncio loop does it all. A key changes what is drawn or sets
a task going, never both waits; what goes wrong in a task ends the screen, and the error is raised
by `run`, after the terminal has been given back.
"""

from __future__ import annotations

import asyncio
import errno
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

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
    VSplit,
    Window,
)
from prompt_toolkit.mouse_events import MouseButton, MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from odin_cli.speech.languages import _
from odin_cli.terminal.capabilities import Capabilities, Depth
from odin_cli.terminal.key_input import read_whole_sequences
from odin_cli.terminal.style import rules_of
from odin_cli.terminal.takeover import ended_by_signals, errors_to, output_to, titled
from odin_cli.terminal.views.cells import Click, Line, with_plain_emoji
from odin_contract.texts import clean

DEPTHS: Final = {
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
    Keys.Home: "home",
    Keys.End: "end",
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

_RESIZE_PAUSE: Final = 0.05
"""Seconds in which many changes of size become one: each draws the whole screen."""


class Content(Protocol):
    """What a full screen shows, and what it does when something is pressed."""

    def draw(self, cols: int, rows: int) -> list[Line]:
        """The picture in this size."""
        ...

    def press(self, key: str) -> None:
        """Does what a key means now, by the names of `keys.Binding`."""
        ...

    def click(self, click: Click) -> None:
        """Does what was clicked on."""
        ...

    def tell(self, notice: str) -> None:
        """Shows a line that the next key takes away."""
        ...


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


class FullScreen:
    """A terminal taken over, until `end`."""

    def __init__(
        self,
        content: Content,
        caps: Capabilities,
        terminal_input: Input | None = None,
        terminal_output: Output | None = None,
    ) -> None:
        """Touches the terminal only in `run`. Without input and output: stdin and stdout."""
        self._content: Final = content
        self._caps: Final = caps
        self._mouse = caps.mouse
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._last_key = time.monotonic()
        self._label = ""
        self._limit: int | None = None
        self._answered: Callable[[str], None] | None = None
        self._picture: Final = FormattedTextControl(
            self._fragments, focusable=True, show_cursor=False, get_cursor_position=_top_left
        )
        self._answer: Final = Buffer(accept_handler=self._accept, multiline=False)
        self._app: Final = self._application(terminal_input, terminal_output)

    @property
    def commands(self) -> Mapping[str, Callable[[], None]]:
        """The commands that are about the terminal, and the same for every content."""
        return {
            "quit": lambda: self.end(130),
            "redraw": self._redraw,
            "suspend": self._suspend,
            "switch_mouse": self._switch_mouse,
        }

    @property
    def idle(self) -> float:
        """Seconds since a key was pressed."""
        return time.monotonic() - self._last_key

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the picture."""
        size = self._app.output.get_size()
        return size.columns, size.rows - (1 if self._asking() else 0)

    # Life

    async def run(self, *work: Coroutine[None, None, None], log_file: Path | None = None) -> int:
        """Takes the terminal over and lets the work run beside it; gives the exit code.

        While the screen is full, what is written to standard error goes to `log_file`, or nowhere.
        Ends with what `end` was given, with 0 when the input has ended, or as if killed by a
        signal: 129, 130, 143. Raises what a task raised.
        """
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()
        loop.set_exception_handler(self._fail_from_loop)

        def begin() -> None:
            for one in work:
                self.spawn(one)

        try:
            with (
                errors_to(log_file),
                ended_by_signals(self.end),
                titled(self._app.output, self._caps),
            ):
                try:
                    return await self._app.run_async(pre_run=begin, set_exception_handler=False)
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

    def end(self, code: int) -> None:
        """Gives the terminal back, and lets `run` return this exit code."""
        if self._may_exit():
            self._app.exit(result=code)

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Lets work run on its own until the end; draws anew when it has ended."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    async def _stop_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

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

    def _may_exit(self) -> bool:
        return self._app.future is not None and not self._app.future.done()

    # What is shown

    def draw_anew(self) -> None:
        """Lets the content be drawn again, soon."""
        self._app.invalidate()

    def ring(self) -> None:
        """Rings the bell of the terminal, once."""
        self._app.output.bell()

    def set_title(self, title: str) -> None:
        """Names the window, if the terminal has one; it gets its old name back at the end."""
        if self._caps.title and self._app.is_running:
            self._app.output.set_title(title)
            self._app.output.flush()

    def _application(self, source: Input | None, target: Output | None) -> _Application:
        source = source or create_input(sys.stdin)
        read_whole_sequences(source)
        app = _Application(
            layout=Layout(self._layout(), focused_element=self._picture),
            key_bindings=self._key_bindings(),
            style=Style.from_dict(dict(rules_of(self._caps.depth))),
            color_depth=DEPTHS[self._caps.depth],
            full_screen=True,
            mouse_support=Condition(lambda: self._mouse),
            min_redraw_interval=0.02,
            input=source,
            output=target or output_to(sys.stdout),
        )
        # A lone Esc is told from the beginning of another key by waiting; stock waits a second.
        app.ttimeoutlen = app.timeoutlen = self._caps.escape_seconds
        return app

    def _layout(self) -> HSplit:
        # The label stays where it is when a long text is scrolled.
        label = Window(FormattedTextControl(self._prompt), height=1, dont_extend_width=True)
        prompt = VSplit([label, Window(BufferControl(self._answer), height=1)])
        return HSplit(
            [
                Window(self._picture, wrap_lines=False, always_hide_cursor=True),
                ConditionalContainer(prompt, Condition(self._asking)),
            ]
        )

    def _prompt(self) -> StyleAndTextTuples:
        if self._limit is None or self._length <= self._limit // 2:
            return [("class:question", f" {self._label} ")]
        too_long = f" {_('too long')}" if self._length > self._limit else ""
        return [("class:question", f" {self._label} {self._length}/{self._limit}{too_long} ")]

    @property
    def _length(self) -> int:
        """Of what is typed, as servers count it: without what they take out."""
        return len(clean(self._answer.text, len(self._answer.text)))

    def _fragments(self) -> StyleAndTextTuples:
        fragments: StyleAndTextTuples = []
        for number, line in enumerate(self._content.draw(*self.size)):
            if number:
                fragments.append(("", "\n"))
            for span in line:
                style = " ".join(f"class:{name}" for name in span.style.split())
                fragments.append(self._fragment(style, with_plain_emoji(span.text), span.click))
        return fragments

    def _fragment(self, style: str, text: str, click: Click | None) -> OneStyleAndTextTuple:
        if click is None:
            return (style, text)

        def clicked(event: MouseEvent) -> None:
            if event.event_type is MouseEventType.MOUSE_UP and event.button in (
                MouseButton.LEFT,
                MouseButton.UNKNOWN,
            ):
                self._content.click(click)

        return (style, text, clicked)

    # What is pressed

    def _key_bindings(self) -> KeyBindings:
        keys = KeyBindings()
        at_the_picture = ~Condition(self._asking)

        @keys.add(Keys.Any, filter=at_the_picture)
        def _pressed(event: KeyPressEvent) -> None:
            self._press(event)

        for key in _KEY_NAMES:
            keys.add(key, filter=at_the_picture, eager=key == Keys.Escape)(self._press)

        keys.add(Keys.Escape, filter=~at_the_picture, eager=True)(self._give_up)
        keys.add(Keys.ControlC, filter=~at_the_picture)(self._give_up)
        keys.add(Keys.SIGINT, filter=~at_the_picture)(self._interrupted)
        keys.add(Keys.BracketedPaste, filter=~at_the_picture)(self._paste)
        return keys

    def _press(self, event: KeyPressEvent) -> None:
        self._last_key = time.monotonic()
        key = event.key_sequence[-1].key
        name = _KEY_NAMES.get(key, key if len(key) == 1 else "")
        if name:
            self._content.press(name)

    def _interrupted(self, event: KeyPressEvent) -> None:
        self.end(130)

    # Commands about the terminal

    def _redraw(self) -> None:
        self._app.renderer.clear()

    def _suspend(self) -> None:
        self._app.suspend_to_background()

    def _switch_mouse(self) -> None:
        self._mouse = not self._mouse
        self._content.tell(
            _("Clicks work.")
            if self._mouse
            else _("The mouse is the terminal's: you can select text.")
        )

    # A line of text that is asked for

    def ask(
        self,
        label: str,
        answered: Callable[[str], None],
        text: str = "",
        *,
        limit: int | None = None,
    ) -> None:
        """Opens a line at the bottom and gives what was typed there; Esc gives nothing.

        A text of more than `limit` characters is counted aloud, and stays until it is shorter.
        """
        self._label, self._answered, self._limit = label, answered, limit
        self._answer.reset()
        self._answer.insert_text(text)
        self._app.layout.focus(self._answer)

    def _asking(self) -> bool:
        return self._app.layout.has_focus(self._answer)

    def _give_up(self, event: KeyPressEvent) -> None:
        self._answer.reset()
        self._app.layout.focus(self._picture)

    def _accept(self, buffer: Buffer) -> bool:
        if self._limit is not None and self._length > self._limit:
            return True  # keeps the text, to be shortened
        self._app.layout.focus(self._picture)
        if self._answered is not None:
            self._answered(buffer.text)
        return False  # and empties the line

    def _paste(self, event: KeyPressEvent) -> None:
        self._answer.insert_text(" ".join(event.data.split()))


def _top_left() -> Point:
    return Point(0, 0)
