"""The scripted server: takes the calls of one client, on a loopback port of its own.

What a script wants to see (TakeSeat, WatchTable, Act) waits in `calls` until the script answers it.
Everything else that a client may ask meanwhile is answered as any server would.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final, TypeAlias

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from odin_conformance.calls import Call, Outcome, Refusal, Scripted, Stream, in_words
from odin_conformance.table import CLIENT, HANDLE, Table
from odin_contract.limits import CHAT_LENGTH, NAME_LENGTH
from odin_table.v1 import chat_pb2, history_pb2, lobby_pb2, play_pb2

_Context: TypeAlias = grpc.aio.ServicerContext[bytes, Any]

_CREDENTIAL: Final = re.compile(r"[Bb]earer ([A-Za-z0-9_-]{43})=?")

REBIND_PATIENCE: Final = 5.0
"""Seconds until the port of a server that has stopped must be free again."""


_ANSWERED: Final = (
    lobby_pb2.TakeSeatResponse,
    lobby_pb2.SetReadyResponse,
    lobby_pb2.GiveNonceResponse,
    play_pb2.ActResponse,
)


class ScriptedServer:
    """One table with a free seat, and whoever comes for it."""

    def __init__(self, table: Table, heartbeat: float) -> None:
        """`heartbeat` is in seconds: a stream is not quiet for longer, until a script says so."""
        self.table = table
        self.calls: Final[asyncio.Queue[Call]] = asyncio.Queue()
        """What waits for the script."""
        self.seen: Final[list[str]] = []
        """Every call that came, in words."""
        self.port = 0
        self._heartbeat: Final = heartbeat
        self._credential = ""
        """Of the client, once it has taken the seat."""
        self._answered: Final[dict[str, tuple[Message, Message]]] = {}
        """Requests that were carried out and answered, by their ids, with the answers."""
        self._grpc: grpc.aio.Server | None = None

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return f"127.0.0.1:{self.port}"

    # Coming and going

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Listens, and stops at the end."""
        await self._listen()
        try:
            yield
        finally:
            await self._stop()

    async def restart(self) -> None:
        """Cuts every connection, with the calls on it, and listens again at the same port."""
        await self._stop()
        await self._listen()

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + REBIND_PATIENCE
        while self._grpc is None:
            server = grpc.aio.server(
                options=(
                    ("grpc.so_reuseport", 0),
                    # A client may ask whether the server lives as often as it likes.
                    ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
                    ("grpc.http2.max_ping_strikes", 0),
                )
            )
            for handler in self._handlers():
                server.add_generic_rpc_handlers((handler,))
            try:
                self.port = server.add_insecure_port(self.address)
                self._grpc = server
            except RuntimeError:
                if loop.time() > give_up:
                    raise
                await asyncio.sleep(0.05)
        await self._grpc.start()

    async def _stop(self) -> None:
        if self._grpc is not None:
            await self._grpc.stop(0)
            self._grpc = None

    # From bytes to a request, and back

    def _handlers(self) -> list[Any]:
        services = (
            service
            for file in (lobby_pb2, play_pb2, chat_pb2, history_pb2)
            for service in file.DESCRIPTOR.services_by_name.values()
        )
        return [
            grpc.method_handlers_generic_handler(
                service.full_name,
                {method.name: self._handler(method) for method in service.methods},
            )
            for service in services
        ]

    def _handler(self, method: MethodDescriptor) -> grpc.RpcMethodHandler[bytes, Any]:
        kind = GetMessageClass(method.input_type)

        async def unary(data: bytes, context: _Context) -> bytes:
            try:
                outcome = await self._outcome(kind, data, context)
            except Refusal as refusal:
                await context.abort(refusal.code, refusal.message, refusal.details())
            assert isinstance(outcome, Message), "it has one answer"
            return outcome.SerializeToString()

        async def stream(data: bytes, context: _Context) -> AsyncIterator[bytes]:
            try:
                outcome = await self._outcome(kind, data, context)
                assert isinstance(outcome, Stream), "it has many answers"
                async for item in outcome.items(self._heartbeat):
                    yield item.SerializeToString()
            except Refusal as refusal:
                await context.abort(refusal.code, refusal.message, refusal.details())

        # gRPC's types know the methods of its blocking server only.
        if method.server_streaming:
            streaming: Any = stream
            return grpc.unary_stream_rpc_method_handler(streaming)
        answering: Any = unary
        return grpc.unary_unary_rpc_method_handler(answering)

    async def _outcome(self, kind: type[Message], data: bytes, context: _Context) -> Outcome:
        """Raises Refusal."""
        try:
            request = kind.FromString(data)
        except DecodeError:
            self.seen.append(f"{in_words(kind())} with bytes that do not decode")
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED") from None
        self.seen.append(in_words(request))
        match request:
            case lobby_pb2.GetServerInfoRequest():
                return lobby_pb2.GetServerInfoResponse(
                    version="conformance kit",
                    revision=1,
                    oldest_revision=1,
                    server_time=self.table.server_time(),
                    levels=["greedy"],
                    max_name_length=NAME_LENGTH,
                    max_chat_length=CHAT_LENGTH,
                    features=["deal_2", "give_nonce"],
                )
            case lobby_pb2.ListTablesRequest():
                return lobby_pb2.ListTablesResponse(tables=[self.table.summary()])
            case _:
                self._check(request, context)
                outcome = await self._at_the_table(request)
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome

    def _check(self, request: Message, context: _Context) -> None:
        """Refuses whoever is not the client in its seat, and who asks for another table."""
        credential = _credential_in(context)
        if credential is None:
            self.seen[-1] += " without a credential"
            raise Refusal(grpc.StatusCode.UNAUTHENTICATED, "BAD_CREDENTIAL")
        if getattr(request, "table", HANDLE) != HANDLE:
            self.seen[-1] += " at another table"
            raise Refusal(grpc.StatusCode.NOT_FOUND, "TABLE_NOT_FOUND")
        if isinstance(request, lobby_pb2.TakeSeatRequest) and not self._credential:
            self._credential = credential
        if credential != self._credential:
            self.seen[-1] += " with a credential that has no seat"
            raise Refusal(grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")

    # What a client may ask

    async def _at_the_table(self, request: Message) -> Outcome:
        match request:
            case play_pb2.WatchTableRequest():
                return await self._by_the_script(request)
            case play_pb2.GetViewRequest():
                return play_pb2.GetViewResponse(view=self.table.view())
            case lobby_pb2.TakeSeatRequest() | play_pb2.ActRequest():
                return await self._once(request)
            case lobby_pb2.SetReadyRequest() | lobby_pb2.GiveNonceRequest() if (
                self.table.takes_nonces
            ):
                return await self._once(request)
            case lobby_pb2.SetReadyRequest() if not self.table.state.deal:
                self.table.make_ready(request.ready)
                return lobby_pb2.SetReadyResponse(seq=len(self.table.events))
            case lobby_pb2.SetReadyRequest() | lobby_pb2.GiveNonceRequest():
                return Refusal(grpc.StatusCode.FAILED_PRECONDITION, "ALREADY_STARTED")
            case lobby_pb2.LeaveSeatRequest():
                return lobby_pb2.LeaveSeatResponse(seq=len(self.table.events))
            case _:
                return Refusal(grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")

    async def _by_the_script(self, request: Scripted) -> Outcome:
        call = Call(request, asyncio.get_running_loop().time())
        self.calls.put_nowait(call)
        return await call.outcome

    async def _once(
        self,
        request: lobby_pb2.TakeSeatRequest
        | lobby_pb2.SetReadyRequest
        | lobby_pb2.GiveNonceRequest
        | play_pb2.ActRequest,
    ) -> Outcome:
        """Gives the same answer again to a request that is repeated although it was answered."""
        before, answer = self._answered.get(request.request_id, (None, None))
        if isinstance(answer, _ANSWERED):
            if before != request:
                self.seen[-1] += " with the request_id of another request"
                return Refusal(grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_REUSED")
            answer.replayed = True
            return answer
        if isinstance(request, lobby_pb2.TakeSeatRequest) and self._answered:
            return lobby_pb2.TakeSeatResponse(table=HANDLE, seat=CLIENT, seq=len(self.table.events))
        outcome = await self._by_the_script(request)
        if isinstance(outcome, Message):
            self._answered[request.request_id] = (request, outcome)
        return outcome


def _credential_in(context: _Context) -> str | None:
    """The credential of the caller: 32 bytes in base64url; None without one."""
    for key, value in context.invocation_metadata() or ():
        if key == "authorization" and (found := _CREDENTIAL.fullmatch(str(value))):
            return found[1]
    return None
