"""A client that knows nothing of the contract learns it from the server, and plays with it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from odin_server.main import Server
from tests.server.conftest import QUICK, Serve
from tests.support.patience import PATIENCE
from tests.support.people import bearer

STREAM_DEADLINE: Final = 3 * PATIENCE


class Generic:
    """Calls methods by name with JSON, as `grpcurl` does: with a pool of descriptors of its own."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._database = ProtoReflectionDescriptorDatabase(channel)
        self._pool = DescriptorPool(self._database)
        self._metadata = (("authorization", bearer(bytes(range(32)))),)

    def services(self) -> list[str]:
        return sorted(self._database.get_services())

    def methods(self, service: str) -> list[str]:
        return [method.name for method in self._pool.FindServiceByName(service).methods]

    def fields(self, message: str) -> dict[str, int]:
        found = self._pool.FindMessageTypeByName(message)
        return {field.name: field.number for field in found.fields}

    def call(self, name: str, /, **request: Any) -> Any:
        """The answer, or what a refusal says."""
        method = self._method(name)
        call: Any = self._made(self._channel.unary_unary, method)
        try:
            answer = call(self._request(method, request), PATIENCE, self._metadata)
        except grpc.RpcError as error:
            # It is the call as well, which its type does not say.
            return self._refusal(error)
        return MessageToDict(answer, descriptor_pool=self._pool)

    def watch(self, name: str, /, **request: Any) -> Iterator[Any]:
        """The items of a stream."""
        method = self._method(name)
        call: Any = self._made(self._channel.unary_stream, method)
        stream = call(self._request(method, request), STREAM_DEADLINE, self._metadata)
        try:
            for item in stream:
                yield MessageToDict(item, descriptor_pool=self._pool)
        finally:
            stream.cancel()

    def _method(self, name: str) -> MethodDescriptor:
        service, _, method = name.partition("/")
        return self._pool.FindServiceByName(f"odin_table.v1.{service}").methods_by_name[method]

    def _made(self, make: Any, method: MethodDescriptor) -> Any:
        assert method.containing_service is not None
        path = f"/{method.containing_service.full_name}/{method.name}"
        return make(path, _encoded, GetMessageClass(method.output_type).FromString)

    def _request(self, method: MethodDescriptor, request: dict[str, Any]) -> Message:
        message = GetMessageClass(method.input_type)()
        return ParseDict(request, message, descriptor_pool=self._pool)

    def _refusal(self, error: Any) -> Any:
        trailers: dict[str, Any] = dict(error.trailing_metadata())
        self._pool.FindMessageTypeByName("google.rpc.ErrorInfo")
        status = GetMessageClass(self._pool.FindMessageTypeByName("google.rpc.Status"))
        return MessageToDict(
            status.FromString(trailers["grpc-status-details-bin"]), descriptor_pool=self._pool
        )


def _encoded(message: Message) -> bytes:
    return message.SerializeToString()


@contextmanager
def generic(server: Server) -> Generator[Generic]:
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Generic(channel)


async def test_services_calls_and_messages_are_listed(serve: Serve) -> None:
    server = await serve()

    def look() -> None:
        with generic(server) as client:
            assert client.services() == [
                "grpc.health.v1.Health",
                "grpc.reflection.v1alpha.ServerReflection",
                "odin_table.v1.ChatService",
                "odin_table.v1.HistoryService",
                "odin_table.v1.LobbyService",
                "odin_table.v1.PlayService",
            ]
            assert client.methods("odin_table.v1.PlayService") == ["Act", "WatchTable", "GetView"]
            fields = client.fields("odin_table.v1.ActRequest")
            assert fields == {"request_id": 1, "table": 2, "decision_id": 3, "action": 4}

    await asyncio.to_thread(look)


def play_a_deal(server: Server) -> None:
    with generic(server) as client:
        opened = client.call(
            "LobbyService/CreateTable",
            requestId="1",
            options={"seats": 2, "singleDeal": True},
        )
        table = opened["table"]
        (listed,) = client.call("LobbyService/ListTables")["tables"]
        assert listed["table"] == table
        client.call("LobbyService/TakeSeat", requestId="2", table=table, name="Generic")
        client.call("LobbyService/AddBot", requestId="3", table=table)
        client.call("LobbyService/SetReady", requestId="4", table=table, ready=True)
        acts = 0
        event: Any = {}
        items = client.watch("PlayService/WatchTable", table=table, afterSeq=0)
        for event in (e for item in items for e in item.get("events", {}).get("events", [])):
            decision = event.get("decisionOpened", {}).get("decision", {})
            if "choices" in decision:
                acts += 1
                act = {"table": table, "action": decision["choices"]["defaultAction"]}
                stale = {**act, "requestId": f"stale {acts}", "decisionId": 1}
                refusal = client.call("PlayService/Act", **stale)
                assert refusal["details"][0]["reason"] == "STALE_DECISION"
                done = {**act, "requestId": f"act {acts}", "decisionId": decision["id"]}
                assert "seq" in client.call("PlayService/Act", **done)
            if "gameEnded" in event:
                break
        assert "gameEnded" in event
        assert acts


async def test_a_deal_is_played_without_a_line_of_generated_code(serve: Serve) -> None:
    server = await serve(replace(QUICK, seed=30))
    await asyncio.to_thread(play_a_deal, server)
