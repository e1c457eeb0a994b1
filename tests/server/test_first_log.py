"""A file that an earlier version wrote can be read for ever, as can what lies in it.

`first_log/tables.db` was played by people, bots and substitutes at a server of the first version;
`first_log/tables.json` says what everybody could see there then. `second_log` is the same of the
version that first committed itself to its deals, and `third_log` of version 0.1.0, at whose tables
everybody had added to the deals. None of them is ever written again.
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

from odin_engine.fair_deal import commitment
from odin_server.event_log import SqliteLog
from odin_table.v1 import history_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.server.test_fair_deal import history, play_deal
from tests.support.people import Person, payload, play_until

HERE = Path(__file__).parent
TABLES: dict[str, dict[str, Any]] = {
    log: json.loads((HERE / log / "tables.json").read_text())
    for log in ("first_log", "second_log", "third_log")
}
WAITS = replace(QUICK, away_budget=3600, empty_after=3600, deal_pause=3600)


def log_of(version: str, into: Path) -> SqliteLog:
    """A copy of that version's file."""
    shutil.copy(HERE / version / "tables.db", into)
    return SqliteLog(into / "tables.db")


def table_in(version: str, phase: str) -> str:
    """The table that was in this phase."""
    (table,) = [t for t, was in TABLES[version].items() if was["phase"] == f"TABLE_PHASE_{phase}"]
    return table


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


@pytest.fixture
def later_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of that time are in the log."""
    monkeypatch.setattr(Person, "_counted", itertools.count(1_000_000))


@pytest.mark.parametrize(
    ("version", "table"), [(version, table) for version in TABLES for table in TABLES[version]]
)
async def test_a_table_of_an_earlier_version_is_as_it_was(
    serve: Serve, meet: Meet, tmp_path: Path, version: str, table: str
) -> None:
    settings = replace(WAITS, heartbeat=0.2, bot_delay=3600)
    server = await serve(settings, log=log_of(version, tmp_path))
    ann = meet(server, "Ann")
    now = await seen(ann, table)
    was = TABLES[version][table]
    # Time in which there was no server is given back when a table is taken up again.
    while now["events"][len(was["events"]) :] == ["deadline_moved"]:
        now["events"].pop()
    assert now == was


@pytest.mark.usefixtures("later_ids")
async def test_a_game_of_the_first_version_is_played_to_its_end(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    server = await serve(log=log_of("first_log", tmp_path))
    ann = meet(server, "Ann")
    told = await play_until(ann, table_in("first_log", "PLAYING"))
    assert payload(told[-1]) == "game_ended"
    # Nobody was committed to the deal that was being played then; to all later ones the server is.
    first = [payload(event) for event in told if "deal_" in payload(event)]
    assert first[:3] == ["deal_started", "deal_ended", "deal_committed"]
    assert first.count("stretched_deal_revealed") == first.count("deal_started") - 1
    started = told[[payload(e) for e in told].index("deal_started")].deal_started
    assert (started.commitment, started.source.commitment) == (b"", b"")


@pytest.mark.usefixtures("later_ids")
async def test_at_a_table_of_the_first_version_a_deal_is_committed_to_right_before_it_starts(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    server = await serve(WAITS, log=log_of("first_log", tmp_path))
    people = [meet(server, name) for name in ("Ann", "Bob")]
    table = table_in("first_log", "WAITING")
    assert not (await people[0].view(table)).commitment
    for person in people:
        await person.ready(table)
    kinds = [payload(event) for event in await history(people[0], table)]
    start = kinds.index("deal_committed")
    assert kinds[start : start + 3] == ["deal_committed", "game_started", "deal_started"]


@pytest.mark.usefixtures("later_ids")
async def test_a_deal_is_from_what_an_earlier_server_committed_to_and_was_given(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    server = await serve(WAITS, log=log_of("second_log", tmp_path))
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = table_in("second_log", "BETWEEN_DEALS")
    promised = (await ann.view(table)).commitment
    await ann.ready(table)
    view = await play_deal(table, ann, bob)
    assert view.game.commitment == promised == commitment(view.game.secret)
    assert list(view.game.nonces) == [b"", b"the next"]
