"""What every call goes through: bytes in, a request, who is asking, an answer or a typed refusal.

Requests are decoded here and not by gRPC, which would send an exception's text to a client whose
bytes do not decode; and answers may be bytes already, so that what many get is encoded once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from datetime import timedelta
from typing import Any, Final, Generic, NamedTuple, NoReturn, Protocol, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from odin_server.authority import Authority, Role
from odin_server.edge.credentials import digest_of
from odin_server.edge.limits import Buckets
from odin_server.environment import Environment
from odin_server.errors import Reason, Refusal, malformed, table_damaged, to_grpc
from odin_server.event_log import StoreUnavailable, TableDamaged
from odin_server.settings import Limits

_log: Final = logging.getLogger(__name__)

REVISION: Final = 1
"""The revision of the contract that this server speaks."""
OLDEST_REVISION: Final = 1
"""The oldest revision that it still speaks."""

_QUIET: Final = 0.1
"""Seconds without a call after which no more are expected by a server that stops."""

Request = TypeVar("Request", bound=Message)


class Context(Protocol):
    """What a call comes with: gRPC's own context of a call, or that of another way in (`web`)."""

    def invocation_metadata(self) -> Iterable[tuple[str, str | bytes]] | None:
        """The metadata, its keys in lower case."""
        ...

    def peer(self) -> str:
        """Where it came from, as gRPC writes it: ipv4:127.0.0.1:53412."""
        ...

    async def abort(
        self, code: grpc.StatusCode, details: str, trailing_metadata: tuple[tuple[str, Any], ...]
    ) -> NoReturn:
        """Ends the call by raising an error that says this."""
        ...


class Caller(NamedTuple):
    """Who is asking."""

    credential: bytes | None
    """The digest of the credential, or None when the call came without one."""
    address: str
    """Where the call came from, without the port."""
    role: Role = Role.PLAYER

    @property
    def holder(self) -> bytes:
        """The digest of the credential; raises BAD_CREDENTIAL when there is none."""
        return digest_of(None) if self.credential is None else self.credential

    @property
    def authority(self) -> Authority:
        """Who gives a command; raises BAD_CREDENTIAL for a player without a credential."""
        is_operator = self.role is Role.OPERATOR
        return Authority((self.credential or b"") if is_operator else self.holder, self.role)


class Unary(NamedTuple, Generic[Request]):
    """A call with one answer."""

    request: type[Request]
    answer: Callable[[Request, Caller], Awaitable[Message | bytes]]
    limits_itself: bool = False
    """Whether the method itself looks after the limits of calls."""
    goes_on: bool = False
    """Whether it is done to its end when its caller has gone: more follows what the log keeps."""


class Streaming(NamedTuple, Generic[Request]):
    """A call with a stream of answers, each encoded. `begin` refuses before the first of them."""

    request: type[Request]
    begin: Callable[[Request, Caller], Awaitable[tuple[AsyncIterator[bytes], Callable[[], None]]]]
    """Gives the stream, and what to do when its caller is gone."""


class Calls:
    """Turns methods into handlers of gRPC."""

    def __init__(
        self,
        environment: Environment,
        retry_after: timedelta,
        *,
        role: Role = Role.PLAYER,
    ) -> None:
        limits, monotonic = environment.settings.limits, environment.clock.monotonic
        self._meter: Final = environment.meter
        self._role: Final = role
        self.draining = False
        """When set, every call is refused as SERVER_DRAINING."""
        self._come = 0
        self._under_way = 0
        self._going_on: Final[set[asyncio.Future[Message | bytes]]] = set()
        self._retry_after: Final = retry_after
        self._calls_for_a_deal: Final = limits.calls_for_a_deal
        self._of_credential: Final = _calls_of("credential", limits, monotonic)
        self._of_address: Final = _calls_of("address", limits, monotonic)

    def handler(self, service: str, methods: Mapping[str, Unary[Any] | Streaming[Any]]) -> Any:
        """The handlers of a service, by the names of its methods."""
        handlers: dict[str, grpc.RpcMethodHandler[bytes, Any]] = {}
        for name, method in methods.items():
            if isinstance(method, Unary):
                handlers[name] = grpc.unary_unary_rpc_method_handler(
                    self.unary(f"{service}.{name}", method)
                )
            else:
                handlers[name] = grpc.unary_stream_rpc_method_handler(
                    self.streaming(f"{service}.{name}", method)
                )
        return grpc.method_handlers_generic_handler(service, handlers)

    def count(self, caller: Caller) -> None:
        """Counts a call; raises RATE_LIMITED when it is one too many. The operator has no limit."""
        if caller.role is Role.OPERATOR:
            return
        self._of_address.take(caller.address)
        if caller.credential is not None:
            self._of_credential.take(caller.credential)

    def count_deal(self, caller: Caller) -> None:
        """Counts a deal that this caller started: starting and closing tables costs as well."""
        if caller.role is not Role.OPERATOR:
            self._of_address.charge(caller.address, self._calls_for_a_deal)
            self._of_credential.charge(caller.holder, self._calls_for_a_deal)

    async def finished(self, at_most: float) -> None:
        """Waits until no call is under way and no more come; `at_most` seconds.

        gRPC cancels what it has not handed over yet when it is stopped, so that a client could not
        tell whether it was done. Here such calls are answered or refused first.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + at_most
        seen = -1
        while loop.time() < end and (self._under_way or seen != self._come):
            seen = self._come
            await asyncio.sleep(_QUIET)

    async def _to_its_end(self, answering: Awaitable[Message | bytes]) -> Message | bytes:
        task = asyncio.ensure_future(answering)
        self._going_on.add(task)
        task.add_done_callback(self._going_on.discard)
        return await asyncio.shield(task)

    @contextlib.contextmanager
    def _counted(self) -> Generator[None]:
        self._come += 1
        self._meter.count("calls")
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def unary(self, name: str, method: Unary[Any]) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Does a call of this method: takes its request and gives its answer, both encoded."""

        async def call(data: bytes, context: Context) -> bytes:
            with self._counted():
                try:
                    request = self._request(method.request, data)
                    caller = self._caller(context)
                    if not method.limits_itself:
                        self.count(caller)
                    answering = method.answer(request, caller)
                    answer = await (self._to_its_end(answering) if method.goes_on else answering)
                    return answer if isinstance(answer, bytes) else answer.SerializeToString()
                except Exception as error:  # noqa: BLE001 (nothing but a typed refusal leaves)
                    await self._refuse(name, error, context)

        return call

    def streaming(
        self, name: str, method: Streaming[Any]
    ) -> Callable[[bytes, Context], AsyncGenerator[bytes]]:
        """Does a call of this method: takes its request and gives its answers, each encoded."""

        async def call(data: bytes, context: Context) -> AsyncGenerator[bytes]:
            with self._counted():
                try:
                    request = self._request(method.request, data)
                    caller = self._caller(context)
                    self.count(caller)
                    items, gone = await method.begin(request, caller)
                except Exception as error:  # noqa: BLE001 (nothing but a typed refusal leaves)
                    await self._refuse(name, error, context)
                try:
                    async for item in items:
                        yield item
                except Exception as error:  # noqa: BLE001 (nothing but a typed refusal leaves)
                    await self._refuse(name, error, context)
                finally:
                    gone()

        return call

    def _request(self, kind: type[Request], data: bytes) -> Request:
        request = kind()
        try:
            request.ParseFromString(data)
        except DecodeError:
            raise malformed("message", f"These bytes are no {kind.__name__}.") from None
        return request

    def _caller(self, context: Context) -> Caller:
        """Who is asking; raises BAD_CREDENTIAL, CLIENT_TOO_OLD or SERVER_DRAINING."""
        authorization: str | None = None
        revision: str | None = None
        for key, value in context.invocation_metadata() or ():
            if key == "authorization":
                if authorization is not None:
                    raise Refusal(
                        Reason.BAD_CREDENTIAL, "Send one credential with a call, not two."
                    )
                authorization = str(value)
            elif key == "odin-table-revision":
                if revision is not None:
                    raise malformed(key, "Say it once.")
                revision = str(value)
        credential = None if authorization is None else digest_of(authorization)
        if revision is not None:
            _check_revision(revision)
        if self.draining:
            raise Refusal(
                Reason.SERVER_DRAINING,
                "This server is stopping. Try again in a moment.",
                retry_after=self._retry_after,
            )
        return Caller(credential, _address(context.peer()), self._role)

    async def _refuse(self, name: str, error: Exception, context: Context) -> NoReturn:
        """Ends the call with the typed refusal that belongs to this error."""
        self._meter.count("refusals")
        if isinstance(error, StoreUnavailable):
            refusal = Refusal(
                Reason.STORE_UNAVAILABLE,
                "The tables cannot be written now. Nothing was done; try again in a moment.",
                retry_after=self._retry_after,
            )
        elif isinstance(error, TableDamaged):
            refusal = table_damaged()
        elif isinstance(error, Refusal):
            refusal = error
        elif isinstance(error, grpc.aio.AbortError):
            raise error
        else:
            incident = secrets.token_hex(4)
            _log.error("%s: incident %s", name, incident, exc_info=error)
            refusal = Refusal(
                Reason.INTERNAL,
                f"A fault of the server. Its operator finds it as incident {incident}.",
                facts={"incident": incident},
            )
        code, message, details = to_grpc(refusal)
        await context.abort(code, message, details)


def _calls_of(whom: str, limits: Limits, monotonic: Callable[[], float]) -> Buckets:
    name = f"calls_per_second_per_{whom}"
    per_second: float = getattr(limits, name)
    return Buckets(name, per_second, per_second * 10, monotonic)


def _check_revision(text: str) -> None:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise malformed("odin-table-revision", "The revision of the contract is a number.")
    if int(text) < OLDEST_REVISION:
        raise Refusal(
            Reason.CLIENT_TOO_OLD,
            f"This client speaks revision {text} of the contract, which is too old for this "
            f"server. Update the client to revision {OLDEST_REVISION} or later.",
            facts={"needed_revision": str(OLDEST_REVISION)},
        )


def _address(peer: str) -> str:
    """The address in gRPC's name of a peer, such as ipv4:127.0.0.1:53412, without the port."""
    return peer.rpartition(":")[0] or peer
