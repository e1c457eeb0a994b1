"""`odin-table doctor`: what this program finds on this machine, for people and for bug reports."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from odin_cli.command_line import argument, command_with, option
from odin_cli.options import ADDRESS, Looking, Showing
from odin_cli.speech.languages import _
from odin_client.connection.address import Address

if TYPE_CHECKING:
    from odin_cli.terminal.capabilities import Capabilities

_VARIABLES: Final = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "LANG", "LC_ALL")
"""What of the environment a report shows; others may hold secrets."""

_GLYPHS: Final = "│▶●▲▮╭✓↺é"
"""Of each one the screen counts on one column."""

_SMALLEST: Final = (40, 16)
_SLOW_ESCAPE: Final = 50
"""Milliseconds for which tmux may hold back Esc before one notices."""


@dataclass(frozen=True)
class DoctorOptions:
    """Of `odin-table doctor`."""

    server: Address | None = argument(type=ADDRESS, required=False, metavar="[HOST[:PORT]]")
    json: bool = option("--json", is_flag=True, help=_("One JSON document."))


@command_with(
    DoctorOptions,
    _(
        "Show what your terminal can do, where files lie, and which servers can be reached.\n\n"
        "With HOST, that server is asked as well. --json is for bug reports; there is no secret in "
        "it."
    ),
)
def command(asked: DoctorOptions) -> int:
    """See the help."""
    from odin_cli.interface import capabilities_here, run_in_loop
    from odin_cli.lan.discovery import WAIT
    from odin_cli.local.preferences import BadSetting

    problem = ""
    caps: Capabilities | None = None
    looking = Looking(discovery=False, interfaces=(), wait=WAIT)
    try:
        caps = capabilities_here(Showing())
        looking = Looking(wait=WAIT)
    except BadSetting as error:  # which is worth knowing, and no reason to stop
        problem = str(error)
    report: dict[str, dict[str, Any]] = {
        "program": _program(),
        "terminal": _terminal(caps),
        "files": _files(problem),
    }
    code = run_in_loop(_ask_network(asked.server, looking, report))
    if asked.json:
        click.echo(json.dumps(report, indent=1))
    else:
        _show(report, caps)
    return code


def _program() -> dict[str, Any]:
    return {
        "version": importlib.metadata.version("odin-table"),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def _terminal(caps: Capabilities | None) -> dict[str, Any]:
    columns, rows = shutil.get_terminal_size()
    facts: dict[str, Any] = {name: os.environ.get(name, "") for name in _VARIABLES}
    facts |= {
        "stdin is a terminal": sys.stdin.isatty(),
        "stdout is a terminal": sys.stdout.isatty(),
        "size": f"{columns}x{rows}",
        "encoding": sys.stdout.encoding,
        "ssh": bool(os.environ.get("SSH_CONNECTION")),
        "tmux": bool(os.environ.get("TMUX")),
    }
    if caps is not None:
        facts |= {"colours": caps.depth.value, "ascii": caps.ascii_only, "mouse": caps.mouse}
    if facts["tmux"]:
        facts["tmux escape-time"] = _tmux_escape_time()
    return facts


def _tmux_escape_time() -> int | None:
    """In milliseconds; None when tmux does not tell."""
    asked = ["tmux", "show-options", "-sv", "escape-time"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True)
        return int(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _files(problem: str) -> dict[str, Any]:
    from odin_cli.games import game_file
    from odin_cli.local import logs, state_folder
    from odin_cli.local.preferences import default_path

    settings = default_path()
    paths = {
        "settings": settings,
        "state": state_folder.state_folder(),
        "log": logs.client_log(),
        "games": game_file.folder(),
    }
    facts: dict[str, Any] = {name: _short(path) for name, path in paths.items()}
    facts["settings are"] = problem or ("good" if os.access(settings, os.F_OK) else "not there")
    return facts


def _short(path: Path) -> str:
    """Without the name of whoever's home it is in."""
    with contextlib.suppress(RuntimeError, ValueError):  # no home, or elsewhere
        return f"~/{path.relative_to(Path.home())}"
    return str(path)


async def _ask_network(
    server: Address | None, looking: Looking, report: dict[str, dict[str, Any]]
) -> int:
    """Adds to the report what answers; gives the exit code."""
    from odin_cli.finding import look
    from odin_cli.lan.network import own_addresses
    from odin_cli.speech.complaints import exit_code, message
    from odin_client.connection.connection import Connection
    from odin_client.errors import ClientError

    facts = report["network"] = {
        "own addresses": own_addresses(looking.interfaces),
        "discovery": looking.discovery,
        "servers": [
            f"{answer.address}, {answer.server.name}, {1000 * answer.seconds:.0f} ms"
            for answer in await look(looking)
        ],
    }
    if server is None:
        return 0
    try:
        connection = await Connection.open(server)
    except ClientError as problem:
        facts[str(server)] = message(problem)
        return exit_code(problem)
    facts[str(server)] = f"version {connection.info.version} answers"
    await connection.close()
    return 0


# What people see


def _show(report: Mapping[str, Mapping[str, Any]], caps: Capabilities | None) -> None:
    for section, facts in report.items():
        click.echo(section.upper())
        for name, value in facts.items():
            click.echo(f"  {name}: {_readable(value)}".rstrip())
    if caps is not None and sys.stdout.isatty():
        click.echo(_("COLOURS: six that differ, each with its letter"))
        _show_chips(caps)
    if caps is not None and not caps.ascii_only:
        click.echo(_("SIGNS: the bars have to stand under each other, else use --ascii"))
        click.echo("  |" + "|".join(_GLYPHS) + "|")
        click.echo("  |" + "|".join(str(n + 1) for n in range(len(_GLYPHS))) + "|")
    for advice in _advice(report):
        click.echo(f"! {advice}")


def _readable(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return "; ".join(map(str, cast("list[object]", value))) or _("none")
    return str(value)


def _show_chips(caps: Capabilities) -> None:
    from prompt_toolkit import print_formatted_text
    from prompt_toolkit.formatted_text import FormattedText
    from prompt_toolkit.styles import Style

    from odin_cli.terminal.full_screen import DEPTHS
    from odin_cli.terminal.style import card_style, rules_of
    from odin_engine import Colour

    chips = [(f"class:{card_style(colour)}", f" {colour.name[0]} 7 ") for colour in Colour]
    spaced = [fragment for chip in chips for fragment in (("", "  "), chip)]
    print_formatted_text(
        FormattedText(spaced),
        style=Style.from_dict(dict(rules_of(caps.depth))),
        color_depth=DEPTHS[caps.depth],
    )


def _advice(report: Mapping[str, Mapping[str, Any]]) -> list[str]:
    terminal, network = report["terminal"], report["network"]
    advice: list[str] = []
    columns, rows = map(int, terminal["size"].split("x"))
    if columns < _SMALLEST[0] or rows < _SMALLEST[1]:
        advice.append(_("The full screen needs 40 columns and 16 rows; `--ui line` needs nothing."))
    if "utf" not in terminal["encoding"].lower():
        advice.append(_("Without UTF-8 everything is drawn in ASCII."))
    if (terminal.get("tmux escape-time") or 0) > _SLOW_ESCAPE:
        advice.append(_("tmux holds Esc back: put `set -sg escape-time 10` into ~/.tmux.conf."))
    if network["discovery"] and not network["servers"]:
        advice.append(
            _(
                "No server was found. If there should be one, the usual causes are a firewall (UDP "
                "5353, TCP 7711), a guest network that keeps machines apart, or a VPN."
            )
        )
    return advice
