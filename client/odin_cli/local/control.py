"""The operator's way to a server on this machine: a socket beside its file of tables."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from odin_cli.speech.languages import _
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.errors import ClientError
from odin_table.v1 import operator_pb2

_MAX_PATH: Final = 107 if sys.platform == "linux" else 103
"""Bytes that the path of a socket may have."""


def control_socket(store: Path | None) -> Path:
    """The socket of the server that uses this file. Raises ClientError when there is none."""
    if store is None:
        raise ClientError(
            _("A server that keeps its tables in memory has nothing to give."),
            _("Name its file: --store sqlite:PATH."),
        )
    store = store.resolve()
    socket = store.with_name(f"{store.name}.control")
    if not socket.exists():
        raise ClientError(
            _("No server uses {file}.").format(file=store),
            _("Is it running, and is this its file (--store)?"),
        )
    return socket


@asynccontextmanager
async def at_control(socket: Path) -> AsyncGenerator[Connection]:
    """A connection to the server at this socket. Raises Unreachable."""
    with ExitStack() as stack:
        connection = await Connection.open(Address("localhost"), target=_target(socket, stack))
        try:
            yield connection
        finally:
            await connection.close()


def _target(socket: Path, stack: ExitStack) -> str:
    """GRPC's name of this socket, which is a URI. See `odin_server.edge.control.address_of`."""
    if len(os.fsencode(socket)) > _MAX_PATH:
        folder = os.open(socket.parent, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, folder)
        socket = Path(f"/proc/self/fd/{folder}", socket.name)
    return f"unix:{quote(os.fsencode(socket))}"


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
