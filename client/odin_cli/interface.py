"""Runs one of the three interfaces at a table, in one asyncio loop, stopped in order by signals."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from odin_cli.local.logs import client_log
from odin_cli.local.remembered import remember_sort, remembered_sort
from odin_cli.options import Showing, Ui, preferences
from odin_cli.speech.complaints import complaint
from odin_cli.speech.languages import ENGLISH, _, use
from odin_client.connection.address import Address
from odin_client.errors import ClientError
from odin_client.session.session import Session

if TYPE_CHECKING:
    from odin_cli.line.output_lines import OutputLines
    from odin_cli.terminal.capabilities import Capabilities

Result = TypeVar("Result")


def run_in_loop(work: Coroutine[Any, Any, int]) -> int:
    """Runs the work; gives its exit code, or that of the signal that ended it.

    129 after SIGHUP, 130 after Ctrl-C, 143 after SIGTERM.
    """
    try:
        return in_one_loop(_until_a_signal(work))
    except KeyboardInterrupt:
        return 130


def in_one_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs the work in the loop of this process; nothing of it is left behind."""
    return _one_loop().run(_until_all_is_done(work))


@cache
def _one_loop() -> asyncio.Runner:
    """The loop of everything that this process does, as the browser and then the table.

    gRPC hands what comes late from a line that was left to the loop in which it was opened: with a
    new loop for each work that was a closed one, which ended the next work with an error.
    """
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


async def _until_all_is_done(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        return await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _until_a_signal(work: Coroutine[Any, Any, int]) -> int:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(number: int) -> None:
        caught.append(number)
        task.cancel()

    for name in ("SIGTERM", "SIGHUP"):
        with contextlib.suppress(AttributeError, NotImplementedError):  # not on Windows
            number = getattr(signal, name)
            loop.add_signal_handler(number, stop, int(number))
    try:
        return await task
    except asyncio.CancelledError:
        if caught:
            return 128 + caught[0]
        raise


def log_file() -> Path:
    """Where a full-screen client, and a server that it starts, write what goes wrong."""
    named = click.get_current_context().find_root().params.get("log_file")
    return named if isinstance(named, Path) else client_log()


def rejoin_command(command: str, address: Address, name: str, code: str = "") -> str:
    """What to type to come back to a table."""
    with_code = f" --code {code}" if code else ""
    with_name = f" --name {_quoted(name)}" if name else ""
    return f"odin-table {command} {address.typed}{with_code}{with_name}"


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


async def run_interface(
    session: Session,
    showing: Showing,
    *,
    invitation: str = "",
    rejoin: str = "",
    guided: bool | None = None,
    asks_to_close: bool = False,
    when_shown: Callable[[], Awaitable[None]] | None = None,
) -> int:
    """Lets a person or a program play or watch until they stop; gives the exit code.

    `rejoin` is what to type to come back, told at the end when the seat is kept. `guided` tells a
    newcomer what to do, on a full screen (None: until a game has been finished here). `when_shown`
    is called once a program has been shown the table. Raises what `Session.follow` raises.
    """
    if showing.ui is Ui.TUI:
        return await _full_screen(session, showing, invitation, rejoin, guided)
    from odin_cli.line.output_lines import OutputLines

    async with OutputLines(sys.stdout, sys.stderr) as output:
        if showing.ui is Ui.JSON:
            from odin_cli.json_lines.json_mode import JsonMode

            use(ENGLISH)  # programs read it
            await JsonMode(session, sys.stdin, output, when_shown=when_shown).run()
        else:
            await _lines(session, output, invitation, rejoin, asks_to_close)
    return 0


async def _lines(
    session: Session, output: OutputLines, invitation: str, rejoin: str, asks_to_close: bool
) -> None:
    from odin_cli.line.line_mode import LineMode

    if invitation:
        output.error(_("Others sit down with:") + f"\n{invitation}\n")
    mode = LineMode(
        session,
        sys.stdin,
        output,
        asks_to_close=asks_to_close,
        at_game_over=lambda: keep_game(session),
    )
    try:
        await mode.run()
    finally:
        table = session.table
        if rejoin and table.my_seat is not None and not mode.left and not table.closed:
            said = _("You keep your seat. Come back with: {command}").format(command=rejoin)
            output.error(f"{said}\n")


async def _full_screen(
    session: Session, showing: Showing, invitation: str, rejoin: str, guided: bool | None
) -> int:
    from odin_cli.terminal import app

    wanted = preferences()
    return await app.run(
        session,
        caps=capabilities_here(showing),
        invitation=invitation,
        rejoin=rejoin,
        guided=_is_first_game() if guided is None else guided,
        log_file=log_file(),
        preferences=replace(wanted, sort=remembered_sort() or wanted.sort),
        at_sorting=remember_sort,
        at_game_over=lambda: keep_game(session),
    )


def _is_first_game() -> bool:
    """Whether nobody has finished a game here: all of those are kept."""
    from odin_cli.games.game_file import kept

    return not kept()


def capabilities_here(showing: Showing, stream: TextIO | None = None) -> Capabilities:
    """What this terminal can show to this person, unless the options say more."""
    from odin_cli.terminal.capabilities import capabilities

    out = sys.stdout if stream is None else stream
    return capabilities(
        os.environ,
        is_terminal=out.isatty(),
        encoding=out.encoding or "ascii",
        colour=showing.color,
        ascii_only=showing.ascii,
        mouse=preferences().mouse,
    )


async def keep_game(session: Session) -> str:
    """Keeps the game that has just ended in a file; says where, or why not."""
    from odin_cli.games import game_file

    game = session.table.game
    if game is None or session.table.my_seat is None:
        return ""
    try:
        whole = await game_file.fetch(session.connection, session.table.table, game.game)
        game_file.write(whole, game_file.folder(), whole.day)
    except ClientError as problem:
        return complaint(problem)
    return _("Kept. See it again with: odin-table replay {name}").format(name=session.table.table)
