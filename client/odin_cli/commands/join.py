"""`odin-table join`."""

from __future__ import annotations

from pathlib import Path

import click

from odin_cli.options import (
    ADDRESS,
    Looking,
    Ui,
    credential_file,
    looks_around,
    sits_down,
)
from odin_cli.speech.languages import _
from odin_client.connection.address import Address


@click.command(
    help="\n\n".join(
        (
            _("Sit down at a table, or come back to your seat."),
            _(
                "With HOST and without HANDLE: the table there at which you sit already, or the "
                "only one that has a free seat. With HANDLE alone, or nothing at all, the table is "
                "looked for on this network; with --wait 60, say, for a minute, or until there is "
                "one."
            ),
        )
    )
)
@click.argument("table", type=ADDRESS, required=False, metavar="[[HANDLE@]HOST[:PORT]|HANDLE]")
@click.option("--code", default="", help=_("The code of a private table."))
@sits_down
@looks_around
@credential_file
def command(
    table: Address | None,
    code: str,
    name: str,
    ui: Ui,
    colour: str | None,
    discovery: bool,
    interfaces: tuple[str, ...],
    wait: float,
    credential_file: Path | None,
) -> int:
    """Sits down and plays."""
    from odin_cli.interface import run_in_loop

    looking = Looking(discovery, interfaces, wait)
    return run_in_loop(_join(table, looking, code, name, ui, colour, credential_file))


async def _join(
    given: Address | None,
    looking: Looking,
    code: str,
    name: str,
    ui: Ui,
    colour: str | None,
    file: Path | None,
) -> int:
    from odin_cli.finding import find_on_network

    address = await find_on_network(given, looking, verb="join", name=name, code=code)
    return await sit_down_at(address, name, ui, colour, file, code)


async def sit_down_at(
    address: Address, name: str, ui: Ui, colour: str | None, file: Path | None, code: str = ""
) -> int:
    """Sits down at a table of this server, and plays."""
    from odin_cli.finding import find_to_join
    from odin_cli.interface import rejoin_command, run_interface
    from odin_cli.lan.known_servers import KnownServers
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential_store import CredentialStore
    from odin_client.session.session import Session

    credential = CredentialStore(file).credential_for(address, name)
    connection = await Connection.open(address, credential)
    try:
        handle = address.handle or ("" if code else await find_to_join(connection, name))
        session = await Session.sit_down(connection, handle, name=name, code=code)
        KnownServers().remember(address)
        rejoin = rejoin_command("join", session.address, name, code)
        return await run_interface(session, ui, colour=colour, rejoin=rejoin)
    finally:
        await connection.close()
