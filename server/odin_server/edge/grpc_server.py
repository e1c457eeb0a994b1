"""A server of gRPC that survives bytes that no client should send.

gRPC logs a header that is not UTF-8 with a traceback and all that is in it, perhaps a credential;
and a path that is not UTF-8 makes gRPC 1.85 stop serving. Here the one is kept out of the log, and
after the other the same calls are served again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

import grpc.aio
from google.protobuf.message import DecodeError

_log: Final = logging.getLogger(__name__)

_TRY_AGAIN: Final = 0.1
"""Seconds until the address is asked for again."""
_ATTEMPTS: Final = 100


class CannotListen(Exception):
    """The address to listen on cannot be had."""


class GrpcServer:
    """A server of gRPC on one address, which goes on when gRPC gives up. `listen`, `start`, `stop`.

    `make` gives a server with its handlers, each time a new one.
    """

    def __init__(self, make: Callable[[], grpc.aio.Server]) -> None:
        self._make: Final = make
        self._server: grpc.aio.Server | None = None
        self._address = ""
        self._watching: asyncio.Task[None] | None = None
        self._stopping = False
        for name in ("grpc._cython.cygrpc", "asyncio"):
            logging.getLogger(name).addFilter(_may_be_logged)

    def listen(self, host: str, port: int) -> int:
        """Listens; returns the port. Raises CannotListen."""
        address = f"{host}:{port}"
        server = self._make()
        try:
            port = server.add_insecure_port(address)
        except RuntimeError:
            raise CannotListen(
                f"Cannot listen on {address}: it is in use, or not an address of this machine. "
                "Choose another one with --listen HOST:PORT."
            ) from None
        self._server, self._address = server, f"{host}:{port}"
        return port

    async def start(self) -> None:
        """Serves until `stop`."""
        assert self._server is not None, "it listens first"
        await self._server.start()
        self._watching = asyncio.create_task(self._serve_on(self._server))

    async def stop(self, grace: float) -> None:
        """Ends; calls that are in flight have `grace` seconds."""
        self._stopping = True
        if self._server is not None:
            await self._server.stop(grace)
        if self._watching is not None:
            # Not cancelled: that would cancel the server's own future of its end.
            await self._watching

    async def _serve_on(self, server: grpc.aio.Server) -> None:
        while True:
            # It raises what made it stop.
            with contextlib.suppress(Exception):
                await server.wait_for_termination()
            if self._stopping:
                return
            _log.error("gRPC stopped serving, because of a path that is not UTF-8; it is restarted")
            server = self._make()
            for _ in range(_ATTEMPTS):
                with contextlib.suppress(RuntimeError):
                    server.add_insecure_port(self._address)
                    break
                await asyncio.sleep(_TRY_AGAIN)
            else:
                _log.critical("%s cannot be had again: stop the server, start it", self._address)
                return
            if not self._stopping:
                self._server = server
                await server.start()


def _may_be_logged(record: logging.LogRecord) -> bool:
    """Whether a record of gRPC is about more than bytes of a caller that make no sense."""
    kind = record.exc_info[0] if record.exc_info else None
    return not (
        isinstance(record.msg, UnicodeDecodeError)
        or (kind is not None and issubclass(kind, (UnicodeDecodeError, DecodeError)))
    )
