"""The options that several commands have."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from odin_cli.local.preferences import CHOICES, Preferences, load
from odin_cli.speech.languages import _
from odin_client.connection.address import Address, BadAddress

Function = TypeVar("Function", bound=Callable[..., Any])


class Ui(Enum):
    """How a person or a program sits at a table."""

    TUI = "tui"
    LINE = "line"
    JSON = "json"


class _AddressType(click.ParamType[Address]):
    """`[HANDLE@]HOST[:PORT]`."""

    name = "address"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Address:
        if isinstance(value, Address):
            return value
        try:
            return Address.parse(str(value))
        except BadAddress as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The servers that one has been at."""
        from odin_cli.lan.known_servers import KnownServers

        known = map(str, KnownServers().all())
        return [CompletionItem(server) for server in known if server.startswith(incomplete)]


ADDRESS: Final = _AddressType()


def preferences() -> Preferences:
    """What this person wants, read once for a command line; raises BadSetting."""
    context = click.get_current_context()
    if context.resilient_parsing:  # a shell completes what is typed, and has no use for complaints
        return Preferences()
    root = context.find_root()
    if root.obj is None:
        root.obj = load(os.environ)
    known = root.obj
    assert isinstance(known, Preferences), "nothing else is kept there"
    return known


def _checked_ui(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Ui:
    try:
        asked = value or preferences().ui
        return choose_ui(asked, os.environ, sys.stdin.isatty() and sys.stdout.isatty())
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _draw_in_ascii(_ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    # Where the capabilities of the terminal are looked up, this is looked up with them.
    if wanted:
        os.environ["ODIN_ASCII"] = "1"


def choose_ui(asked: str, environment: Mapping[str, str], at_a_terminal: bool) -> Ui:
    """What was asked for; for `auto` full screen when stdin and stdout are a terminal that can.

    Raises ValueError for an interface that there is not.
    """
    if asked.lower() != "auto":
        try:
            return Ui(asked.lower())
        except ValueError:
            raise ValueError(
                _("There is no interface {name}: it is tui, line or json.").format(name=repr(asked))
            ) from None
    able = environment.get("TERM", "") not in ("", "dumb", "unknown")
    return Ui.TUI if at_a_terminal and able else Ui.LINE


_NOBODYS_NAMES: Final = frozenset(
    ("", "root", "admin", "administrator", "user", "guest", "ubuntu", "debian", "pi")
)
"""Logins that many people have, in small letters."""

_NAMES: Final = (
    *("Asa", "Brynja", "Dagny", "Eirik", "Embla", "Frida", "Gudrun", "Halvar", "Hrafn", "Inga"),
    *("Jorunn", "Kari", "Ketil", "Magni", "Njal", "Ottar", "Ragna", "Runa", "Saga", "Sindri"),
    *("Skadi", "Solveig", "Svala", "Thora", "Torvald", "Ulf", "Una", "Vidar", "Yngvar", "Yrsa"),
)
"""Made-up names; none of them is a built-in bot's."""


def usual_name() -> str:
    """The name of the settings, else the login; a made-up one where that says nothing."""
    if name := preferences().name:
        return name
    from odin_engine.plain_text import clean_text

    login = ""
    with contextlib.suppress(OSError, KeyError, ImportError):
        # It may be anything, in whatever encoding.
        login = clean_text(getpass.getuser())[:24].rstrip()
    return made_name() if login.casefold() in _NOBODYS_NAMES else login


def made_name() -> str:
    """A name for someone whose login says nothing; always the same on one machine."""
    machine = socket.gethostname().encode(errors="replace")
    return _NAMES[zlib.crc32(machine) % len(_NAMES)]


def sits_down(function: Function) -> Function:
    """The options of commands that sit a person or a program down."""
    for option in (
        click.option(
            "--name",
            default=usual_name,
            show_default=_("$ODIN_NAME, else your login name; for root a made-up one"),
            help=_("Your name at the table."),
        ),
        _looks_on,
    ):
        function = option(function)
    return function


def _looks_on(function: Function) -> Function:
    for option in (
        click.option(
            "--ascii",
            is_flag=True,
            expose_value=False,
            callback=_draw_in_ascii,
            help=_("Draw the full-screen client in ASCII (also: ODIN_ASCII=1)."),
        ),
        click.option(
            "--color",
            "colour",
            type=click.Choice(CHOICES["color"]),
            default=lambda: preferences().color,
            show_default=_("$ODIN_COLOR, else auto"),
            help=_("Colours of the full-screen client."),
        ),
        click.option(
            "--ui",
            callback=_checked_ui,
            metavar="auto|tui|line|json",
            help=_(
                "Full screen, plain lines, or JSON for a program (default: $ODIN_UI, else tui at "
                "a terminal, line otherwise)."
            ),
        ),
    ):
        function = option(function)
    return function


looks_on = _looks_on
"""The options of commands that show a table."""

credential_file: Final = click.option(
    "--credential-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help=_(
        "Where the credentials of your seats are kept (default: $ODIN_CREDENTIAL_FILE, else the "
        "state folder of your system)."
    ),
)


@dataclass(frozen=True, slots=True)
class Looking:
    """How to look on the network, and whether to."""

    discovery: bool
    interfaces: tuple[str, ...]
    """Addresses of this machine by which to look; empty: all that lead to a real network."""
    wait: float
    """Seconds to look for."""


interfaces: Final = click.option(
    "--interface",
    "interfaces",
    multiple=True,
    default=lambda: preferences().interfaces,
    show_default=False,
    metavar="ADDRESS",
    help=_(
        "The address of this machine in the network that is meant (default: $ODIN_INTERFACES, else "
        "every network that is not virtual). May be repeated."
    ),
)


def on_the_network(function: Function) -> Function:
    """The options of commands that announce or find something on the network."""
    for option in (
        interfaces,
        click.option(
            "--discovery/--no-discovery",
            default=lambda: preferences().discovery,
            show_default=False,
            help=_(
                "Find each other on the network without addresses (default: $ODIN_DISCOVERY, "
                "else yes)."
            ),
        ),
    ):
        function = option(function)
    return function


def looks_around(function: Function) -> Function:
    """The options of commands that find something on the network."""
    wait = click.option(
        "--wait",
        type=click.FloatRange(0, 3600),
        default=2.0,
        show_default=True,
        metavar="SECONDS",
        help=_("How long to look on the network."),
    )
    return on_the_network(wait(function))


def level_of_bots(help_text: str) -> Callable[[Function], Function]:
    """`--level NAME`, of the built-in bots that sit down."""
    return click.option(
        "--level", metavar="NAME", default="greedy", show_default=True, help=help_text
    )


def check_level(level: str, levels: Iterable[str] | None = None) -> None:
    """Raises BadParameter for a level that is not one of these (None: the built-in ones)."""
    from odin_cli.speech.words import alternatives

    if levels is None:
        from odin_engine.strategies import STRATEGIES

        levels = STRATEGIES
    if level not in levels:
        raise click.BadParameter(
            _("there is no level {name}; it is {levels}.").format(
                name=repr(level), levels=alternatives(levels)
            ),
            param_hint="--level",
        )


def ending(function: Function) -> Function:
    """`--to POINTS | --single-deal` and `--full-deck`: what is played."""
    for option in (
        click.option(
            "--full-deck",
            is_flag=True,
            help=_("Two players play with all 54 cards (default: with 36)."),
        ),
        click.option("--single-deal", is_flag=True, help=_("The game is over after one deal.")),
        click.option(
            "--to",
            "threshold",
            type=int,
            metavar="POINTS",
            help=_("The game ends when a total reaches this: 5, 10, ... 100 (default: 15)."),
        ),
    ):
        function = option(function)
    return function


def clock(function: Function) -> Function:
    """`--turn-time SECONDS [--bank SECONDS]`."""
    for option in (
        click.option(
            "--bank",
            type=click.IntRange(0, 3600),
            default=0,
            metavar="SECONDS",
            help=_(
                "What each seat has besides, for the whole game: up to 3600. Needs --turn-time."
            ),
        ),
        click.option(
            "--turn-time",
            type=click.IntRange(5, 600),
            metavar="SECONDS",
            help=_(
                "How long a seat may think, each time: 5 to 600 (default: as long as it likes). "
                "Then the server chooses: it opens with the lowest card, passes, picks up the "
                "highest."
            ),
        ),
    ):
        function = option(function)
    return function


def clock_of(turn_time: int | None, bank: int) -> tuple[int, int]:
    """What both options say together, in seconds; two zeros when there is no clock."""
    if bank and turn_time is None:
        raise click.UsageError(
            _("--bank is used after the time of a turn: add --turn-time SECONDS.")
        )
    return turn_time or 0, bank


def threshold_of(threshold: int | None, single_deal: bool) -> int | None:
    """What both options say together: the threshold, or None for a single deal."""
    if single_deal and threshold is not None:
        raise click.UsageError(_("--to and --single-deal exclude each other."))
    if threshold is not None and not (5 <= threshold <= 100 and threshold % 5 == 0):
        raise click.BadParameter(
            _("{value} is none of 5, 10, ... 100.").format(value=threshold), param_hint="--to"
        )
    return None if single_deal else (threshold or 15)
