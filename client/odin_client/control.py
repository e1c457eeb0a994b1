"""The operator's way to a server on this machine: a socket beside its file of tables."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from odin_client.address import Address
from odin_client.connection import Connection
from odin_client.errors import ClientError
from odin_client.languages import _
from odin_table.v1 import operator_pb2


def control_socket(store: Path | None) -> Path:
    """The socket of the server that uses this file. Raises ClientError when there is none."""
    if store is None:
        raise ClientError(
            _("A server that keeps its tables in memory has nothing to give."),
            _("Name its file: --store sqlite:PATH."),
        )
    socket = store.absolute().with_name(f"{store.name}.control")
    if not socket.exists():
        raise ClientError(
            _("No server uses {file}.").format(file=store),
            _("Is it running, and is this its file (--store)?"),
        )
    return socket


@asynccontextmanager
async def at_control(socket: Path) -> AsyncGenerator[Connection]:
    """A connection to the server at this socket. Raises Unreachable."""
    connection = await Connection.open(Address("localhost"), target=f"unix:{socket}")
    try:
        yield connection
    finally:
        await connection.close()


async def ended_tables(connection: Connection) -> AsyncGenerator[str]:
    """The handles of all tables that have ended, newest first. Raises Unreachable."""
    request = operator_pb2.ListEndedTablesRequest()
    while True:
        page = await connection.call(connection.operator.ListEndedTables, request)
        for table in page.tables:
            yield table
        request.page_token = page.next_page_token
        if not request.page_token:
            return
