"""`odin-table host`: opens a table, on a server of its own or on one that runs already."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from odin_cli.command_line import command_with, group, option
from odin_cli.options import (
    ADDRESS,
    Discovery,
    Game,
    Showing,
    Sitting,
    Ui,
    check_level,
    credential_file_option,
    level_option,
)
from odin_cli.speech.languages import _
from odin_cli.store import store_option
from odin_client.connection.address import DEFAULT_PORT, Address
from odin_contract.limits import SEATS

if TYPE_CHECKING:
    from odin_cli.local.local_server import LocalServer
    from odin_client.session.session import Session
    from odin_contract.values import Options

STOPS_WITHIN: Final = 4.0
"""Seconds in which a server whose last table was closed has stopped by itself."""


@dataclass(frozen=True)
class HostOptions:
    """Of `odin-table host`."""

    at: Address | None = option(
        "--at",
        type=ADDRESS,
        metavar="HOST[:PORT]",
        help=_("Open the table on this server instead of starting one."),
    )
    seats: int = option(
        "--seats",
        type=click.IntRange(SEATS[0], SEATS[-1]),
        default=6,
        show_default=True,
        help=_("How many may sit."),
    )
    bots: int = option(
        "--bots",
        type=click.IntRange(0, SEATS[-1] - 1),
        default=0,
        show_default=True,
        help=_("How many bots sit."),
    )
    level: str = level_option(_("How these bots play: random, greedy or hard."))
    no_bots: bool = option(
        "--no-bots",
        is_flag=True,
        help=_("No program may take a free seat by itself; those of --bots still sit."),
    )
    game: Game = group(Game)
    private: bool = option("--private", is_flag=True, help=_("Not listed; one enters with a code."))
    title: str = option("--title", default="", help=_("A title for the list of tables."))
    listen: str = option(
        "--listen",
        metavar="HOST:PORT",
        default=f"0.0.0.0:{DEFAULT_PORT}",
        show_default=True,
        help=_("Where the server listens."),
    )
    store: str = store_option()
    qr: bool = option(
        "--qr", is_flag=True, help=_("Show the line for others as a QR code as well.")
    )
    network: Discovery = group(Discovery)
    sitting: Sitting = group(Sitting)
    credential_file: Path | None = credential_file_option()

    def server_options(self, *, private: bool) -> list[str]:
        """For the server that this table gets. It is announced unless nobody is to find it."""
        options = ["--until-empty", "--store", self.store]
        if private or not self.network.discovery:
            return options
        named = [part for one in self.network.interfaces for part in ("--interface", one)]
        return [*options, "--announce", *named]


@command_with(
    HostOptions,
    _("Open a table for others on this network, and sit down."),
    _(
        "The others find it with `odin-table join`, or type the line that you are shown. "
        "A private table is not announced."
    ),
    _(
        "The server is a process of its own: when you stop, you are asked whether to "
        "close your table or to keep it for the others. It stops when its last table has "
        "ended."
    ),
    _("With --at the table is opened on a server that runs already."),
)
def command(asked: HostOptions) -> int:
    """Opens a table, on a server that it starts or on one that runs already."""
    from odin_cli.interface import run_in_loop

    if asked.bots >= asked.seats:
        raise click.UsageError(
            _("{bots} bots and you need {seats} seats: raise --seats.").format(
                bots=asked.bots, seats=asked.bots + 1
            )
        )
    if asked.at is None:
        check_level(asked.level)
    else:
        _only_of_the_table()
    options = asked.game.options(
        asked.seats,
        private=asked.private,
        open_to_bots=not asked.no_bots,
        title=asked.title,
    )
    return run_in_loop(host(asked, options))


def _only_of_the_table() -> None:
    """Raises UsageError for an option that only a server of its own could follow."""
    context = click.get_current_context()
    for name in ("listen", "store"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                _("--at and --{option} exclude each other: that server runs already.").format(
                    option=name
                )
            )


async def host(asked: HostOptions, options: Options) -> int:
    """Opens a table with these options, sits down and plays."""
    from odin_cli.local.running_server import Answer, offer, server_at

    if asked.at is not None:
        return await _on_a_running_server(asked, asked.at, options)
    there = await server_at(asked.listen)
    if there is None:
        return await _on_its_own_server(asked, options)
    chosen = offer(there, can_ask=asked.sitting.ui is not Ui.JSON)
    if chosen is Answer.NEW:
        return await _on_a_running_server(asked, there.address, options)
    if chosen is Answer.NOTHING:
        return 0
    from odin_cli.commands.join import sit_down_at

    return await sit_down_at(chosen, asked.sitting, asked.credential_file)


async def _on_a_running_server(asked: HostOptions, server: Address, options: Options) -> int:
    from odin_cli.interface import rejoin_command, run_interface
    from odin_cli.lan.known_servers import KnownServers

    session = await _open(server.at(""), asked, options)
    KnownServers().remember(server)
    try:
        return await run_interface(
            session,
            asked.sitting,
            invitation=await _invitation(session, asked),
            rejoin=rejoin_command("join", session.address, asked.sitting.name, session.code),
            asks_to_close=True,
        )
    finally:
        await session.connection.close()


async def _on_its_own_server(asked: HostOptions, options: Options) -> int:
    from odin_cli.interface import log_file, rejoin_command, run_interface
    from odin_cli.local.local_server import LocalServer
    from odin_cli.speech.complaints import complaint
    from odin_client.errors import ClientError

    try:
        server = LocalServer.start(
            asked.listen, asked.server_options(private=options.private), tied=False, log=log_file()
        )
    except ClientError as error:
        raise ClientError(
            complaint(error),
            _(
                "Another address or another store may do: `--listen 0.0.0.0:7712 --store memory`. "
                "`--at SERVER` opens the table on a server that runs already."
            ),
        ) from error
    try:
        session = await _open(server.address, asked, options)
    except BaseException:
        await server.stop()
        raise
    rejoin = rejoin_command("join", session.address, asked.sitting.name, session.code)
    try:
        return await server.while_it_runs(
            run_interface(
                session,
                asked.sitting,
                invitation=await _invitation(session, asked),
                rejoin=rejoin,
                asks_to_close=True,
            ),
            _what_is_kept(asked, rejoin),
            is_over=lambda: session.table.closed,
        )
    finally:
        await session.connection.close()
        await _leave_behind(server, session)


def _what_is_kept(asked: HostOptions, rejoin: str) -> str:
    """What to do when the server has ended under its tables."""
    if asked.store == "memory":
        return _("Its tables were in memory alone, so they are gone.")
    return _("Its tables are kept. `odin-table serve --listen {listen}`, then: {command}").format(
        listen=asked.listen, command=rejoin
    )


async def _leave_behind(server: LocalServer, session: Session) -> None:
    """Lets the server go on for the players there; it stops itself with its last table.

    It is never stopped from here: others may have opened tables on it.
    """
    table = session.table
    if table.closed and await server.has_ended(within=STOPS_WITHIN):
        return
    if not server.is_running:
        return  # it was told to stop, or has failed
    if table.closed:
        said = _("Your table is closed. Process {pid} serves other tables at {address}.")
    elif table.other_people:
        said = _("The table is kept: process {pid} serves it at {address} for those who are there.")
    else:
        said = _(
            "The table is kept for some minutes, since nobody else is there: process {pid} serves "
            "it at {address}."
        )
    server.let_go()
    said = said.format(pid=server.pid, address=server.address)
    click.echo(said + " " + _("To stop it: kill {pid}").format(pid=server.pid), err=True)


async def _open(server: Address, asked: HostOptions, options: Options) -> Session:
    """Opens the table and sits down."""
    from odin_cli.local.credential_store import CredentialStore
    from odin_client.connection.connection import Connection
    from odin_client.session.session import Session

    credential = CredentialStore(asked.credential_file).credential_for(server, asked.sitting.name)
    connection = await Connection.open(server, credential)
    try:
        if asked.bots:
            check_level(asked.level, connection.info.levels)
        session = await Session.open_table(connection, options)
        await session.take_seat(asked.sitting.name)
        for _bot in range(asked.bots):
            await session.add_bot(asked.level)
    except BaseException:
        await connection.close()
        raise
    return session


async def _invitation(session: Session, asked: HostOptions) -> str:
    """The lines that others type: one for each address under which the server can be reached."""
    from odin_cli.lan.invitation import join_commands
    from odin_cli.lan.network import addresses_of
    from odin_cli.local.running_server import seen_from_outside

    here = session.address
    if asked.at is None:
        hosts = addresses_of(asked.listen.rpartition(":")[0], asked.network.interfaces)
    else:
        hosts = await seen_from_outside(here, asked.network.interfaces)
    invitation = "\n".join(join_commands(here, hosts or [here.host], session.code))
    if asked.qr:
        _show_picture(invitation.partition("\n")[0], asked.sitting)
    return invitation


def _show_picture(command: str, showing: Showing) -> None:
    """The line for others as a QR code, if stderr has the characters to draw it with."""
    from odin_cli.interface import capabilities_here
    from odin_cli.lan.invitation import qr_lines

    lines = qr_lines(command, ascii_only=capabilities_here(showing, sys.stderr).ascii_only)
    click.echo("\n".join(lines) or _("A QR code needs a terminal with UTF-8."), err=True)
