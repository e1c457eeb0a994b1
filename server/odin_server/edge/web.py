"""The way in over HTTP, for browsers and for curl: the same calls beside gRPC, in the same loop.

uvicorn speaks HTTP, `connect` what is said in it; here are pages, who may call from elsewhere, and
starting and stopping. Needs the extra `odin-table[web]`; only `main` imports this, and only when it
is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import (
    Awaitable,
    Callable,
    Generator,
    Mapping,
    MutableMapping,
)
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from odin_server.edge.calls import Calls, Streaming
from odin_server.edge.connect import Application
from odin_server.edge.page import File, files_of
from odin_server.edge.service import Methods
from odin_server.settings import Http, Settings

_Scope: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_ONE_ANSWER: Final = ("application/json", "application/proto")
_STREAM: Final = ("application/connect+json", "application/connect+proto")
_GRPC_WEB: Final = "application/grpc-web"

_MAY_BE_SENT: Final = ", ".join(
    (
        *("authorization", "content-type", "odin-table-revision"),
        *("connect-protocol-version", "connect-timeout-ms"),
        *("grpc-timeout", "x-grpc-web", "x-user-agent"),
    )
)
"""Headers that a page from elsewhere may send with a call."""

_MAY_BE_READ: Final = "grpc-status, grpc-message, grpc-status-details-bin"
"""Headers of an answer that such a page may read, besides the usual ones."""

_PAGE_HEADERS: Final = (
    # A page loads nothing from elsewhere, and is not put into another page.
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    # It belongs to the server that it came from: after an update to the new one.
    (b"cache-control", b"no-cache"),
)

_LAST_GRACE: Final = 0.5
"""Seconds for what has not ended by itself when the server stops: viewers that do not read."""

_LAST_RESORT: Final = 2
"""Seconds after which uvicorn ends what should have ended then. It counts in whole ones."""

_BACKLOG: Final = 2048
"""Connections that may wait until they are looked at."""

_MOST_UNSENT: Final = 16 * 1024
"""Bytes that the system keeps for somebody who reads slowly. uvicorn keeps 64 KiB, then a stream
waits, and has fallen behind."""


class _Uvicorn(uvicorn.Server):
    """uvicorn without its own mind about signals, which belong to `main`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Connection(H11Protocol):
    """uvicorn's connection, which ends when no request has come for too long.

    uvicorn itself waits for ever for the first one, and for the rest of one that has begun.
    """

    patience: float
    """Seconds for a request, from when one may come until it is whole."""

    def connection_made(self, transport: Any) -> None:  # asyncio's type of it promises less
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._waiting.cancel()
        self._wait()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answers what is no HTTP."""
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=_error("invalid_argument", msg)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self.transport.abort()


class CannotBind(Exception):
    """The address to listen on cannot be had."""


class Web:
    """Serves the calls over HTTP, and the page if there is one. `listen`, `start`, then `stop`.

    Raises NoPage.
    """

    def __init__(
        self,
        settings: Settings,
        http: Http,
        calls: Calls,
        methods: Methods,
    ) -> None:
        self._http: Final = http
        self._settings: Final = settings
        self._page: Final[Mapping[str, File]] = files_of(http.page) if http.page else {}
        self._streams: Final = {
            f"/{service}/{name}": isinstance(method, Streaming)
            for service, by_name in methods.items()
            for name, method in by_name.items()
        }
        self._calls: Final = Application(calls, methods, settings.limits.message_bytes)
        self._listening: socket.socket | None = None
        self._server: _Uvicorn | None = None
        self._serving: asyncio.Task[None] | None = None

    async def listen(self) -> int:
        """Listens; who comes has to wait until `start`. Gives the port; raises CannotBind."""
        self._listening = await _listening(self._http, self._settings)
        port: int = self._listening.getsockname()[1]
        return port

    async def start(self) -> None:
        """Serves."""
        assert self._listening is not None, "it listens first"
        settings = self._settings
        # As long as it takes to notice that a line is dead.
        patience = settings.keepalive + settings.keepalive_timeout
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            http=type("_Patient", (_Connection,), {"patience": patience}),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            # Otherwise whoever sits on this machine could say where calls come from.
            proxy_headers=False,
            limit_concurrency=self._settings.limits.concurrent_calls,
            timeout_graceful_shutdown=_LAST_RESORT,
        )
        self._server = _Uvicorn(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._listening]))

    async def stop(self) -> None:
        """Takes no more calls, and hangs up on whoever has not taken what is left in a moment."""
        if self._server is None or self._serving is None:
            return
        self._server.should_exit = True
        await asyncio.wait({self._serving}, timeout=_LAST_GRACE)
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        await self._serving

    async def _serve(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """One request: see the specification of ASGI."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        allowed = self._allowed(headers)
        if allowed:
            send = _for_other_origin(send, allowed)
            if scope["method"] == "OPTIONS":
                await _say(send, HTTPStatus.NO_CONTENT, "", _PREFLIGHT)
                return
        path: str = scope["path"]
        is_stream = self._streams.get(path)
        if is_stream is None:
            await self._show(scope["method"], path, headers, send)
        elif (problem := _unreadable(scope["method"], headers, is_stream=is_stream)) is not None:
            await _refuse(send, *problem)
        else:
            scope["headers"] = [(key, _as_utf8(value)) for key, value in scope["headers"]]
            # The types of ASGI come from a package that is there for checkers only.
            application: Any = self._calls
            await application(scope, receive, send)

    def _allowed(self, headers: Mapping[bytes, bytes]) -> bytes | None:
        """The origin of a page from elsewhere that may call, if it is one."""
        origin = headers.get(b"origin")
        origins = self._http.origins
        if origin is not None and ("*" in origins or origin.decode("latin-1") in origins):
            return origin
        return None

    async def _show(
        self, method: str, path: str, headers: Mapping[bytes, bytes], send: _Send
    ) -> None:
        if method not in ("GET", "HEAD"):
            problem = f"There is no call {path}."
            content = headers.get(b"content-type", b"").decode("latin-1")
            if content.startswith(_GRPC_WEB):
                await _refuse_over_grpc_web(send, content, problem)
            else:
                await _refuse(send, HTTPStatus.NOT_FOUND, "unimplemented", problem)
        elif path in self._page:
            kind, data = self._page[path]
            body = data if method == "GET" else b""
            await _answer(send, HTTPStatus.OK, kind, body, _PAGE_HEADERS, length=len(data))
        elif path == "/":
            await _say(send, HTTPStatus.OK, _GREETING)
        else:
            await _say(send, HTTPStatus.NOT_FOUND, f"There is nothing at {path}.")


_GREETING: Final = """This is a server of odin-table. A call is a POST with JSON, such as

    curl -H 'content-type: application/json' -d '{}' \\
        http://HOST:PORT/odin_table.v1.LobbyService/ListTables

No page is shown here: the server was started without --page."""

_PREFLIGHT: Final = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", _MAY_BE_SENT.encode()),
    (b"access-control-max-age", b"7200"),
)


def _unreadable(
    method: str, headers: Mapping[bytes, bytes], *, is_stream: bool
) -> tuple[HTTPStatus, str, str] | None:
    """What is wrong with the envelope of a call, as a status, a code of Connect and in words.

    What is in it is not looked at.
    """
    if method != "POST":
        return HTTPStatus.METHOD_NOT_ALLOWED, "unimplemented", "A call is a POST."
    kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    types = _STREAM if is_stream else _ONE_ANSWER
    if kind in types or kind.startswith(_GRPC_WEB):
        return None
    answer = "This call is answered with a stream" if is_stream else "This call has one answer"
    return (
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "invalid_argument",
        f"{answer}: its content-type is {types[0]}, {types[1]} or {_GRPC_WEB}.",
    )


def _for_other_origin(send: _Send, origin: bytes) -> _Send:
    """Sends what a page from that origin may read."""

    async def send_on(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *message["headers"],
                (b"access-control-allow-origin", origin),
                (b"access-control-expose-headers", _MAY_BE_READ.encode()),
                (b"vary", b"origin"),
            ]
        await send(message)

    return send_on


async def _say(
    send: _Send, status: HTTPStatus, text: str, more: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = f"{text}\n".encode() if text else b""
    await _answer(send, status, "text/plain; charset=utf-8", body, more, length=len(body))


def _as_utf8(value: bytes) -> bytes:
    """A header as UTF-8. Another one makes no sense in any call, and is refused there if it counts.

    connectrpc would raise an error of its own.
    """
    try:
        value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1").encode()
    return value


def _error(code: str, problem: str) -> bytes:
    """An error as Connect has it."""
    return json.dumps({"code": code, "message": problem}).encode()


async def _refuse(send: _Send, status: HTTPStatus, code: str, problem: str) -> None:
    body = _error(code, problem)
    await _answer(send, status, "application/json", body, (), length=len(body))


async def _refuse_over_grpc_web(send: _Send, kind: str, problem: str) -> None:
    status = ((b"grpc-status", b"12"), (b"grpc-message", quote(problem).encode()))
    await _answer(send, HTTPStatus.OK, kind, b"", status, length=0)


async def _answer(
    send: _Send,
    status: HTTPStatus,
    kind: str,
    body: bytes,
    more: tuple[tuple[bytes, bytes], ...],
    *,
    length: int,
) -> None:
    headers = [(b"content-type", kind.encode()), (b"content-length", str(length).encode()), *more]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _listening(http: Http, settings: Settings) -> socket.socket:
    """A socket that listens. Its connections notice a line that is dead, as those of gRPC do."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            http.host, http.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        # Named, since asyncio sends small answers at once only where it knows that it is TCP.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError as error:
        raise CannotBind(error.strerror or str(error)) from None
    try:
        if os.name == "posix":
            # Elsewhere this would let two servers have one port.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, http.host != "::")
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise CannotBind(error.strerror or str(error)) from None
    idle, answer = max(round(settings.keepalive), 1), max(round(settings.keepalive_timeout), 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Connections inherit these on Linux. Elsewhere a dead line is noticed later, and somebody who
    # does not read costs more.
    for name, value in (
        ("TCP_KEEPIDLE", idle),
        ("TCP_KEEPINTVL", max(answer // 3, 1)),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", (idle + answer) * 1000),
        ("TCP_NOTSENT_LOWAT", _MOST_UNSENT),
    ):
        if hasattr(socket, name):
            listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return listening
