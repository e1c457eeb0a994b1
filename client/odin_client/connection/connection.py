"""One connection to one server: channel, credential, deadlines, safe repeats, typed refusals.

A call that changes something carries a request id, so it can be repeated until there is an answer:
the server does it once. It is repeated after UNAVAILABLE and DEADLINE_EXCEEDED only, with the
same id, for as long as the caller's patience lasts.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import time
import uuid
from typing import Final, TypeVar

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    error_details_pb2,
    status_pb2,
)

from odin_client.connection.address import Address
from odin_client.connection.credential import Credential
from odin_client.errors import CredentialRefused, Refused, Unreachable, VersionsDiffer
from odin_client.table.promises import Promises, promises_to
from odin_client.translatable import Translatable
from odin_contract.limits import TEXT_LENGTH
from odin_contract.texts import clean
from odin_table.v1 import (
    chat_pb2_grpc,
    history_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    operator_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
)

_log: Final = logging.getLogger(__name__)

REVISION: Final = 1
"""The revision of the contract that this client was written for."""

CALL_DEADLINE: Final = 5.0
"""Seconds until one attempt of a call is given up."""

PATIENCE: Final = 20.0
"""Seconds until a call is given up for good, all attempts together."""

OPEN_PATIENCE: Final = 5.0
"""Seconds until a server that does not answer at first is given up: somebody waits for it."""

RESOLVE_DEADLINE: Final = 2.0
"""Seconds to find out whether there is a host of that name, when a call could not be made."""

BACKOFF_FIRST: Final = 0.3
BACKOFF_LONGEST: Final = 3.0

CHANNEL_OPTIONS: Final = (
    # gRPC's own pauses between two attempts to connect reach two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 2000),
    # A dead line is noticed after 15 s, so that a call still gets through on a new one before its
    # patience is over; without ping_timeout, after more than a minute. The server allows pings as
    # often.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
    # Repeats are ours, with a request id. And a proxy has no business in a local network.
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    # Two clients in one process must not share a line.
    ("grpc.use_local_subchannel_pool", 1),
)
"""How gRPC itself is set up; times in milliseconds."""

_REPEATABLE: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


def new_request_id() -> str:
    """A fresh request id."""
    return uuid.uuid4().hex


def backoff(attempt: int) -> float:
    """Seconds to wait after this many failed attempts in a row: 0.3 to 3, spread by chance."""
    longest = min(BACKOFF_FIRST * 2.0 ** min(attempt - 1, 10), BACKOFF_LONGEST)
    return longest * random.uniform(0.7, 1.0)


class Connection:
    """A channel to one server, with one credential. To be opened in the loop that uses it."""

    def __init__(
        self,
        address: Address,
        credential: Credential | None = None,
        *,
        target: str | None = None,
    ) -> None:
        """Does not connect yet; `open` does. Without a credential one can only look.

        `target` is where gRPC connects to, when that is not the address.
        """
        self.address: Final = address
        self.promises: Final = promises_to(credential.secret) if credential else Promises()
        """What the server promised of its deals to whoever holds this credential."""
        self._by_address: Final = target is None
        self._channel = grpc.aio.insecure_channel(target or address.server, options=CHANNEL_OPTIONS)
        self._metadata: tuple[tuple[str, str], ...] = (("odin-table-revision", str(REVISION)),)
        if credential is not None:
            self._metadata += (("authorization", f"Bearer {credential.secret}"),)
        self.lobby: Final = lobby_pb2_grpc.LobbyServiceStub(self._channel)
        self.table: Final = play_pb2_grpc.PlayServiceStub(self._channel)
        self.operator: Final = operator_pb2_grpc.OperatorServiceStub(self._channel)
        self.chat: Final = chat_pb2_grpc.ChatServiceStub(self._channel)
        self.history: Final = history_pb2_grpc.HistoryServiceStub(self._channel)
        self.info = lobby_pb2.GetServerInfoResponse()
        """What the server said about itself when the connection was opened."""

    @classmethod
    async def open(
        cls,
        address: Address,
        credential: Credential | None = None,
        *,
        target: str | None = None,
        patience: float = OPEN_PATIENCE,
    ) -> Connection:
        """Connects, and asks the server what it is.

        Raises Unreachable when there is no answer within the patience (seconds), VersionsDiffer
        when the server is none of ours or has left this revision behind.
        """
        connection = cls(address, credential, target=target)
        try:
            connection.info = await connection.call(
                connection.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest(), patience=patience
            )
            if connection.info.oldest_revision > REVISION:
                raise VersionsDiffer(
                    "CLIENT_TOO_OLD",
                    Translatable(
                        "The server at {server} has odin-table {version}, which no longer talks "
                        "to this one.",
                        server=address.server,
                        version=connection.info.version,
                    ),
                )
        except BaseException:
            await connection.close()
            raise
        _log.info("connected to %s, version %r", address.server, connection.info.version)
        return connection

    async def call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        *,
        patience: float = PATIENCE,
        deadline: float = CALL_DEADLINE,
    ) -> Response:
        """Calls a method and repeats it while the server cannot be reached.

        A call that is not answered within `deadline` seconds counts as one that did not reach it.

        The same request is sent each time, so what changes something must carry its request id.
        Raises Refused, or Unreachable after `patience` seconds.
        """
        give_up = time.monotonic() + patience
        attempt = 0
        while True:
            attempt += 1
            left = give_up - time.monotonic()
            try:
                return await method(
                    request,
                    timeout=max(0.1, min(deadline, left)),
                    metadata=self._metadata,
                )
            except grpc.aio.AioRpcError as error:
                refusal = refusal_of(error, type(request).__name__.removesuffix("Request"))
                _log.info("%s refused: %s", refusal.call, refusal.reason or refusal.code)
                if error.code() not in _REPEATABLE:
                    raise refusal from error
                pause = max(backoff(attempt), refusal.retry_after or 0)
                if time.monotonic() + pause > give_up:
                    raise await self.unreachable(refusal) from error
            await asyncio.sleep(pause)

    async def call_by_name(
        self, method: MethodDescriptor, request: Message, *, patience: float = PATIENCE
    ) -> Message:
        """Calls a method that is known by its description only. Otherwise as `call`."""
        callable_: grpc.aio.UnaryUnaryMultiCallable[Message, Message] = self._channel.unary_unary(
            f"/{method.containing_service.full_name}/{method.name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        return await self.call(callable_, request, patience=patience)

    def watch(
        self, request: play_pb2.WatchTableRequest
    ) -> grpc.aio.UnaryStreamCall[play_pb2.WatchTableRequest, play_pb2.WatchTableResponse]:
        """Opens a stream. What it raises is for `refusal_of`."""
        return self.table.WatchTable(request, metadata=self._metadata)

    async def unreachable(self, refusal: Refused) -> Unreachable:
        """What it means that a call could not be made: there is no such host, or no answer."""
        if refusal.reason:  # the server did answer: it stops, or cannot store
            return Unreachable(refusal.message, reason=refusal.reason)
        host = self.address.host
        if self._by_address and not await _is_known(host):
            return Unreachable(
                Translatable("No machine is called {host}.", host=host),
                Translatable(
                    "If {host} is the handle of a table, say where it is: {host}@HOST[:PORT].",
                    host=host,
                ),
                reason="NO_SUCH_HOST",
            )
        return Unreachable(
            Translatable("No server answers at {server}.", server=self.address.server),
            reason="NO_ANSWER",
        )

    async def close(self) -> None:
        """Closes the channel and every call on it."""
        await self._channel.close()


def refusal_of(error: grpc.aio.AioRpcError, call: str) -> Refused:
    """What a failed call means, from its status and the details that came with it."""
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    retry_after: float | None = None
    status = _status_of(error)
    for detail in status.details if status else ():
        detail.Unpack(info)
        detail.Unpack(bad)
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    field = bad.field_violations[0].field if bad.field_violations else ""
    # People are not told the names of fields; programs are, apart from the text.
    text = clean(error.details() or "", TEXT_LENGTH).removeprefix(f"{field}: ")
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        kind: type[Refused] = VersionsDiffer
        text = Translatable(
            "The server does not know what this client asks for: it is another program."
        )
    elif info.reason == "BAD_CREDENTIAL":
        kind = CredentialRefused
    elif info.reason == "CLIENT_TOO_OLD":
        kind = VersionsDiffer
    else:
        kind = Refused
    return kind(
        info.reason,
        text or error.code().name,
        {name: clean(fact, TEXT_LENGTH) for name, fact in info.metadata.items()},
        call=call,
        code=error.code().name,
        retry_after=retry_after,
        field=clean(field, TEXT_LENGTH),
    )


def _status_of(error: grpc.aio.AioRpcError) -> status_pb2.Status | None:
    """The details of an error, if it has any that can be read."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                return None
    return None


async def _is_known(host: str) -> bool:
    """Whether the host has an address. True when nobody says so in time."""
    try:
        async with asyncio.timeout(RESOLVE_DEADLINE):
            await asyncio.get_running_loop().getaddrinfo(host, None)
    except (socket.gaierror, UnicodeError):  # such as "a..b"
        return False
    except TimeoutError:
        pass
    return True
