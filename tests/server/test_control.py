"""The operator's socket lies beside the file of tables, whatever its folder is called."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import grpc.aio
import pytest

from odin_server.edge.control import address_of, control_socket
from odin_server.event_log import SqliteLog
from odin_table.v1 import operator_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE

LIMIT = 107
"""Bytes of `sun_path` on Linux, without the zero at its end."""


async def backed_up(store: Path, copy: Path) -> None:
    """Asks the server that uses this file for a backup."""
    with ExitStack() as stack:
        address = address_of(control_socket(store), stack)
        async with grpc.aio.insecure_channel(address) as channel:
            call = channel.unary_unary(
                "/odin_table.v1.OperatorService/Backup",
                request_serializer=operator_pb2.BackupRequest.SerializeToString,
                response_deserializer=operator_pb2.BackupResponse.FromString,
            )
            await call(operator_pb2.BackupRequest(path=str(copy)), timeout=PATIENCE)
    assert stat.S_ISREG(os.stat(copy).st_mode)  # noqa: PTH116 (in a coroutine)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "with a space",
            "100%20",
            "a?b",
            "a#b",
            "a:b",
            "ゲームのデータ",
            "Ω" * 30,
            "\udce9t\udce9",
        ),
        "very long " * 20,
    ],
)
async def test_a_backup_is_made_in_a_folder_of_any_name(
    serve: Serve, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / name / "tables.db"
    server = await serve(replace(QUICK, store=store), log=SqliteLog(store))
    await backed_up(store, tmp_path / "copy.db")
    assert stat.S_IMODE(control_socket(store).stat().st_mode) == 0o600
    await server.stop()
    assert not control_socket(store).exists()
    assert not caplog.records


@pytest.mark.parametrize("length", [LIMIT - 1, LIMIT, LIMIT + 1])
async def test_the_limit_of_a_path_is_in_bytes(
    serve: Serve, tmp_path: Path, length: int, caplog: pytest.LogCaptureFixture
) -> None:
    left = length - len(os.fsencode(control_socket(tmp_path / "x" / "tables.db"))) + 1
    folder = "é" * (left // 2) + "e" * (left % 2)
    store = tmp_path / folder / "tables.db"
    assert len(os.fsencode(control_socket(store))) == length
    await serve(replace(QUICK, store=store), log=SqliteLog(store))
    await backed_up(store, tmp_path / "copy.db")
    assert not caplog.records


async def test_a_socket_that_cannot_be_opened_is_told_and_stops_nothing(
    serve: Serve, meet: Meet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    too_long = tmp_path / ("t" * 120)
    in_the_way = tmp_path / "tables.db"
    control_socket(in_the_way).mkdir()
    for store in (too_long, in_the_way):
        caplog.clear()
        server = await serve(replace(QUICK, store=store), log=SqliteLog(store))
        (told,) = [record.getMessage() for record in caplog.records]
        assert told.startswith(f"no backup and no export: {control_socket(store)} cannot be opened")
        assert await meet(server, "Ann").open_table()
        await server.stop()


async def test_a_socket_that_a_killed_server_has_left_is_taken_over(
    serve: Serve, tmp_path: Path
) -> None:
    store = tmp_path / "tables.db"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(control_socket(store)))
    await serve(replace(QUICK, store=store), log=SqliteLog(store))
    await backed_up(store, tmp_path / "copy.db")
