"""Starting and stopping a server."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
import secrets
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, TypeAlias

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from odin_contract.enums import Phase
from odin_server.clock import Clock, SystemClock
from odin_server.edge.calls import Calls
from odin_server.edge.control import Control
from odin_server.edge.grpc_server import CannotListen, GrpcServer
from odin_server.edge.page import NoPage
from odin_server.edge.service import Methods, Services
from odin_server.environment import Environment, Meter, NoMeter, Randomness
from odin_server.event_log import (
    RESTORE,
    CannotOpen,
    EventLog,
    StoreUnavailable,
)
from odin_server.event_log.stores import MEMORY, open_log, url_of
from odin_server.lobby.tables import Lobby
from odin_server.settings import Settings
from odin_server.table.dealing import Dealer
from odin_server.table.table import Table, World
from odin_server.table.watch import Watch
from odin_server.upkeep.bots import Bots
from odin_server.upkeep.outages import Standstill
from odin_server.upkeep.retention import Retention
from odin_server.upkeep.thinker import Thinker, Threads

if TYPE_CHECKING:
    from odin_server.edge.web import Web

_LAST_GRACE: Final = 0.5
"""Seconds for what has not ended by itself when the server stops."""


_log: Final = logging.getLogger(__name__)


class Server:
    """A server: `start` it, then `stop` it.

    Everything that it needs from outside can be given: the log, the clock, where shuffles and
    names come from, what counts, who thinks for built-in bots, who draws the deals.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        log: EventLog | None = None,
        clock: Clock | None = None,
        chance: random.Random | None = None,
        names: random.Random | None = None,
        meter: Meter | None = None,
        thinker: Thinker | None = None,
        dealer: Dealer | None = None,
    ) -> None:
        self.settings: Final = settings
        self.port = settings.port
        """The port that it listens on, once started."""
        self.http_port: int | None = None
        """The port on which it serves HTTP, once started, if it does."""
        thinker = thinker or Threads()
        seeded = settings.seed is not None
        chance = chance or (random.Random(settings.seed) if seeded else secrets.SystemRandom())
        self._log: Final[EventLog] = log or open_log(MEMORY)
        rng = Randomness(
            deals=chance,
            names=names or secrets.SystemRandom(),
            # Not that of the deals, which nobody may learn anything about.
            bots=random.Random(settings.seed),
        )
        environment = Environment(clock or SystemClock(), rng, meter or NoMeter(), settings)
        self._standstill: Final = Standstill(self._log, environment)
        self._dealer: Final = dealer or Dealer()
        world = World(self._log, environment, self._standstill, self._dealer)
        self.lobby: Final = Lobby(world)
        self.retention: Final = Retention(world, self.lobby)
        self.watch: Final = Watch(environment)
        self.bots: Final = Bots(environment, thinker)
        self.lobby.listeners.extend((self.watch, self.bots))
        retry_after = timedelta(seconds=settings.drain_retry_after)
        self._calls: Final = Calls(environment, retry_after)
        self._services: Final = Services(
            environment=environment,
            lobby=self.lobby,
            watch=self.watch,
            log=self._log,
            calls=self._calls,
            levels=thinker.levels,
            version=version("odin-table"),
        )
        self._control: Final = Control(environment, self._services, self._log)
        self._health: Final = health.aio.HealthServicer()
        self._grpc: GrpcServer | None = None
        self._web: Web | None = None

    async def start(self) -> None:
        """Listens and serves; raises CannotListen, and NoPage when it shall show one."""
        methods = self._services.methods()
        server = GrpcServer(lambda: self._made(methods))
        self.port = server.listen(_bracketed(self.settings.host), self.settings.port)
        web = await self._listen_for_http(methods)
        await self._standstill.start(
            is_needed=lambda: not self.lobby.is_empty, tell=self.lobby.give_back_time
        )
        await self.lobby.start()
        await server.start()
        self._grpc = server
        if web is not None:
            await web.start()
            self._web = web
        self.watch.start()
        self.retention.start()
        await self._control.start()
        for name in ("", *methods):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def _made(self, methods: Methods) -> grpc.aio.Server:
        """A server of gRPC with all that it serves."""
        server = grpc.aio.server(
            options=channel_options(self.settings),
            # Not grpc.max_concurrent_streams: that would let callers hang instead of refusing.
            maximum_concurrent_rpcs=self.settings.limits.concurrent_calls,
        )
        for name, handlers in methods.items():
            server.add_generic_rpc_handlers((self._calls.handler(name, handlers),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = (*methods, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server)
        return server

    async def _listen_for_http(self, methods: Methods) -> Web | None:
        if self.settings.http is None:
            return None
        from odin_server.edge.web import CannotBind, Web  # noqa: PLC0415 (needs what the extra brings)

        web = Web(self.settings, self.settings.http, self._calls, methods)
        try:
            self.http_port = await web.listen()
        except CannotBind as error:
            host, port = self.settings.http.host, self.settings.http.port
            raise CannotListen(
                f"Cannot listen on {_bracketed(host)}:{port}: {error}. "
                "Choose another one with --http HOST:PORT."
            ) from None
        return web

    async def stop(self) -> None:
        """Says that it stops, lets calls under way finish, tells every stream, and ends."""
        if self._grpc is None:
            return
        server, self._grpc = self._grpc, None
        await self._health.enter_graceful_shutdown()
        self._calls.draining = True
        await self._control.stop()
        await self.retention.stop()
        await self.lobby.stop()
        await self.bots.stop()
        self.watch.drain()
        await self._calls.finished(self.settings.drain_grace)
        # What is left are viewers that do not read, and calls of the standard services.
        await asyncio.gather(
            server.stop(_LAST_GRACE), *([] if self._web is None else [self._web.stop()])
        )
        await self.watch.stop()
        # The last calls may have set timers again.
        await self.lobby.stop()
        await self._standstill.stop()
        self._dealer.stop()
        await self._log.close()


Beside: TypeAlias = Callable[[int], AbstractAsyncContextManager[None]]
"""Something that runs beside a server while it serves on this port, such as its announcement."""


def _nothing(_port: int) -> AbstractAsyncContextManager[None]:
    return contextlib.nullcontext()


def run(settings: Settings, beside: Beside = _nothing) -> int:
    """Serves until SIGTERM or SIGINT, and says on stdout where. Returns the exit code."""
    try:
        log = open_log(url_of(settings.store))
        asyncio.run(_serve_and_close(settings, log, beside))
    except (CannotListen, CannotOpen, NoPage) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except StoreUnavailable as error:
        sys.stderr.write(f"error: {settings.store} cannot be read: {error}. {RESTORE}\n")
        return 1
    return 0


class _WhenEmpty:
    """Listens for the end of the last table. To be told after the lobby."""

    def __init__(self, lobby: Lobby, then: Callable[[], None]) -> None:
        self._lobby: Final = lobby
        self._then: Final = then

    def table_changed(self, table: Table) -> None:
        """See `table.Listener`."""
        if table.state.phase is Phase.CLOSED and self._lobby.is_empty:
            self._then()


async def _serve_and_close(settings: Settings, log: EventLog, beside: Beside) -> None:
    try:
        await _serve(settings, log, beside)
    finally:
        # Also when nothing was served: a file that was not closed looks as if it lacked its end.
        await log.close()


async def _serve(settings: Settings, log: EventLog, beside: Beside) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    server = Server(settings, log=log)
    if settings.until_empty:
        server.lobby.listeners.append(_WhenEmpty(server.lobby, stopping.set))
    await server.start()
    _log.info("version %s serves on port %d", version("odin-table"), server.port)
    # What is loaded by now stays. To look at it would hold up everybody for 10 ms, again and again.
    gc.freeze()
    # An act leaves some ten objects that stay, none of them in a cycle: looking for cycles every
    # 700 objects, as Python does, took a tenth of the processor time of a busy server.
    gc.set_threshold(20_000, 20, 50)
    said = f"odin-table serves on {_bracketed(settings.host)}:{server.port}\n"
    if settings.http is not None:
        said += f"and over HTTP on http://{_bracketed(settings.http.host)}:{server.http_port}/\n"
    # In one, since whoever waits for the first line may close the pipe after it.
    sys.stdout.write(said)
    sys.stdout.flush()
    async with beside(server.port):
        await stopping.wait()
    await server.stop()
    _log.info("stopped")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def channel_options(settings: Settings) -> list[tuple[str, int]]:
    """How gRPC itself is set up."""
    return [
        # Otherwise a second server binds the same port in silence.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", settings.limits.message_bytes),
        # Without these nearly half of many streams that reconnect at once are refused.
        ("grpc.server.max_pending_requests", 20_000),
        ("grpc.server.max_pending_requests_hard_limit", 40_000),
        # Calls that wait for longer are cancelled: a client cannot tell whether they were done.
        # gRPC's own 30 s are too few for 10,000 streams on a busy machine. In seconds.
        ("grpc.server_max_unrequested_time_in_server", 300),
        ("grpc.keepalive_time_ms", round(settings.keepalive * 1000)),
        ("grpc.keepalive_timeout_ms", round(settings.keepalive_timeout * 1000)),
        # Without this one a dead peer is noticed a minute later.
        ("grpc.http2.ping_timeout_ms", round(settings.keepalive_timeout * 1000)),
        ("grpc.keepalive_permit_without_calls", 1),
        # Clients may ask whether the server lives as often as every five seconds.
        ("grpc.http2.min_ping_interval_without_data_ms", 4_000),
        ("grpc.http2.max_ping_strikes", 0),
    ]
