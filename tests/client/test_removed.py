"""What becomes of clients whose seat is gone: they stop, with an exit code that says so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import pytest

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import Refused, SeatLost
from odin_client.session.session import Session
from odin_contract.values import Options
from odin_server.settings import Settings
from tests.support.patience import PATIENCE
from tests.support.programs import Programs, open_table
from tests.support.servers import serving

REMOVED = "The host has removed you from this table."
TWO = Options(seats=2, threshold=None)


@contextlib.asynccontextmanager
async def hosting(server: str, options: Options) -> AsyncGenerator[Session]:
    """A host without a seat, who follows the table."""
    host = await Session.open_table(
        await Connection.open(Address.parse(server), Credential.new()), options
    )
    try:
        yield host
    finally:
        await host.close()


async def follows(session: Session, until: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(session.follow()) as updates:
        async for _update in updates:
            if until():
                return


async def test_every_client_that_is_removed_ends_with_4(programs: Programs) -> None:
    server = await asyncio.to_thread(programs.serve)
    async with hosting(server, Options(seats=6)) as host:
        line = programs.start("join", server, "--name", "Line")
        json = programs.start("join", server, "--name", "Json", "--ui", "json")
        bot = programs.start("bot", server, "--name", "Bot")
        await follows(host, lambda: len(host.table.taken_seats) == 3)
        await asyncio.to_thread(line.line_with, "waits")
        await asyncio.to_thread(json.line_with, "snapshot")
        for seat in host.table.taken_seats:
            await host.free_seat(seat)
        for client in (line, json, bot):
            assert await asyncio.to_thread(client.end) == 4
        for client in (line, json):
            assert client.error_with(REMOVED)


async def test_a_bot_that_takes_any_seat_looks_elsewhere(programs: Programs) -> None:
    server = await asyncio.to_thread(programs.serve)
    async with hosting(server, TWO) as host:
        bot = programs.start("bot", "--any", server, "--games", "1")
        await follows(host, lambda: len(host.table.taken_seats) == 1)
        await host.free_seat(host.table.taken_seats[0])
        await asyncio.to_thread(bot.error_with, "looks elsewhere")
        other = await asyncio.to_thread(open_table, server, TWO)
        programs.start("bot", other)
        assert await asyncio.to_thread(bot.end) == 0
        assert len(bot.errors) == 1, "it was not tried again where it was removed"


async def test_a_person_is_not_told_the_names_of_fields_and_a_program_is() -> None:
    async with (
        serving(Settings(port=0)) as server,
        hosting(f"127.0.0.1:{server.port}", TWO) as host,
    ):
        with pytest.raises(Refused) as refused:
            await host.add_bot("nightmare")
    assert refused.value.message == "There is no such level. Choose random, greedy, hard."
    assert refused.value.field == "level"


@pytest.mark.parametrize("watching", [True, False])
async def test_a_seat_that_is_gone_ends_following(watching: bool) -> None:
    """By its event, and when the first that is heard of it is a snapshot."""
    async with (
        serving(Settings(port=0)) as server,
        hosting(f"127.0.0.1:{server.port}", TWO) as host,
    ):
        address = f"127.0.0.1:{server.port}"
        ann = await Session.sit_down(
            await Connection.open(Address.parse(address), Credential.new()),
            host.table.table,
            name="Ann",
        )
        await follows(host, lambda: bool(host.table.taken_seats))
        if watching:
            await follows(ann, lambda: True)
        await host.free_seat(host.table.taken_seats[0])
        with pytest.raises(SeatLost) as lost:
            await follows(ann, lambda: False)
        assert (lost.value.message == REMOVED) is watching
        await ann.close()
