"""Where a server keeps its tables, as `--store` says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from odin_cli.command_line import option
from odin_cli.local.state_folder import data_folder
from odin_cli.speech.languages import _

_FILE: Final = "sqlite:"
_MEMORY: Final = "memory"


def _default() -> str:
    return f"{_FILE}{data_folder() / 'tables.db'}"


def file_of(store: str) -> Path | None:
    """The file of this store; None for one in memory. Raises BadParameter for anything else."""
    if store == _MEMORY:
        return None
    path = store.removeprefix(_FILE)
    if path == store or not path:
        raise click.BadParameter(
            _("{store!r} is no store: say sqlite:PATH, or memory.").format(store=store),
            param_hint="--store",
        )
    return Path(path)


def store_option() -> Any:
    """`--store`, whose text `file_of` reads."""
    return option(
        "--store",
        default=_default,
        callback=_checked,
        metavar="sqlite:PATH|memory",
        help=_(
            "Where the tables are kept (default: tables.db in the data folder of your system). In "
            "memory they are gone when the server stops."
        ),
    )


def _checked(_ctx: click.Context, _param: click.Parameter, store: str) -> str:
    file_of(store)
    return store
