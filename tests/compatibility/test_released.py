"""What was released goes on: the program, its file of tables and its file of credentials.

`released/` has the wheel of version 0.1.0 as it was built then, so the old program is here as a
whole and not as today's program in disguise. `third_log` beside the server's tests is a file that
it wrote. The wheel is run from where it lies, in a process of its own.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import shutil
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from odin_server.event_log import SqliteLog
from odin_server.main import Server
from odin_server.settings import Settings
from tests.support.patience import PATIENCE
from tests.support.processes import environment, running
from tests.support.servers import serving

HERE: Final = Path(__file__).parent
WHEEL: Final = HERE / "released" / "odin_table-0.1.0-py3-none-any.whl"
THIRD_LOG: Final = HERE.parent / "server" / "third_log"
TABLES: Final[dict[str, dict[str, Any]]] = json.loads((THIRD_LOG / "tables.json").read_text())


def table_in(phase: str) -> str:
    """The table of `third_log` that was in this phase."""
    (table,) = [name for name, was in TABLES.items() if was["phase"] == f"TABLE_PHASE_{phase}"]
    return table


def credentials_file(folder: Path, port: int) -> Path:
    """A file as version 0.1.0 wrote it, with the credentials of Ann and Bob at this port."""
    secrets = {
        name: base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).decode().rstrip("=")
        for name in ("Ann", "Bob")
    }
    path = folder / "seats.json"
    seats = {f"this machine:{port}": {name.lower(): secret for name, secret in secrets.items()}}
    path.write_text(json.dumps({"seats": seats}))
    return path


def released(*words: str, folder: Path) -> AbstractAsyncContextManager[Process]:
    """Runs the program of version 0.1.0; it is gone at the end."""
    return running(
        *(sys.executable, "-P", "-m", "odin_client", *words),
        cwd=folder,
        env=environment(folder, PYTHONPATH=str(WHEEL)),
        stdin=asyncio.subprocess.PIPE,
    )


class ReleasedPlayer:
    """Somebody at `odin-table join --ui json` of version 0.1.0."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.checks: list[dict[str, Any]] = []
        """Each `dealChecked` that was printed."""
        self._snapshot: dict[str, Any] = {}

    async def play(self, deals: int) -> None:
        """Plays on from the snapshot and adds to every deal.

        Returns when the deal after this many deals is being played: those have been checked then.
        """
        self._see(self._snapshot.get("decision", {}))
        if "commitment" in self._snapshot:
            self._add_to_the_deal(self._snapshot["commitment"])
        ended = 0
        while True:
            said = await self._next()
            # Bob was ready when he came back, so a deal may start before he adds to it once more.
            assert said.get("error", {}).get("reason") in (None, "ALREADY_STARTED"), said
            if "dealChecked" in said:
                self.checks.append(said["dealChecked"])
            item = said.get("watchTable", {})
            for event in item.get("events", {}).get("events", ()):
                self._see(event.get("decisionOpened", {}).get("decision", {}))
                if "dealCommitted" in event:
                    # Of a deal/2, which 0.1.0 does not know, the field that it knows is empty.
                    self._add_to_the_deal(event["dealCommitted"].get("commitment"))
                ended += "dealEnded" in event
                if "dealStarted" in event and ended == deals:
                    return

    async def arrive(self) -> None:
        """Waits for the snapshot."""
        while "snapshot" not in (item := (await self._next()).get("watchTable", {})):
            pass
        self._snapshot = item["snapshot"]

    async def _next(self) -> dict[str, Any]:
        """The next line; fails with what stands on stderr when there is none."""
        assert self._process.stdout is not None
        if line := await self._process.stdout.readline():
            said: dict[str, Any] = json.loads(line)
            return said
        assert self._process.stderr is not None
        raise AssertionError((await self._process.stderr.read()).decode())

    def _see(self, decision: dict[str, Any]) -> None:
        if "choices" in decision:
            action = decision["choices"]["defaultAction"]
            self._say({"act": {"decisionId": decision["id"], "action": action}})

    def _add_to_the_deal(self, commitment: str | None) -> None:
        nonce = base64.b64encode(os.urandom(32)).decode()
        added = {"nonce": nonce, "commitment": commitment} if commitment else {}
        self._say({"setReady": {"ready": True, **added}})

    def _say(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    """A server of today on a copy of the file that version 0.1.0 wrote."""
    shutil.copy(THIRD_LOG / "tables.db", tmp_path / "tables.db")
    settings = Settings(port=0, bot_delay=0, deal_pause=600, away_budget=600, empty_after=600)
    async with serving(settings, log=SqliteLog(tmp_path / "tables.db")) as server:
        yield server


@asynccontextmanager
async def seated(
    server: Server, table: str, folder: Path, *names: str
) -> AsyncGenerator[list[ReleasedPlayer]]:
    """Players of version 0.1.0 who come back to their seats of then."""
    if not names:
        yield []
        return
    path = credentials_file(folder, server.port)
    join = ("join", f"{table}@127.0.0.1:{server.port}", "--ui", "json", "--name", names[0])
    async with (
        released(*join, "--credential-file", str(path), folder=folder) as process,
        seated(server, table, folder, *names[1:]) as others,
    ):
        player = ReleasedPlayer(process)
        await player.arrive()
        yield [player, *others]


@pytest.mark.timeout(2 * PATIENCE)
async def test_deals_that_the_released_server_promised_are_dealt_as_promised(
    server: Server, tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(PATIENCE),
        seated(server, table_in("BETWEEN_DEALS"), tmp_path, "Ann", "Bob") as players,
    ):
        await asyncio.gather(*(player.play(deals=3) for player in players))
    for player in players:
        promised, *later = player.checks
        assert (promised["ok"], promised["whole"], promised["nonces"]) == (True, True, 2)
        assert not any(check["faults"] for check in later), "an honest deal was called a lie"


@pytest.mark.timeout(2 * PATIENCE)
async def test_a_deal_that_was_being_played_is_played_to_its_end(
    server: Server, tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(PATIENCE),
        seated(server, table_in("PLAYING"), tmp_path, "Ann", "Bob") as players,
    ):
        await asyncio.gather(*(player.play(deals=1) for player in players))
    for player in players:
        (check,) = player.checks
        assert (check["ok"], check["faults"], check["nonces"]) == (True, [], 2)


@pytest.mark.timeout(2 * PATIENCE)
async def test_the_released_server_refuses_a_file_of_today_in_a_sentence(
    server: Server, tmp_path: Path
) -> None:
    await server.stop()  # the file has been opened by today's server, and so is of its form
    before = (tmp_path / "tables.db").read_bytes()
    serve = ("serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{tmp_path / 'tables.db'}")
    async with asyncio.timeout(PATIENCE), released(*serve, folder=tmp_path) as process:
        out, errors = await process.communicate()
    assert process.returncode == 1
    said = (out + errors).decode()
    assert "was written by a newer odin-table" in said
    assert "Update odin-table" in said
    assert "Traceback" not in said
    assert (tmp_path / "tables.db").read_bytes() == before
