"""A server of the first version of the contract: the real one, seen through the stubs of then.

It stands before a server of today, and lets through what the first contract has words for: calls of
that time, with the fields and the values of that time. A later call is UNIMPLEMENTED; a later field
or value is not there, in requests as in answers. A later event keeps its number, as one of unknown
kind. It is a program of its own, with the old stubs first on PYTHONPATH.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from odin_table.v1 import chat_pb2, history_pb2, lobby_pb2, play_pb2

FIRST_REVISION: Final = 1

CONTRACT: Final = (lobby_pb2, play_pb2, chat_pb2, history_pb2)

KNOWN_METADATA: Final = ("authorization", "odin-table-revision")

Context = grpc.aio.ServicerContext[Message, Message]


def cut_down(message: Message) -> Message:
    """Takes out of a message of old stubs whatever the first contract does not know."""
    message.DiscardUnknownFields()
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_ENUM:
            _drop_later_values(message, field, value)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in value if field.is_repeated else (value,):
                cut_down(part)
    if isinstance(message, lobby_pb2.GetServerInfoResponse):
        message.revision = message.oldest_revision = FIRST_REVISION
    return message


def _drop_later_values(message: Message, field: FieldDescriptor, value: Any) -> None:
    assert field.enum_type is not None
    known = field.enum_type.values_by_number
    if field.is_repeated:
        value[:] = [one for one in value if one in known]
    elif value not in known:
        message.ClearField(field.name)


class Through:
    """Hands the calls of one method on to the server of today."""

    def __init__(self, channel: grpc.aio.Channel, method: MethodDescriptor) -> None:
        self._request: Final = GetMessageClass(method.input_type)
        self._answer: Final = GetMessageClass(method.output_type)
        assert method.containing_service is not None
        path = f"/{method.containing_service.full_name}/{method.name}"
        make: Callable[..., Any] = (
            channel.unary_stream if method.server_streaming else channel.unary_unary
        )
        self._call: Final = make(path, _encoded, self._answer.FromString)
        serve: Callable[..., Any] = (
            grpc.unary_stream_rpc_method_handler
            if method.server_streaming
            else grpc.unary_unary_rpc_method_handler
        )
        self.handler: Final[grpc.RpcMethodHandler[Any, Any]] = serve(
            self._stream if method.server_streaming else self._unary,
            self._request.FromString,
            _encoded,
        )

    async def _unary(self, request: Message, context: Context) -> Message:
        try:
            return cut_down(await self._call(cut_down(request), metadata=_metadata(context)))
        except grpc.aio.AioRpcError as error:
            await _refuse(error, context)
            raise

    async def _stream(self, request: Message, context: Context) -> AsyncIterator[Message]:
        try:
            async for item in self._call(cut_down(request), metadata=_metadata(context)):
                # A kind of item that is not known was not sent in those days.
                if cut_down(item).ListFields():
                    yield item
        except grpc.aio.AioRpcError as error:
            await _refuse(error, context)


def _encoded(message: Message) -> bytes:
    return message.SerializeToString()


def _metadata(context: Context) -> tuple[tuple[str, str | bytes], ...]:
    sent = context.invocation_metadata() or ()
    return tuple((key, value) for key, value in sent if key in KNOWN_METADATA)


async def _refuse(error: grpc.aio.AioRpcError, context: Context) -> None:
    details = tuple(error.trailing_metadata() or ())
    await context.abort(error.code(), error.details() or "", details)


async def main(upstream: str) -> None:
    """Serves on any free port of this machine, which it prints, until it is ended."""
    server = grpc.aio.server()
    async with grpc.aio.insecure_channel(upstream) as channel:
        for file in CONTRACT:
            for service in file.DESCRIPTOR.services_by_name.values():
                handlers = {
                    method.name: Through(channel, method).handler for method in service.methods
                }
                handler = grpc.method_handlers_generic_handler(service.full_name, handlers)
                server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        print(f"127.0.0.1:{port}", flush=True)  # noqa: T201 -- tells the test
        await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
