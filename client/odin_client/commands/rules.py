"""`odin-table rules`."""

import sys

import click

from odin_client.languages import _
from odin_client.rules_text import rules_text


@click.command(help=_("Print how the game is played."))
def command() -> None:
    """Prints the rules; through a pager at a terminal."""
    if sys.stdout.isatty():
        click.echo_via_pager(rules_text())
    else:
        click.echo(rules_text(), nl=False)
