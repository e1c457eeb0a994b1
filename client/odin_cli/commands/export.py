"""`odin-table export`: the finished games of a server, each in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from odin_cli.command_line import argument, command_with
from odin_cli.speech.languages import _, ngettext
from odin_cli.store import file_of, store_option


@dataclass(frozen=True)
class ExportOptions:
    """Of `odin-table export`."""

    folder: Path = argument(type=click.Path(path_type=Path, file_okay=False))
    store: str = store_option()


@command_with(
    ExportOptions,
    _("Write every game of every table that has ended into a folder, a file each."),
    _(
        "The server that runs here is asked for them, private tables included. `odin-table "
        "replay FILE` shows such a game. Files that are there already are written again."
    ),
)
def command(asked: ExportOptions) -> int:
    """Asks the server for them."""
    from odin_cli.interface import run_in_loop
    from odin_cli.local.control import control_socket

    return run_in_loop(_export(asked.folder, control_socket(file_of(asked.store))))


async def _export(folder: Path, socket: Path) -> int:
    from odin_cli.games.game_file import finished_games, write
    from odin_cli.local.control import at_control, ended_tables

    count = 0
    async with at_control(socket) as connection:
        async for table in ended_tables(connection):
            async for game in finished_games(connection, table):
                write(game, folder, game.day)
                count += 1
    click.echo(
        ngettext(
            "{count} game written into {folder}.", "{count} games written into {folder}.", count
        ).format(count=count, folder=folder)
    )
    return 0
