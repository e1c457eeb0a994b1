"""People who sit at a real server and speak the contract with nothing but its stubs."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc
import grpc.aio
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    error_details_pb2,
)
from grpc_status import rpc_status

from odin_table.v1 import (
    card_pb2,
    chat_pb2_grpc,
    decision_pb2,
    event_pb2,
    history_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
    table_pb2,
)
from tests.support.patience import PATIENCE

Metadata = tuple[tuple[str, str], ...]


def bearer(credential: bytes) -> str:
    """The value of the `authorization` metadata for a credential."""
    return "Bearer " + base64.urlsafe_b64encode(credential).rstrip(b"=").decode()


def credential_of(name: str) -> bytes:
    """The credential of somebody: the same for the same name, so that runs can be compared."""
    return hashlib.sha256(name.encode()).digest()


class Refused(Exception):
    """What a refused call says, taken apart."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        super().__init__(f"{error.code()}: {error.details()}")
        self.code = error.code()
        self.message = error.details() or ""
        self.reason = ""
        self.facts: dict[str, str] = {}
        self.fields: list[str] = []
        self.retry_after: float | None = None
        status = rpc_status.from_call(error)
        for detail in status.details if status else ():
            self._read(detail)

    def _read(self, detail: Any) -> None:
        info = error_details_pb2.ErrorInfo()
        bad = error_details_pb2.BadRequest()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            assert info.domain == "odin-table"
            self.reason, self.facts = info.reason, dict(info.metadata)
        elif detail.Unpack(bad):
            self.fields = [violation.field for violation in bad.field_violations]
        elif detail.Unpack(retry):
            self.retry_after = retry.retry_delay.ToTimedelta().total_seconds()


class Person:
    """One credential, and everything that it can call."""

    _counted = itertools.count(1)

    def __init__(self, channel: grpc.aio.Channel, name: str) -> None:
        self.name = name
        self.credential = credential_of(name)
        self.metadata: Metadata = (("authorization", bearer(self.credential)),)
        self.channel = channel
        self.lobby = lobby_pb2_grpc.LobbyServiceStub(channel)
        self.play = play_pb2_grpc.PlayServiceStub(channel)
        self.chat = chat_pb2_grpc.ChatServiceStub(channel)
        self.history = history_pb2_grpc.HistoryServiceStub(channel)

    async def call(self, method: Callable[..., Any], request: Any) -> Any:
        """Calls with this credential, and with a new request id if the request wants one.

        Raises Refused.
        """
        if "request_id" in request.DESCRIPTOR.fields_by_name and not request.request_id:
            request.request_id = f"{self.name}-{next(self._counted)}"
        try:
            return await method(request, metadata=self.metadata, timeout=PATIENCE)
        except grpc.aio.AioRpcError as error:
            raise Refused(error) from None

    async def open_table(self, options: table_pb2.TableOptions | None = None) -> str:
        """Opens a table and returns its handle."""
        request = lobby_pb2.CreateTableRequest(options=options)
        return str((await self.call(self.lobby.CreateTable, request)).table)

    async def sit(self, table: str, **fields: Any) -> lobby_pb2.TakeSeatResponse:
        """Takes a seat."""
        request = lobby_pb2.TakeSeatRequest(table=table, name=self.name, **fields)
        answer: lobby_pb2.TakeSeatResponse = await self.call(self.lobby.TakeSeat, request)
        return answer

    async def add_bot(self, table: str, level: str = "greedy") -> lobby_pb2.AddBotResponse:
        """Adds a built-in bot."""
        request = lobby_pb2.AddBotRequest(table=table, level=level)
        answer: lobby_pb2.AddBotResponse = await self.call(self.lobby.AddBot, request)
        return answer

    async def ready(self, table: str, ready: bool = True) -> None:
        """Says that this seat is ready, or not."""
        request = lobby_pb2.SetReadyRequest(table=table, ready=ready)
        await self.call(self.lobby.SetReady, request)

    async def start(self, table: str) -> None:
        """Starts the game."""
        await self.call(self.lobby.StartGame, lobby_pb2.StartGameRequest(table=table))

    async def leave(self, table: str) -> None:
        """Leaves the seat."""
        await self.call(self.lobby.LeaveSeat, lobby_pb2.LeaveSeatRequest(table=table))

    async def act(
        self, table: str, decision_id: int, action: decision_pb2.Action, request_id: str = ""
    ) -> play_pb2.ActResponse:
        """Acts."""
        request = play_pb2.ActRequest(
            table=table, decision_id=decision_id, action=action, request_id=request_id
        )
        answer: play_pb2.ActResponse = await self.call(self.play.Act, request)
        return answer

    async def view(self, table: str) -> table_pb2.TableView:
        """What this person may see now."""
        answer = await self.call(self.play.GetView, play_pb2.GetViewRequest(table=table))
        view: table_pb2.TableView = answer.view
        return view

    async def watch(self, table: str, **fields: Any) -> AsyncGenerator[play_pb2.WatchTableResponse]:
        """The items of a stream. Fails when the next one does not come in time."""
        request = play_pb2.WatchTableRequest(table=table, **fields)
        stream = self.play.WatchTable(request, metadata=self.metadata)
        try:
            while True:
                try:
                    # Not wait_for, which in Python 3.11 may swallow that its task is cancelled.
                    async with asyncio.timeout(PATIENCE):
                        item = await stream.read()
                except grpc.aio.AioRpcError as error:
                    raise Refused(error) from None
                if item is grpc.aio.EOF:
                    return
                assert isinstance(item, play_pb2.WatchTableResponse)
                yield item
        finally:
            stream.cancel()

    async def events(self, table: str, **fields: Any) -> AsyncGenerator[event_pb2.Event]:
        """The events of a stream, which starts at the first unless told."""
        fields.setdefault("after_seq", 0)
        async with aclosing(self.watch(table, **fields)) as items:
            async for item in items:
                for event in item.events.events:
                    yield event


def payload(event: event_pb2.Event) -> str:
    """Which kind of event it is."""
    return str(event.WhichOneof("payload"))


def first_choice(choices: decision_pb2.Choices) -> decision_pb2.Action:
    """The lowest legal play, with the first card taken; otherwise whatever time-out would do."""
    if not choices.plays:
        return choices.default_action
    play = choices.plays[0]
    takes = choices.pick_ups and not play.goes_out
    return decision_pb2.Action(
        play_cards=decision_pb2.PlayCards(
            cards=play.cards, pick_up=choices.pick_ups[0] if takes else card_pb2.CARD_UNSPECIFIED
        )
    )


async def told_until(
    person: Person,
    table: str,
    last: str = "game_ended",
    answer: Callable[[decision_pb2.Decision], Awaitable[None]] | None = None,
    **fields: Any,
) -> list[event_pb2.Event]:
    """All events that the person is sent, up to one of this kind.

    The person only watches, unless `answer` is given: it gets each decision of their own.
    """
    seen: list[event_pb2.Event] = []
    async with aclosing(person.events(table, **fields)) as events:
        async for event in events:
            seen.append(event)
            if payload(event) == last:
                return seen
            decision = event.decision_opened.decision
            if answer and decision.HasField("choices"):
                await answer(decision)
    raise AssertionError(f"the stream ended before {last}; saw {[payload(e) for e in seen]}")


async def play_until(
    person: Person, table: str, last: str = "game_ended", **fields: Any
) -> list[event_pb2.Event]:
    """Plays the person's seat until an event of this kind, and returns all events seen."""

    async def act(decision: decision_pb2.Decision) -> None:
        try:
            await person.act(table, decision.id, first_choice(decision.choices))
        except Refused as refused:
            # A substitute, or an earlier run of this person, has answered it already.
            if refused.reason != "STALE_DECISION":
                raise

    return await told_until(person, table, last, act, **fields)
