"""A server that runs already where a new one was to listen: what can be done there instead."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import click

from odin_cli.finding import describe
from odin_cli.lan.network import own_addresses
from odin_cli.local.local_server import as_reached
from odin_cli.speech.languages import _
from odin_client.connection.address import Address, is_this_machine
from odin_client.connection.connection import Connection
from odin_client.errors import ClientError
from odin_client.session.lobby import list_tables
from odin_contract.values import TableSummary

KNOCK: Final = 1.0
"""Seconds for a connection on this machine; nothing that listens takes longer."""

ANSWER: Final = 2.0
"""Seconds for a server on this machine to answer a call."""


@dataclass(frozen=True)
class RunningServer:
    """A server of ours, and its public tables."""

    address: Address
    tables: Sequence[TableSummary]


class Answer(Enum):
    """What a person wants who does not want one of the tables."""

    NEW = auto()
    NOTHING = auto()


async def server_at(listen: str) -> RunningServer | None:
    """The server that listens there on this machine; None when nothing does.

    Raises ClientError when it is another program.
    """
    host, _colon, port = listen.rpartition(":")
    if not port.isdigit() or port == "0" or not await _listens(as_reached(host), int(port)):
        return None
    address = Address(as_reached(host), int(port))
    try:
        connection = await Connection.open(address, patience=ANSWER)
        try:
            return RunningServer(address, await list_tables(connection))
        finally:
            await connection.close()
    except ClientError as error:
        raise ClientError(
            _("Another program listens at {server}.").format(server=address.server),
            _("Choose another port: `--listen {host}:{port}`.").format(
                host=host, port=int(port) + 1
            ),
        ) from error


def offer(there: RunningServer, *, can_ask: bool) -> Address | Answer:
    """What to do at a server that is there: sit down at one of its tables, open another one.

    Asks at a terminal; elsewhere raises ClientError with the commands.
    """
    said = _("A server runs on this machine already, at {server}.").format(
        server=there.address.server
    )
    if not (can_ask and sys.stdin.isatty() and sys.stdout.isatty()):
        raise ClientError(said, "\n".join(_commands(there)))
    click.echo(said)
    rows = describe((there.address.at(table.table), table) for table in there.tables)
    click.echo("\n".join(rows) if there.tables else _("It has no public table."))
    question = _("Type a table to sit down there, `new` for another table, or Enter for neither")
    by_handle = {table.table: there.address.at(table.table) for table in there.tables}
    while True:
        click.echo(f"{question}: ", nl=False)
        typed = sys.stdin.readline().strip()
        if not typed:
            return Answer.NOTHING
        if typed.casefold() in ("new", _("new").casefold()):
            return Answer.NEW
        if typed.upper() in by_handle:
            return by_handle[typed.upper()]


def _commands(there: RunningServer) -> list[str]:
    server = there.address
    rows = [
        (f"odin-table join {server.at(table.table).typed}", _("sits you down at this table"))
        for table in there.tables
        if table.joinable
    ]
    rows += [
        (f"odin-table host --at {server.typed}", _("opens another table there")),
        (
            f"odin-table host --listen 0.0.0.0:{server.port + 1} --store memory",
            _("starts another server"),
        ),
    ]
    column = max(len(command) for command, _meaning in rows) + 2
    return [f"  {command:<{column}}{meaning}" for command, meaning in rows]


async def seen_from_outside(server: Address, only: Sequence[str]) -> list[str]:
    """The hosts by which others reach this server: itself, or this machine's where it listens."""
    if not await asyncio.to_thread(is_this_machine, server.host):
        return [server.host]
    hosts = own_addresses(only)
    answers = await asyncio.gather(*(_listens(host, server.port) for host in hosts))
    return [host for host, there in zip(hosts, answers, strict=True) if there]


async def _listens(host: str, port: int) -> bool:
    """Whether something listens there."""
    try:
        async with asyncio.timeout(KNOCK):
            _reader, writer = await asyncio.open_connection(host, port)
    except OSError:  # TimeoutError is one
        return False
    writer.close()
    return True
