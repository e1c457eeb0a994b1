"""Clients and servers of the first version of the contract and of today understand each other.

What is old runs as a program of its own with the stubs that were generated then (`first_contract`).
When a later protobuf refuses those, they may be generated again from the same contract, never from
a later one.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import generate_stubs
import grpc.aio
import pytest
from google.protobuf import json_format

from odin_cli.speech.complaints import NOT_IN_FULL
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_contract.events import GameEnded
from odin_contract.values import Options
from odin_server.settings import Settings
from odin_table.v1 import card_pb2, decision_pb2, event_pb2, history_pb2, history_pb2_grpc
from tests.compatibility.first_server import cut_down
from tests.support.patience import PATIENCE
from tests.support.processes import running
from tests.support.servers import serving

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
FIRST_CONTRACT: Final = HERE / "first_contract"

FIRST_DIGEST: Final = "030304d20db69e18ec069ee512b69dd4621c5793795db3d01a1efe1d8f6cee4d"
"""Of the descriptors of the first contract, in the order of the names of its files."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests finds nothing of them among their own files."""
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
async def server() -> AsyncGenerator[str]:
    """A server of today; HOST:PORT."""
    async with serving(Settings(port=0, bot_delay=0, deal_pause=600, seed=3)) as server:
        yield f"127.0.0.1:{server.port}"


def program(
    *command: str | Path, stubs: Path | None = None
) -> AbstractAsyncContextManager[Process]:
    """Runs a Python program, perhaps with other stubs than ours; it is gone at the end."""
    env = {**os.environ, **({"PYTHONPATH": str(stubs)} if stubs else {})}
    return running(sys.executable, *command, cwd=ROOT, env=env)


@asynccontextmanager
async def old_server(before: str, stubs: Path = FIRST_CONTRACT) -> AsyncGenerator[str]:
    """A server that knows only these stubs, before one of today; HOST:PORT."""
    async with program(HERE / "first_server.py", before, stubs=stubs) as process:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            address = (await process.stdout.readline()).decode().strip()
        yield address


async def ended_well(process: Process, code: int = 0) -> list[str]:
    """What it printed, line by line, once it has ended."""
    async with asyncio.timeout(PATIENCE):
        out, errors = await process.communicate()
    assert process.returncode == code, errors.decode()
    return out.decode().splitlines()


def first_client(server: str, table: str, name: str = "Old") -> Any:
    return program(HERE / "first_client.py", server, table, name, stubs=FIRST_CONTRACT)


def test_the_first_contract_is_the_first_contract() -> None:
    """However often its stubs are generated again: with later ones these tests say nothing."""
    digest = (
        "import hashlib, pathlib\n"
        "from importlib import import_module\n"
        f"names = sorted(p.stem for p in pathlib.Path({str(FIRST_CONTRACT)!r}).rglob('*_pb2.py'))\n"
        "files = [import_module(f'odin_table.v1.{name}').DESCRIPTOR for name in names]\n"
        "print(hashlib.sha256(b''.join(file.serialized_pb for file in files)).hexdigest())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", digest],
        env={**os.environ, "PYTHONPATH": str(FIRST_CONTRACT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == FIRST_DIGEST


def test_an_old_server_knows_nothing_that_is_younger() -> None:
    message = decision_pb2.PlayCards(cards=[card_pb2.CARD_R1])
    older = message.SerializeToString()
    # A second card, number 99; and a field 99.
    message.MergeFromString(b"\x08\x63" + b"\x98\x06\x01")
    action = decision_pb2.Action(play_cards=message)
    assert len(action.SerializeToString()) > len(older) + 2
    cut_down(action)
    assert action.play_cards.SerializeToString() == older
    decision = decision_pb2.Decision.FromString(b"\x18\x63")
    assert cut_down(decision).SerializeToString() == b"", "kind 99 is none of then"


@asynccontextmanager
async def connected(server: str) -> AsyncGenerator[Connection]:
    connection = await Connection.open(Address.parse(server), Credential.new())
    try:
        yield connection
    finally:
        await connection.close()


async def history(server: str, table: str) -> list[event_pb2.Event]:
    """What happened, as somebody of today who asks this server is told."""
    async with grpc.aio.insecure_channel(server) as channel:
        request = history_pb2.GetHistoryRequest(table=table, page_size=1000)
        answer = await history_pb2_grpc.HistoryServiceStub(channel).GetHistory(request)
        return list(answer.events)


def payloads(events: Sequence[event_pb2.Event]) -> list[str | None]:
    return [event.WhichOneof("payload") for event in events]


def result(events: Sequence[event_pb2.Event]) -> dict[str, Any]:
    (ended,) = [event.game_ended for event in events if event.HasField("game_ended")]
    scores = [event.deal_ended.scores for event in events if event.HasField("deal_ended")][-1]
    totals = [{"seat": score.seat, "total": score.total} for score in scores]
    return {"winners": list(ended.winners), "totals": totals}


@pytest.mark.timeout(2 * PATIENCE)
async def test_an_old_client_plays_a_whole_game_at_a_new_server(server: str) -> None:
    async with connected(server) as host:
        session = await Session.open_table(host, Options(seats=2, threshold=10))
        await session.add_bot()
        async with first_client(server, session.table.table) as process:
            *told, its_result = await ended_well(process)
    happened = {event.seq: event for event in await history(server, session.table.table)}
    assert json.loads(its_result) == result(list(happened.values()))
    seen = [json_format.Parse(line, event_pb2.Event()) for line in told]
    assert [event.seq for event in seen] == list(range(seen[0].seq, len(happened) + 1))
    for event in seen:
        assert event.time == happened[event.seq].time
        # What is younger than the client has come to it as something of unknown kind.
        assert event.WhichOneof("payload") in (None, *payloads([happened[event.seq]]))
    assert {"cards_played", "passed", "card_picked_up", "deal_ended"} <= set(payloads(seen))


async def play_with_clients_of_today(server: str, *, ends_with: int = 0) -> str:
    """A whole game of two bots of ours and a built-in one there, watched by its host.

    Gives the table, when the host has seen who won, and the bots have ended with this code.
    """
    async with connected(server) as connection, AsyncExitStack() as stack:
        session = await Session.open_table(connection, Options(seats=3, threshold=10))
        await session.add_bot()
        bot = ("-m", "odin_cli", "bot", str(session.address), "--games=1", "--strategy=greedy")
        bots = [await stack.enter_async_context(program(*bot)) for _ in range(2)]
        async with aclosing(session.follow()) as updates:
            async for update in updates:
                if isinstance(update, GameEnded):
                    assert session.table.game is not None
                    assert session.table.game.winners == update.winners != ()
                    break
        await asyncio.gather(*(ended_well(bot, ends_with) for bot in bots))
        return session.table.table


@pytest.mark.timeout(2 * PATIENCE)
async def test_new_clients_play_a_whole_game_at_an_old_server(server: str) -> None:
    async with old_server(before=server) as old, asyncio.timeout(PATIENCE):
        # That server commits itself to no deal.
        table = await play_with_clients_of_today(old, ends_with=NOT_IN_FULL)
        assert result(await history(old, table)) == result(await history(server, table))


@pytest.mark.timeout(2 * PATIENCE)
async def test_an_old_client_plays_at_an_old_server(server: str) -> None:
    async with old_server(before=server) as old, connected(old) as host:
        session = await Session.open_table(host, Options(seats=2, threshold=10))
        await session.add_bot()
        async with first_client(old, session.table.table) as process:
            *_, its_result = await ended_well(process)
        assert json.loads(its_result) == result(await history(server, session.table.table))


def changed_stubs(folder: Path, file: str, old: str, new: str) -> Path:
    """Stubs of a contract of today in which something that was there has changed."""
    protos = folder / "proto"
    shutil.copytree(ROOT / "proto" / "odin_table", protos / "odin_table")
    changed = protos / "odin_table" / "v1" / file
    text = changed.read_text()
    assert text.count(old) == 1, f"{file} has {text.count(old)} times {old!r}"
    changed.write_text(text.replace(old, new))
    generate_stubs.generate(protos, folder / "stubs")
    return folder / "stubs"


@pytest.mark.timeout(2 * PATIENCE)
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("play.proto", "int32 decision_id = 3;", "int32 decision_id = 33;"),
        ("event.proto", "  int32 seq = 1;", "  int32 seq = 111;"),
        ("chat.proto", "rpc SendChat(", "rpc Say("),
        ("table.proto", "repeated int32 winners = 13;", ""),
    ],
)
async def test_a_contract_that_was_broken_is_noticed(
    server: str, tmp_path: Path, file: str, old: str, new: str
) -> None:
    stubs = changed_stubs(tmp_path, file, old, new)
    async with old_server(server, stubs) as broken, connected(server) as host:
        session = await Session.open_table(host, Options(seats=2, threshold=10))
        await session.add_bot()
        async with first_client(broken, session.table.table) as process:
            with pytest.raises(AssertionError, match="Traceback"):
                await ended_well(process)
