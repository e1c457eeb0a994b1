"""Each reason of a refusal as client writers are shown it: docs/refusals.json.

Every example is what a server answered over a real port. With ODIN_REWRITE_SNAPSHOTS=1 the file is
written anew; then `make stubs`, which shows it in docs/contract.md.
"""

from __future__ import annotations

import json
import os
import random
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import grpc.aio
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from grpc_status import rpc_status

from odin_server.event_log import SqliteLog, StoreUnavailable
from odin_server.main import Server
from odin_server.settings import Limits
from odin_table.v1 import decision_pb2, error_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.server.test_refusals import BrokenLog, play
from tests.server.test_store_file import change
from tests.support.patience import PATIENCE
from tests.support.people import Person, play_until

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "docs" / "refusals.json"


class Book:
    """The examples, by reason."""

    def __init__(self) -> None:
        self.examples: dict[str, Any] = {}

    async def refused(
        self, person: Person, call: str, request: Message, metadata: dict[str, str] | None = None
    ) -> None:
        """Makes a call that has to be refused, and writes down what was said."""
        service, _, method = call.partition("/")
        stub = {"LobbyService": person.lobby, "PlayService": person.play}[service]
        added = metadata or {}
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await getattr(stub, method)(
                request,
                metadata=(*(m for m in person.metadata if m[0] not in added), *added.items()),
                timeout=PATIENCE,
            )
        status = rpc_status.from_call(caught.value)
        assert status is not None, caught.value
        as_json = json_format.MessageToDict(status)
        for detail in as_json["details"]:
            if "metadata" in detail:
                # A map has no order of its own.
                detail["metadata"] = dict(sorted(detail["metadata"].items()))
        reason = as_json["details"][0]["reason"]
        assert reason not in self.examples, f"{reason} has its example already"
        self.examples[reason] = {
            "call": call,
            "request": json_format.MessageToDict(request),
            "metadata": added,
            "status": as_json,
        }


async def new_server(serve: Serve, **given: Any) -> Server:
    """A server that gives the same handles each time."""
    return await serve(**{"names": random.Random(5), **given})


async def seats_and_options(serve: Serve, meet: Meet, book: Book) -> None:
    server = await new_server(serve)
    ann, bob, cleo = (meet(server, name) for name in ("Ann", "Bob", "Cleo"))
    await book.refused(
        ann, "LobbyService/TakeSeat", lobby_pb2.TakeSeatRequest(request_id="a1", name="Ann")
    )
    create = lobby_pb2.CreateTableRequest(request_id="a2")
    await book.refused(ann, "LobbyService/CreateTable", create, {"authorization": "Bearer me"})
    await book.refused(ann, "LobbyService/CreateTable", create, {"odin-table-revision": "0"})
    too_many = lobby_pb2.CreateTableRequest(
        request_id="a3", options=table_pb2.TableOptions(seats=7)
    )
    await book.refused(ann, "LobbyService/CreateTable", too_many)
    table = await ann.open_table(table_pb2.TableOptions(seats=2, single_deal=True))
    await ann.sit(table)
    start = lobby_pb2.StartGameRequest(request_id="a4", table=table)
    await book.refused(ann, "LobbyService/StartGame", start)
    ready = lobby_pb2.SetReadyRequest(request_id="b1", table=table, ready=True)
    await book.refused(bob, "LobbyService/SetReady", ready)
    sit = lobby_pb2.TakeSeatRequest(request_id="b2", table=table, name="ann")
    await book.refused(bob, "LobbyService/TakeSeat", sit)
    wanted = lobby_pb2.TakeSeatRequest(request_id="b3", table=table, name="Bob", seat=0)
    await book.refused(bob, "LobbyService/TakeSeat", wanted)
    await ann.add_bot(table)
    full = lobby_pb2.TakeSeatRequest(request_id="c1", table=table, name="Cleo")
    await book.refused(cleo, "LobbyService/TakeSeat", full)
    gone = lobby_pb2.TakeSeatRequest(request_id="c2", table="ABCD", name="Cleo")
    await book.refused(cleo, "LobbyService/TakeSeat", gone)
    stale = lobby_pb2.SetReadyRequest(
        request_id="a5", table=table, ready=True, nonce=b"by chance", commitment=bytes(32)
    )
    await book.refused(ann, "LobbyService/SetReady", stale)
    await ann.ready(table)
    again = lobby_pb2.SetReadyRequest(request_id="a6", table=table, ready=True)
    await book.refused(ann, "LobbyService/SetReady", again)
    await play_until(ann, table)
    over = lobby_pb2.StartGameRequest(request_id="a7", table=table)
    await book.refused(ann, "LobbyService/StartGame", over)


async def acting(serve: Serve, meet: Meet, book: Book) -> None:
    server = await new_server(serve)
    people = [meet(server, "Ann"), meet(server, "Bob")]
    table = await people[0].open_table()
    for person in people:
        await person.sit(table)
    await people[0].start(table)
    decision = (await people[0].view(table)).decision
    turn, waits = people[decision.seat], people[1 - decision.seat]

    def act(request_id: str, decision_id: int, action: decision_pb2.Action) -> play_pb2.ActRequest:
        return play_pb2.ActRequest(
            request_id=request_id, table=table, decision_id=decision_id, action=action
        )

    passing = decision_pb2.Action(pass_turn=decision_pb2.PassTurn())
    await book.refused(waits, "PlayService/Act", act("b1", decision.id, passing))
    hand = (await turn.view(table)).game.hand.cards
    highest = max(hand, key=lambda card: (card - 1) % 9)
    await turn.act(table, decision.id, play(highest), request_id="a1")
    # The same id for something else than that play.
    await book.refused(turn, "PlayService/Act", act("a1", decision.id, passing))
    await book.refused(waits, "PlayService/Act", act("b2", decision.id, passing))
    view = await waits.view(table)
    lowest = min(view.game.hand.cards, key=lambda card: (card - 1) % 9)
    await book.refused(waits, "PlayService/Act", act("b3", view.decision.id, play(lowest)))


def incident(size: int) -> str:
    """The number of every incident."""
    return "9d" * size


async def limits_and_faults(
    serve: Serve, meet: Meet, book: Book, folder: Path, patch: pytest.MonkeyPatch
) -> None:
    one_table = replace(QUICK, limits=replace(Limits(), tables_per_credential=1))
    server = await new_server(serve, settings=one_table)
    ann = meet(server, "Ann")
    await ann.open_table()
    another = lobby_pb2.CreateTableRequest(request_id="a1")
    await book.refused(ann, "LobbyService/CreateTable", another)

    log = BrokenLog()
    server = await new_server(serve, log=log)
    ann = meet(server, "Ann")
    table = await ann.open_table()
    sit = lobby_pb2.TakeSeatRequest(request_id="a1", table=table, name="Ann")
    patch.setattr(secrets, "token_hex", incident)
    log.error = RuntimeError("unforeseen")
    await book.refused(ann, "LobbyService/TakeSeat", sit)
    log.error = StoreUnavailable()
    await book.refused(ann, "LobbyService/TakeSeat", sit)
    log.error = None
    server._calls.draining = True  # pyright: ignore[reportPrivateUsage] -- the moment between
    await book.refused(ann, "LobbyService/TakeSeat", sit)

    server = await new_server(serve, log=SqliteLog(folder / "tables.db"))
    table = await meet(server, "Ann").open_table()
    await server.stop()
    change(folder / "tables.db", "UPDATE batches SET checksum = 0")
    server = await new_server(serve, log=SqliteLog(folder / "tables.db"))
    look = play_pb2.GetViewRequest(table=table)
    await book.refused(meet(server, "Ann"), "PlayService/GetView", look)


async def test_every_reason_has_the_example_that_client_writers_are_shown(
    serve: Serve, meet: Meet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Book()
    await seats_and_options(serve, meet, book)
    await acting(serve, meet, book)
    await limits_and_faults(serve, meet, book, tmp_path, monkeypatch)
    reasons = [
        name.removeprefix("ERROR_REASON_")
        for name, number in error_pb2.ErrorReason.items()
        if number
    ]
    in_order = {reason: book.examples[reason] for reason in reasons}
    if os.environ.get("ODIN_REWRITE_SNAPSHOTS"):
        text = json.dumps(in_order, indent=2, ensure_ascii=False)
        EXAMPLES.write_text(text + "\n", encoding="utf-8")
    shown = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    assert shown == in_order, "write them anew, then run `make stubs`; commit what you can explain"
