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
from grpc_health.v1 import health_pb2, health_pb2_grpc

from odin_table.v1 import event_pb2, lobby_pb2, play_pb2
from tests.client.programs import DEADLINE, programs_in
from tests.server.people import Person, Refused

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
        async with _channels(address, 5) as channels, asyncio.timeout(3 * DEADLINE):
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


async def test_no_call_is_cut_off_while_the_server_stops(tmp_path: Path) -> None:
    """Each call is answered, or refused and told when to come back; or it came after the end."""
    with programs_in(tmp_path) as programs:
        server = programs.start("serve", "--listen", "127.0.0.1:0", *ROOM)
        address = server.line_with("serves on").split()[-1]
        async with _channels(address, CALLERS) as channels, asyncio.timeout(5 * DEADLINE):
            answered = 0
            enough = asyncio.Event()

            async def call_until_refused(
                person: Person,
            ) -> tuple[Refused, lobby_pb2.CreateTableRequest]:
                nonlocal answered
                while True:
                    request = lobby_pb2.CreateTableRequest()
                    try:
                        await person.call(person.lobby.CreateTable, request)
                    except Refused as refused:
                        return refused, request
                    answered += 1
                    if answered == 5 * CALLERS:
                        enough.set()

            people = [Person(channel, f"caller {n}") for n, channel in enumerate(channels)]
            calls = [asyncio.create_task(call_until_refused(person)) for person in people]
            await enough.wait()
            server.process.send_signal(signal.SIGTERM)
            refusals = await asyncio.gather(*calls)
            assert await asyncio.to_thread(server.end) == 0
            assert {refused.code for refused, _ in refusals} == {grpc.StatusCode.UNAVAILABLE}
            told = [refused for refused, _ in refusals if refused.reason == "SERVER_DRAINING"]
            assert told
            assert all(refused.retry_after for refused in told)

            # Whatever was not answered was not done: a call that was cut off would show here.
            programs.serve("--listen", address, *ROOM)
            for person, (_, request) in zip(people, refusals, strict=True):
                again = await _insist(person, request)
                assert not again.replayed


async def _insist(
    person: Person, request: lobby_pb2.CreateTableRequest
) -> lobby_pb2.CreateTableResponse:
    """Repeats a request until the connection is there again."""
    while True:
        try:
            answer: lobby_pb2.CreateTableResponse
            answer = await person.call(person.lobby.CreateTable, request)
        except Refused as refused:
            assert refused.code is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 -- until it is there
            await asyncio.sleep(0.05)
        else:
            return answer


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
