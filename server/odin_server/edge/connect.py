"""The calls in the protocols of browsers: Connect with protobuf or JSON, and gRPC-Web.

connectrpc speaks them. To it a request and an answer are bytes: what a call does, who may make it
and how it is refused is settled in `calls`, as for gRPC.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import AsyncGenerator, ItemsView
from contextlib import aclosing
from typing import Any, Final, NamedTuple, NoReturn

import grpc
from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.message import Message
from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs] -- there, unmarked
from protobuf import merge_from_json
from protobuf import wkt as connect_wkt

from odin_contract.json_form import JsonError, fill, parsed
from odin_server.edge.calls import Calls, Streaming, Unary
from odin_server.edge.service import Methods
from odin_server.errors import malformed, to_grpc


class _Answer(NamedTuple):
    """An answer that is encoded already, and what it is."""

    kind: type[Message]
    data: bytes


class _Protobuf:
    """Requests and answers as protobuf: they are left as they are."""

    def name(self) -> str:
        return "proto"

    def encode(self, message: _Answer) -> bytes:
        return message.data

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> bytes:
        return bytes(data)


class _Json:
    """Requests and answers in protobuf's JSON. Unknown fields are stepped over, as in protobuf."""

    def name(self) -> str:
        return "json"

    def encode(self, message: _Answer) -> bytes:
        value = json_format.MessageToDict(message.kind.FromString(message.data))
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> bytes:
        request = message_class()
        try:
            fill(request, parsed(bytes(data)))
        except JsonError as error:
            refusal = malformed(error.path or "message", error.problem)
            raise _as_connect(*to_grpc(refusal)) from None
        return request.SerializeToString()


class _Detail(ErrorDetail):
    """A detail of a refusal that is in clear text as well, for people who use curl."""

    def __init__(self, packed: Packed) -> None:
        super().__init__(connect_wkt.Any(type_url=packed.type_url, value=packed.value))
        detail = json_format.MessageToDict(packed)
        detail.pop("@type")
        self._clear: Final = connect_wkt.Struct()
        merge_from_json(self._clear, json.dumps(detail))

    def value(self, *_: Any) -> Any:
        return self._clear


def _as_connect(
    code: grpc.StatusCode, message: str, trailing_metadata: tuple[tuple[str, Any], ...]
) -> ConnectError:
    """The error of connectrpc that says what gRPC would say."""
    status = status_pb2.Status()
    for key, value in trailing_metadata:
        if key == "grpc-status-details-bin":
            status.ParseFromString(value)
    return ConnectError(Code[code.name], message, [_Detail(detail) for detail in status.details])


class _Call:
    """The context of a call that came over HTTP; see `calls.Context`."""

    def __init__(self, context: RequestContext[Any, Any]) -> None:
        self._context: Final = context

    def invocation_metadata(self) -> ItemsView[str, str]:
        return self._context.request_headers.allitems()

    def peer(self) -> str:
        # As gRPC writes it, so that an address is one address, whichever way its calls come.
        host, _, port = (self._context.client_address or "").rpartition(":")
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return f"unknown:{host}:{port}"
        if isinstance(address, ipaddress.IPv6Address):
            if address.ipv4_mapped is None:
                return f"ipv6:%5B{address}%5D:{port}"
            address = address.ipv4_mapped
        return f"ipv4:{address}:{port}"

    async def abort(
        self, code: grpc.StatusCode, details: str, trailing_metadata: tuple[tuple[str, Any], ...]
    ) -> NoReturn:
        raise _as_connect(code, details, trailing_metadata)


class Application(ConnectASGIApplication[None]):
    """All calls of all services, as an application of ASGI. Requests have `most_bytes` at most."""

    def __init__(self, calls: Calls, methods: Methods, most_bytes: int) -> None:
        endpoints = {
            f"/{service}/{name}": _endpoint(calls, service, name, method)
            for service, by_name in methods.items()
            for name, method in by_name.items()
        }
        super().__init__(  # pyright: ignore[reportUnknownMemberType] -- endpoints of any kind
            service=None,
            endpoints=lambda _service: endpoints,
            read_max_bytes=most_bytes,
            # An answer is small; what is not compressed cannot unfold into something large.
            compressions=(),
            codecs=(_Protobuf(), _Json()),
        )

    @property
    def path(self) -> str:
        """Where it lies: its services have paths of their own."""
        return "/"


def _endpoint(calls: Calls, service: str, name: str, method: Unary[Any] | Streaming[Any]) -> Any:
    """An endpoint of connectrpc, which does not export what kinds of them there are."""
    descriptor = descriptor_pool.Default().FindServiceByName(service).FindMethodByName(name)
    kind = message_factory.GetMessageClass(descriptor.output_type)
    one = isinstance(method, Unary)
    info: MethodInfo[Any, Any] = MethodInfo(
        name=name,
        service_name=service,
        input=method.request,
        output=kind,
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.UNARY if one else StreamType.SERVER_STREAM,
    )
    if isinstance(method, Unary):
        answer = calls.unary(f"{service}.{name}", method)

        async def unary(data: bytes, context: RequestContext[Any, Any]) -> _Answer:
            return _Answer(kind, await answer(data, _Call(context)))

        return Endpoint.unary(info, unary)
    answers = calls.streaming(f"{service}.{name}", method)

    async def stream(data: bytes, context: RequestContext[Any, Any]) -> AsyncGenerator[_Answer]:
        async with aclosing(answers(data, _Call(context))) as items:
            async for item in items:
                yield _Answer(kind, item)

    return Endpoint.server_stream(info, stream)
