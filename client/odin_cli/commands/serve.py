"""`odin-table serve`: the one place where client and server meet, to be one program."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from odin_cli.command_line import command_with, option
from odin_cli.options import interface_option
from odin_cli.speech.languages import _
from odin_cli.store import file_of, store_option
from odin_client.connection.address import DEFAULT_PORT
from odin_client.errors import ClientError

if TYPE_CHECKING:
    from odin_server.settings import Http, Settings


@dataclass(frozen=True)
class ServeOptions:
    """Of `odin-table serve`."""

    listen: str = option(
        "--listen",
        metavar="HOST:PORT",
        default=f"127.0.0.1:{DEFAULT_PORT}",
        show_default=True,
        help=_("Where to listen. 0.0.0.0 is every address of this machine, port 0 any free port."),
    )
    http: str | None = option(
        "--http",
        metavar="[HOST:]PORT",
        help=_(
            "Serve browsers and curl as well, on this port (Connect, gRPC-Web, JSON). HOST is that "
            "of --listen unless you say another one. Needs the extra odin-table[web]."
        ),
    )
    page: Path | None = option(
        "--page",
        metavar="FOLDER",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help=_("With --http: show browsers the page in this folder."),
    )
    origins: tuple[str, ...] = option(
        "--allow-origin",
        multiple=True,
        metavar="ORIGIN",
        help=_(
            "With --http: let a page from elsewhere call, such as https://example.org, or from "
            "anywhere (*). May be repeated."
        ),
    )
    store: str = store_option()
    seed: int | None = option(
        "--seed",
        type=int,
        help=_("Deal the same cards each time, unless players add to them. Never for a real game."),
    )
    set: tuple[str, ...] = option(
        "--set",
        multiple=True,
        metavar="NAME=VALUE",
        help=_("Change a setting or a limit; --settings lists them. May be repeated."),
    )
    settings: bool = option("--settings", is_flag=True, help=_("List settings, and stop."))
    until_empty: bool = option(
        "--until-empty", is_flag=True, help=_("Stop when the last table has ended.")
    )
    announce: bool = option(
        "--announce", is_flag=True, help=_("Let others on the network find it (DNS-SD).")
    )
    interfaces: tuple[str, ...] = interface_option()
    until_stdin_closes: bool = option("--until-stdin-closes", is_flag=True, hidden=True)


@command_with(
    ServeOptions,
    _("Run a server until it is told to stop (Ctrl-C, SIGTERM)."),
    _("Others on the network reach it only when it listens there. Times are in seconds."),
)
def command(asked: ServeOptions) -> int:
    """Runs a server in this process."""
    from odin_server.main import run
    from odin_server.settings import Settings

    host, port = _host_and_port(asked.listen)
    settings = Settings(
        host=host,
        port=port,
        http=_http(asked, host),
        store=file_of(asked.store),
        seed=asked.seed,
        until_empty=asked.until_empty,
    )
    settings = _changed(settings, asked.set)
    if asked.settings:
        for name, value in _settings_in(settings).items():
            click.echo(f"{name}={value}")
        return 0
    if asked.until_stdin_closes:
        threading.Thread(target=_stop_with_stdin, daemon=True).start()
    if not asked.announce:
        return run(settings)
    from odin_cli.lan.announcement import announced

    return run(settings, lambda port: announced(host, port, only=asked.interfaces))


def _settings_in(settings: Settings) -> dict[str, int | float]:
    """Every number that can be set, by name."""
    own = {
        field.name: getattr(settings, field.name)
        for field in fields(settings)
        if field.name not in ("host", "port", "http", "store", "seed", "limits", "until_empty")
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
    if not _is_port(port) or not host:
        raise click.BadParameter(
            _("{text} is not HOST:PORT.").format(text=repr(listen)), param_hint="--listen"
        )
    return host.strip("[]"), int(port)


def _http(asked: ServeOptions, host: str) -> Http | None:
    """What is said about HTTP, in one; `host` is where it listens unless it says."""
    from odin_server.settings import Http

    if asked.http is None:
        if asked.page is not None or asked.origins:
            raise click.UsageError(_("--page and --allow-origin need --http PORT."))
        return None
    for origin in asked.origins:
        _check_origin(origin)
    own_host, _colon, port = asked.http.rpartition(":")
    if not _is_port(port):
        raise click.BadParameter(
            _("{text} is not [HOST:]PORT.").format(text=repr(asked.http)), param_hint="--http"
        )
    if any(find_spec(name) is None for name in ("connectrpc", "uvicorn")):
        raise ClientError(
            _("--http needs packages that are not installed."),
            _("Install them: pip install 'odin-table[web]'"),
        )
    return Http(
        host=own_host.strip("[]") or host, port=int(port), page=asked.page, origins=asked.origins
    )


def _check_origin(origin: str) -> None:
    """Raises BadParameter for what no browser ever says: such a page could never call."""
    if origin in ("*", "null"):
        return
    said = _as_browsers_say(origin)
    if said is None:
        raise click.BadParameter(
            _(
                "{text} is not an origin. It is scheme, host and, unless it is the usual one, "
                "port: https://example.org, http://localhost:8080."
            ).format(text=repr(origin)),
            param_hint="--allow-origin",
        )
    if said != origin:
        raise click.BadParameter(
            _("{text} would match no page. Browsers say {origin}.").format(
                text=repr(origin), origin=said
            ),
            param_hint="--allow-origin",
        )


def _as_browsers_say(origin: str) -> str | None:
    """The origin of this address as a browser sends it; None for what is none."""
    try:
        parts = urlsplit(origin)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:
        return None
    if not host or "://" not in origin or any(character.isspace() for character in origin):
        return None
    scheme = parts.scheme.lower()
    usual = {"http": 80, "https": 443}.get(scheme)
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) <= 65535


def _stop_with_stdin() -> None:
    """Stops when whoever holds the other end of stdin has gone, even if they were killed."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
