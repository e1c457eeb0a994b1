"""The script of examples/curl, as its user would run it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from contextlib import aclosing
from pathlib import Path

import grpc.aio
import pytest

from tests.interop.examples import ROOT
from tests.support.need import need
from tests.support.patience import PATIENCE
from tests.support.people import Person, payload
from tests.support.programs import programs_in

pytestmark = pytest.mark.web

SCRIPT = ROOT / "examples/curl/play.sh"


@pytest.fixture(autouse=True)
def tools() -> None:
    need(*(program for program in ("bash", "curl", "jq") if shutil.which(program) is None))


def played_at(url: str) -> subprocess.CompletedProcess[str]:
    """What the script says at a server."""
    return subprocess.run(
        [SCRIPT, url], capture_output=True, text=True, check=False, timeout=3 * PATIENCE
    )


async def test_a_deal_is_played_with_curl_alone(tmp_path: Path) -> None:
    with programs_in(tmp_path) as programs:
        server = programs.start(
            *("serve", "--listen", "127.0.0.1:0", "--http", "0", "--store", "memory"),
            *("--set", "bot_delay=0.05"),
        )
        address = server.line_with("serves on").split()[-1]
        url = server.line_with("over HTTP").split()[-1]
        async with asyncio.timeout(4 * PATIENCE), grpc.aio.insecure_channel(address) as channel:
            done = await asyncio.to_thread(played_at, url)
            assert (done.returncode, done.stderr) == (0, "")
            table = done.stdout.partition("Playing at ")[2].partition(".")[0]
            ann = Person(channel, "Ann")
            view = await ann.view(table)
            winners = " and ".join(view.seats[seat].name for seat in view.game.winners)
            assert f"Won: {winners}" in done.stdout
            for player in view.game.players:
                assert f"{view.seats[player.seat].name}  {player.total}" in done.stdout
            async with aclosing(ann.events(table)) as events:
                seen = [payload(await anext(events)) for _ in range(view.seq)]
        assert "substitute_seated" not in seen


def test_a_refusal_ends_it_and_is_shown(tmp_path: Path) -> None:
    with programs_in(tmp_path) as programs:
        server = programs.start(
            *("serve", "--listen", "127.0.0.1:0", "--http", "0", "--store", "memory"),
            *("--set", "name_characters=3"),
        )
        url = server.line_with("over HTTP").split()[-1]
        done = played_at(url)
        assert done.returncode != 0
        assert "MALFORMED" in done.stderr
