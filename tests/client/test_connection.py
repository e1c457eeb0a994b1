"""Calls are repeated when that can help and is safe: when, how often, with what."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import grpc
import grpc.aio
import pytest

from odin_client.connection import connection as connection_module
from odin_client.connection.address import Address
from odin_client.connection.connection import (
    CALL_DEADLINE,
    PATIENCE,
    Connection,
    backoff,
    new_request_id,
)
from odin_client.connection.credential import Credential
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_contract.values import Pass, Seat
from odin_server.errors import Reason, Refusal, to_grpc
from odin_table.v1 import chat_pb2, lobby_pb2, lobby_pb2_grpc, play_pb2
from tests.support.cut_line import CutLine


@dataclass
class Attempt:
    """One call as it came."""

    method: str
    request: bytes
    seconds: float | None
    """Until its deadline; None, or ages, when it has none."""
    time: float


Script = Callable[[int], Refusal | grpc.StatusCode | None]
"""From the number of an attempt, from 1: the refusal, or None for an empty answer."""


class Scripted:
    """A server that does as it is told at any call, and notes the attempts."""

    def __init__(self) -> None:
        self.script: Script = lambda _: None
        self.attempts: list[Attempt] = []
        self.port = 0

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """For every service that the client calls."""
        services = (
            service
            for file in (lobby_pb2, play_pb2, chat_pb2)
            for service in file.DESCRIPTOR.services_by_name.values()
        )
        return [
            grpc.method_handlers_generic_handler(
                service.full_name,
                {
                    method.name: grpc.unary_unary_rpc_method_handler(self._method(method.name))
                    for method in service.methods
                },
            )
            for service in services
        ]

    def _method(self, name: str) -> Any:
        async def call(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            self.attempts.append(
                Attempt(name, request, context.time_remaining(), asyncio.get_running_loop().time())
            )
            refusal = self.script(len(self.attempts))
            if isinstance(refusal, Refusal):
                await context.abort(*to_grpc(refusal))
            elif refusal is not None:
                await context.abort(refusal, "as told")
            return b""

        return call


@pytest.fixture
async def scripted() -> AsyncGenerator[Scripted]:
    """A server that does as it is told."""
    scripted = Scripted()
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(scripted.handlers())
    scripted.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield scripted
    await server.stop(0)


@pytest.fixture
async def connection(scripted: Scripted) -> AsyncGenerator[Connection]:
    """A connection to it."""
    connection = Connection(Address("127.0.0.1", scripted.port), Credential.new())
    yield connection
    await connection.close()


async def create_table(connection: Connection) -> None:
    request = lobby_pb2.CreateTableRequest(request_id=new_request_id())
    await connection.call(connection.lobby.CreateTable, request)


REPEATED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


@pytest.mark.parametrize("code", REPEATED, ids=str)
async def test_a_call_is_repeated_with_the_same_id_until_it_is_answered(
    scripted: Scripted, connection: Connection, code: grpc.StatusCode
) -> None:
    scripted.script = lambda attempt: code if attempt < 3 else None
    await create_table(connection)
    assert len(scripted.attempts) == 3
    requests = {attempt.request for attempt in scripted.attempts}
    assert len(requests) == 1
    assert len(lobby_pb2.CreateTableRequest.FromString(requests.pop()).request_id) == 32


@pytest.mark.parametrize(
    "code",
    [code for code in grpc.StatusCode if code not in (*REPEATED, grpc.StatusCode.OK)],
    ids=str,
)
async def test_no_other_refusal_is_repeated(
    scripted: Scripted, connection: Connection, code: grpc.StatusCode
) -> None:
    scripted.script = lambda _: code
    with pytest.raises(Refused) as refused:
        await create_table(connection)
    assert refused.value.code == code.name
    assert len(scripted.attempts) == 1


async def test_the_pauses_between_attempts_grow(scripted: Scripted, connection: Connection) -> None:
    scripted.script = lambda attempt: grpc.StatusCode.UNAVAILABLE if attempt < 4 else None
    await create_table(connection)
    times = [attempt.time for attempt in scripted.attempts]
    pauses = [after - before for before, after in itertools.pairwise(times)]
    # At least that long; a busy machine may take longer.
    assert all(pause >= least for pause, least in zip(pauses, (0.2, 0.4, 0.8), strict=True))


def test_a_pause_is_a_third_of_a_second_at_first_and_three_at_last_spread_by_chance() -> None:
    for attempt, longest in ((1, 0.3), (2, 0.6), (3, 1.2), (4, 2.4), (5, 3.0), (2000, 3.0)):
        pauses = {backoff(attempt) for _ in range(100)}
        assert all(0.7 * longest <= pause <= longest for pause in pauses)
        assert len(pauses) > 90


async def test_a_server_that_says_when_to_come_back_is_obeyed(
    scripted: Scripted, connection: Connection
) -> None:
    stopping = Refusal(Reason.SERVER_DRAINING, "It stops.", retry_after=timedelta(seconds=1))
    scripted.script = lambda attempt: stopping if attempt == 1 else None
    await create_table(connection)
    first, second = scripted.attempts
    assert second.time - first.time >= 0.99


async def test_every_call_has_a_deadline(scripted: Scripted, connection: Connection) -> None:
    scripted.script = lambda _: grpc.StatusCode.NOT_FOUND
    connection.info.features.append("remove_seat")
    session = Session(connection, "K7QF")
    session.table.view = replace(session.table.view, seats=(Seat(0),))
    calls = (
        Session.open_table(connection),
        session.take_seat("Zoe"),
        session.act(Pass(), decision_id=1),
        session.ready(),
        session.start(),
        session.add_bot(),
        session.remove_bot(1),
        session.remove_seat(0),
        session.rematch(),
        session.chat("hello"),
        session.leave(),
        session.close_table(),
    )
    for call in calls:
        with pytest.raises(Refused):
            await call
    looks = {"GetView"}  # to know whether a refused seat is held after all
    assert len({attempt.method for attempt in scripted.attempts} - looks) == len(calls)
    for attempt in scripted.attempts:
        assert attempt.seconds is not None, attempt.method
        assert attempt.seconds < CALL_DEADLINE + 0.1, attempt.method  # gRPC rounds it up


async def test_a_call_without_a_deadline_would_be_noticed(scripted: Scripted) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{scripted.port}") as channel:
        lobby = lobby_pb2_grpc.LobbyServiceStub(channel)
        await lobby.GetServerInfo(lobby_pb2.GetServerInfoRequest())
    seconds = scripted.attempts[0].seconds
    assert seconds is None or seconds > 1_000


async def test_a_call_gets_through_on_a_new_line_when_the_old_one_has_fallen_silent(
    line: CutLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a laptop changes its network: no line is broken, nothing comes back."""
    options = dict(connection_module.CHANNEL_OPTIONS)
    pings = [name for name in options if "keepalive_time" in name or "ping_timeout" in name]
    assert len(pings) == 3
    noticed = options["grpc.keepalive_time_ms"] + options["grpc.keepalive_timeout_ms"]
    assert noticed + 1e3 * backoff(1) < 1e3 * PATIENCE
    # All of it ten times as fast, since this would take a quarter of a minute.
    quick = options | {name: options[name] // 10 for name in pings}
    monkeypatch.setattr(connection_module, "CHANNEL_OPTIONS", tuple(quick.items()))
    monkeypatch.setattr(connection_module, "CALL_DEADLINE", CALL_DEADLINE / 10)
    connection = await Connection.open(line.address, Credential.new())
    line.fall_silent()
    await create_table(connection)
    await connection.close()


@pytest.mark.parametrize(
    ("host", "words", "reason"),
    [
        ("nowhere.invalid", "failed to connect to all addresses", "NO_SUCH_HOST"),
        ("a..b", "failed to connect to all addresses", "NO_SUCH_HOST"),
        ("127.0.0.1", "Name resolution failure", "NO_ANSWER"),
    ],
)
async def test_that_no_host_has_this_name_is_not_read_from_the_words_of_grpc(
    host: str, words: str, reason: str
) -> None:
    connection = Connection(Address(host))
    lost = await connection.unreachable(Refused("", words))
    assert lost.reason == reason
    await connection.close()
