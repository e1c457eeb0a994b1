"""`odin-table replay`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from odin_cli.command_line import argument, command_with, group
from odin_cli.options import Showing, Ui
from odin_cli.speech.languages import _

if TYPE_CHECKING:
    from odin_cli.games.replay import Replay


@dataclass(frozen=True)
class ReplayOptions:
    """Of `odin-table replay`."""

    file: str | None = argument(type=click.Path(), required=False)
    showing: Showing = group(Showing)


@command_with(
    ReplayOptions,
    _("Look at a finished game again, step by step."),
    _(
        "FILE is a file, or the handle of a table; without it: the newest game. Every game "
        "that you finish is kept. Without a terminal it is told in sentences."
    ),
)
def command(asked: ReplayOptions) -> int:
    """Shows a game on the screen, or tells it."""
    from odin_cli.games.game_file import find, read
    from odin_cli.games.replay import Replay

    replay = Replay(read(find(asked.file)))
    if asked.showing.ui is Ui.JSON:
        raise click.UsageError(_("The file itself is JSON: one event of the contract a line."))
    if asked.showing.ui is Ui.LINE:
        _tell(replay)
        return 0
    from odin_cli.interface import in_one_loop

    return in_one_loop(_show(replay, asked.showing))


def _tell(replay: Replay) -> None:
    from odin_cli.speech.sentences import sentence

    for update in replay.go(replay.last):
        if said := sentence(update, replay.position.table):
            click.echo(said)


async def _show(replay: Replay, showing: Showing) -> int:
    from odin_cli.interface import capabilities_here, log_file
    from odin_cli.terminal.replay_app import run

    return await run(replay, caps=capabilities_here(showing), log_file=log_file())
