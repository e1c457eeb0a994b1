"""`odin-table bot`."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
from collections.abc import AsyncGenerator, Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from odin_cli.options import ADDRESS, credential_file
from odin_cli.speech.languages import _
from odin_client.connection.address import Address

if TYPE_CHECKING:
    from odin_client.bots.choices import Chooser
    from odin_client.bots.runner import BotRunner, Report
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential_store import Credential

POLL: Final = 1.0
"""Seconds between two looks for a table with a free seat."""


@dataclass(frozen=True)
class Wish:
    """What was asked for."""

    strategy: str
    games: int | None
    seed: int | None
    think: float
    name: str
    code: str


@click.command(
    help="\n\n".join(
        (
            _("Let a bot play a seat."),
            _(
                "A class of your own inherits from odin_client.bots.Bot, has a method "
                "choose(view), and is named module:Class. It runs in a process of its own. When it "
                "raises, is too slow or chooses something illegal, that is said on stderr, and the "
                "default action is taken. With --name, a bot that is started again has its seat "
                "back."
            ),
            _(
                "It checks every deal. The exit code is 0 when all were checked in full, 8 when "
                "one was not, and 9 when one was not dealt as the server had promised: it plays no "
                "further then."
            ),
        )
    )
)
@click.argument("table", type=ADDRESS, required=False, metavar="[[HANDLE@]HOST[:PORT]]")
@click.option(
    "--any",
    "anywhere",
    type=ADDRESS,
    metavar="HOST[:PORT]",
    help=_("Take any seat there that is open to bots; play; start again."),
)
@click.option(
    "--strategy",
    default="greedy",
    show_default=True,
    metavar="NAME|module:Class",
    help=_("random, greedy, hard, or a class of your own."),
)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    metavar="N",
    help=_("How many games to play (default: one at a table, no end with --any)."),
)
@click.option(
    "--seed",
    type=int,
    help=_("Let the bot choose the same way each time, and add nothing to the deals."),
)
@click.option(
    "--think",
    type=click.FloatRange(0.01, 60),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help=_("How long it may think before its default action is taken."),
)
@click.option("--name", help=_("Its name at the table (default: its strategy and a number)."))
@click.option("--code", default="", help=_("The code of a private table."))
@credential_file
def command(
    table: Address | None,
    anywhere: Address | None,
    strategy: str,
    games: int | None,
    seed: int | None,
    think: float,
    name: str | None,
    code: str,
    credential_file: Path | None,
) -> int:
    """Plays until the games are over."""
    from odin_cli.interface import run_in_loop
    from odin_client.connection.credential_store import Credential, CredentialStore

    address = table or anywhere
    if address is None or (table and anywhere):
        raise click.UsageError(_("Name a table, or a server with --any."))
    if name:
        credential = CredentialStore(credential_file).credential_for(address, name)
    else:
        # Another bot on this machine must not have the same seat.
        name = f"{strategy.rpartition(':')[2][:18]}-{secrets.randbelow(9000) + 1000}"
        credential = Credential.new()
    wish = Wish(strategy, games, seed, think, name, code)
    return run_in_loop(play(address, credential, wish, anywhere=table is None))


async def play(address: Address, credential: Credential, wish: Wish, *, anywhere: bool) -> int:
    """Plays what was asked for; gives the exit code."""
    from odin_cli.line.output_lines import OutputLines

    async with OutputLines(sys.stdout, sys.stderr) as output, _chooser(wish) as bot:

        def report(problem: str) -> None:
            output.error(f"{wish.name} {problem}\n")

        go = _anywhere if anywhere else _at_a_table
        return await go(address, credential, bot, wish, report)


@contextlib.asynccontextmanager
async def _chooser(wish: Wish) -> AsyncGenerator[Chooser]:
    """The bot: a built-in one in this process, any other in a worker. Raises BadStrategy."""
    from odin_client.bots import make_bot
    from odin_client.bots.process import BotWorker
    from odin_client.bots.runner import InThread

    if ":" in wish.strategy:
        async with BotWorker(wish.strategy, seed=wish.seed) as worker:
            yield worker.seat()
    else:
        yield InThread(make_bot(wish.strategy, wish.seed))


async def _at_a_table(
    address: Address, credential: Credential, bot: Chooser, wish: Wish, report: Report
) -> int:
    from odin_cli.finding import find_to_join
    from odin_client.connection.connection import Connection

    connection = await Connection.open(address, credential)
    try:
        handle = address.handle
        if not handle and not wish.code:
            handle = await find_to_join(connection, wish.name)
        runner = await _sit_down(connection, handle, bot, wish, report)
        await _play_and_leave(runner, wish.games or 1)
        return _exit_code(connection)
    finally:
        await connection.close()


async def _play_and_leave(runner: BotRunner, games: int | None, *, roams: bool = False) -> None:
    """Plays; frees the seat also when the bot can play no more, so that a substitute does."""
    from odin_client.bots import BadStrategy

    try:
        await runner.play(games, roams=roams)
    except BadStrategy:
        await runner.leave()
        raise
    await runner.leave()


async def _anywhere(
    address: Address, credential: Credential, bot: Chooser, wish: Wish, report: Report
) -> int:
    from odin_client.connection.connection import Connection
    from odin_client.errors import Refused, SeatLost, Unreachable

    played = 0
    been_there = False
    handle = ""
    unwanted: set[str] = set()  # tables that take no bots any more, or not this one
    ends_with = 0
    while wish.games is None or played < wish.games:
        try:
            connection = await Connection.open(address, credential)
            try:
                been_there = True
                handle = await _free_seat(connection, unwanted)
                runner = await _sit_down(connection, handle, bot, wish, report)
                try:
                    left = None if wish.games is None else wish.games - played
                    await _play_and_leave(runner, left, roams=True)
                finally:
                    played += runner.played
            finally:
                ends_with = _exit_code(connection)
                await connection.close()
        except Unreachable as problem:
            if not been_there:
                raise
            report(
                _("has lost the server and tries again: {problem}").format(problem=problem.message)
            )
        except Refused as refusal:
            # Somebody else was quicker, or the table has ended meanwhile: look for another one.
            if refusal.exit_code != Refused.exit_code:
                raise
            if isinstance(refusal, SeatLost) or refusal.reason == "NOT_ALLOWED":
                unwanted.add(handle)
                report(_("looks elsewhere: {problem}").format(problem=refusal.message))
            await asyncio.sleep(POLL)
    return ends_with


def _exit_code(connection: Connection) -> int:
    """What the checks of all deals so far come to, when none was dealt falsely."""
    from odin_client.errors import NOT_IN_FULL

    return NOT_IN_FULL if connection.promises.tally.not_in_full else 0


async def _free_seat(connection: Connection, unwanted: Container[str]) -> str:
    """Waits for a table that has a seat for a bot and is not `unwanted`; gives its handle."""
    from odin_table.v1 import lobby_pb2

    wanted = lobby_pb2.ListTablesRequest(page_size=100, joinable=True, open_to_bots=True)
    while True:
        found = await connection.call(connection.lobby.ListTables, wanted)
        for table in found.tables:
            if table.table not in unwanted:
                return table.table
        await asyncio.sleep(POLL)


async def _sit_down(
    connection: Connection, handle: str, bot: Chooser, wish: Wish, report: Report
) -> BotRunner:
    from odin_client.bots.runner import BotRunner
    from odin_client.session.session import Session
    from odin_contract.values import Occupant

    session = Session(connection, handle, code=wish.code)
    if wish.seed is not None:
        session.fresh_nonce = bytes  # the cards follow from the seeds alone
    await session.take_seat(wish.name, occupant=Occupant.REMOTE_BOT)
    return BotRunner(session, bot, report, deadline=wish.think)
