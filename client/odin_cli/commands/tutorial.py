"""`odin-table tutorial`."""

from __future__ import annotations

import sys

import click

from odin_cli.command_line import command_with
from odin_cli.options import Showing, Ui
from odin_cli.speech.languages import _


@command_with(
    Showing,
    _(
        "Play a first deal that explains itself: three moves, on the board of a real game. "
        "Without a terminal in plain lines."
    ),
)
def command(showing: Showing) -> int:
    """See the help."""
    if showing.ui is Ui.JSON:
        raise click.UsageError(_("The tutorial is for people: --ui is tui or line."))
    if showing.ui is Ui.LINE:
        from odin_cli.play.tutorial import Tutorial

        Tutorial(sys.stdin, sys.stdout).run()
        return 0
    from odin_cli.interface import in_one_loop

    return in_one_loop(_show(showing))


async def _show(showing: Showing) -> int:
    from odin_cli.interface import capabilities_here, log_file
    from odin_cli.options import usual_name
    from odin_cli.play.lesson import Lesson
    from odin_cli.terminal.lesson_app import run

    return await run(Lesson(usual_name()), caps=capabilities_here(showing), log_file=log_file())
