"""`odin-table ls`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from odin_cli.command_line import argument, command_with, group, option
from odin_cli.options import ADDRESS, Looking
from odin_cli.speech.languages import _
from odin_client.connection.address import Address

if TYPE_CHECKING:
    from odin_table.v1.lobby_pb2 import ListTablesResponse


@dataclass(frozen=True)
class LsOptions:
    """Of `odin-table ls`."""

    server: Address | None = argument(type=ADDRESS, required=False, metavar="[HOST[:PORT]]")
    json: bool = option(
        "--json",
        is_flag=True,
        help=_(
            "One JSON document: ListTablesResponse; without HOST a list of servers with their "
            "tables."
        ),
    )
    looking: Looking = group(Looking)


@command_with(
    LsOptions,
    _("List the public tables of a server, newest first."),
    _("Without HOST: those of all servers that are found on this network."),
)
def command(asked: LsOptions) -> int:
    """Prints the list."""
    from odin_cli.interface import run_in_loop

    if asked.server is not None:
        return run_in_loop(_list_server(asked.server, asked.json))
    return run_in_loop(_list_network(asked.looking, asked.json))


async def _list_server(server: Address, as_json: bool) -> int:
    from odin_cli.finding import describe
    from odin_client.connection.connection import Connection
    from odin_client.session.lobby import listing
    from odin_contract.reading import summary_of

    connection = await Connection.open(server)
    try:
        tables = await listing(connection)
    finally:
        await connection.close()
    if as_json:
        _print_json(_as_json(tables))
    elif tables.tables:
        summaries = map(summary_of, tables.tables)
        _print(describe(((server.at(one.table), one) for one in summaries), _columns()))
    else:
        click.echo(_("There is no public table at {server}.").format(server=server), err=True)
    return 0


async def _list_network(looking: Looking, as_json: bool) -> int:
    from odin_cli.finding import describe, look
    from odin_cli.lan.discovery import tables_of

    answers = await look(looking)
    tables = [(table.address, table.table) for answer in answers for table in tables_of(answer)]
    if as_json:
        servers = [
            {
                "address": answer.address.server,
                "name": answer.server.name,
                "version": answer.server.version,
                **_as_json(answer.listing),
            }
            for answer in answers
        ]
        _print_json({"servers": servers})
    elif tables:
        _print(describe(tables, _columns()))
    elif answers:
        servers_there = ", ".join(str(answer.address) for answer in answers)
        click.echo(
            _("There is no public table on this network, but a server: {servers}.").format(
                servers=servers_there
            ),
            err=True,
        )
    else:
        click.echo(
            _("No server was found on this network. If there is one: odin-table ls HOST[:PORT]."),
            err=True,
        )
    return 0


def _as_json(tables: ListTablesResponse) -> dict[str, Any]:
    from google.protobuf.json_format import MessageToDict

    document: dict[str, Any] = MessageToDict(tables, always_print_fields_with_no_presence=True)
    return document


def _print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, indent=1))


def _columns() -> int | None:
    """Of the terminal; None where the list goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
