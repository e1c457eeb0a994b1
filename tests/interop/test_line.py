"""The line of the interop tests fails as it says, before clients are judged by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.interop.line import Line
from tests.support.patience import PATIENCE


@asynccontextmanager
async def shouting_server() -> AsyncGenerator[tuple[str, list[bytes]]]:
    """A server that answers each line in capitals, its address, and what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                asked.append(line)
                writer.write(line.upper())
        await hang_up(writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"{host}:{port}", asked
    finally:
        server.close()
        await server.wait_closed()


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()


class Caller:
    """A client of such a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    @asynccontextmanager
    async def to(cls, address: str) -> AsyncGenerator[Caller]:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield cls(reader, writer)
        finally:
            await hang_up(writer)

    async def ask(self, text: bytes) -> bytes:
        """The answer; nothing when the line is cut."""
        self.writer.write(text + b"\n")
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.readline()
            except ConnectionError:
                return b""


async def test_it_carries() -> None:
    async with shouting_server() as (server, _), Line.to(server) as line:
        async with Caller.to(line.address) as caller:
            assert await caller.ask(b"a") == b"A\n"
        assert (line.failed, line.mended) == (0, 0)


async def test_an_answer_is_lost_after_the_server_was_asked() -> None:
    async with shouting_server() as (server, asked), Line.to(server) as line:
        async with Caller.to(line.address) as caller:
            await caller.ask(b"a")
            line.lose_answer()
            assert await caller.ask(b"b") == b""
            assert asked == [b"a\n", b"b\n"]
        async with Caller.to(line.address) as caller:
            assert await caller.ask(b"c") == b"C\n"
        assert (line.failed, line.mended) == (1, 1)


async def test_it_refuses_for_a_while() -> None:
    async with shouting_server() as (server, asked), Line.to(server) as line:
        async with Caller.to(line.address) as caller:
            await caller.ask(b"a")
            line.refuse(3600)
            assert await caller.ask(b"b") == b""
        async with Caller.to(line.address) as caller:
            assert await caller.ask(b"c") == b""
        line.refuse(0)
        async with Caller.to(line.address) as caller:
            assert await caller.ask(b"d") == b"D\n"
        assert asked == [b"a\n", b"d\n"]


async def test_it_falls_silent_and_stays_open() -> None:
    async with shouting_server() as (server, asked), Line.to(server) as line:
        async with Caller.to(line.address) as caller, Caller.to(line.address) as other:
            await caller.ask(b"a")
            await other.ask(b"b")
            line.fall_silent()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await caller.ask(b"c")
            async with Caller.to(line.address) as again:
                assert await again.ask(b"d") == b"D\n"
        assert asked == [b"a\n", b"b\n", b"d\n"]
        assert (line.failed, line.mended) == (2, 1)
