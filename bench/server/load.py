"""The load: one measure against one server, in a process of its own.

`python -m bench.server.load RUN`, where RUN is a `Run` as JSON, prints the figures as one JSON
object. The load does not know which server it loads.
"""

import asyncio
import contextlib
import gc
import itertools
import json
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass

from grpc import aio

from bench.server.processes import cpu_seconds, resident_bytes
from bench.server.seats import (
    CALL_DEADLINE,
    Credential,
    LoadedTable,
    Stream,
    connect,
    new_credential,
    playing,
)
from bench.store.disk import fdatasync_ms
from odin_table.v1 import play_pb2

Figures = dict[str, float]

# A pace at which no table acts while something else is measured, in acts a second.
PAUSED = 1e-3


@dataclass(frozen=True)
class Size:
    """How much is measured in a run.

    `seconds` of counting, after `warm_up` seconds that do not count; `watchers` whose memory is
    weighed; a `crowd` of them that comes back at once; `events` to catch up by, `times` over;
    `stall_acts` before a stalled watcher is taken as stalled.
    """

    seconds: float
    warm_up: float
    watchers: int
    crowd: int
    events: int
    times: int
    stall_acts: int


@dataclass(frozen=True)
class Run:
    """A measure by its name in MEASURES, the server to load, and how much of it."""

    measure: str
    address: str
    server_pid: int
    size: Size
    tables: int = 1
    acts_per_second: float = 100
    in_flight: int = 16


@contextlib.contextmanager
def counting(run: Run, count: Callable[[], int], figures: Figures) -> Generator[None]:
    """Adds what is done in the block to `figures`: how much a second, and who was busy with it.

    A process that is busy all the time (1.0) is the one that limits the figure.
    """
    began, begun = time.perf_counter(), count()
    server, load = cpu_seconds(run.server_pid), time.process_time()
    yield
    seconds, done = time.perf_counter() - began, count() - begun
    server, load = cpu_seconds(run.server_pid) - server, time.process_time() - load
    figures["per_second"] = done / seconds
    figures["server_us_each"] = 1e6 * server / max(done, 1)
    figures["server_busy"] = server / seconds
    figures["load_busy"] = load / seconds


async def acts(run: Run) -> Figures:
    """Acts a second with every table at full speed: one act is in flight at each."""
    figures: Figures = {}
    async with playing(run.address, run.tables) as tables:
        await asyncio.sleep(run.size.warm_up)
        with counting(run, lambda: sum(table.acts for table in tables), figures):
            await asyncio.sleep(run.size.seconds)
    acts_done = sum(table.acts for table in tables)
    figures["bytes_per_act"] = sum(table.told_bytes for table in tables) / acts_done
    figures["events_per_act"] = sum(table.head for table in tables) / acts_done
    return figures


async def delay(run: Run) -> Figures:
    """From just before an act until its event is at another seat, at a steady pace, in ms."""
    async with playing(run.address, 1) as (table,):
        await asyncio.sleep(run.size.warm_up)
        return await _paced_delays(run, table)


async def answers(run: Run) -> Figures:
    """From just before an act until it is answered, at a steady pace, in ms."""
    async with playing(run.address, 1) as (table,):
        await asyncio.sleep(run.size.warm_up)
        table.pace(run.acts_per_second)
        await asyncio.sleep(run.size.seconds)
        p50 = 1e3 * statistics.median(table.answers)
    disk = fdatasync_ms()
    return {"p50_ms": p50, "fdatasync_ms": disk, "p50_less_disk_ms": p50 - 3 * disk}


async def answers_without_a_disk(run: Run) -> Figures:
    """The same, where nothing is taken off for a disk."""
    figures = await answers(run)
    return figures | {"p50_less_disk_ms": figures["p50_ms"]}


async def _paced_delays(run: Run, table: LoadedTable) -> Figures:
    table.pace(run.acts_per_second)
    await asyncio.sleep(run.size.seconds)
    percentiles = statistics.quantiles(table.delays, n=100)
    return {"p50_ms": 1e3 * percentiles[49], "p99_ms": 1e3 * percentiles[98]}


async def delay_beside_reader(run: Run) -> Figures:
    """The delays at five seats, with a sixth watcher that reads."""
    async with _five_seats_and_a_watcher(run) as (table, stream):
        reader = asyncio.create_task(_read_on(stream))
        await _until(lambda: table.acts >= run.size.stall_acts)
        figures = await _paced_delays(run, table)
        reader.cancel()
        return figures


async def delay_beside_stalled(run: Run) -> Figures:
    """The delays at five seats, with a sixth watcher that reads nothing."""
    async with _five_seats_and_a_watcher(run) as (table, stream):
        await _until(lambda: table.acts >= run.size.stall_acts)
        figures = await _paced_delays(run, table)
        table.pace(PAUSED)
        await _prove_held_back(stream)
        return figures


@contextlib.asynccontextmanager
async def _five_seats_and_a_watcher(run: Run) -> AsyncGenerator[tuple[LoadedTable, Stream]]:
    # A small window: the sixth watcher is held back after a few messages, not after megabytes.
    small = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0}
    async with playing(run.address, 1, seats=5) as (table,), connect(run.address, **small) as own:
        stream = table.watch(new_credential(), channel=own)
        await stream.read()
        yield table, stream
        stream.cancel()


async def _prove_held_back(stream: Stream) -> None:
    """Reads on until a fresh snapshot shows that the server had given up sending each event."""
    async with asyncio.timeout(CALL_DEADLINE):
        while isinstance(item := await stream.read(), play_pb2.WatchTableResponse):
            if item.HasField("snapshot"):
                return
    raise RuntimeError("the stalled watcher was never held back: this run says nothing")


async def reads(run: Run) -> Figures:
    """Views a second of games under way, by all their seats in turn."""
    async with contextlib.AsyncExitStack() as stack:
        channel = await stack.enter_async_context(connect(run.address))
        requests: list[tuple[bytes, Credential]] = []
        for _ in range(run.tables):
            table = LoadedTable(channel)
            await table.open(6)
            await table.start()
            view = play_pb2.GetViewRequest(table=table.handle).SerializeToString()
            requests += [(view, credential) for credential in table.credentials]
        return await _calls(run, channel, "/odin_table.v1.PlayService/GetView", requests)


async def empty_calls(run: Run) -> Figures:
    """Calls a second with nothing in them. Only the thin server has this call."""
    async with connect(run.address) as channel:
        return await _calls(run, channel, "/thin/Empty", [(b"", ())])


async def _calls(
    run: Run, channel: aio.Channel, method: str, requests: Sequence[tuple[bytes, Credential]]
) -> Figures:
    call: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
    turns = itertools.cycle(requests)
    done = 0

    async def caller() -> None:
        nonlocal done
        while True:
            request, credential = next(turns)
            await call(request, metadata=credential, timeout=CALL_DEADLINE)
            done += 1

    figures: Figures = {}
    async with asyncio.TaskGroup() as group:
        callers = [group.create_task(caller()) for _ in range(run.in_flight)]
        await asyncio.sleep(run.size.warm_up)
        with counting(run, lambda: done, figures):
            await asyncio.sleep(run.size.seconds)
        for task in callers:
            task.cancel()
    return figures


async def catching_up(run: Run) -> Figures:
    """Events a second for a client that reconnects and missed that many."""
    async with playing(run.address, 1) as (table,):
        await _until(lambda: table.head >= run.size.events)
        table.pace(PAUSED)
        seconds = [await _catch_up(table, run.size.events) for _ in range(run.size.times)]
    return {"per_second": run.size.events / statistics.median(seconds)}


async def _catch_up(table: LoadedTable, events: int) -> float:
    """The seconds from opening a stream until that many events are there."""
    began = time.perf_counter()
    stream = table.watch(new_credential(), after_seq=table.head - events)
    while events > 0:
        item = await stream.read()
        if not isinstance(item, play_pb2.WatchTableResponse) or item.HasField("snapshot"):
            raise RuntimeError("the missing events did not come")
        events -= len(item.events.events)
    seconds = time.perf_counter() - began
    stream.cancel()
    return seconds


async def memory(run: Run) -> Figures:
    """Memory of the server for each stream on which nothing happens, in KiB."""
    async with contextlib.AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        tables: list[LoadedTable] = []
        for _ in range(run.tables):
            table = LoadedTable(await stack.enter_async_context(connect(run.address)))
            await table.open(0)
            tables.append(table)

        async def watch(count: int) -> list[asyncio.Task[None]]:
            readers: list[asyncio.Task[None]] = []
            for _, table in zip(range(count), itertools.cycle(tables), strict=False):
                stream = table.watch(new_credential())
                await stream.read()
                readers.append(group.create_task(_read_on(stream)))
            return readers

        # The first streams pay for what all share: buffers, connections, code that is loaded late.
        readers = await watch(len(tables))
        before = await _settled_memory(run)
        readers += await watch(run.size.watchers)
        after = await _settled_memory(run)
        for reader in readers:
            reader.cancel()
    return {"kib_each": (after - before) / run.size.watchers / 1024}


async def coming_back(run: Run) -> Figures:
    """Watchers that all come back at once: how many are refused, and until all have a message."""
    async with contextlib.AsyncExitStack() as stack:
        tables: list[LoadedTable] = []
        for _ in range(run.tables):
            table = LoadedTable(await stack.enter_async_context(connect(run.address)))
            await table.open(0)
            tables.append(table)
        watchers = [
            (table, new_credential())
            for _, table in zip(range(run.size.crowd), itertools.cycle(tables), strict=False)
        ]

        async def all_at_once() -> tuple[list[Stream], int]:
            streams = [table.watch(credential) for table, credential in watchers]
            first = await asyncio.gather(
                *(stream.read() for stream in streams), return_exceptions=True
            )
            return streams, sum(isinstance(item, BaseException) for item in first)

        streams, refused_before = await all_at_once()
        for stream in streams:
            stream.cancel()
        began = time.perf_counter()
        streams, refused = await all_at_once()
        seconds = time.perf_counter() - began
        for stream in streams:
            stream.cancel()
    # One more than there were, so that a ratio can be made of it.
    return {"per_second": len(watchers) / seconds, "refused": 1.0 + refused_before + refused}


async def _settled_memory(run: Run) -> int:
    """The memory of the server when it no longer changes, or after five seconds."""
    last, now = 0, resident_bytes(run.server_pid)
    for _ in range(20):
        await asyncio.sleep(0.25)
        last, now = now, resident_bytes(run.server_pid)
        if last == now:
            break
    return now


async def _read_on(stream: Stream) -> None:
    """Reads and forgets."""
    while isinstance(await stream.read(), play_pb2.WatchTableResponse):
        pass


async def _until(done: Callable[[], bool]) -> None:
    """Waits for something that the play at the tables brings about."""
    async with asyncio.timeout(2 * CALL_DEADLINE):
        while not done():  # noqa: ASYNC110 (an event at each act would cost the load)
            await asyncio.sleep(0.01)


MEASURES: dict[str, Callable[[Run], Coroutine[None, None, Figures]]] = {
    measure.__name__: measure
    for measure in (
        acts,
        delay,
        answers,
        answers_without_a_disk,
        delay_beside_reader,
        delay_beside_stalled,
        reads,
        empty_calls,
        catching_up,
        memory,
        coming_back,
    )
}


def main(text: str) -> None:
    """Makes the run that is given as JSON, and prints its figures as JSON."""
    fields = json.loads(text)
    fields["size"] = Size(**fields["size"])
    run = Run(**fields)
    # The load's own rubbish would show up as a delay of the server's.
    gc.disable()

    print(json.dumps(asyncio.run(MEASURES[run.measure](run))))


if __name__ == "__main__":
    main(sys.argv[1])
