"""A server of another time, or another program: exit code 6."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import grpc
import grpc.aio
import pytest

from odin_table.v1 import lobby_pb2
from tests.support.programs import Programs


async def _newer(_request: bytes, _context: object) -> bytes:
    """A server that has left this revision of the contract behind."""
    answer = lobby_pb2.GetServerInfoResponse(version="9.0", revision=99, oldest_revision=98)
    return answer.SerializeToString()


@pytest.fixture(params=[True, False], ids=["a newer server", "another program"])
async def stranger(request: pytest.FixtureRequest) -> AsyncGenerator[tuple[str, str]]:
    """Where it is, and what a client says of it."""
    server = grpc.aio.server()
    if request.param:
        methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            "GetServerInfo": grpc.unary_unary_rpc_method_handler(_newer)
        }
        handler = grpc.method_handlers_generic_handler("odin_table.v1.LobbyService", methods)
        server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}", "odin-table 9.0" if request.param else "it is another program"
    await server.stop(None)


async def test_it_is_said_with_an_exit_code_of_its_own(
    programs: Programs, stranger: tuple[str, str]
) -> None:
    address, said = stranger
    for command in ("ls", "join", "watch"):
        program = await asyncio.to_thread(programs.run_apart, command, address)
        assert program.end() == 6
        assert program.error_with(said)
        assert not any("Traceback" in line for line in program.errors)
