"""`odin-table join`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from odin_cli.command_line import command_with, group
from odin_cli.options import Looking, Sitting, Wanted, credential_file_option
from odin_cli.speech.languages import _
from odin_client.connection.address import Address


@dataclass(frozen=True)
class JoinOptions:
    """Of `odin-table join`."""

    wanted: Wanted = group(Wanted)
    sitting: Sitting = group(Sitting)
    looking: Looking = group(Looking)
    credential_file: Path | None = credential_file_option()


@command_with(
    JoinOptions,
    _("Sit down at a table, or come back to your seat."),
    _(
        "With HOST and without HANDLE: the table there at which you sit already, or the "
        "only one that has a free seat. With HANDLE alone, or nothing at all, the table is "
        "looked for on this network; with --wait 60, say, for a minute, or until there is "
        "one."
    ),
)
def command(asked: JoinOptions) -> int:
    """Sits down and plays."""
    from odin_cli.interface import run_in_loop

    return run_in_loop(join(asked))


async def join(asked: JoinOptions) -> int:
    """Finds the table, sits down and plays."""
    from odin_cli.finding import find_on_network

    wanted, sitting = asked.wanted, asked.sitting
    address = await find_on_network(
        wanted.table, asked.looking, verb="join", name=sitting.name, code=wanted.code
    )
    return await sit_down_at(address, sitting, asked.credential_file, wanted.code)


async def sit_down_at(address: Address, sitting: Sitting, file: Path | None, code: str = "") -> int:
    """Sits down at a table of this server, and plays."""
    from odin_cli.finding import find_to_join
    from odin_cli.interface import rejoin_command, run_interface
    from odin_cli.lan.known_servers import KnownServers
    from odin_cli.local.credential_store import CredentialStore
    from odin_client.connection.connection import Connection
    from odin_client.session.session import Session

    credential = CredentialStore(file).credential_for(address, sitting.name)
    connection = await Connection.open(address, credential)
    try:
        handle = address.handle or ("" if code else await find_to_join(connection, sitting.name))
        session = await Session.sit_down(connection, handle, name=sitting.name, code=code)
        KnownServers().remember(address)
        rejoin = rejoin_command("join", session.address, sitting.name, code)
        return await run_interface(session, sitting, rejoin=rejoin)
    finally:
        await connection.close()
