"""A server that tells of its tables otherwise than they are, to see whether clients find out.

    async with lying(server.address, lie) as address:
        ...  # clients connect to the address

It stands between the clients and a real server. Each event that comes by is given to `lie`, which
changes it in place.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, NoReturn, TypeAlias

import grpc
import grpc.aio

from odin_table.v1 import event_pb2, play_pb2

Lie: TypeAlias = Callable[[event_pb2.Event], None]
_Unary: TypeAlias = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
_Stream: TypeAlias = grpc.aio.UnaryStreamMultiCallable[bytes, bytes]
_Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]


@asynccontextmanager
async def lying(server: str, lie: Lie) -> AsyncGenerator[str]:
    """Stands before the server at HOST:PORT; gives the address where it listens itself."""
    async with grpc.aio.insecure_channel(server) as channel:
        liar = grpc.aio.server()
        liar.add_generic_rpc_handlers([_Liar(channel, lie)])
        port = liar.add_insecure_port("127.0.0.1:0")
        await liar.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            await liar.stop(0)


class _Liar(grpc.GenericRpcHandler):
    def __init__(self, channel: grpc.aio.Channel, lie: Lie) -> None:
        self._channel: Final = channel
        self._lie: Final = lie

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes]:
        method = handler_call_details.method

        async def call(request: bytes, context: _Context) -> bytes:
            ask: _Unary = self._channel.unary_unary(method)
            try:
                return await ask(request, metadata=_credential(context))
            except grpc.aio.AioRpcError as refusal:
                return await _pass_on(refusal, context)

        async def watch(request: bytes, context: _Context) -> AsyncIterator[bytes]:
            ask: _Stream = self._channel.unary_stream(method)
            try:
                async for answer in ask(request, metadata=_credential(context)):
                    item = play_pb2.WatchTableResponse.FromString(answer)
                    for event in item.events.events:
                        self._lie(event)
                    yield item.SerializeToString()
            except grpc.aio.AioRpcError as refusal:
                await _pass_on(refusal, context)

        if method.endswith("/WatchTable"):
            return grpc.unary_stream_rpc_method_handler(watch)
        return grpc.unary_unary_rpc_method_handler(call)


def _credential(context: _Context) -> list[tuple[str, str | bytes]]:
    return [pair for pair in context.invocation_metadata() or () if pair[0] == "authorization"]


async def _pass_on(refusal: grpc.aio.AioRpcError, context: _Context) -> NoReturn:
    trailers = refusal.trailing_metadata()
    await context.abort(refusal.code(), refusal.details() or "", tuple(trailers))
