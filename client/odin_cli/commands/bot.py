"""`odin-table bot`."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
from collections.abc import AsyncGenerator, Container
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from odin_cli.command_line import argument, command_with, option
from odin_cli.options import ADDRESS, credential_file_option
from odin_cli.speech.languages import _, translated
from odin_client.connection.address import Address
from odin_contract.limits import TABLES_PER_PAGE

if TYPE_CHECKING:
    from odin_client.bots.choices import Chooser
    from odin_client.bots.runner import BotRunner, Report
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential import Credential

POLL: Final = 1.0
"""Seconds between two looks for a table with a free seat."""


@dataclass(frozen=True)
class BotOptions:
    """Of `odin-table bot`."""

    table: Address | None = argument(type=ADDRESS, required=False, metavar="[[HANDLE@]HOST[:PORT]]")
    any: Address | None = option(
        "--any",
        type=ADDRESS,
        metavar="HOST[:PORT]",
        help=_("Take any seat there that is open to bots; play; start again."),
    )
    strategy: str = option(
        "--strategy",
        default="greedy",
        show_default=True,
        metavar="NAME|module:Class",
        help=_("random, greedy, hard, or a class of your own."),
    )
    games: int | None = option(
        "--games",
        type=click.IntRange(min=1),
        metavar="N",
        help=_("How many games to play (default: one at a table, no end with --any)."),
    )
    seed: int | None = option(
        "--seed",
        type=int,
        help=_("Let the bot choose the same way each time, and add nothing to the deals."),
    )
    think: float = option(
        "--think",
        type=click.FloatRange(0.01, 60),
        default=5.0,
        show_default=True,
        metavar="SECONDS",
        help=_("How long it may think before its default action is taken."),
    )
    name: str = option(
        "--name",
        default="",
        help=_("Its name at the table (default: its strategy and a number)."),
    )
    code: str = option("--code", default="", help=_("The code of a private table."))
    credential_file: Path | None = credential_file_option()


@command_with(
    BotOptions,
    _("Let a bot play a seat."),
    _(
        "A class of your own inherits from odin_client.bots.Bot, has a method "
        "choose(view), and is named module:Class. It runs in a process of its own. When it "
        "raises, is too slow or chooses something illegal, that is said on stderr, and the "
        "default action is taken. With --name, a bot that is started again has its seat "
        "back."
    ),
    _(
        "At a table that you name it stays until its games are over or the table is closed, "
        "also when everyone else has left: the server keeps the table as long as the bot is "
        "there. Stop it with Ctrl-C."
    ),
    _(
        "It checks every deal. The exit code is 0 when all were checked in full, 8 when "
        "one was not, and 9 when one was not dealt as the server had promised: it plays no "
        "further then."
    ),
)
def command(asked: BotOptions) -> int:
    """Plays until the games are over."""
    from odin_cli.interface import run_in_loop
    from odin_cli.local.credential_store import CredentialStore
    from odin_client.connection.credential import Credential

    address = asked.table or asked.any
    if address is None or (asked.table and asked.any):
        raise click.UsageError(_("Name a table, or a server with --any."))
    if asked.name:
        credential = CredentialStore(asked.credential_file).credential_for(address, asked.name)
    else:
        # Another bot on this machine must not have the same seat.
        name = f"{asked.strategy.rpartition(':')[2][:18]}-{secrets.randbelow(9000) + 1000}"
        asked, credential = replace(asked, name=name), Credential.new()
    return run_in_loop(play(address, credential, asked))


async def play(address: Address, credential: Credential, asked: BotOptions) -> int:
    """Plays what was asked for; gives the exit code."""
    from odin_cli.line.output_lines import OutputLines

    async with OutputLines(sys.stdout, sys.stderr) as output, _chooser(asked) as bot:

        def report(problem: str) -> None:
            output.error(f"{asked.name} {translated(problem)}\n")

        go = _at_a_table if asked.any is None else _anywhere
        return await go(address, credential, bot, asked, report)


@contextlib.asynccontextmanager
async def _chooser(asked: BotOptions) -> AsyncGenerator[Chooser]:
    """The bot: a built-in one in this process, any other in a worker. Raises BadStrategy."""
    from odin_client.bots import make_bot
    from odin_client.bots.process import BotWorker
    from odin_client.bots.runner import InThread

    if ":" in asked.strategy:
        async with BotWorker(asked.strategy, seed=asked.seed) as worker:
            yield worker.seat()
    else:
        yield InThread(make_bot(asked.strategy, asked.seed))


async def _at_a_table(
    address: Address, credential: Credential, bot: Chooser, asked: BotOptions, report: Report
) -> int:
    from odin_cli.finding import find_to_join
    from odin_client.connection.connection import Connection

    connection = await Connection.open(address, credential)
    try:
        handle = address.handle
        if not handle and not asked.code:
            handle = await find_to_join(connection, asked.name)
        runner = await _sit_down(connection, handle, bot, asked, report)
        await _play_and_leave(runner, asked.games or 1)
        return _exit_code(connection)
    finally:
        await connection.close()


async def _play_and_leave(runner: BotRunner, games: int | None, *, roams: bool = False) -> None:
    """Plays; frees the seat also when the bot can play no more, so that a substitute does."""
    from odin_client.errors import BadStrategy

    try:
        await runner.play(games, roams=roams)
    except BadStrategy:
        await runner.leave()
        raise
    await runner.leave()


async def _anywhere(
    address: Address, credential: Credential, bot: Chooser, asked: BotOptions, report: Report
) -> int:
    from odin_cli.speech.complaints import message
    from odin_client.connection.connection import Connection
    from odin_client.errors import (
        CredentialRefused,
        Refused,
        SeatLost,
        Unreachable,
        VersionsDiffer,
    )

    played = 0
    been_there = False
    handle = ""
    unwanted: set[str] = set()  # tables that take no bots any more, or not this one
    ends_with = 0
    while asked.games is None or played < asked.games:
        try:
            connection = await Connection.open(address, credential)
            try:
                been_there = True
                handle = await _free_seat(connection, unwanted)
                runner = await _sit_down(connection, handle, bot, asked, report)
                try:
                    left = None if asked.games is None else asked.games - played
                    await _play_and_leave(runner, left, roams=True)
                finally:
                    played += runner.played
            finally:
                ends_with = _exit_code(connection)
                await connection.close()
        except Unreachable as problem:
            if not been_there:
                raise
            said = _("has lost the server and tries again: {problem}")
            report(said.format(problem=message(problem)))
        except Refused as refusal:
            # Somebody else was quicker, or the table has ended meanwhile: look for another one.
            if isinstance(refusal, CredentialRefused | VersionsDiffer):
                raise
            if isinstance(refusal, SeatLost) or refusal.reason == "NOT_ALLOWED":
                unwanted.add(handle)
                report(_("looks elsewhere: {problem}").format(problem=message(refusal)))
            await asyncio.sleep(POLL)
    return ends_with


def _exit_code(connection: Connection) -> int:
    """What the checks of all deals so far come to, when none was dealt falsely."""
    from odin_cli.speech.complaints import NOT_IN_FULL

    return NOT_IN_FULL if connection.promises.tally.not_in_full else 0


async def _free_seat(connection: Connection, unwanted: Container[str]) -> str:
    """Waits for a table that has a seat for a bot and is not `unwanted`; gives its handle."""
    from odin_table.v1 import lobby_pb2

    wanted = lobby_pb2.ListTablesRequest(
        page_size=TABLES_PER_PAGE, joinable=True, open_to_bots=True
    )
    while True:
        found = await connection.call(connection.lobby.ListTables, wanted)
        for table in found.tables:
            if table.table not in unwanted:
                return table.table
        await asyncio.sleep(POLL)


async def _sit_down(
    connection: Connection, handle: str, bot: Chooser, asked: BotOptions, report: Report
) -> BotRunner:
    from odin_client.bots.runner import BotRunner
    from odin_client.session.session import Session
    from odin_contract.enums import Occupant

    session = Session(connection, handle, code=asked.code)
    if asked.seed is not None:
        session.fresh_nonce = bytes  # the cards follow from the seeds alone
    await session.take_seat(asked.name, occupant=Occupant.REMOTE_BOT)
    return BotRunner(session, bot, report, deadline=asked.think)
