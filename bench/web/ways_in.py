"""An act that comes by gRPC, by Connect, and as JSON: until it is answered, and what it costs.

One table of two at a steady pace; the streams are gRPC's each time, so that only the way of the act
differs.
"""

import asyncio
from collections.abc import Iterator
from statistics import median

from google.protobuf import json_format

from bench.server.processes import ServerProcess, cpu_seconds, running_server
from bench.server.seats import CALL_DEADLINE, Credential, LoadedTable, WayIn, playing
from odin_table.v1 import play_pb2

NAME = "ways-in"
PACE = 100
"""Acts a second."""
ACTS = 300
"""In a turn, of each way."""

_PATH = "/odin_table.v1.PlayService/Act"


class OverHttp:
    """Acts over one connection of HTTP/1.1, with as little work as that can be."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, as_json: bool
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._as_json = as_json
        self._free = asyncio.Lock()

    async def __call__(
        self, request: play_pb2.ActRequest, credential: Credential
    ) -> play_pb2.ActResponse:
        """See `WayIn`."""
        body = (
            json_format.MessageToJson(request, indent=None).encode()
            if self._as_json
            else request.SerializeToString()
        )
        kind = "json" if self._as_json else "proto"
        fields = "".join(f"{name}: {value}\r\n" for name, value in credential)
        head = (
            f"POST {_PATH} HTTP/1.1\r\nhost: x\r\n{fields}"
            f"content-type: application/{kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        # The next seat may act before this answer is there, and HTTP/1.1 does one at a time.
        async with asyncio.timeout(CALL_DEADLINE), self._free:
            self._writer.write(head.encode() + body)
            answer = await self._answer()
        if self._as_json:
            return json_format.Parse(answer, play_pb2.ActResponse())
        return play_pb2.ActResponse.FromString(answer)

    async def _answer(self) -> bytes:
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        body = b""
        while size := int(await self._reader.readline(), 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readline()
        return body


async def _figures(server: ServerProcess, http_port: int, acts: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    async with playing(server.address, 1, seats=2) as (table,):
        ways: dict[str, WayIn] = {"grpc": table.way_in}
        writers: list[asyncio.StreamWriter] = []
        for name, as_json in (("connect", False), ("json", True)):
            reader, writer = await asyncio.open_connection("127.0.0.1", http_port)
            writers.append(writer)
            ways[name] = OverHttp(reader, writer, as_json=as_json)
        for name, way in ways.items():
            table.way_in = way
            await _act(table, acts // 5)
            used = cpu_seconds(server.pid)
            await _act(table, acts)
            figures[f"{name}_us"] = (cpu_seconds(server.pid) - used) / acts * 1e6
            figures[f"{name}_ms"] = median(table.answers) * 1e3
        for writer in writers:
            writer.close()
    return figures


async def _act(table: LoadedTable, acts: int) -> None:
    table.pace(PACE)
    until = table.acts + acts
    while table.acts < until:  # noqa: ASYNC110 (it is the seats that count)
        await asyncio.sleep(0.02)


def measure(turns: int, quick: bool) -> dict[str, list[float]]:
    """For each way the median time of an answer, and the server's processor time for an act."""
    figures: dict[str, list[float]] = {}
    for _ in range(turns):
        with running_server("bench.web.serving") as server:
            port, _, address = server.address.partition(",")
            own = ServerProcess(address, server.pid)
            for name, figure in asyncio.run(
                _figures(own, int(port), ACTS // 3 if quick else ACTS)
            ).items():
                figures.setdefault(name, []).append(figure)
    return figures


def rows(figures: dict[str, list[float]]) -> Iterator[str]:
    """A line for each way."""
    for name, title in (("grpc", "by gRPC"), ("connect", "by Connect"), ("json", "as JSON")):
        answered, used = median(figures[f"{name}_ms"]), median(figures[f"{name}_us"])
        yield f"an act {title:<45} {answered:.2f} ms, {used:,.0f} µs of the server"
