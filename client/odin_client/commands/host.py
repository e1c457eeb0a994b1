"""`odin-table host`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from odin_client.address import DEFAULT_PORT, Address
from odin_client.commands.options import (
    Ui,
    clock,
    clock_of,
    credential_file,
    ending,
    on_the_network,
    sits_down,
    threshold_of,
)
from odin_client.commands.store import option as store_option
from odin_client.invitation import join_commands
from odin_client.languages import _
from odin_client.network import addresses_of

if TYPE_CHECKING:
    from odin_client.local_server import LocalServer
    from odin_client.session import Session


@dataclass(frozen=True)
class _Wish:
    """What was asked for."""

    listen: str
    store: str
    seats: int
    bots: int
    level: str
    threshold: int | None
    clock: tuple[int, int]
    private: bool
    title: str
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
        if self.private or not self.discovery:
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
                "close the table or to keep it for the others."
            ),
        )
    )
)
@click.option(
    "--seats", type=click.IntRange(2, 6), default=6, show_default=True, help=_("How many may sit.")
)
@click.option(
    "--bots", type=click.IntRange(0, 5), default=0, show_default=True, help=_("How many bots sit.")
)
@click.option(
    "--level",
    metavar="NAME",
    default="greedy",
    show_default=True,
    help=_("How these bots play: random, greedy or hard."),
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
    seats: int,
    bots: int,
    level: str,
    threshold: int | None,
    single_deal: bool,
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
    """Starts a server and opens a table on it."""
    from odin_client.commands.interface import run_in_loop

    if bots >= seats:
        raise click.UsageError(
            _("{bots} bots and you need {seats} seats: raise --seats.").format(
                bots=bots, seats=bots + 1
            )
        )
    to = threshold_of(threshold, single_deal)
    wish = _Wish(
        listen=listen,
        store=store,
        seats=seats,
        bots=bots,
        level=level,
        threshold=to,
        clock=clock_of(turn_time, bank),
        private=private,
        title=title,
        qr=qr,
        discovery=discovery,
        interfaces=interfaces,
        name=name,
        ui=ui,
        colour=colour,
        file=credential_file,
    )
    return run_in_loop(_host(wish))


async def _host(wish: _Wish) -> int:
    from odin_client.commands.interface import log_file, rejoin_command, run_interface
    from odin_client.errors import ClientError
    from odin_client.local_server import LocalServer

    try:
        server = LocalServer.start(wish.listen, wish.server_options, tied=False, log=log_file())
    except ClientError as error:
        raise ClientError(
            f"{error.message} {error.advice}",
            _(
                "If a server runs there already, sit down with `odin-table join 127.0.0.1`; or "
                "choose another port and another store: `--listen 0.0.0.0:7712 --store memory`."
            ),
        ) from error
    try:
        session = await _open(server, wish)
    except BaseException:
        await server.stop()
        raise
    code = session.code
    invitation = _invitation(session.address, wish, code)
    if wish.qr:
        _show_picture(invitation.partition("\n")[0])
    try:
        return await run_interface(
            session,
            wish.ui,
            colour=wish.colour,
            invitation=invitation,
            rejoin=rejoin_command("join", session.address, wish.name, code),
            asks_to_close=True,
        )
    finally:
        await session.connection.close()
        if session.table.closed:
            await server.stop()
        else:
            server.let_go()
            click.echo(
                _(
                    "The table is kept: process {pid} serves it at {address} until nobody is "
                    "there any more. To stop it: kill {pid}"
                ).format(pid=server.pid, address=server.address),
                err=True,
            )


async def _open(server: LocalServer, wish: _Wish) -> Session:
    """Opens the table and sits down."""
    from odin_client.connection import Connection
    from odin_client.credential_store import CredentialStore
    from odin_client.session import Session
    from odin_client.values import Options

    credential = CredentialStore(wish.file).credential_for(server.address, wish.name)
    connection = await Connection.open(server.address, credential)
    try:
        session = await Session.open_table(
            connection,
            Options(
                seats=wish.seats,
                threshold=wish.threshold,
                private=wish.private,
                title=wish.title,
                turn_time=wish.clock[0],
                bank=wish.clock[1],
            ),
        )
        await session.take_seat(wish.name)
        for _bot in range(wish.bots):
            await session.add_bot(wish.level)
    except BaseException:
        await connection.close()
        raise
    return session


def _invitation(here: Address, wish: _Wish, code: str) -> str:
    """The lines that others type: one for each address under which the server can be reached."""
    hosts = addresses_of(wish.listen.rpartition(":")[0], wish.interfaces) or [here.host]
    return "\n".join(join_commands(here, hosts, code))


def _show_picture(command: str) -> None:
    """The line for others as a QR code, if stderr has the characters to draw it with."""
    from odin_client.commands.interface import capabilities_here
    from odin_client.invitation import qr_lines

    lines = qr_lines(command, ascii_only=capabilities_here(None, sys.stderr).ascii_only)
    click.echo("\n".join(lines) or "A QR code needs a terminal with UTF-8.", err=True)
