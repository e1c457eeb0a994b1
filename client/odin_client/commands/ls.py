"""`odin-table ls`."""

from __future__ import annotations

import json

import click

from odin_client.address import Address
from odin_client.commands.options import ADDRESS


@click.command()
@click.argument("server", type=ADDRESS, metavar="HOST[:PORT]")
@click.option("--json", "as_json", is_flag=True, help="One JSON document: ListTablesResponse.")
def command(server: Address, as_json: bool) -> int:
    """List the public tables of a server, newest first."""
    from odin_client.commands.interface import run_in_loop

    return run_in_loop(_list(server, as_json))


async def _list(server: Address, as_json: bool) -> int:
    from google.protobuf.json_format import MessageToDict

    from odin_client.commands.finding import describe, listing
    from odin_client.connection import Connection
    from odin_client.wire import summary_of

    connection = await Connection.open(server)
    try:
        tables = await listing(connection)
    finally:
        await connection.close()
    if as_json:
        document = MessageToDict(tables, always_print_fields_with_no_presence=True)
        click.echo(json.dumps(document, indent=1))
    elif tables.tables:
        for line in describe(map(summary_of, tables.tables), server):
            click.echo(line)
    else:
        click.echo(f"There is no public table at {server}.", err=True)
    return 0
