"""`python -m tests.end_to_end.lone_viewer HOST:PORT HANDLE` looks on, in a process of its own.

Prints a line for each snapshot and each batch of events: which it is, and its last number. Its
window is small, so that a server has to hold back after a few messages instead of megabytes.
"""

import asyncio
import sys

from bench.server.seats import connect, new_credential
from odin_table.v1 import play_pb2
from odin_table.v1.play_pb2_grpc import PlayServiceStub


async def look_on(address: str, handle: str) -> None:
    """Looks on until the stream ends."""
    small = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0}
    async with connect(address, **small) as channel:
        request = play_pb2.WatchTableRequest(table=handle)
        stream = PlayServiceStub(channel).WatchTable(request, metadata=new_credential())
        while isinstance(item := await stream.read(), play_pb2.WatchTableResponse):
            if item.HasField("snapshot"):
                say("snapshot", item.snapshot.seq)
            elif item.HasField("events"):
                say("events", item.events.events[-1].seq)


def say(what: str, seq: int) -> None:
    """Prints it at once."""
    sys.stdout.write(f"{what} {seq}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(look_on(*sys.argv[1:]))
