"""The options that several commands have."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from odin_cli.command_line import argument, option
from odin_cli.local.preferences import CHOICES, Preferences, load
from odin_cli.speech.complaints import complaint
from odin_cli.speech.languages import _
from odin_client.connection.address import Address, BadAddress
from odin_contract.limits import BANKS, DEFAULT_THRESHOLD, NAME_LENGTH, THRESHOLDS, TURN_TIMES

if TYPE_CHECKING:
    from odin_contract.values import Options


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
            self.fail(complaint(error), param, ctx)

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


class _UiType(click.ParamType[Ui]):
    """What `choose_ui` takes."""

    name = "ui"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Ui:
        if isinstance(value, Ui):
            return value
        try:
            return ui_here(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def ui_here(asked: str | None = None) -> Ui:
    """The interface that was asked for here, by default in the settings; see `choose_ui`."""
    at_a_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return choose_ui(asked or preferences().ui, os.environ, at_a_terminal)


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
        login = clean_text(getpass.getuser())[:NAME_LENGTH].rstrip()
    return made_name() if login.casefold() in _NOBODYS_NAMES else login


def made_name() -> str:
    """A name for someone whose login says nothing; always the same on one machine."""
    machine = socket.gethostname().encode(errors="replace")
    return _NAMES[zlib.crc32(machine) % len(_NAMES)]


@dataclass(frozen=True)
class Showing:
    """How a table is shown."""

    ui: Ui = option(
        "--ui",
        type=_UiType(),
        default=ui_here,
        show_default=False,
        metavar="auto|tui|line|json",
        help=_(
            "Full screen, plain lines, or JSON for a program (default: $ODIN_UI, else tui at "
            "a terminal, line otherwise)."
        ),
    )
    color: str = option(
        "--color",
        type=click.Choice(CHOICES["color"]),
        default=lambda: preferences().color,
        show_default=_("$ODIN_COLOR, else auto"),
        help=_("Colours of the full-screen client."),
    )
    ascii: bool = option(
        "--ascii",
        is_flag=True,
        default=lambda: preferences().ascii,
        help=_("Draw the full-screen client in ASCII (also: ODIN_ASCII=1)."),
    )


@dataclass(frozen=True)
class Sitting(Showing):
    """How a person or a program sits at a table."""

    name: str = option(
        "--name",
        default=usual_name,
        show_default=_("$ODIN_NAME, else your login name; for root a made-up one"),
        help=_("Your name at the table."),
    )


@dataclass(frozen=True)
class Wanted:
    """Which table is wanted, as far as it was said."""

    table: Address | None = argument(
        type=ADDRESS, required=False, metavar="[[HANDLE@]HOST[:PORT]|HANDLE]"
    )
    code: str = option("--code", default="", help=_("The code of a private table."))


def interface_option() -> Any:
    """Addresses of this machine by which to look; empty: all that lead to a real network."""
    return option(
        "--interface",
        multiple=True,
        default=lambda: preferences().interfaces,
        show_default=False,
        metavar="ADDRESS",
        help=_(
            "The address of this machine in the network that is meant (default: $ODIN_INTERFACES, "
            "else every network that is not virtual). May be repeated."
        ),
    )


@dataclass(frozen=True)
class Discovery:
    """Whether and where to announce or find something on the network."""

    discovery: bool = option(
        "--discovery/--no-discovery",
        default=lambda: preferences().discovery,
        show_default=False,
        help=_(
            "Find each other on the network without addresses (default: $ODIN_DISCOVERY, else yes)."
        ),
    )
    interfaces: tuple[str, ...] = interface_option()


@dataclass(frozen=True)
class Looking(Discovery):
    """How to look on the network, and whether to."""

    wait: float = option(
        "--wait",
        type=click.FloatRange(0, 3600),
        default=2.0,
        show_default=True,
        metavar="SECONDS",
        help=_("How long to look on the network."),
    )


@dataclass(frozen=True)
class Game:
    """What is played, and how long one may think."""

    to: int | None = option(
        "--to",
        type=int,
        metavar="POINTS",
        help=_("The game ends when a total reaches this: 5, 10, ... 100 (default: 15)."),
    )
    single_deal: bool = option(
        "--single-deal", is_flag=True, help=_("The game is over after one deal.")
    )
    full_deck: bool = option(
        "--full-deck",
        is_flag=True,
        help=_("Two players play with all 54 cards (default: with 36)."),
    )
    turn_time: int | None = option(
        "--turn-time",
        type=click.IntRange(TURN_TIMES[0], TURN_TIMES[-1]),
        metavar="SECONDS",
        help=_(
            "How long a seat may think, each time: 5 to 600 (default: as long as it likes). "
            "Then the server chooses: it opens with the lowest card, passes, picks up the "
            "highest."
        ),
    )
    bank: int = option(
        "--bank",
        type=click.IntRange(BANKS[0], BANKS[-1]),
        default=0,
        metavar="SECONDS",
        help=_("What each seat has besides, for the whole game: up to 3600. Needs --turn-time."),
    )

    def options(
        self, seats: int, *, private: bool = False, open_to_bots: bool = False, title: str = ""
    ) -> Options:
        """The options of a table for this game; raises UsageError for what does not fit."""
        from odin_contract.values import Options

        if self.single_deal and self.to is not None:
            raise click.UsageError(_("--to and --single-deal exclude each other."))
        if self.to is not None and self.to not in THRESHOLDS:
            raise click.BadParameter(
                _("{value} is none of 5, 10, ... 100.").format(value=self.to), param_hint="--to"
            )
        if self.bank and self.turn_time is None:
            raise click.UsageError(
                _("--bank is used after the time of a turn: add --turn-time SECONDS.")
            )
        return Options(
            seats=seats,
            threshold=None if self.single_deal else self.to or DEFAULT_THRESHOLD,
            short_deck=not self.full_deck,
            private=private,
            open_to_bots=open_to_bots,
            title=title,
            turn_time=self.turn_time or 0,
            bank=self.bank,
        )


def level_option(help_text: str) -> Any:
    """`--level NAME`, of the built-in bots that sit down."""
    return option("--level", metavar="NAME", default="greedy", show_default=True, help=help_text)


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


def credential_file_option() -> Any:
    """Where the credentials are kept; None for the usual place."""
    return option(
        "--credential-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help=_(
            "Where the credentials of your seats are kept (default: $ODIN_CREDENTIAL_FILE, else "
            "the state folder of your system)."
        ),
    )
