"""A server that is told to stop says so to everybody, finishes what is under way, and ends soon."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from odin_table.v1 import event_pb2, lobby_pb2, play_pb2
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused
from tests.support.programs import programs_in

pytestmark = pytest.mark.slow  # it measures times

Stream = grpc.aio.UnaryStreamCall[play_pb2.WatchTableRequest, play_pb2.WatchTableResponse]

STREAMS = 1_000
TABLES = 20
CALLERS = 20
SECONDS = 5.0
"""What is promised."""

ROOM = [
    word
    for limit in (
        "streams_per_address",
        "calls_per_second_per_address",
        "tables_per_address",
        "tables",
        "calls_per_second_per_credential",
        "tables_per_credential",
    )
    for word in ("--set", f"{limit}=100000")
]
"""For everybody to come from one address."""


async def test_a_thousand_streams_are_told_and_the_server_ends_within_five_seconds(
    tmp_path: Path,
) -> None:
    with programs_in(tmp_path) as programs:
        server = programs.start("serve", "--listen", "127.0.0.1:0", *ROOM)
        address = server.line_with("serves on").split()[-1]
        async with _channels(address, 5) as channels, asyncio.timeout(3 * PATIENCE):
            tables = [await Person(channels[0], f"host {n}").open_table() for n in range(TABLES)]
            streams: list[Stream] = []
            for number in range(STREAMS):
                viewer = Person(channels[number % len(channels)], f"viewer {number}")
                request = play_pb2.WatchTableRequest(table=tables[number % TABLES])
                streams.append(viewer.play.WatchTable(request, metadata=viewer.metadata))
            for stream in streams:
                assert await stream.read() is not grpc.aio.EOF
            health = health_pb2_grpc.HealthStub(channels[0]).Watch(
                health_pb2.HealthCheckRequest(service="")
            )
            assert await health.read() == health_pb2.HealthCheckResponse(
                status=health_pb2.HealthCheckResponse.SERVING
            )

            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()

            assert await health.read() == health_pb2.HealthCheckResponse(
                status=health_pb2.HealthCheckResponse.NOT_SERVING
            )
            for stream in streams:
                last = await _last_item(stream)
                assert last.stream_end.reason == event_pb2.STREAM_END_REASON_DRAINING
                assert last.stream_end.retry_after.ToTimedelta().total_seconds() > 0
                assert await stream.code() is grpc.StatusCode.OK
            code = await asyncio.to_thread(server.end)
        assert (code, server.errors) == (0, [])
        assert time.monotonic() - began < SECONDS


async def test_no_call_is_cut_off_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    """Each call is answered, or refused and told when to come back; or it came after the end."""
    serve = ("serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{tmp_path / 'tables.db'}")
    with programs_in(tmp_path) as programs:
        server = programs.start(*serve, *ROOM)
        address = server.line_with("serves on").split()[-1]
        opened: list[tuple[Person, lobby_pb2.CreateTableRequest, str]] = []
        enough = asyncio.Event()

        async def open_until_refused(
            person: Person,
        ) -> tuple[Person, lobby_pb2.CreateTableRequest, Refused]:
            while True:
                request = lobby_pb2.CreateTableRequest()
                try:
                    answer = await person.call(person.lobby.CreateTable, request)
                except Refused as refused:
                    return person, request, refused
                opened.append((person, request, answer.table))
                if len(opened) == 5 * CALLERS:
                    enough.set()

        async with _channels(address, CALLERS) as channels, asyncio.timeout(3 * PATIENCE):
            people = [Person(channel, f"caller {n}") for n, channel in enumerate(channels)]
            calls = [asyncio.create_task(open_until_refused(person)) for person in people]
            await enough.wait()
            server.process.send_signal(signal.SIGTERM)
            refusals = await asyncio.gather(*calls)
            assert await asyncio.to_thread(server.end) == 0
        assert {refused.code for *_, refused in refusals} == {grpc.StatusCode.UNAVAILABLE}
        told = [refused for *_, refused in refusals if refused.reason == "SERVER_DRAINING"]
        assert told
        assert all(refused.retry_after for refused in told)

        server = programs.start(*serve, *ROOM)
        address = server.line_with("serves on").split()[-1]
        async with _channels(address, 1) as (channel,), asyncio.timeout(3 * PATIENCE):
            for person, request, table in opened:
                same = Person(channel, person.name)
                again = await same.call(same.lobby.CreateTable, request)
                assert (again.table, again.replayed) == (table, True)
            # Whatever was not answered was not done: a call that was cut off would show here.
            for person, request, _ in refusals:
                same = Person(channel, person.name)
                answer = await same.call(same.lobby.CreateTable, request)
                assert not answer.replayed


async def _last_item(stream: Stream) -> play_pb2.WatchTableResponse:
    last = play_pb2.WatchTableResponse()
    while isinstance(item := await stream.read(), play_pb2.WatchTableResponse):
        last = item
    return last


@asynccontextmanager
async def _channels(address: str, count: int) -> AsyncGenerator[list[grpc.aio.Channel]]:
    """Lines to the server, each of its own."""
    own = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(address, options=own) for _ in range(count)]
    try:
        yield channels
    finally:
        await asyncio.gather(*(channel.close() for channel in channels))
