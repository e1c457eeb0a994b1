"""The load of a soak, and what the server's memory was meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import tempfile
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from grpc import aio

from bench.server.processes import resident_bytes
from bench.server.seats import CALL_DEADLINE, Credential, Stream, connect, new_credential
from odin_table.v1 import lobby_pb2, play_pb2
from odin_table.v1.lobby_pb2_grpc import LobbyServiceStub
from odin_table.v1.play_pb2_grpc import PlayServiceStub
from tests.support.killable import UNLIMITED, KillableServer

SETTINGS = (*UNLIMITED, "away_budget=1", "empty_after=4")
"""Whoever is gone is given up soon, and so is a table without people."""
TOGETHER = 999
"""Tables that are open at once: as many as a server allows, less the one that reconnects."""
WARM_UP = TOGETHER
AT_ONCE = 32
"""Tables that are being opened at the same time."""
KEPT_AT_MOST = 10 * 2**20
"""What is promised: bytes of memory that may not have come back."""
SETTLED = 60.0
"""Seconds that the server may take to let go of everything."""


@dataclass(frozen=True)
class Soak:
    """What was seen: the server's memory in bytes, and how many seconds it took."""

    fresh: int
    before: int
    most: int
    after: int
    seconds: float

    @property
    def kept(self) -> int:
        """What did not come back."""
        return self.after - self.before


async def soak(*, tables: int, reconnects: int, warm_up: int = WARM_UP) -> Soak:
    """Soaks a server of its own. The first tables, `warm_up` of them, do not count.

    They pay for code that is loaded late, and for what Python's allocator keeps for the next time
    once so many tables were open together.
    """
    with tempfile.TemporaryDirectory(prefix="odin-soak-") as folder:
        store = f"sqlite:{Path(folder) / 'tables.db'}"
        server = KillableServer(Path(folder), store, SETTINGS)
        await server.start()
        try:
            address = server.address.server
            fresh = resident_bytes(server.pid)
            before, _ = await _part(address, server.pid, warm_up, reconnects // 10)
            began = time.monotonic()
            after, most = await _part(address, server.pid, tables, reconnects)
            return Soak(fresh, before, most, after, time.monotonic() - began)
        finally:
            await server.stop()


async def _part(address: str, pid: int, tables: int, reconnects: int) -> tuple[int, int]:
    """The memory when everything has been let go of, and at the most."""
    most = 0
    async with connect(address) as channel:
        await _reconnect(address, reconnects)
        for opened in range(0, tables, TOGETHER):
            async with _open_tables(channel, min(TOGETHER, tables - opened)):
                most = max(most, resident_bytes(pid))
            await _until_empty(channel)
    return await _settled(pid), most


@contextlib.asynccontextmanager
async def _open_tables(channel: aio.Channel, count: int) -> AsyncGenerator[None]:
    """So many tables, each with somebody who sits there and watches until the end of the block."""
    numbers = iter(range(count))
    streams: list[Stream] = []

    async def one_after_the_other() -> None:
        for _ in numbers:
            table, credential = await _sit_at_a_table(channel)
            streams.append(await _look(channel, table, credential))

    await asyncio.gather(*(one_after_the_other() for _ in range(AT_ONCE)))
    yield
    for stream in streams:
        stream.cancel()


async def _reconnect(address: str, count: int) -> None:
    """Lets the holder of one seat come and go, each time over a new connection."""
    async with connect(address) as first:
        table, credential = await _sit_at_a_table(first)
    for _ in range(count):
        async with connect(address) as channel:
            (await _look(channel, table, credential)).cancel()


_request_numbers = itertools.count()


async def _sit_at_a_table(channel: aio.Channel) -> tuple[str, Credential]:
    """A new table with one seat taken: its handle, and the credential of the seat."""
    credential = new_credential()
    lobby = LobbyServiceStub(channel)
    number = next(_request_numbers)
    created = await lobby.CreateTable(
        lobby_pb2.CreateTableRequest(request_id=f"open-{number}"),
        metadata=credential,
        timeout=CALL_DEADLINE,
    )
    await lobby.TakeSeat(
        lobby_pb2.TakeSeatRequest(request_id=f"sit-{number}", table=created.table, name="Zoe"),
        metadata=credential,
        timeout=CALL_DEADLINE,
    )
    return created.table, credential


async def _look(channel: aio.Channel, table: str, credential: Credential) -> Stream:
    """A stream whose first message has come."""
    request = play_pb2.WatchTableRequest(table=table)
    stream = PlayServiceStub(channel).WatchTable(request, metadata=credential)
    first = await stream.read()
    assert isinstance(first, play_pb2.WatchTableResponse), "a stream starts with a snapshot"
    return stream


async def _until_empty(channel: aio.Channel) -> None:
    """Waits until no table is open any more."""
    lobby = LobbyServiceStub(channel)
    any_table = lobby_pb2.ListTablesRequest(page_size=1)
    async with asyncio.timeout(SETTLED):
        while (await lobby.ListTables(any_table)).tables:  # noqa: ASYNC110 (nobody tells us)
            await asyncio.sleep(0.2)


async def _settled(pid: int) -> int:
    """The memory when it has not changed for a second, or after ten."""
    last = [resident_bytes(pid)]
    while (len(last) < 40 and len(set(last[-5:])) > 1) or len(last) < 5:
        await asyncio.sleep(0.25)
        last.append(resident_bytes(pid))
    return last[-1]
