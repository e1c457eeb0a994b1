"""`odin-table replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from odin_cli.options import Ui, looks_on
from odin_cli.speech.languages import _

if TYPE_CHECKING:
    from odin_cli.games.replay import Replay


@click.command(
    help="\n\n".join(
        (
            _("Look at a finished game again, step by step."),
            _(
                "FILE is a file, or the handle of a table; without it: the newest game. Every game "
                "that you finish is kept. Without a terminal it is told in sentences."
            ),
        )
    )
)
@click.argument("file", type=click.Path(), required=False)
@looks_on
def command(file: str | None, ui: Ui, colour: str | None) -> int:
    """Shows a game on the screen, or tells it."""
    from odin_cli.games.game_file import find, read
    from odin_cli.games.replay import Replay

    replay = Replay(read(find(file)))
    if ui is Ui.JSON:
        raise click.UsageError(_("The file itself is JSON: one event of the contract a line."))
    if ui is Ui.LINE:
        _tell(replay)
        return 0
    from odin_cli.interface import in_one_loop

    return in_one_loop(_show(replay, colour))


def _tell(replay: Replay) -> None:
    from odin_cli.speech.sentences import sentence

    for update in replay.go(replay.last):
        if said := sentence(update, replay.position.table):
            click.echo(said)


async def _show(replay: Replay, colour: str | None) -> int:
    from odin_cli.interface import capabilities_here, log_file
    from odin_cli.terminal.replay_app import run

    return await run(replay, caps=capabilities_here(colour), log_file=log_file())
