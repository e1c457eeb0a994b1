"""Commands that find a table without an address; the network is the loopback."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
from collections.abc import AsyncGenerator, Generator

import click
import pytest

from odin_cli import finding
from odin_cli.lan.discovery import FoundServer
from odin_cli.lan.invitation import qr_lines
from odin_cli.options import Looking
from odin_cli.speech.complaints import exit_code
from odin_client.connection.address import Address
from odin_client.errors import ClientError, TimedOut
from odin_client.session.session import Session
from odin_contract.values import Options
from tests.client.conftest import Connect, seated
from tests.support.programs import Program, Programs, open_table

# As processes


def port_of(host: Program) -> int:
    """Where the server of a host listens, as its invitation says."""
    said = re.search(r"join \w+@127\.0\.0\.1:(\d+)", host.error_with("odin-table join"))
    assert said is not None
    return int(said[1])


@contextlib.contextmanager
def hosted(programs: Programs, *options: str) -> Generator[Program]:
    """A table whose host ends, with the server, at the end."""
    host = programs.start("host", "--listen", "127.0.0.1:0", "--name", "Ann", *options)
    try:
        yield host
    finally:
        host.end_input()
        kept = re.search(r"kill (\d+)", host.error_with("The table is kept"))
        assert kept is not None
        os.kill(int(kept[1]), signal.SIGTERM)


def listed(programs: Programs, port: int) -> list[dict[str, object]]:
    """The tables that are found on the network at the server with this port."""
    ls = programs.run("ls", "--json")
    assert ls.end() == 0
    servers = json.loads("\n".join(ls.out))["servers"]
    return [table for s in servers if s["address"].endswith(f":{port}") for table in s["tables"]]


def test_a_hosted_table_is_found_listed_and_joined_without_an_address(programs: Programs) -> None:
    with hosted(programs, "--title", "Longship") as host:
        (table,) = listed(programs, port_of(host))
        handle = str(table["table"])
        ls = programs.run("ls")
        assert any(line.startswith(f"join {handle}@127.0.0.1") for line in ls.out)
        guest = programs.start("join", handle.lower(), "--name", "Bob")
        host.line_with("Bob sat down.")
        watcher = programs.start("watch", handle)
        watcher.line_with("Ann")
        guest.end_input()
        assert guest.end() == 0
        assert guest.error_with(f"odin-table join {handle}@127.0.0.1:")


@pytest.mark.parametrize("hidden", ["--private", "--no-discovery"])
def test_a_table_that_nobody_is_to_find_is_not_announced(programs: Programs, hidden: str) -> None:
    with hosted(programs, hidden) as host:
        assert listed(programs, port_of(host)) == []


def test_a_server_is_announced_when_it_is_asked_to_be(programs: Programs) -> None:
    port = int(programs.serve("--announce").rpartition(":")[2])
    ls = programs.run("ls", "--json")
    ports = [s["address"].rpartition(":")[2] for s in json.loads("\n".join(ls.out))["servers"]]
    assert str(port) in ports


def test_a_host_can_show_the_line_for_others_as_a_picture(programs: Programs) -> None:
    with hosted(programs, "--qr", "--no-discovery") as host:
        command = host.error_with("odin-table join")
        assert "\n".join(qr_lines(command)) in "\n".join(host.errors)


# What is meant


@pytest.fixture
def network(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network on which there is the server of the test, and nothing else."""

    async def found(**_: object) -> AsyncGenerator[FoundServer]:
        yield FoundServer("there", (address,), "1")

    async def known() -> AsyncGenerator[FoundServer]:
        yield FoundServer("the same", (address,))

    monkeypatch.setattr(finding, "found_servers", found)
    monkeypatch.setattr(finding, "known_servers", known)


LOOKING = Looking(discovery=True, interfaces=(), wait=0.0)


@pytest.mark.usefixtures("network")
async def test_the_only_table_with_a_free_seat_is_joined(
    address: Address, connect: Connect
) -> None:
    await seated(connect, "Ann", "Bob", options=Options(seats=2))
    free = await Session.open_table(await connect(), Options(seats=2))
    found = await finding.find_on_network(None, LOOKING, verb="join", name="Cid")
    assert found == address.at(free.table.table)


@pytest.mark.usefixtures("network")
async def test_the_table_at_which_one_sits_comes_first(address: Address, connect: Connect) -> None:
    await Session.open_table(await connect())
    mine = (await seated(connect, "Ann"))[0]
    found = await finding.find_on_network(None, LOOKING, verb="join", name="ann")
    assert found == address.at(mine.table.table)


@pytest.mark.usefixtures("network")
async def test_of_several_tables_one_has_to_be_named(address: Address, connect: Connect) -> None:
    tables = [await Session.open_table(await connect()) for _ in range(2)]
    for verb in ("join", "watch"):
        with pytest.raises(ClientError, match="2 tables on this network") as refused:
            await finding.find_on_network(None, LOOKING, verb=verb, name="Ann")
        for table in tables:
            assert f"odin-table {verb} {address.at(table.table.table)}" in refused.value.advice


@pytest.mark.usefixtures("network")
async def test_when_there_is_none_in_time_that_is_said_with_its_own_exit_code(
    connect: Connect,
) -> None:
    for verb in ("join", "watch"):
        with pytest.raises(TimedOut, match="No table was found"):
            await finding.find_on_network(None, LOOKING, verb=verb, name="Ann")
    await seated(connect, "Ann", "Bob", options=Options(seats=2))
    with pytest.raises(TimedOut, match="Every table on this network is full") as refused:
        await finding.find_on_network(None, LOOKING, verb="join", name="Cid")
    assert exit_code(refused.value) == 7
    assert "odin-table watch" in refused.value.advice


@pytest.mark.usefixtures("network")
async def test_a_handle_is_found_and_what_is_none_is_a_machine(
    address: Address, connect: Connect
) -> None:
    table = await Session.open_table(await connect())
    there = address.at(table.table.table)
    handle = Address.parse(table.table.table.lower())
    assert await finding.find_on_network(handle, LOOKING, verb="join") == there
    for machine in ("nobody.example", "192.0.2.1"):
        given = Address.parse(machine)
        assert await finding.find_on_network(given, LOOKING, verb="join") == given


@pytest.mark.usefixtures("network")
async def test_a_handle_that_is_not_found_is_a_table_unless_a_machine_has_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = Address.parse("zzz9")
    with pytest.raises(TimedOut, match="There is no table ZZZ9 on this network") as refused:
        await finding.find_on_network(given, LOOKING, verb="watch")
    assert "odin-table watch ZZZ9@HOST" in refused.value.advice

    def known(*_: object, **_named: object) -> list[object]:
        return []

    monkeypatch.setattr(socket, "getaddrinfo", known)
    assert await finding.find_on_network(given, LOOKING, verb="watch") == given


async def test_a_private_table_is_not_looked_for() -> None:
    with pytest.raises(click.UsageError, match="private"):
        await finding.find_on_network(None, LOOKING, verb="join", code="ABCDEFGH")


def test_where_one_has_been_is_looked_at_again(programs: Programs) -> None:
    server = programs.serve()  # and nobody announces it
    table = open_table(server, Options(seats=3, title="Longship"))
    assert listed(programs, int(server.rpartition(":")[2])) == []
    assert programs.run("join", table).end() == 0
    (found,) = listed(programs, int(server.rpartition(":")[2]))
    assert found["table"] == table.partition("@")[0]
    here = programs.run("ls", "--no-discovery")
    assert table in "\n".join(here.out)
