"""`odin-table watch`."""

from __future__ import annotations

import click

from odin_client.address import Address
from odin_client.commands.options import ADDRESS, Ui, looks_on


@click.command()
@click.argument("table", type=ADDRESS, metavar="[HANDLE@]HOST[:PORT]")
@click.option("--code", default="", help="The code of a private table.")
@looks_on
def command(table: Address, code: str, ui: Ui, colour: str | None) -> int:
    """Watch a table: all that is public.

    Without HANDLE: the only table there is.
    """
    from odin_client.commands.interface import run_in_loop

    return run_in_loop(_watch(table, code, ui, colour))


async def _watch(address: Address, code: str, ui: Ui, colour: str | None) -> int:
    from odin_client.commands.finding import find_to_watch
    from odin_client.commands.interface import run_interface
    from odin_client.connection import Connection
    from odin_client.credential_store import Credential
    from odin_client.session import Session

    connection = await Connection.open(address, Credential.new())
    try:
        handle = address.handle or ("" if code else await find_to_watch(connection))
        return await run_interface(Session(connection, handle, code=code), ui, colour=colour)
    finally:
        await connection.close()
