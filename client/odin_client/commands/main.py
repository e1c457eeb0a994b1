"""`odin-table`: finds the command, loads it, and turns what goes wrong into an exit code.

Nothing heavy is imported here: `odin-table --version` loads neither gRPC nor prompt_toolkit.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import os
import sys
from pathlib import Path
from typing import Final

import click

COMMANDS: Final = {
    "play": "play alone against bots",
    "host": "open a table on this network and sit down",
    "join": "sit down at a table",
    "watch": "watch a table",
    "ls": "list the tables on this network or of a server",
    "serve": "run a server",
    "bot": "let a bot play",
    "rules": "how the game is played",
    "conformance": "run rule vectors through the engine",
}
"""What there is, and what it does in a few words; each lives in the module of its name."""


DEBUG: Final = "ODIN_DEBUG"
"""Set when tracebacks are wanted."""


class _Commands(click.Group):
    """Loads a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"odin_client.commands.{cmd_name}").command
        assert isinstance(command, click.Command), "each of these modules has a `command`"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"odin-table {importlib.metadata.version('odin-table')}")
        ctx.exit()


def _be_verbose(_ctx: click.Context, _param: click.Parameter, verbose: bool) -> None:
    # gRPC reads this when it is imported, and otherwise writes into the middle of the screen.
    if not verbose:
        os.environ["GRPC_VERBOSITY"] = "NONE"


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version and stop.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_be_verbose,
    help="Let gRPC say on stderr what it is doing.",
)
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def _odin_table(debug: bool) -> None:
    """The card game Odin, for two to six, over the network or alone against bots.

    A table is named [HANDLE@]HOST[:PORT]. `odin-table COMMAND --help` says more.

    Exit codes: 0 done, 1 failure, 2 usage, 3 the server cannot be reached or was lost, 4 refused,
    5 the credential is refused, 6 versions differ, 7 timed out waiting, 130 and 143 stopped by a
    signal.
    """
    if debug:
        os.environ[DEBUG] = "1"


def main() -> None:
    """What the script `odin-table` calls."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command line; gives the exit code. Errors are told on stderr."""
    if sys.stdin is None:  # whoever started this has closed it
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 -- open to the end
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A name in letters that the terminal does not have is no reason to stop.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        result = _odin_table.main(arguments, prog_name="odin-table", standalone_mode=False)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 -- the last place to turn it into words
        return _told(error)
    return result if isinstance(result, int) else 0


def _told(error: Exception) -> int:
    """Says what went wrong and what to do; gives the exit code."""
    from odin_client.errors import ClientError

    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, ClientError):
        click.echo(f"odin-table: {error.message}", err=True)
        if error.advice:
            click.echo(error.advice, err=True)
        return error.exit_code
    click.echo(f"odin-table: something went wrong: {type(error).__name__}: {error}", err=True)
    click.echo("This is a fault of the program. Run it with --debug to see where.", err=True)
    return 1
