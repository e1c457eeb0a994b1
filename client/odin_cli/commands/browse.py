"""`odin-table` without a command: the table browser, and back to it after each table."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Coroutine
from typing import TYPE_CHECKING, Any

from odin_cli.commands.host import HostOptions, host
from odin_cli.commands.join import JoinOptions, join
from odin_cli.commands.play import PlayOptions, play
from odin_cli.commands.watch import WatchOptions, watch
from odin_cli.options import Looking, Showing, Sitting, Wanted
from odin_client.errors import ClientError, Refused

if TYPE_CHECKING:
    from odin_cli.terminal.lobby_app import Choice
    from odin_cli.terminal.views.lobby_view import Listed, Served


def browse() -> int:
    """Lets a person choose a table and play or watch there, until they leave.

    A choice that fails is told in the browser, which shows again.
    """
    from odin_cli.interface import capabilities_here, in_one_loop, log_file, run_in_loop
    from odin_cli.speech.complaints import complaint
    from odin_cli.terminal import lobby_app

    notice, nameless = "", None
    while True:
        choice = in_one_loop(
            lobby_app.run(
                _look,
                caps=capabilities_here(Showing()),
                notice=notice,
                nameless=nameless,
                log_file=log_file(),
            )
        )
        if isinstance(choice, int):
            return choice
        notice, nameless = "", None
        try:
            code = run_in_loop(_doing(choice))
        except ClientError as problem:
            notice = " ".join(complaint(problem).split())
            name_is_taken = isinstance(problem, Refused) and problem.reason == "NAME_TAKEN"
            if name_is_taken and isinstance(choice, lobby_app.Join | lobby_app.Open):
                nameless = choice
        else:
            if code:
                return code


def _doing(choice: Choice) -> Coroutine[Any, Any, int]:
    """What the command of this choice calls, with the usual options."""
    from odin_cli.terminal import lobby_app

    match choice:
        case lobby_app.Play():
            return play(PlayOptions())
        case lobby_app.Join(address, code, name):
            return join(JoinOptions(wanted=Wanted(address, code), sitting=_sitting(name)))
        case lobby_app.Watch(address):
            return watch(WatchOptions(wanted=Wanted(address)))
        case lobby_app.Open(new, name):
            asked = HostOptions(
                at=new.place.server, bots=new.bots, level=new.level, sitting=_sitting(name)
            )
            return host(asked, new.options)


def _sitting(name: str) -> Sitting:
    return Sitting(name=name) if name else Sitting()


async def _look() -> AsyncGenerator[Listed | Served]:
    """The servers where one has been and of this network, and their tables, as they answer."""
    from odin_cli.finding import servers
    from odin_cli.lan.discovery import WAIT, answers, tables_of
    from odin_cli.terminal.views.lobby_view import Listed, Served

    async with contextlib.aclosing(answers(servers(Looking(wait=WAIT)))) as given:
        async for answer in given:
            yield Served(answer.address, answer.server.name)
            for found in tables_of(answer):
                yield Listed(found.address, found.table, answer.server.name, answer.seconds)
