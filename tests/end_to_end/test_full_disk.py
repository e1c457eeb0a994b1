"""A server whose disk is full: nobody loses anything, and it goes on when there is room again.

The kernel is told to let the server's files grow no further, which is what a full disk does to it.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection, new_request_id
from odin_client.connection.credential import Credential
from odin_client.errors import Unreachable
from odin_client.session.session import Session
from odin_contract.values import Options
from odin_table.v1 import lobby_pb2, play_pb2
from tests.support.patience import PATIENCE
from tests.support.programs import programs_in

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems cannot limit another process"
)


async def test_a_full_disk_is_said_and_waited_for(tmp_path: Path) -> None:
    with programs_in(tmp_path) as programs:
        file = tmp_path / "tables.db"
        server = programs.serve("--store", f"sqlite:{file}")
        pid = programs.pid_of_server(server)
        connection = await Connection.open(Address.parse(server), Credential.new())
        session = await Session.open_table(connection, Options(seats=2, threshold=None))
        await session.take_seat("Zoe")
        table = session.table.table
        ready = lobby_pb2.SetReadyRequest(request_id=new_request_id(), table=table, ready=True)

        unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, unlimited[1]))
        with pytest.raises(Unreachable, match="cannot be written"):
            await connection.call(connection.lobby.SetReady, ready, patience=3)
        # What is there can be read meanwhile, and nothing of it has changed.
        assert not await _is_ready(connection, table)

        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        answer = await connection.call(connection.lobby.SetReady, ready, patience=PATIENCE)
        assert not answer.replayed
        assert await _is_ready(connection, table)

        # And all of it is on the disk.
        programs.kill_server(server)
        programs.serve("--store", f"sqlite:{file}", "--listen", server)
        assert await _is_ready(connection, table)
        await connection.close()


async def _is_ready(connection: Connection, table: str) -> bool:
    request = play_pb2.GetViewRequest(table=table)
    answer = await connection.call(connection.table.GetView, request, patience=PATIENCE)
    return answer.view.seats[0].ready
