"""`odin-table join`."""

from __future__ import annotations

from pathlib import Path

import click

from odin_client.address import Address
from odin_client.commands.options import ADDRESS, Ui, credential_file, sits_down


@click.command()
@click.argument("table", type=ADDRESS, metavar="[HANDLE@]HOST[:PORT]")
@click.option("--code", default="", help="The code of a private table.")
@sits_down
@credential_file
def command(
    table: Address,
    code: str,
    name: str,
    ui: Ui,
    colour: str | None,
    credential_file: Path | None,
) -> int:
    """Sit down at a table, or come back to your seat.

    Without HANDLE: the table at which you sit already, or the only one that has a free seat.
    """
    from odin_client.commands.interface import run_in_loop

    return run_in_loop(_join(table, code, name, ui, colour, credential_file))


async def _join(
    address: Address, code: str, name: str, ui: Ui, colour: str | None, file: Path | None
) -> int:
    from odin_client.commands.finding import find_to_join
    from odin_client.commands.interface import rejoin_command, run_interface
    from odin_client.connection import Connection
    from odin_client.credential_store import CredentialStore
    from odin_client.session import Session

    credential = CredentialStore(file).credential_for(address, name)
    connection = await Connection.open(address, credential)
    try:
        handle = address.handle or ("" if code else await find_to_join(connection, name))
        session = await Session.sit_down(connection, handle, name=name, code=code)
        rejoin = rejoin_command("join", session.address, name, code)
        return await run_interface(session, ui, colour=colour, rejoin=rejoin)
    finally:
        await connection.close()
