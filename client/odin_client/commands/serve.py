"""`odin-table serve`: the one place where client and server meet, to be one program."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from odin_client.address import DEFAULT_PORT
from odin_client.commands.options import interfaces
from odin_client.commands.store import file_of
from odin_client.commands.store import option as store_option
from odin_client.languages import _

if TYPE_CHECKING:
    from odin_server.settings import Settings


@click.command(
    help="\n\n".join(
        (
            _("Run a server until it is told to stop (Ctrl-C, SIGTERM)."),
            _("Others on the network reach it only when it listens there. Times are in seconds."),
        )
    )
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=f"127.0.0.1:{DEFAULT_PORT}",
    show_default=True,
    help=_("Where to listen. 0.0.0.0 is every address of this machine, port 0 any free port."),
)
@store_option
@click.option("--seed", type=int, help=_("Deal the same cards each time. Never for a real game."))
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help=_("Change a setting or a limit; --settings lists them. May be repeated."),
)
@click.option("--settings", "lists_settings", is_flag=True, help=_("List settings, and stop."))
@click.option("--until-empty", is_flag=True, help=_("Stop when the last table has ended."))
@click.option("--announce", is_flag=True, help=_("Let others on the network find it (DNS-SD)."))
@interfaces
@click.option("--until-stdin-closes", is_flag=True, hidden=True)
def command(
    listen: str,
    store: str,
    seed: int | None,
    changes: tuple[str, ...],
    lists_settings: bool,
    until_empty: bool,
    announce: bool,
    interfaces: tuple[str, ...],
    until_stdin_closes: bool,
) -> int:
    """Runs a server in this process."""
    from odin_server.main import run
    from odin_server.settings import Settings

    host, port = _host_and_port(listen)
    file = file_of(store)
    settings = Settings(host=host, port=port, store=file, seed=seed, until_empty=until_empty)
    settings = _changed(settings, changes)
    if lists_settings:
        for name, value in _settings_in(settings).items():
            click.echo(f"{name}={value}")
        return 0
    if until_stdin_closes:
        threading.Thread(target=_stop_with_stdin, daemon=True).start()
    if not announce:
        return run(settings)
    from odin_client.announcement import announced

    return run(settings, lambda port: announced(host, port, only=interfaces))


def _settings_in(settings: Settings) -> dict[str, int | float]:
    """Every number that can be set, by name."""
    own = {
        field.name: getattr(settings, field.name)
        for field in fields(settings)
        if field.name not in ("host", "port", "store", "seed", "limits", "until_empty")
    }
    return own | {f.name: getattr(settings.limits, f.name) for f in fields(settings.limits)}


def _changed(settings: Settings, changes: tuple[str, ...]) -> Settings:
    known = _settings_in(settings)
    for change in changes:
        name, _equals, text = change.partition("=")
        if name not in known:
            raise click.BadParameter(
                _("there is no setting {name}; `odin-table serve --settings` lists them.").format(
                    name=repr(name)
                ),
                param_hint="--set",
            )
        try:
            settings = _with(settings, name, type(known[name])(text))
        except ValueError as error:
            raise click.BadParameter(f"{change}: {error}", param_hint="--set") from error
    return settings


def _with(settings: Settings, name: str, value: float) -> Settings:
    change: dict[str, Any] = {name: value}
    if hasattr(settings.limits, name):
        return replace(settings, limits=replace(settings.limits, **change))
    return replace(settings, **change)


def _host_and_port(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    if not colon:
        host, port = listen, str(DEFAULT_PORT)
    if not port.isdigit() or int(port) > 65535 or not host:
        raise click.BadParameter(
            _("{text} is not HOST:PORT.").format(text=repr(listen)), param_hint="--listen"
        )
    return host.strip("[]"), int(port)


def _stop_with_stdin() -> None:
    """Stops when whoever holds the other end of stdin has gone, even if they were killed."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
