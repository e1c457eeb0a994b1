"""A file that the first version wrote can be read for ever, as can what lies in it.

`first_log/tables.db` was played by people, bots and substitutes at a server of that version;
`first_log/tables.json` says what everybody could see there then. Neither is ever written again.
"""

from __future__ import annotations

import itertools
import json
import shutil
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from odin_server.event_log import SqliteLog
from odin_table.v1 import history_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.server.people import Person, payload, play_until

HERE = Path(__file__).parent / "first_log"
TABLES: dict[str, Any] = json.loads((HERE / "tables.json").read_text())


async def seen(person: Person, table: str) -> dict[str, Any]:
    """What a person sees of a table, as it stands in `tables.json`."""
    view = await person.view(table)
    kinds: list[str] = []
    request = history_pb2.GetHistoryRequest(table=table, page_size=1000)
    history = await person.call(person.history.GetHistory, request)
    kinds = [payload(event) for event in history.events]
    async with aclosing(person.watch(table)) as items:
        lines: list[str] = []
        async for item in items:
            if item.HasField("chat"):
                lines = [f"{line.name}: {line.text}" for line in item.chat.lines]
            if item.WhichOneof("item") in ("chat", "heartbeat", "stream_end"):
                break
    return {
        "log_id": view.log_id,
        "phase": table_pb2.TablePhase.Name(view.phase),
        "title": view.options.title,
        "seats": [seat.name for seat in view.seats],
        "hand": [int(card) for card in view.game.hand.cards],
        "totals": [player.total for player in view.game.players],
        "winners": list(view.game.winners),
        "turn_time": view.options.clock.per_turn.seconds,
        "decision": [view.decision.id, view.decision.seat],
        "events": kinds,
        "chat": lines,
    }


@pytest.mark.parametrize("table", TABLES)
async def test_a_table_of_the_first_version_is_as_it_was(
    serve: Serve, meet: Meet, tmp_path: Path, table: str
) -> None:
    shutil.copy(HERE / "tables.db", tmp_path)
    waits = replace(QUICK, away_budget=3600, empty_after=3600, deal_pause=3600, bot_delay=3600)
    settings = replace(waits, heartbeat=0.2)
    server = await serve(settings, log=SqliteLog(tmp_path / "tables.db"))
    ann = meet(server, "Ann")
    now = await seen(ann, table)
    # Time in which there was no server is given back when a table is taken up again.
    while now["events"][len(TABLES[table]["events"]) :] == ["deadline_moved"]:
        now["events"].pop()
    assert now == TABLES[table]


async def test_a_game_of_the_first_version_is_played_to_its_end(
    serve: Serve, meet: Meet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The ids of that time are in the log.
    monkeypatch.setattr(Person, "_counted", itertools.count(1_000_000))
    shutil.copy(HERE / "tables.db", tmp_path)
    server = await serve(log=SqliteLog(tmp_path / "tables.db"))
    ann = meet(server, "Ann")
    (table,) = [handle for handle, was in TABLES.items() if was["phase"] == "TABLE_PHASE_PLAYING"]
    told = await play_until(ann, table)
    assert payload(told[-1]) == "game_ended"
