"""`odin-table backup`: a copy of all tables, made by the server that uses them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from odin_cli.command_line import argument, command_with
from odin_cli.speech.languages import _
from odin_cli.store import file_of, store_option


@dataclass(frozen=True)
class BackupOptions:
    """Of `odin-table backup`."""

    file: Path = argument(type=click.Path(path_type=Path, dir_okay=False))
    store: str = store_option()


@command_with(
    BackupOptions,
    _("Write all tables of the server that runs here into a new file."),
    _(
        "The server writes it, since nobody else may open its file meanwhile. To go back "
        "to it, stop the server and put it in the place of its file, or name it with "
        "--store."
    ),
)
def command(asked: BackupOptions) -> int:
    """Asks the server for it."""
    from odin_cli.interface import run_in_loop
    from odin_cli.local.control import control_socket

    return run_in_loop(_back_up(asked.file.absolute(), control_socket(file_of(asked.store))))


async def _back_up(file: Path, socket: Path) -> int:
    from odin_cli.local.control import at_control
    from odin_table.v1 import operator_pb2

    async with at_control(socket) as connection:
        request = operator_pb2.BackupRequest(path=str(file))
        # Asked again, it would say that the file is there already.
        await connection.call(
            connection.operator.Backup, request, patience=_LONGEST, deadline=_LONGEST
        )
    click.echo(_("Written: {file}").format(file=file))
    return 0


_LONGEST: Final = 3600.0
"""Seconds that a very large file may take."""
