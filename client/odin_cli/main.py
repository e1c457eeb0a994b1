"""`odin-table`: finds the command, loads it, and turns what goes wrong into an exit code.

Nothing heavy is imported here: `odin-table --version` loads neither gRPC nor prompt_toolkit.
"""

from __future__ import annotations

import importlib
import io
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from odin_cli.speech.languages import LANGUAGES, _, chosen, use

COMMANDS: Final = (
    "play",
    "host",
    "join",
    "watch",
    "ls",
    "serve",
    "backup",
    "export",
    "bot",
    "replay",
    "verify",
    "rules",
    "tutorial",
    "conformance",
    "completion",
    "doctor",
)
"""What there is; each lives in the module of its name."""


def _summaries() -> dict[str, str]:
    """What each command does, in a few words."""
    return {
        "play": _("play alone against bots"),
        "host": _("open a table on this network and sit down"),
        "join": _("sit down at a table"),
        "watch": _("watch a table"),
        "ls": _("list the tables on this network or of a server"),
        "serve": _("run a server"),
        "backup": _("copy all tables of the server that runs here"),
        "export": _("write its finished games into files"),
        "bot": _("let a bot play"),
        "replay": _("look at a finished game again"),
        "verify": _("check that a finished game was dealt and played fairly"),
        "rules": _("how the game is played"),
        "tutorial": _("play a first deal that explains itself"),
        "conformance": _("check a client on the wire, or rule vectors"),
        "doctor": _("show what works here, and what does not"),
        "completion": _("let your shell complete what you type"),
    }


_log: Final = logging.getLogger(__name__)

_WITH_VALUE: Final = ("--lang", "--log-file")
_FLAGS: Final = ("-v", "--verbose", "--debug")
"""The options that may stand anywhere in a command line."""


class _Text(click.types.StringParamType):
    """A text of a command line, which may be any bytes. Paths may be so, and what is shown not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        if not _is_text(text):
            self.fail(_not_utf8(text), param, ctx)
        return text


class _Commands(click.Group):
    """Loads a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"odin_cli.commands.{cmd_name}").command
        assert isinstance(command, click.Command), "each of these modules has a `command`"
        for param in command.params:
            if param.type is click.STRING:
                param.type = _Text()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_("Commands")):
            formatter.write_dl(list(_summaries().items()))


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        import importlib.metadata  # takes longer than all the rest here

        click.echo(f"odin-table {importlib.metadata.version('odin-table')}")
        ctx.exit()


def _begin(ctx: click.Context) -> int:
    """What happens without a command: the table browser at a terminal, help elsewhere."""
    from odin_cli.options import Ui, choose_ui, preferences

    asked = preferences().ui
    if choose_ui(asked, os.environ, sys.stdin.isatty() and sys.stdout.isatty()) is not Ui.TUI:
        click.echo(ctx.get_help())
        return 0
    from odin_cli.commands.browse import browse

    return browse()


def _program() -> click.Group:
    """The command line, in the language that is spoken now."""

    @click.pass_context
    def begin(ctx: click.Context, verbose: bool, log_file: Path | None) -> int:
        if not verbose:
            # gRPC reads this when it is imported, and else writes into the middle of the screen.
            os.environ["GRPC_VERBOSITY"] = "NONE"
        _begin_to_log(ctx.invoked_subcommand, log_file, verbose)
        return _begin(ctx) if ctx.invoked_subcommand is None else 0

    return _Commands(
        callback=begin,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        help="\n\n".join(
            (
                _("The card game Odin, for two to six, over the network or alone against bots."),
                _("A table is named [HANDLE@]HOST[:PORT]. `odin-table COMMAND --help` says more."),
                _(
                    "Exit codes: 0 done, 1 failure, 2 usage, 3 the server cannot be reached or was "
                    "lost, 4 refused, 5 the credential is refused, 6 versions differ, 7 timed out "
                    "waiting, 8 a deal was not checked in full, 9 a deal was not dealt as promised"
                    ", 10 a file is not sealed, 130 and 143 stopped by a signal."
                ),
            )
        ),
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_version,
                help=_("Print the version and stop."),
            ),
            click.Option(
                ["--lang"],
                type=click.Choice(LANGUAGES),
                is_eager=True,
                expose_value=False,
                help=_("The language (default: $ODIN_LANG, else that of your system)."),
            ),
            click.Option(
                ["-v", "--verbose"],
                is_flag=True,
                help=_("Say on stderr what is going on, and let gRPC do so too."),
            ),
            click.Option(
                ["--log-file"],
                type=click.Path(path_type=Path, dir_okay=False),
                help=_("What goes on is written here (default: a file in the state folder)."),
            ),
            click.Option(
                ["--debug"],
                is_flag=True,
                expose_value=False,
                help=_("Show where an error came from."),
            ),
        ],
    )


def _general_options_apart(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options that every command has, wherever they were, and the other arguments.

    The language is in use then: everything that is said is said in it, so it has to be known before
    anything else.
    """
    rest: list[str] = []
    general: list[str] = []
    language = os.environ.get("ODIN_LANG")
    given = iter(arguments)
    for argument in given:
        name, equals, value = argument.partition("=")
        if argument == "--":
            rest += [argument, *given]
        elif name in _WITH_VALUE:
            value = value if equals else next(given, "")
            general.append(f"{name}={value}")
            language = value if name == "--lang" else language
        elif argument in _FLAGS:
            general.append(argument)
        else:
            rest.append(argument)
    use(chosen(language or _language_in_settings(), os.environ))
    return general, rest


def _begin_to_log(command: str | None, path: Path | None, verbose: bool) -> None:
    from odin_cli.local import logs

    serves = command == "serve"
    path = path or (logs.server_log() if serves else logs.client_log())
    logs.begin(path, verbose=verbose, talks=serves)


def _language_in_settings() -> str | None:
    """The language of the file of settings, if it names one."""
    from odin_cli.local.preferences import BadSetting, load

    try:
        lang = load({}).lang
    except BadSetting:
        return None  # told by the first command that needs settings
    return None if lang == "auto" else lang


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
    debug = False
    try:
        general, rest = _general_options_apart(arguments)
        debug = "--debug" in general
        result = _program().main([*general, *rest], prog_name="odin-table", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        said = io.StringIO()
        error.show(file=said)
        _say(said.getvalue().rstrip("\n"))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 -- the last place to turn it into words
        return _told(error, debug)


def _is_text(text: str) -> bool:
    """Whether it has no byte that is not UTF-8, as arguments and variables may."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _not_utf8(text: str) -> str:
    return _("{text} is not UTF-8. Type it anew, in a terminal that speaks UTF-8.").format(
        text=ascii(text)
    )


def _told(error: Exception, debug: bool) -> int:
    """Says what went wrong and what to do, and where for `debug`; gives the exit code."""
    from odin_cli.speech.complaints import advice, exit_code, message
    from odin_client.errors import ClientError

    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, ClientError):
        code = exit_code(error)
        _log.info("ends with %d: %s", code, type(error).__name__)
        _say(f"odin-table: {message(error)}")
        if next_step := advice(error):
            _say(next_step)
        return code
    if isinstance(error, UnicodeEncodeError) and not _is_text(error.object):
        click.echo("odin-table: " + _not_utf8(error.object), err=True)
        return 2
    _log.error("a fault of the program", exc_info=error)
    problem = f"{type(error).__name__}: {error}"
    _say("odin-table: " + _("something went wrong: {problem}").format(problem=problem))
    _say(_("This is a fault of the program. Run it with --debug to see where."))
    return 1


def _say(text: str) -> None:
    from odin_cli.speech.text_width import broken

    click.echo(broken(text, sys.stderr), err=True)
