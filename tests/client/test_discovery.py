"""Servers that are announced on the network, here the loopback, and found on it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable

import pytest
import zeroconf.asyncio

from odin_cli.lan import announcement
from odin_cli.lan.announcement import announced
from odin_cli.lan.discovery import FoundServer, answers, found_servers, found_tables, reach
from odin_client.connection.address import Address
from odin_client.errors import Unreachable
from odin_client.session.session import Session
from odin_contract.values import Options
from odin_server.main import Server
from tests.client.conftest import Connect
from tests.support.patience import PATIENCE

LOOPBACK = ("127.0.0.1",)


@contextlib.asynccontextmanager
async def heard(wait: float | None = PATIENCE) -> AsyncGenerator[AsyncIterator[FoundServer]]:
    """Listens on the loopback."""
    async with contextlib.aclosing(found_servers(wait=wait, only=LOOPBACK)) as servers:
        yield servers


async def found(port: int) -> FoundServer:
    """The announcement of the server on this port, which comes within the deadline."""
    async with heard() as servers:
        async for server in servers:
            if server.addresses[0].port == port:
                return server
    raise AssertionError("it was not found")


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def until(condition: Callable[[], bool]) -> None:
    """Waits for something that will hold."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def test_an_announced_server_is_found_with_its_address() -> None:
    port = free_port()
    async with announced("127.0.0.1", port):
        server = await found(port)
    assert server.addresses == (Address("127.0.0.1", port),)
    assert server.name
    assert server.id
    assert server.version


async def test_a_server_is_found_once_also_when_it_is_heard_of_again() -> None:
    port = free_port()
    async with announced("127.0.0.1", port):
        first = await found(port)
        async with heard(wait=1.5) as servers:
            again = [server async for server in servers if server.addresses[0].port == port]
    assert again == [first]


async def test_two_servers_on_one_machine_are_two() -> None:
    ports = (free_port(), free_port())
    async with announced("127.0.0.1", ports[0]), announced("127.0.0.1", ports[1]):
        both = await asyncio.gather(*map(found, ports))
    assert both[0].id != both[1].id
    assert both[0].name != both[1].name


async def test_a_server_that_has_stopped_is_no_longer_found() -> None:
    port = free_port()
    async with announced("127.0.0.1", port):
        await found(port)
    async with heard(wait=1.0) as servers:
        assert port not in [server.addresses[0].port async for server in servers]


async def test_looking_ends_when_its_time_is_over() -> None:
    start = time.monotonic()
    async with heard(wait=0.2) as servers:
        assert not [server async for server in servers if server.addresses[0].port == 1]
    assert time.monotonic() - start < PATIENCE


async def test_whoever_stops_looking_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    port = free_port()
    async with announced("127.0.0.1", port), heard(wait=None) as servers:
        async for server in servers:
            if server.addresses[0].port == port:
                break
    await until(lambda: asyncio.all_tasks() == before)


# The address that answers


async def test_of_several_addresses_the_one_that_answers_is_kept(address: Address) -> None:
    dead = [Address("127.0.0.1", free_port()), Address("nowhere.invalid", 1)]
    connection = await reach([*dead, address], patience=PATIENCE)
    assert connection.address == address
    assert connection.info.version
    await connection.close()


async def test_a_server_that_answers_nowhere_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        await reach([Address("127.0.0.1", free_port()) for _ in range(2)], patience=0.3)


# Tables


async def tables_of(*servers: FoundServer) -> dict[str, Address]:
    """The titles of the tables at these servers, and where each is."""

    async def named() -> AsyncGenerator[FoundServer]:
        for server in servers:
            yield server

    async with contextlib.aclosing(found_tables(named())) as tables:
        return {table.table.options.title: table.address async for table in tables}


async def test_public_tables_are_found_and_private_ones_are_not(
    server: Server, address: Address, connect: Connect
) -> None:
    opened = await Session.open_table(await connect(), Options(title="Longship"))
    await Session.open_table(await connect(), Options(title="Secret", private=True))
    async with announced("127.0.0.1", server.port):
        tables = await tables_of(await found(server.port))
    assert tables == {"Longship": address.at(opened.table.table)}


async def test_a_server_that_does_not_answer_hides_no_other(
    address: Address, connect: Connect
) -> None:
    await Session.open_table(await connect(), Options(title="Longship"))
    gone = FoundServer("gone", (Address("127.0.0.1", free_port()),))
    assert list(await tables_of(gone, FoundServer("there", (address,)))) == ["Longship"]


async def test_a_server_that_is_named_twice_is_listed_once(
    address: Address, connect: Connect
) -> None:
    await Session.open_table(await connect(), Options(title="Longship"))
    here = Address("localhost", address.port)
    names = (
        FoundServer("one", (address,), "1"),
        FoundServer("same", (address,)),
        FoundServer("", (here,)),
    )

    async def named() -> AsyncGenerator[FoundServer]:
        for server in names:
            yield server

    async with contextlib.aclosing(answers(named())) as given:
        assert len([answer async for answer in given]) == 1


# When the network is broken


@pytest.fixture(params=["no multicast", "the library fails"])
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A network on which nothing can be found, in two ways; gives what is said of it."""

    def fail(*_: object, **__: object) -> None:
        raise problem

    problem = OSError(101, "Network is unreachable") if "no" in request.param else RuntimeError("x")
    monkeypatch.setattr(zeroconf.asyncio.AsyncZeroconf, "__init__", fail)
    return str(problem)


async def test_looking_on_a_broken_network_finds_nothing_and_says_why(broken: str) -> None:
    said: list[str] = []
    servers = found_servers(wait=5, only=LOOPBACK, report=said.append)
    assert [server async for server in servers] == []
    assert said == [f"Cannot look on the network: {broken}."]


async def test_a_server_runs_on_when_it_cannot_be_announced_and_says_so_once(
    broken: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    def addresses(*_: object) -> list[str]:
        nonlocal tries
        tries += 1
        return ["127.0.0.1"]

    monkeypatch.setattr(announcement, "RETRY", 0.01)
    monkeypatch.setattr(announcement, "addresses_of", addresses)
    with caplog.at_level(logging.WARNING):
        async with announced("127.0.0.1", free_port()):
            await until(lambda: tries > 3)
    assert [record.getMessage() for record in caplog.records] == [
        f"not announced on the network: {broken}"
    ]


async def test_a_machine_that_moves_is_announced_where_it_is_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def now(*_: object) -> list[str]:
        return list(addresses)

    addresses = ["127.0.0.1"]
    monkeypatch.setattr(announcement, "CHECK", 0.05)
    monkeypatch.setattr(announcement, "addresses_of", now)
    port = free_port()
    async with announced("0.0.0.0", port):
        assert (await found(port)).addresses == (Address("127.0.0.1", port),)
        addresses.append("127.0.0.2")
        both = {Address("127.0.0.1", port), Address("127.0.0.2", port)}
        end = time.monotonic() + PATIENCE
        while set((await found(port)).addresses) != both:
            assert time.monotonic() < end
