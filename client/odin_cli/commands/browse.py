"""`odin-table` without a command: the table browser, and back to it after each table."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING

from odin_cli.options import Looking, Showing
from odin_client.errors import ClientError, Refused

if TYPE_CHECKING:
    from odin_cli.terminal.views.lobby_view import Listed, Served


def browse(run: Callable[[Sequence[str]], int]) -> int:
    """Lets a person choose a table and runs the command for it, until they leave.

    `run` runs one command line and gives its exit code; what it raises is told in the browser.
    """
    from odin_cli.interface import capabilities_here, in_one_loop, log_file
    from odin_cli.speech.complaints import complaint
    from odin_cli.terminal import lobby_app

    notice = ""
    nameless: Sequence[str] = ()
    while True:
        chosen = in_one_loop(
            lobby_app.run(
                _look,
                caps=capabilities_here(Showing()),
                notice=notice,
                nameless=nameless,
                log_file=log_file(),
            )
        )
        if isinstance(chosen, int):
            return chosen
        notice, nameless = "", ()
        try:
            code = run(chosen)
        except ClientError as problem:
            notice = " ".join(complaint(problem).split())
            if isinstance(problem, Refused) and problem.reason == "NAME_TAKEN":
                nameless = chosen
        else:
            if code:
                return code


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
