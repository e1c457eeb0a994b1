"""Taking the terminal over and giving it back: what prompt_toolkit leaves to its user.

While the screen is ours nothing else may write to it, so file descriptor 2 goes to a log file
(C libraries write there without asking). Signals end the application in the ordinary way, so that
the terminal is always given back: echo on, cursor on, mouse off, the old screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final, TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output

from odin_cli.local.state_folder import private_folder, private_opener
from odin_cli.terminal.capabilities import Capabilities

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)

_MAX_SIZE: Final = 500
"""Columns and rows that are drawn at most: some terminals say something absurd for a moment."""


class ClickOutput(Vt100_Output):
    """Asks the terminal for clicks only; the stock output asks for every motion of the mouse."""

    def enable_mouse_support(self) -> None:
        """Presses and releases, with coordinates of any size (SGR)."""
        self.write_raw("\x1b[?1000h\x1b[?1006h")

    def disable_mouse_support(self) -> None:
        """Gives the mouse back to the terminal."""
        self.write_raw("\x1b[?1000l\x1b[?1006l")


def output_to(stdout: TextIO) -> Vt100_Output:
    """The output that draws on this terminal."""

    def size() -> Size:
        try:
            cols, rows = os.get_terminal_size(stdout.fileno())
        except OSError:
            cols, rows = 0, 0
        # A serial line or a container may say 0, which means that it does not know.
        cols = cols or _number_in("COLUMNS") or 80
        rows = rows or _number_in("LINES") or 24
        return Size(rows=min(rows, _MAX_SIZE), columns=min(cols, _MAX_SIZE))

    return ClickOutput(stdout, size, term=os.environ.get("TERM"))


def _number_in(variable: str) -> int:
    """The positive number in this variable of the environment; 0 when there is none."""
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


@contextlib.contextmanager
def errors_to(path: Path | None) -> Generator[None]:
    """Lets whatever is written to file descriptor 2 go to the end of a file, or nowhere."""
    sys.stderr.flush()
    kept = os.dup(2)
    target = _opened(path)
    try:
        os.dup2(target, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)


def _opened(path: Path | None) -> int:
    if path is not None:
        with contextlib.suppress(OSError):
            private_folder(path.parent)
            return private_opener(str(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return os.open(os.devnull, os.O_WRONLY)


@contextlib.contextmanager
def titled(output: Output, caps: Capabilities) -> Generator[None]:
    """Lets the terminal keep the name of its window meanwhile, and take it back."""
    if not caps.title:
        yield
        return
    output.write_raw("\x1b[22;2t")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the window may be gone
            output.write_raw("\x1b[23;2t")
            output.flush()


@contextlib.contextmanager
def ended_by_signals(end: Callable[[int], None]) -> Generator[None]:
    """Calls `end` with the exit code, 128 and the number, when a signal asks to stop."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, end, 128 + number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
