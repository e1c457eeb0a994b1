"""A call of gRPC written byte by byte: gRPC itself would not send such headers."""

from __future__ import annotations

import asyncio
import struct

from tests.support.patience import PATIENCE


def _frame(kind: int, flags: int, stream: int, data: bytes) -> bytes:
    return (
        struct.pack(">I", len(data))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + data
    )


def _header(name: bytes, value: bytes) -> bytes:
    """A header that no table of HPACK has to know."""
    return b"\0" + bytes((len(name),)) + name + bytes((len(value),)) + value


async def raw_call(
    port: int, path: bytes, *headers: tuple[bytes, bytes], body: bytes = b""
) -> bytes:
    """Calls, and returns the bytes of the answer: in it are status and message of gRPC, as text."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    always = (
        *((b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"x")),
        *((b"te", b"trailers"), (b"content-type", b"application/grpc")),
    )
    block = b"".join(_header(name, value) for name, value in (*always, *headers))
    message = b"\0" + struct.pack(">I", len(body)) + body
    writer.write(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        + _frame(4, 0, 0, b"")
        + _frame(1, 4, 1, block)
        + _frame(0, 1, 1, message)
    )
    answer = b""
    try:
        async with asyncio.timeout(PATIENCE):
            while b"grpc-message" not in answer and (part := await reader.read(65536)):
                answer += part
    finally:
        writer.close()
    return answer
