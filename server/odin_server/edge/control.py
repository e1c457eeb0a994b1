"""The operator's way in: a socket beside the file of tables, which only its owner may open.

The file is locked for the server, so a backup or an export has to go through the server.
A server that has its tables in memory has no socket, because there is no file to lie beside, and
nothing of it outlives the process.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

import grpc
from google.protobuf.message import Message

from odin_server.authority import Role
from odin_server.edge.calls import Caller, Calls, Unary
from odin_server.edge.service import Services
from odin_server.environment import Environment
from odin_server.errors import invalid_option
from odin_server.event_log import CannotBackUp, EventLog
from odin_server.lobby.listing import page_start
from odin_table.v1 import operator_pb2

_log: Final = logging.getLogger(__name__)

_TABLES_A_PAGE: Final = 100
_MAX_PATH: Final = 107 if sys.platform == "linux" else 103
"""Bytes that the path of a socket may have."""


def control_socket(store: Path) -> Path:
    """The socket of the server that uses this file."""
    return store.with_name(f"{store.name}.control")


def address_of(path: Path, stack: ExitStack) -> str:
    """GRPC's name of the socket at this path. Raises OSError when there can be none.

    On Linux a folder of any length is reached by its number, for as long as `stack` keeps it open.
    """
    if len(os.fsencode(path)) > _MAX_PATH:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, folder)
        short = Path(f"/proc/self/fd/{folder}", path.name)
        if len(os.fsencode(short)) > _MAX_PATH or not short.parent.exists():
            raise OSError(f"the path of a socket has at most {_MAX_PATH} bytes")
        path = short
    # The name is a URI.
    return f"unix:{quote(os.fsencode(path))}"


class Control:
    """Serves the operator's calls. `start` it, then `stop` it."""

    def __init__(self, environment: Environment, services: Services, log: EventLog) -> None:
        self._environment: Final = environment
        self._services: Final = services
        self._event_log: Final = log
        self._server: grpc.aio.Server | None = None
        self._folder: Final = ExitStack()

    async def start(self) -> None:
        """Listens beside the file of tables; does nothing for a server without one.

        Where it cannot, it warns: the tables can be played at without it.
        """
        store = self._environment.settings.store
        if store is None or os.name != "posix":
            return
        path = control_socket(store.resolve())
        try:
            await self._listen(path)
        except (OSError, RuntimeError) as error:
            # gRPC raises RuntimeError, with advice for programmers behind a semicolon.
            reason = str(error).partition(";")[0]
            _log.warning("no backup and no export: %s cannot be opened: %s", path, reason)

    async def _listen(self, path: Path) -> None:
        calls = Calls(self._environment, timedelta(), role=Role.OPERATOR)
        server = grpc.aio.server()
        own = self._services.methods()
        for service, names in (
            ("odin_table.v1.LobbyService", ("GetServerInfo",)),
            ("odin_table.v1.PlayService", ("GetView",)),
            ("odin_table.v1.HistoryService", ("GetHistory",)),
        ):
            methods = {name: own[service][name] for name in names}
            server.add_generic_rpc_handlers((calls.handler(service, methods),))
        server.add_generic_rpc_handlers(
            (
                calls.handler(
                    "odin_table.v1.OperatorService",
                    {
                        "Backup": Unary(operator_pb2.BackupRequest, self._backup),
                        "ListEndedTables": Unary(
                            operator_pb2.ListEndedTablesRequest, self._list_ended_tables
                        ),
                    },
                ),
            )
        )
        # Nobody else may open it, not even for the moment until its mode is set.
        address = address_of(path, self._folder)
        before = os.umask(0o177)
        try:
            server.add_insecure_port(address)
        finally:
            os.umask(before)
        await server.start()
        self._server = server

    async def stop(self) -> None:
        """Stops at once."""
        if self._server:
            await self._server.stop(None)
        self._folder.close()

    async def _backup(self, request: operator_pb2.BackupRequest, _caller: Caller) -> Message:
        """Backup."""
        if not Path(request.path).is_absolute():
            raise invalid_option("path", "Say an absolute path.")
        try:
            await self._event_log.backup(request.path)
        except CannotBackUp as error:
            raise invalid_option("path", str(error)) from None
        return operator_pb2.BackupResponse()

    async def _list_ended_tables(
        self, request: operator_pb2.ListEndedTablesRequest, _caller: Caller
    ) -> Message:
        """ListEndedTables."""
        before = page_start(request.page_token)
        entries = await self._event_log.ended_tables(before, _TABLES_A_PAGE + 1, private=True)
        page = entries[:_TABLES_A_PAGE]
        return operator_pb2.ListEndedTablesResponse(
            tables=[entry.handle for entry in page],
            next_page_token=str(page[-1].number) if len(entries) > len(page) else "",
        )
