"""A real server on loopback, in the loop of the test, and people who sit at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import pytest

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_contract.values import Options
from odin_server.main import Server
from odin_server.settings import Settings
from tests.support.cut_line import CutLine
from tests.support.programs import Programs, programs_in
from tests.support.servers import serving


@pytest.fixture
async def server(request: pytest.FixtureRequest) -> AsyncGenerator[Server]:
    """A server whose bots do not pause and whose deals follow each other at once.

    Its parameter is the pause between deals in seconds, where one is needed.
    """
    pause: float = getattr(request, "param", 0.01)
    async with serving(Settings(port=0, bot_delay=0, deal_pause=pause, seed=7)) as server:
        yield server


@pytest.fixture
def address(server: Server) -> Address:
    """Where the server is."""
    return Address("127.0.0.1", server.port)


@pytest.fixture
async def line(address: Address) -> AsyncGenerator[CutLine]:
    """A line to the server that can be cut."""
    line = await CutLine.to(address)
    yield line
    await line.cut()


Connect = Callable[[], Coroutine[Any, Any, Connection]]


@pytest.fixture
async def connect(address: Address) -> AsyncGenerator[Connect]:
    """Opens connections, each with a credential of its own, and closes them after the test."""
    opened: list[Connection] = []

    async def open_one() -> Connection:
        connection = await Connection.open(address, Credential.new())
        opened.append(connection)
        return connection

    yield open_one
    await asyncio.gather(*(connection.close() for connection in opened))


async def seated(connect: Connect, *names: str, options: Options | None = None) -> list[Session]:
    """A table with these people; the first is its host. No game has started."""
    host = await Session.open_table(await connect(), options)
    await host.take_seat(names[0])
    others = [
        await Session.sit_down(await connect(), host.table.table, name=name) for name in names[1:]
    ]
    return [host, *others]


@pytest.fixture
def programs(tmp_path: Path) -> Generator[Programs]:
    """`odin-table` as processes."""
    with programs_in(tmp_path / "state") as programs:
        yield programs
