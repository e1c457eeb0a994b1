"""`odin-table tutorial`."""

import sys

import click

from odin_client.languages import _


@click.command(help=_("Play a first deal that explains itself, in plain lines: three moves."))
def command() -> int:
    """See the help."""
    from odin_client.tutorial import Tutorial

    Tutorial(sys.stdin, sys.stdout).run()
    return 0
