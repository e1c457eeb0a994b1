"""A client under test, which is a process: its command line, its end, its last words."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import signal
from collections.abc import Sequence
from typing import Final, Protocol

from odin_conformance.table import HANDLE

NAME: Final = "Tested"
"""What the client is to be called at the table."""

APPENDED: Final = ("{address}", "--table", "{table}", "--name", "{name}")
"""What a command without a placeholder gets at its end."""

LAST_LINES: Final = 20
LAST_BYTES: Final = 8192
"""How much of stderr is kept, at the most."""

STOP_PATIENCE: Final = 3.0
"""Seconds for a client to end after SIGTERM, before it is killed."""

LISTEN_PATIENCE: Final = 1.0
"""Seconds in which the last words of a client that has ended must have come."""

_PLACEHOLDER: Final = re.compile(r"\{(address|host|port|table|name)\}")


def words_of(command: str) -> tuple[str, ...]:
    """The words of a command line, with placeholders. Raises ValueError when it has none."""
    words = tuple(shlex.split(command))
    if not words:
        raise ValueError("the command is empty")
    return words if _PLACEHOLDER.search(command) else (*words, *APPENDED)


def filled_in(words: Sequence[str], address: str) -> list[str]:
    """The words with what the placeholders stand for, at this HOST:PORT."""
    host, _, port = address.rpartition(":")
    meant = {"address": address, "host": host, "port": port, "table": HANDLE, "name": NAME}
    return [_PLACEHOLDER.sub(lambda found: meant[found[1]], word) for word in words]


class Client(Protocol):
    """A client under test that is running."""

    async def ended(self) -> int:
        """Waits for its end; gives its exit code, negative when a signal ended it."""
        ...

    async def stop(self) -> None:
        """Ends it, if it runs."""
        ...

    def last_words(self) -> list[str]:
        """The last lines that it wrote to stderr."""
        ...


class Program:
    """A running client. It has a session of its own, so that what it starts ends with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Made by `start`."""
        self._process: Final = process
        self._last_bytes = b""
        self._listening: Final = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(cls, words: Sequence[str]) -> Program:
        """Starts it, in the current folder. Raises OSError when there is no such program."""
        return cls(
            await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        )

    async def ended(self) -> int:
        """Waits for its end; gives its exit code, negative when a signal ended it."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Ends it, and whatever it has started, if they run."""
        if self._process.returncode is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_PATIENCE):
                    await self._process.wait()
        self._signal(signal.SIGKILL)
        await self._process.wait()
        # Something that has left the session of the client may still hold its stderr.
        await asyncio.wait((self._listening,), timeout=LISTEN_PATIENCE)
        self._listening.cancel()

    def last_words(self) -> list[str]:
        """The last lines that it wrote to stderr."""
        return self._last_bytes.decode(errors="replace").splitlines()[-LAST_LINES:]

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _listen(self) -> None:
        assert self._process.stderr is not None, "it is a pipe"
        while said := await self._process.stderr.read(LAST_BYTES):
            self._last_bytes = (self._last_bytes + said)[-LAST_BYTES:]
