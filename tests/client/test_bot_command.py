"""`odin-table bot` and the worker that it starts: how both begin, and how both end."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Final

import pytest

from odin_cli.commands import bot as bot_command
from odin_cli.commands.bot import BotOptions
from odin_cli.games import game_file
from odin_client.bots import BadStrategy
from odin_client.bots import process as bot_process
from odin_client.bots.process import BotWorker
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_contract.events import PresenceChanged
from odin_contract.values import Options
from odin_server.main import Server
from odin_server.settings import Settings
from odin_table.v1 import event_pb2
from tests.support.leftovers import nothing_is_left, running, wait_until_gone
from tests.support.often import TIMES
from tests.support.patience import PATIENCE
from tests.support.programs import Programs

__all__ = ["nothing_is_left"]

pytestmark = [pytest.mark.often, pytest.mark.usefixtures("nothing_is_left")]

HERE: Final = "tests.client.failing_bots"


@pytest.mark.usefixtures("each_time")
@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        (f"{HERE}:IsNeverMade", "IsNeverMade cannot be made: OSError: no model."),
        (f"{HERE}:IsNeverMade", 'failing_bots.py", line '),
        (f"{HERE}:IsMadeForever", "IsMadeForever was not ready after 0.5 s."),
        (f"{HERE}:Nobody", "has no attribute 'Nobody'"),
        ("mine:Mine", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("mine:Mine", "import no_such_library"),
        ("no_such_module:Mine", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("ends:Mine", "ends:Mine ended its process while it was being made (exit code 3)."),
    ],
)
async def test_a_bot_that_cannot_be_made_is_an_error_that_says_why(
    strategy: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("import no_such_library\n")
    (tmp_path / "ends.py").write_text("import os\nos._exit(3)\n")
    (tmp_path / "queue.py").write_text("raise ImportError('this is not the library')\n")
    if "." not in strategy:
        monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bot_process, "START_DEADLINE", 0.5 if "Forever" in strategy else 20)
    with pytest.raises(BadStrategy) as raised:
        async with BotWorker(strategy):
            pass
    assert says in str(raised.value)
    assert "odin_client/bots/bot.py" not in str(raised.value)
    is_not_there = "Nobody" in strategy or "no_such_module" in strategy
    assert ("It has to be module:Class" in str(raised.value)) == is_not_there


def test_a_signal_ends_a_runner_whose_bot_hangs_and_all_that_belongs_to_it(
    programs: Programs,
) -> None:
    server = programs.serve()
    signals = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
    for _ in range(TIMES):
        bots = [
            programs.start("bot", table_for_one(server), "--strategy", f"{HERE}:Matches")
            for _ in signals
        ]
        for bot in bots:
            bot.error_with("never ends")
        assert running("odin_client.bots.worker")
        for bot, number in zip(bots, signals, strict=True):
            bot.process.send_signal(number)
        assert [bot.end() for bot in bots] == list(signals.values())
        wait_until_gone("odin_client.bots.worker")


@pytest.mark.usefixtures("each_time")
def test_a_script_without_a_guard_does_not_start_itself_again_and_again(
    programs: Programs, tmp_path: Path
) -> None:
    table = table_for_one(programs.serve())
    (tmp_path / "script.py").write_text(
        "import subprocess, sys\n"
        "from odin_client.bots import Bot, Pass\n"
        "class Mine(Bot):\n"
        "    def choose(self, view): return Pass(view.viewer)\n"
        f"command = [sys.executable, '-m', 'odin_cli', 'bot', {table!r}]\n"
        "done = subprocess.run([*command, '--strategy', 'script:Mine'])\n"
        "print('ended with', done.returncode)\n"
    )
    script = programs.start_module("script", cwd=tmp_path)
    assert script.end() == 0
    assert script.out == ["ended with 0"]  # in full, though its seat was the last one free
    assert sum("tried to start another bot" in line for line in script.errors) == 1
    assert [line for line in script.errors if "ended with" in line] == ["ended with 2"]


@pytest.mark.usefixtures("each_time")
async def test_with_a_seed_a_bot_repeats_a_match_to_the_card() -> None:
    """Its choices, and the deals, to which it adds nothing."""
    first, second = [await match_with_seeds() for _ in range(2)]
    assert len(first) > 30
    assert first == second


async def match_with_seeds() -> list[event_pb2.Event]:
    """A game of `odin-table bot --seed 5` against a bot of `odin-table serve --seed 7`."""
    server = Server(Settings(port=0, bot_delay=0, deal_pause=0.01, seed=7))
    await server.start()
    address = Address("127.0.0.1", server.port)
    connection = await Connection.open(address, Credential.new())
    host = await Session.open_table(connection, Options(seats=2, threshold=None))
    asked = BotOptions(
        strategy=f"{HERE}:DrawsFromEverything", games=1, seed=5, think=20.0, name="seeded"
    )
    try:
        async with asyncio.timeout(PATIENCE):
            playing = asyncio.create_task(bot_command.play(host.address, Credential.new(), asked))
            async for update in host.follow():
                if isinstance(update, PresenceChanged) and host.table.taken_seats:
                    await asyncio.sleep(0.1)  # in which it would add to the deal
                    await host.add_bot()
                    break
            assert await playing == 0
            game = await game_file.fetch(connection, host.table.table, 1)
    finally:
        await connection.close()
        await server.stop()
    for event in game.events:
        event.ClearField("time")
    return list(game.events)


def table_for_one(server: str) -> str:
    """A table where a built-in bot waits for one more."""

    async def opening() -> str:
        connection = await Connection.open(Address.parse(server), Credential.new())
        session = await Session.open_table(connection, Options(seats=2, threshold=None))
        await session.add_bot()
        await connection.close()
        return str(session.address)

    return asyncio.run(opening())
