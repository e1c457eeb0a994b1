"""`odin-table completion`."""

import click

from odin_cli.speech.languages import _

SHELLS = ("bash", "zsh", "fish")


@click.command(
    help=_(
        "Print what lets your shell complete commands, options and servers.\n\n"
        "\b\n"
        'bash  eval "$(odin-table completion bash)"    in ~/.bashrc\n'
        'zsh   eval "$(odin-table completion zsh)"     in ~/.zshrc\n'
        "fish  odin-table completion fish | source     in ~/.config/fish/config.fish"
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Prints click's own script for this shell, which asks this program each time."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    program = ctx.find_root()
    click.echo(completion(program.command, {}, "odin-table", "_ODIN_TABLE_COMPLETE").source())
    return 0
