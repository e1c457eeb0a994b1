"""A line to a server that can be made to fail: the three ways in which lines do.

    async with Line.to("127.0.0.1:7711") as line:
        ...  # clients connect to line.address
        line.lose_answer()

What it carries is not looked at, so it serves clients in any language.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final


class Line:
    """A listening port whose connections are carried on to one server."""

    def __init__(self, server: str) -> None:
        """Made by `to`."""
        self.address = ""
        """Where it listens, HOST:PORT."""
        self.failed = 0
        """How many connections it has made fail."""
        self.mended = 0
        """How many connections have been carried since one failed."""
        self._host, _, port = server.rpartition(":")
        self._port: Final = int(port)
        self._wires: Final[set[_Wire]] = set()
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._refusing_until = 0.0

    @classmethod
    @asynccontextmanager
    async def to(cls, server: str) -> AsyncGenerator[Line]:
        """A line to HOST:PORT; it is cut at the end."""
        line = cls(server)
        listening = await asyncio.start_server(line._carry, "127.0.0.1", 0)
        host, port = listening.sockets[0].getsockname()
        line.address = f"{host}:{port}"
        try:
            yield line
        finally:
            listening.close()
            for wire in line._wires:
                wire.cut()
            if line._tasks:
                await asyncio.wait(line._tasks)
            await listening.wait_closed()

    def lose_answer(self) -> None:
        """Cuts each connection once it has brought something up, before anything comes down again.

        So a server has done what it was asked for, and the client does not know.
        """
        for wire in self._failing():
            wire.losing = True

    def refuse(self, seconds: float) -> None:
        """Cuts each connection, and new ones at once for some seconds."""
        self._refusing_until = time.monotonic() + seconds
        for wire in self._failing():
            wire.cut()

    def fall_silent(self) -> None:
        """Swallows what each connection carries, both ways, and leaves it open. New ones work."""
        for wire in self._failing():
            wire.silent = True

    def _failing(self) -> list[_Wire]:
        self.failed += len(self._wires)
        return list(self._wires)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio serves each connection in a task"
        self._tasks.add(task)
        try:
            if time.monotonic() >= self._refusing_until:
                await self._carry_on(reader, writer)
        finally:
            await _hang_up(writer)
            self._tasks.discard(task)

    async def _carry_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            return
        self.mended += bool(self.failed)
        wire = _Wire(writer, server_writer)
        self._wires.add(wire)
        try:
            await asyncio.gather(wire.bring_up(reader), wire.bring_down(server_reader))
        finally:
            self._wires.discard(wire)
            await _hang_up(server_writer)


@dataclass(eq=False)
class _Wire:
    """One connection: the way down to the client, the way up to the server."""

    down: asyncio.StreamWriter
    up: asyncio.StreamWriter
    silent: bool = False
    losing: bool = False
    asked: bool = False

    async def bring_up(self, client: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while data := await client.read(65_536):
                if not self.silent:
                    self.up.write(data)
                    await self.up.drain()
                self.asked = self.losing
        self.cut()

    async def bring_down(self, server: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while data := await server.read(65_536):
                if self.asked:
                    break
                if not self.silent:
                    self.down.write(data)
                    await self.down.drain()
        self.cut()

    def cut(self) -> None:
        self.down.transport.abort()
        self.up.transport.abort()


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()
