"""Starts `odin-table serve` in a process of its own, for `play` and `host`.

A session of its own, so that Ctrl-C in the terminal does not reach it. A server that is tied to
its client holds the other end of a pipe and stops when that closes, also when the client is
killed. A server that is not tied goes on when the client has gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from odin_cli.local.state_folder import private_folder, private_opener
from odin_cli.speech.languages import _
from odin_client.connection.address import Address
from odin_client.errors import ClientError, Unreachable

START_DEADLINE: Final = 20.0
"""Seconds until a server that has not said that it serves is given up."""

STOP_DEADLINE: Final = 8.0
"""Seconds until a server that was asked to stop is killed; it needs five at the most."""

_LOOK_AGAIN: Final = 0.5
"""Seconds between two looks whether a server still runs."""

Result = TypeVar("Result")

_SERVES: Final = re.compile(r"odin-table serves on (?P<host>.+):(?P<port>\d+)\s*")


class LocalServer:
    """A server in a process of its own. Make it with `start`."""

    def __init__(self, process: subprocess.Popen[str], address: Address) -> None:
        """The process serves already."""
        self._process: Final = process
        self.address: Final = address
        """Where this machine reaches it."""

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @classmethod
    def start(cls, listen: str, options: Sequence[str], *, tied: bool, log: Path) -> LocalServer:
        """Starts a server that listens on HOST:PORT and waits until it serves.

        Blocks for the second that this takes, so that it cannot be abandoned halfway.
        `options` go to `odin-table serve`; what it says on stderr goes to the end of `log`. Raises
        ClientError with what it said when it does not start.
        """
        arguments = ["serve", "--listen", listen, *options]
        if tied:
            arguments.append("--until-stdin-closes")
        with _to_write_in(log) as errors:
            said_before = errors.tell()
            process = subprocess.Popen(
                [sys.executable, "-m", "odin_cli", *arguments],
                stdin=subprocess.PIPE if tied else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                text=True,
            )
            serves = _SERVES.fullmatch(_first_line(process))
            if serves is None:
                process.kill()
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()  # the pipe that would have tied it
                errors.seek(said_before)
                why = errors.read(2_000).strip() or _("{log} may say why.").format(log=log)
                raise ClientError(_("The server did not start."), why)
        return cls(process, Address(as_reached(serves["host"]), int(serves["port"])))

    async def while_it_runs(
        self,
        work: Coroutine[Any, Any, Result],
        advice: str,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Result:
        """The result of the work, which nobody could go on with when the server has ended.

        Raises Unreachable, with the advice, when it ends before the work does and nothing
        `is_over`; the work is cancelled then.
        """
        working = asyncio.ensure_future(work)
        try:
            while not working.done():
                await asyncio.wait((working,), timeout=_LOOK_AGAIN)
                if self._process.poll() is not None and not working.done() and not is_over():
                    raise Unreachable(_ended(self._process.returncode), advice)
            return working.result()
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def has_ended(self, within: float) -> bool:
        """Whether it ends by itself within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, within)
        return self._process.poll() is not None

    @property
    def is_running(self) -> bool:
        """Whether its process still runs."""
        return self._process.poll() is None

    def let_go(self) -> None:
        """Lets the server go on when this program ends."""
        self._process.returncode = 0  # so that nobody is warned of a process that still runs

    async def stop(self) -> None:
        """Asks the server to stop, and waits until it has."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, STOP_DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)


def _ended(code: int) -> str:
    """How the process ended, for a person."""
    if code >= 0:
        return _("The server has stopped (exit code {code}).").format(code=code)
    return _("The server was killed (signal {number}).").format(number=-code)


def as_reached(host: str) -> str:
    """Where this machine reaches a server that listens there."""
    return {"0.0.0.0": "127.0.0.1", "[::]": "::1"}.get(host, host).strip("[]")


def _to_write_in(log: Path) -> TextIO:
    """The log; where it cannot be written a file that has no name, so that a game starts anyway."""
    encoding, errors = "utf-8", "replace"
    with contextlib.suppress(OSError):
        private_folder(log.parent)
        return open(log, "a+", encoding=encoding, errors=errors, opener=private_opener)
    with contextlib.suppress(OSError):
        return tempfile.TemporaryFile("w+", encoding=encoding, errors=errors)
    return Path(os.devnull).open("a+", encoding=encoding)


def _first_line(process: subprocess.Popen[str]) -> str:
    """The only line that a server says; empty when it ends, or takes too long and is killed."""
    assert process.stdout is not None, "it is a pipe"
    too_late = threading.Timer(START_DEADLINE, process.kill)
    too_late.daemon = True
    too_late.start()
    with process.stdout as said:
        line = said.readline()
    too_late.cancel()
    return line
