"""The session that docs/write-a-client.md shows, call by call, is what a real server answers.

The page is prose with blocks, each after a mark that names it. The calls of all blocks are made
here, one after the other, at a server on a real port; the text of each block has to be what was
asked and what came. With ODIN_REWRITE_SNAPSHOTS=1 the blocks are written anew.

Nothing is left to chance: the cards come from the seed that the page names, handles and ids from
one of their own, and the clock stands still. How events are parted into items of a stream depends
on how fast they are read, so they are shown one by one.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import random
import re
import textwrap
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import grpc.aio
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_status import rpc_status

from odin_table.v1 import event_pb2, history_pb2, lobby_pb2, play_pb2, play_pb2_grpc
from tests.server.conftest import QUICK, Serve
from tests.support.clocks import SetClock
from tests.support.patience import PATIENCE

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "write-a-client.md"

SEED: Final = 57
"""A short game. The page names it too."""
CREDENTIAL: Final = bytes(range(32))
WIDTH: Final = 100

METHODS: Final[dict[str, MethodDescriptor]] = {
    f"{service.name}/{method.name}": method
    for file in (lobby_pb2, play_pb2, history_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


Json: TypeAlias = "str | int | list[Json] | dict[str, Json]"


def pretty(value: Json, indent: int, before: int = 0) -> str:
    """JSON that is broken into lines only where it is too long for one."""
    flat = json.dumps(value, ensure_ascii=False)
    if indent + before + len(flat) < WIDTH:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [
            f'"{key}": {pretty(part, indent + 2, len(key) + 4)}' for key, part in value.items()
        ]
        return f"{{\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}}}"
    if isinstance(value, list):
        if isinstance(value[0], str):
            lines = textwrap.wrap(flat[1:-1], WIDTH - indent - 3)
            return f"[\n{inner}" + f"\n{inner}".join(lines) + f"\n{' ' * indent}]"
        parts = [pretty(part, indent + 2) for part in value]
        return f"[\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}]"
    return flat


class Session:
    """A client that knows the contract and JSON, and nothing else; it writes down what it does."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel
        secret = base64.urlsafe_b64encode(CREDENTIAL).rstrip(b"=").decode()
        self._metadata = (("authorization", f"Bearer {secret}"), ("odin-table-revision", "1"))
        self._lines: list[str] = []
        self.blocks: dict[str, list[str]] = {}
        """What was asked (→), answered (←), and brought by the stream (⇐), by name."""

    def begin(self, block: str) -> None:
        """From here on it is written into this block."""
        self._lines = self.blocks[block] = []

    def _write(self, sign: str, what: str, message: Any) -> None:
        self._lines.append(f"{sign} {what}{pretty(message, 2, len(what))}")

    async def call(self, call: str, **request: Any) -> Any:
        """Makes a call, and gives the answer; or the google.rpc.Status of a refusal."""
        self._write("→", f"{call} ", request)
        method = METHODS[call]
        make: Any = self._channel.unary_unary(
            f"/odin_table.v1.{call}",
            request_serializer=_encoded,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        message = json_format.ParseDict(request, GetMessageClass(method.input_type)())
        try:
            answer = await make(message, metadata=self._metadata, timeout=PATIENCE)
        except grpc.aio.AioRpcError as error:
            answer, code = rpc_status.from_call(error), f"{error.code().name} "
        else:
            code = ""
        assert answer is not None, "a refusal has details"
        as_json = json_format.MessageToDict(answer)
        self._write("←", code, as_json)
        return as_json

    async def watch(self, **request: Any) -> AsyncGenerator[Any]:
        """The snapshots and the events of a stream, one by one."""
        self._write("→", "PlayService/WatchTable ", request)
        play = play_pb2_grpc.PlayServiceStub(self._channel)
        message = json_format.ParseDict(request, play_pb2.WatchTableRequest())
        stream = play.WatchTable(message, metadata=self._metadata)
        try:
            while True:
                async with asyncio.timeout(PATIENCE):
                    item = await stream.read()
                assert isinstance(item, play_pb2.WatchTableResponse), "the server ended the stream"
                as_json = json_format.MessageToDict(item)
                if "snapshot" in as_json:
                    self._write("⇐", "", as_json)
                    yield as_json
                for event in as_json.get("events", {}).get("events", []):
                    self._write("⇐", "", event)
                    yield event
        finally:
            stream.cancel()


def _encoded(message: Message) -> bytes:
    return message.SerializeToString()


async def own_decision(stream: AsyncGenerator[Any]) -> Any:
    """Reads on until the client has to decide; None when the game has ended first."""
    async for event in stream:
        decision = event.get("decisionOpened", {}).get("decision", {})
        if "choices" in decision:
            return decision
        if "gameEnded" in event:
            return None
    raise AssertionError("the stream ended")


def chosen(decision: Any) -> Any:
    """How this client plays: as many cards as it can, of the lowest value."""
    choices = decision["choices"]
    if not choices.get("plays"):
        pick_ups = choices.get("pickUps")
        return {"pickUp": {"card": pick_ups[0]}} if pick_ups else choices["defaultAction"]
    play = max(choices["plays"], key=lambda play: len(play["cards"]))
    action = {"cards": play["cards"]}
    if choices.get("pickUps") and not play.get("goesOut"):
        action["pickUp"] = choices["pickUps"][0]
    return {"playCards": action}


async def played(session: Session) -> dict[str, str]:
    """Plays the session of the page; gives the text of its blocks."""
    ids = (f"{number:04x}" for number in itertools.count(0x7A10))

    def act(decision: Any) -> dict[str, Any]:
        return {
            "requestId": next(ids),
            "table": table,
            "decisionId": decision["id"],
            "action": chosen(decision),
        }

    session.begin("hello")
    await session.call("LobbyService/GetServerInfo")

    session.begin("table")
    options = {"seats": 2, "singleDeal": True}
    opened = await session.call("LobbyService/CreateTable", requestId=next(ids), options=options)
    table = opened["table"]
    await session.call("LobbyService/ListTables", joinable=True)

    session.begin("seat")
    await session.call("LobbyService/TakeSeat", requestId=next(ids), table=table, name="Ann")
    await session.call("LobbyService/AddBot", requestId=next(ids), table=table, name="Bob")

    session.begin("watch")
    async with aclosing(session.watch(table=table)) as stream:
        log_id = (await anext(stream))["snapshot"]["logId"]

        session.begin("ready")
        await session.call("LobbyService/SetReady", requestId=next(ids), table=table, ready=True)
        decision = await own_decision(stream)

        session.begin("act")
        request = act(decision)
        await session.call("PlayService/Act", **request)
        first, decision = decision, await own_decision(stream)

        session.begin("pick_up")
        response = act(decision)
        del response["action"]["playCards"]["pickUp"]
        await session.call("PlayService/Act", **response)
        decision = await own_decision(stream)
        await session.call("PlayService/Act", **act(decision))
        decision = await own_decision(stream)

        session.begin("repeat")
        await session.call("PlayService/Act", **request)

        session.begin("refusal")
        await session.call("PlayService/Act", **{**act(decision), "decisionId": first["id"]})

    session.begin("resume")
    async with aclosing(
        session.watch(table=table, afterSeq=decision["id"], logId=log_id)
    ) as stream:
        await session.call("PlayService/Act", **act(decision))
        decision = await own_decision(stream)

        session.begin("rest")
        while decision:
            await session.call("PlayService/Act", **act(decision))
            decision = await own_decision(stream)

    session.begin("history")
    before_deal = first["id"] - 2
    await session.call("HistoryService/GetHistory", table=table, afterSeq=before_deal, pageSize=1)

    session.begin("leave")
    await session.call("LobbyService/LeaveSeat", requestId=next(ids), table=table)
    blocks = {block: "\n".join(lines) for block, lines in session.blocks.items()}
    return {
        name: f"{text}\n" for name, text in {**blocks, "grpcurl": grpcurl(table, first)}.items()
    }


def grpcurl(table: str, decision: Any) -> str:
    """The same game up to its first action, in a shell: it opens with this decision."""
    action = json.dumps(chosen(decision))
    return f"""\
grpcurl -plaintext localhost:7711 list
grpcurl -plaintext localhost:7711 describe odin_table.v1.PlayService
grpcurl -plaintext localhost:7711 odin_table.v1.LobbyService/ListTables

SECRET=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')
call() {{
  grpcurl -plaintext -H "authorization: Bearer $SECRET" -d "$2" localhost:7711 "odin_table.v1.$1"
}}
call LobbyService/CreateTable '{{"request_id": "1", "options": {{"seats": 2}}}}'
TABLE={table}  # the handle from that answer
call LobbyService/TakeSeat '{{"request_id": "2", "table": "'$TABLE'", "name": "Ann"}}'
call LobbyService/AddBot '{{"request_id": "3", "table": "'$TABLE'"}}'
call LobbyService/SetReady '{{"request_id": "4", "table": "'$TABLE'", "ready": true}}'
call PlayService/GetView '{{"table": "'$TABLE'"}}'
call PlayService/Act '{{"request_id": "5", "table": "'$TABLE'", "decision_id": {decision["id"]},
  "action": {action}}}'
call PlayService/WatchTable '{{"table": "'$TABLE'"}}'"""


BLOCK: Final = re.compile(
    r"(?<=<!-- session: )(?P<name>\w+)(?P<fence> -->\n\n```\w+\n)(?P<text>.*?)(?=```\n)", re.DOTALL
)


async def test_the_session_of_the_page_is_what_a_server_answers(serve: Serve) -> None:
    settings = replace(QUICK, seed=SEED)
    server = await serve(settings, clock=SetClock(), names=random.Random(SEED))
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        blocks = await played(Session(channel))
    page = PAGE.read_text(encoding="utf-8")
    assert f"--seed {SEED} " in page
    if os.environ.get("ODIN_REWRITE_SNAPSHOTS"):
        page = BLOCK.sub(lambda b: f"{b['name']}{b['fence']}{blocks[b['name']]}", page)
        PAGE.write_text(page, encoding="utf-8")
    assert {block["name"]: block["text"] for block in BLOCK.finditer(page)} == blocks


def test_the_page_says_of_every_event_what_it_changes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    (rows,) = re.findall(r"\| event \| .*?\n\n", page, flags=re.DOTALL)
    events = [field.name for field in event_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields]
    assert sorted(re.findall(r"`(\w+)`(?=[^|]*\|[^|]*\|\n)", rows)) == sorted(events)
