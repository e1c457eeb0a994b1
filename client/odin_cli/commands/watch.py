"""`odin-table watch`."""

from __future__ import annotations

import click

from odin_cli.options import ADDRESS, Looking, Ui, looks_around, looks_on
from odin_cli.speech.languages import _
from odin_client.connection.address import Address


@click.command(
    help="\n\n".join(
        (
            _("Watch a table: all that is public."),
            _(
                "With HOST and without HANDLE: the only table there is. With HANDLE alone, or "
                "nothing at all, the table is looked for on this network."
            ),
        )
    )
)
@click.argument("table", type=ADDRESS, required=False, metavar="[[HANDLE@]HOST[:PORT]|HANDLE]")
@click.option("--code", default="", help=_("The code of a private table."))
@looks_on
@looks_around
def command(
    table: Address | None,
    code: str,
    ui: Ui,
    colour: str | None,
    discovery: bool,
    interfaces: tuple[str, ...],
    wait: float,
) -> int:
    """Looks on."""
    from odin_cli.interface import run_in_loop

    return run_in_loop(_watch(table, Looking(discovery, interfaces, wait), code, ui, colour))


async def _watch(
    given: Address | None, looking: Looking, code: str, ui: Ui, colour: str | None
) -> int:
    from odin_cli.finding import find_on_network, find_to_watch
    from odin_cli.interface import run_interface
    from odin_cli.lan.known_servers import KnownServers
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential_store import Credential
    from odin_client.session.session import Session

    address = await find_on_network(given, looking, verb="watch", code=code)
    connection = await Connection.open(address, Credential.new())
    try:
        handle = address.handle or ("" if code else await find_to_watch(connection))
        KnownServers().remember(address)
        return await run_interface(Session(connection, handle, code=code), ui, colour=colour)
    finally:
        await connection.close()
