"""The SDK's connection, whose requests are sent twice now and then and never given up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import grpc.aio
from google.protobuf.message import Message

from odin_client.connection.address import Address
from odin_client.connection.connection import CALL_DEADLINE, PATIENCE, Connection, Request, Response
from odin_client.connection.credential import Credential
from odin_client.errors import Refused, Unreachable
from odin_table.v1 import play_pb2
from tests.chaos.ledger import Ledger, in_a_line


class Gate:
    """Lets requests through, until it is closed; then those under way can be waited for."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._under_way = 0

    @property
    def is_closed(self) -> bool:
        """Whether nothing is let through any more."""
        return not self._open.is_set()

    async def close(self) -> None:
        """Lets nothing through any more, and waits until everything has been answered."""
        self._open.clear()
        await self._idle.wait()

    async def __aenter__(self) -> None:
        await self._open.wait()
        self._under_way += 1
        self._idle.clear()

    async def __aexit__(self, *_: object) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._idle.set()


class Repeats:
    """Requests that will be sent once more, after the server was killed."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], Awaitable[None]]] = []

    def add(self, repeat: Callable[[], Awaitable[None]]) -> None:
        """To be done after the next kill, or at the end."""
        self._waiting.append(repeat)

    async def make(self) -> None:
        """Sends what waits, a few at a time."""
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), 16):
            await asyncio.gather(*(repeat() for repeat in waiting[start : start + 16]))


class DoubtingConnection(Connection):
    """Sends a quarter of what changes something twice: at once, or again after a kill.

    The second time the request has the same id and the same content, so the answer has to be the
    same. What is answered goes into the ledger.
    """

    def __init__(
        self,
        address: Address,
        credential: Credential,
        ledger: Ledger,
        gate: Gate,
        repeats: Repeats,
        chance: random.Random,
    ) -> None:
        super().__init__(address, credential)
        self.credential = credential
        self.ledger = ledger
        self._gate = gate
        self._repeats = repeats
        self._chance = chance

    async def call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        *,
        patience: float = PATIENCE,
        deadline: float = CALL_DEADLINE,
    ) -> Response:
        """See `Connection.call`; but patience never ends."""
        if "request_id" not in request.DESCRIPTOR.fields_by_name:
            return await self._until_answered(method, request)
        if self._gate.is_closed and not isinstance(request, play_pb2.ActRequest):
            # A bot that waited here would not read on, and its table moves without it: a nonce or
            # a rematch may be another's. For an act everybody waits.
            raise Unreachable("Nothing is let through any more.")
        async with self._gate:
            return await self._changing(method, request)

    async def _changing(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Request, Response], request: Request
    ) -> Response:
        twice = self._chance.random() < 0.25
        at_once = twice and self._chance.random() < 0.5
        self.ledger.counts["sent twice at once"] += at_once
        try:
            answer, *others = await asyncio.gather(
                *(self._until_answered(method, request) for _ in range(2 if at_once else 1))
            )
        except Refused as refusal:
            if isinstance(request, play_pb2.ActRequest):
                self.ledger.fault("refused", f"{in_a_line(request)}: {refusal}")
            raise
        self.ledger.answers(request, (answer, *others))
        if twice and not at_once:
            self._repeats.add(lambda: self._again(method, request, answer))
        if isinstance(request, play_pb2.ActRequest) and isinstance(answer, play_pb2.ActResponse):
            await self.ledger.acted(request, answer)
        return answer

    async def _again(self, method: Any, request: Message, answer: Message) -> None:
        self.ledger.counts["sent again after a kill"] += 1
        try:
            self.ledger.answers(request, (answer, await self._until_answered(method, request)))
        except Refused as refusal:
            self.ledger.fault("unequal replays", f"{in_a_line(request)}: {refusal}")

    async def _until_answered(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Request, Response], request: Request
    ) -> Response:
        while True:
            try:
                return await super().call(method, request)
            except Unreachable:
                self.ledger.counts["patience at an end"] += 1
