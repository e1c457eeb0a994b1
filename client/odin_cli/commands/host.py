"""`odin-table host`: opens a table, on a server of its own or on one that runs already."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from odin_cli.options import (
    ADDRESS,
    Ui,
    check_level,
    clock,
    clock_of,
    credential_file,
    ending,
    level_of_bots,
    on_the_network,
    sits_down,
    threshold_of,
)
from odin_cli.speech.languages import _
from odin_cli.store import option as store_option
from odin_client.connection.address import DEFAULT_PORT, Address

if TYPE_CHECKING:
    from odin_cli.local.local_server import LocalServer
    from odin_client.session.session import Session
    from odin_contract.values import Options

STOPS_WITHIN: Final = 4.0
"""Seconds in which a server whose last table was closed has stopped by itself."""


@dataclass(frozen=True)
class _Wish:
    """What was asked for."""

    at: Address | None
    """The server that runs already; None for one of its own."""
    listen: str
    store: str
    options: Options
    bots: int
    level: str
    qr: bool
    discovery: bool
    interfaces: tuple[str, ...]
    name: str
    ui: Ui
    colour: str | None
    file: Path | None

    @property
    def server_options(self) -> list[str]:
        """For the server that this table gets. It is announced unless nobody is to find it."""
        options = ["--until-empty", "--store", self.store]
        if self.options.private or not self.discovery:
            return options
        named = [part for address in self.interfaces for part in ("--interface", address)]
        return [*options, "--announce", *named]


@click.command(
    help="\n\n".join(
        (
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
    )
)
@click.option(
    "--at",
    type=ADDRESS,
    metavar="HOST[:PORT]",
    help=_("Open the table on this server instead of starting one."),
)
@click.option(
    "--seats", type=click.IntRange(2, 6), default=6, show_default=True, help=_("How many may sit.")
)
@click.option(
    "--bots", type=click.IntRange(0, 5), default=0, show_default=True, help=_("How many bots sit.")
)
@level_of_bots(_("How these bots play: random, greedy or hard."))
@click.option(
    "--no-bots",
    "without_bots",
    is_flag=True,
    help=_("No program may take a free seat by itself; those of --bots still sit."),
)
@ending
@clock
@click.option("--private", is_flag=True, help=_("Not listed; one enters with a code."))
@click.option("--title", default="", help=_("A title for the list of tables."))
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=f"0.0.0.0:{DEFAULT_PORT}",
    show_default=True,
    help=_("Where the server listens."),
)
@store_option
@click.option("--qr", is_flag=True, help=_("Show the line for others as a QR code as well."))
@on_the_network
@sits_down
@credential_file
def command(
    at: Address | None,
    seats: int,
    bots: int,
    level: str,
    without_bots: bool,
    threshold: int | None,
    single_deal: bool,
    full_deck: bool,
    turn_time: int | None,
    bank: int,
    private: bool,
    title: str,
    listen: str,
    store: str,
    qr: bool,
    discovery: bool,
    interfaces: tuple[str, ...],
    name: str,
    ui: Ui,
    colour: str | None,
    credential_file: Path | None,
) -> int:
    """Opens a table, on a server that it starts or on one that runs already."""
    from odin_cli.interface import run_in_loop
    from odin_contract.values import Options

    if bots >= seats:
        raise click.UsageError(
            _("{bots} bots and you need {seats} seats: raise --seats.").format(
                bots=bots, seats=bots + 1
            )
        )
    if at is None:
        check_level(level)
    else:
        _only_of_the_table()
    time = clock_of(turn_time, bank)
    options = Options(
        seats=seats,
        threshold=threshold_of(threshold, single_deal),
        short_deck=not full_deck,
        private=private,
        open_to_bots=not without_bots,
        title=title,
        turn_time=time[0],
        bank=time[1],
    )
    wish = _Wish(
        at=at,
        listen=listen,
        store=store,
        options=options,
        bots=bots,
        level=level,
        qr=qr,
        discovery=discovery,
        interfaces=interfaces,
        name=name,
        ui=ui,
        colour=colour,
        file=credential_file,
    )
    return run_in_loop(_host(wish))


def _only_of_the_table() -> None:
    """Raises UsageError for an option that only a server of its own could follow."""
    context = click.get_current_context()
    for option in ("listen", "store"):
        if context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                _("--at and --{option} exclude each other: that server runs already.").format(
                    option=option
                )
            )


async def _host(wish: _Wish) -> int:
    from odin_cli.local.running_server import Answer, offer, server_at

    if wish.at is not None:
        return await _on_a_running_server(wish, wish.at)
    there = await server_at(wish.listen)
    if there is None:
        return await _on_its_own_server(wish)
    chosen = offer(there, can_ask=wish.ui is not Ui.JSON)
    if chosen is Answer.NEW:
        return await _on_a_running_server(wish, there.address)
    if chosen is Answer.NOTHING:
        return 0
    from odin_cli.commands.join import sit_down_at

    return await sit_down_at(chosen, wish.name, wish.ui, wish.colour, wish.file)


async def _on_a_running_server(wish: _Wish, server: Address) -> int:
    from odin_cli.interface import rejoin_command, run_interface
    from odin_cli.lan.known_servers import KnownServers

    session = await _open(server.at(""), wish)
    KnownServers().remember(server)
    try:
        return await run_interface(
            session,
            wish.ui,
            colour=wish.colour,
            invitation=await _invitation(session, wish),
            rejoin=rejoin_command("join", session.address, wish.name, session.code),
            asks_to_close=True,
        )
    finally:
        await session.connection.close()


async def _on_its_own_server(wish: _Wish) -> int:
    from odin_cli.interface import log_file, rejoin_command, run_interface
    from odin_cli.local.local_server import LocalServer
    from odin_client.errors import ClientError

    try:
        server = LocalServer.start(wish.listen, wish.server_options, tied=False, log=log_file())
    except ClientError as error:
        raise ClientError(
            f"{error.message} {error.advice}",
            _(
                "Another address or another store may do: `--listen 0.0.0.0:7712 --store memory`. "
                "`--at SERVER` opens the table on a server that runs already."
            ),
        ) from error
    try:
        session = await _open(server.address, wish)
    except BaseException:
        await server.stop()
        raise
    rejoin = rejoin_command("join", session.address, wish.name, session.code)
    try:
        return await server.while_it_runs(
            run_interface(
                session,
                wish.ui,
                colour=wish.colour,
                invitation=await _invitation(session, wish),
                rejoin=rejoin,
                asks_to_close=True,
            ),
            _what_is_kept(wish, rejoin),
            is_over=lambda: session.table.closed,
        )
    finally:
        await session.connection.close()
        await _leave_behind(server, session)


def _what_is_kept(wish: _Wish, rejoin: str) -> str:
    """What to do when the server has ended under its tables."""
    if wish.store == "memory":
        return _("Its tables were in memory alone, so they are gone.")
    return _("Its tables are kept. `odin-table serve --listen {listen}`, then: {command}").format(
        listen=wish.listen, command=rejoin
    )


async def _leave_behind(server: LocalServer, session: Session) -> None:
    """Lets the server go on for whoever is there; it stops itself with its last table.

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


async def _open(server: Address, wish: _Wish) -> Session:
    """Opens the table and sits down."""
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential_store import CredentialStore
    from odin_client.session.session import Session

    credential = CredentialStore(wish.file).credential_for(server, wish.name)
    connection = await Connection.open(server, credential)
    try:
        if wish.bots:
            check_level(wish.level, connection.info.levels)
        session = await Session.open_table(connection, wish.options)
        await session.take_seat(wish.name)
        for _bot in range(wish.bots):
            await session.add_bot(wish.level)
    except BaseException:
        await connection.close()
        raise
    return session


async def _invitation(session: Session, wish: _Wish) -> str:
    """The lines that others type: one for each address under which the server can be reached."""
    from odin_cli.lan.invitation import join_commands
    from odin_cli.lan.network import addresses_of
    from odin_cli.local.running_server import seen_from_outside

    here = session.address
    if wish.at is None:
        hosts = addresses_of(wish.listen.rpartition(":")[0], wish.interfaces)
    else:
        hosts = await seen_from_outside(here, wish.interfaces)
    invitation = "\n".join(join_commands(here, hosts or [here.host], session.code))
    if wish.qr:
        _show_picture(invitation.partition("\n")[0])
    return invitation


def _show_picture(command: str) -> None:
    """The line for others as a QR code, if stderr has the characters to draw it with."""
    from odin_cli.interface import capabilities_here
    from odin_cli.lan.invitation import qr_lines

    lines = qr_lines(command, ascii_only=capabilities_here(None, sys.stderr).ascii_only)
    click.echo("\n".join(lines) or _("A QR code needs a terminal with UTF-8."), err=True)
