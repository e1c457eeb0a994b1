"""A deal that could not be checked in full is said aloud by every interface."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

from odin_cli.json_lines.json_mode import JsonMode
from odin_cli.line.output_lines import OutputLines
from odin_cli.speech.check_sentence import check_notice
from odin_cli.speech.sentences import sentence
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.views.view import render
from odin_client.session.session import Session
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, DealGap
from tests.client.conftest import Connect, seated
from tests.client.terminal import samples
from tests.client.test_deal_check import LONG, follow, known
from tests.support.patience import PATIENCE

CHECKED = DealChecked(3, gaps=(DealGap.MISSED,), not_in_full=2)
SAID = "Deal 3 is NOT CHECKED IN FULL: you have not seen all of it. It is number 2 of such deals."


def test_lines_and_logs_say_it() -> None:
    assert sentence(CHECKED, TableModel()) == SAID
    assert check_notice(CHECKED) == "Deal 3 is not checked in full. l says more."


def test_the_full_screen_says_it_as_loud_as_a_warning() -> None:
    here = samples.between_deals()
    here.checked = CHECKED
    lines = render(here, 120, 40, Capabilities())
    spans = [span for row in lines for span in row if "NOT CHECKED IN FULL" in span.text]
    assert [span.style for span in spans] == ["banner"]


async def test_json_mode_says_it(connect: Connect, tmp_path: Path) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    await asyncio.gather(known(zoe), known(bob))
    await zoe.ready()
    await bob.ready()
    late = Session(await connect(), zoe.table.table)
    shown = tmp_path / "shown"
    with shown.open("w", encoding="utf-8") as out:
        async with asyncio.timeout(PATIENCE), OutputLines(out, out) as output:
            watching = asyncio.create_task(JsonMode(late, io.StringIO(), output).run())
            while "snapshot" not in shown.read_text("utf-8"):  # noqa: ASYNC110 (the task above writes it)
                await asyncio.sleep(0.01)
            await asyncio.gather(follow(zoe, 1), follow(bob, 1))
            while "dealChecked" not in shown.read_text("utf-8"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    said = [json.loads(line) for line in shown.read_text("utf-8").splitlines()]
    (checked,) = [line["dealChecked"] for line in said if "dealChecked" in line]
    assert (checked["ok"], checked["faults"], checked["notInFull"]) == (False, [], 1)
    assert checked["gaps"] == ["late"]
