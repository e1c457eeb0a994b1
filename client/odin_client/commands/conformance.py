"""`odin-table conformance`."""

import sys
from pathlib import Path

import click


@click.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
def command(files: tuple[Path, ...]) -> int:
    """Run rule vectors (JSON lines) through the engine.

    Prints each difference (id, field, expected, got), then how many passed and failed. The exit
    code is 1 when any failed.
    """
    from odin_engine.conformance import main

    return main(files, sys.stdout)
