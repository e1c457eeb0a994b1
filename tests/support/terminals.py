"""One vocabulary for a program in a terminal, with two terminals that speak it.

`PyteTerminal` is a pseudo-terminal whose output is drawn by pyte, in this process; it also keeps
the bytes as they came. `TmuxTerminal` is a pane of a real tmux on a socket of its own. A test says
`press`, `type`, `wait_for`, `resize`; it waits for what is to be seen, with a deadline, never for
a while.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyte

from tests.support.patience import PATIENCE
from tests.support.processes import environment

KEYS: Final = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "s-tab": "\x1b[Z",
    "space": " ",
    "backspace": "\x7f",
    "left": "\x1b[D",
    "right": "\x1b[C",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "c-c": "\x03",
    "c-l": "\x0c",
    "c-z": "\x1a",
}

UNKNOWN_SEQUENCES: Final = (
    "\x1b[31m",  # a colour, as of a file that was put into stdin
    "\x1b[m",
    "\x1b[1;33;44m",
    "\x1b[97;5u",  # a key in kitty's protocol
    "\x1b[27;5;9~",
    "\x1b[99~",
    "\x1b[?62;22c",  # an answer to "what are you"
    "\x1b[1;2R",  # Shift+F3, or where the cursor is
    "\x1b[I",  # the window has the focus
    "\x1b[<31m",
    "\x1b[<1;2m",
    "\x1b[;;M",
    "\x1b[M~~~",
    "\x1b[[Z",
    "\x1b[1;3C",  # Alt and an arrow: Esc and an arrow to prompt_toolkit
    "\x1b[" + "1;" * 5_000 + "q",
    "\x1bOI",
    "\x1bO1;2Z",
    "\x1b]11;rgb:0000/0000/0000\x07",
    "\x1b]11;rgb:0000/0000/0000\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b_Gi=31;OK\x1b\\",
    "\x9b31m",
    "\x9d0;quit\x07",
    "\x85",
    "\udcff\udc80",  # bytes that are not UTF-8
)
"""What a terminal may send, and no key of ours."""

ENVIRONMENT: Final = {
    "TERM": "xterm-256color",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "ODIN_PACE": "0",  # nothing stays longer than it is true
}
"""Fixed, so that a test sees the same everywhere."""


class Terminal(ABC):
    """A terminal with a program in it."""

    @abstractmethod
    def screen(self) -> str:
        """What is to be seen now: one line per row, without blanks at their ends."""

    @abstractmethod
    def send(self, text: str) -> None:
        """Types bytes as they are."""

    @abstractmethod
    def resize(self, cols: int, rows: int) -> None:
        """Changes the size, as a person does with the mouse."""

    @abstractmethod
    def close(self) -> None:
        """Ends the program if it still runs, and takes everything away."""

    @abstractmethod
    def _await_output(self, seconds: float) -> None:
        """Waits until the program has written something, at most so long."""

    def press(self, *keys: str) -> None:
        """Presses keys by their names; a key without a name is the character itself."""
        for key in keys:
            self.send(KEYS.get(key, key))

    def wait_for(self, *texts: str, without: str | None = None) -> str:
        """Waits until all of the texts are on the screen (and another one is not); gives it."""

        def is_there(screen: str) -> bool:
            return all(text in screen for text in texts) and (
                without is None or without not in screen
            )

        wanted = f"{texts}" if without is None else f"{texts} without {without!r}"
        return self.wait_until(is_there, wanted)

    def wait_until(self, is_there: Callable[[str], bool], wanted: str) -> str:
        """Waits until the screen is as wanted; gives it."""
        deadline = time.monotonic() + PATIENCE
        while not is_there(screen := self.screen()):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"waited for {wanted}, saw:\n{screen}")
            self._await_output(left)
        return screen

    def wait_for_change(self, before: str, seconds: float) -> None:
        """Waits until the screen is no longer as it was, at most so long."""
        deadline = time.monotonic() + seconds
        while self.screen() == before and (left := deadline - time.monotonic()) > 0:
            self._await_output(left)


class PyteTerminal(Terminal):
    """A pseudo-terminal, drawn by pyte."""

    def __init__(
        self, command: Sequence[str], cols: int, rows: int, more: Mapping[str, str]
    ) -> None:
        self.output = b""
        """Every byte that the program has written."""
        self._drawn = pyte.Screen(cols, rows)
        self._stream = pyte.ByteStream(self._drawn)
        self._master, slave = os.openpty()
        _set_size(self._master, cols, rows)
        # The program leads a session of its own, whose terminal this is: signals come as usual.
        self.process = subprocess.Popen(
            _with_terminal(command),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(None, **{**ENVIRONMENT, **more}),
            start_new_session=True,
        )
        self._slave = slave

    def screen(self) -> str:
        self._read(0)
        return "\n".join(row.rstrip() for row in self._drawn.display)

    def background_of(self, text: str) -> str:
        """The background of the first character of a text on the screen; colours are hex."""
        for y, row in enumerate(self._drawn.display):
            if text in row:
                return self._drawn.buffer[y][row.index(text)].bg
        raise AssertionError(f"{text!r} is not on the screen")

    def position_of(self, text: str) -> tuple[int, int]:
        """Column and row, from 1, of a text on the screen."""
        for y, row in enumerate(self.screen().split("\n")):
            if text in row:
                return row.index(text) + 1, y + 1
        raise AssertionError(f"{text!r} is not on the screen")

    def click(self, text: str) -> None:
        """Clicks on the first character of a text."""
        col, row = self.position_of(text)
        self.send(f"\x1b[<0;{col};{row}M\x1b[<0;{col};{row}m")

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def resize(self, cols: int, rows: int) -> None:
        self._read(0)
        self._drawn.resize(rows, cols)
        _set_size(self._master, cols, rows)
        self.signal(signal.SIGWINCH)

    def signal(self, number: int) -> None:
        """Sends a signal to the program."""
        self.process.send_signal(number)

    def wait_for_end(self) -> int:
        """Waits until the program has ended; gives its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"the program did not end, saw:\n{self.screen()}")
            self._read(0.05)
        self._read(0)
        return self.process.returncode

    def hang_up(self) -> None:
        """Closes the window."""
        os.close(self._slave)
        os.close(self._master)
        self._slave = self._master = -1

    def modes(self) -> tuple[bool, bool]:
        """Whether the terminal echoes and is line by line, as a shell wants it."""
        flags = termios.tcgetattr(self._slave)[3]
        return bool(flags & termios.ECHO), bool(flags & termios.ICANON)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for descriptor in (self._master, self._slave):
            if descriptor >= 0:
                os.close(descriptor)

    def _await_output(self, seconds: float) -> None:
        if self.process.poll() is not None:
            self._read(0)
            if not select.select([self._master], [], [], 0)[0]:
                raise AssertionError(
                    f"the program ended ({self.process.returncode}), saw:\n{self.screen()}"
                )
        self._read(min(seconds, 0.25))

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            try:
                fresh = os.read(self._master, 65536)
            except OSError:
                return
            self.output += fresh
            self._stream.feed(fresh)
            seconds = 0


class TmuxTerminal(Terminal):
    """A pane of a tmux of its own."""

    def __init__(
        self, command: Sequence[str], cols: int, rows: int, more: Mapping[str, str], folder: Path
    ) -> None:
        self._socket = folder / "tmux"
        news = folder / "news"
        os.mkfifo(news)
        # Both ends, so that opening does not wait for tmux.
        self._news = os.open(news, os.O_RDWR | os.O_NONBLOCK)
        fixed = environment(None, **{**ENVIRONMENT, **more, "TERM": "screen-256color"})
        assignments = [f"{name}={fixed[name]}" for name in ("TERM", "LANG", "LC_ALL", *more)]
        # The pane stays when its program has ended, so that the end can be looked at.
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(cols), "-y", str(rows), "cat")
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("set-option", "-g", "escape-time", "0")
        self._tmux("set-option", "-g", "remain-on-exit", "on")
        self._tmux("resize-window", "-x", str(cols), "-y", str(rows))
        self._tmux("respawn-pane", "-k", shlex.join(["env", *assignments, *command]))
        self._tmux("pipe-pane", f"cat > {shlex.quote(str(news))}")

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p").rstrip("\n")

    def send(self, text: str) -> None:
        self._tmux("send-keys", "-H", *(f"{byte:02x}" for byte in text.encode()))

    def resize(self, cols: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def close(self) -> None:
        with contextlib.suppress(subprocess.SubprocessError):
            self._tmux("kill-server")
        os.close(self._news)

    def _await_output(self, seconds: float) -> None:
        # The pane tells by a pipe that it has written; only then is it worth looking again.
        if select.select([self._news], [], [], min(seconds, 0.25))[0]:
            os.read(self._news, 65536)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self._socket), *arguments],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment(None, **ENVIRONMENT),
        )
        return done.stdout


def _set_size(descriptor: int, cols: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def _with_terminal(command: Sequence[str]) -> list[str]:
    """The command, after it has made its standard input the terminal that controls it."""
    take = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    return [sys.executable, "-c", take + "os.execvp(sys.argv[1], sys.argv[1:])", *command]
