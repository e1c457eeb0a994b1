"""`odin-table watch`."""

from __future__ import annotations

from dataclasses import dataclass

from odin_cli.command_line import command_with, group
from odin_cli.options import Looking, Showing, Wanted
from odin_cli.speech.languages import _


@dataclass(frozen=True)
class WatchOptions:
    """Of `odin-table watch`."""

    wanted: Wanted = group(Wanted)
    showing: Showing = group(Showing)
    looking: Looking = group(Looking)


@command_with(
    WatchOptions,
    _("Watch a table: all that is public."),
    _(
        "With HOST and without HANDLE: the only table there is. With HANDLE alone, or "
        "nothing at all, the table is looked for on this network."
    ),
)
def command(asked: WatchOptions) -> int:
    """Looks on."""
    from odin_cli.interface import run_in_loop

    return run_in_loop(watch(asked))


async def watch(asked: WatchOptions) -> int:
    """Finds the table, and looks on."""
    from odin_cli.finding import find_on_network, find_to_watch
    from odin_cli.interface import run_interface
    from odin_cli.lan.known_servers import KnownServers
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential import Credential
    from odin_client.session.session import Session

    code = asked.wanted.code
    address = await find_on_network(asked.wanted.table, asked.looking, verb="watch", code=code)
    connection = await Connection.open(address, Credential.new())
    try:
        handle = address.handle or ("" if code else await find_to_watch(connection))
        KnownServers().remember(address)
        return await run_interface(Session(connection, handle, code=code), asked.showing)
    finally:
        await connection.close()
