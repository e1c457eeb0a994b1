"""`odin-table rules`."""

import sys

import click

from odin_client.rules_text import RULES


@click.command()
def command() -> None:
    """Print how the game is played."""
    if sys.stdout.isatty():
        click.echo_via_pager(RULES)
    else:
        click.echo(RULES, nl=False)
