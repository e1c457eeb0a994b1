"""`odin-table rules`."""

import sys

import click

from odin_cli.speech.languages import _
from odin_cli.speech.rules_text import rules_text
from odin_cli.speech.text_width import text_width


@click.command(help=_("Print how the game is played."))
@click.option(
    "--numbers", is_flag=True, help=_("With the numbers by which the documents name the rules.")
)
def command(numbers: bool) -> None:
    """Prints the rules; through a pager at a terminal."""
    text = rules_text(text_width(sys.stdout), numbers=numbers)
    if sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)
