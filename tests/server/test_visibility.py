"""What is declared of events: who may know which part, and that nothing else gets out.

The bytes that follow are compared in `test_non_interference`; here are the values that encoders are
handed.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from odin_contract.enums import CloseReason, Occupant
from odin_contract.values import Options as TableOptions
from odin_engine import (
    DECK,
    NEW,
    Card,
    Command,
    DealEnded,
    DealStarted,
    DecisionKind,
    Event,
    GameStarted,
    Options,
    StartDeal,
    StartGame,
    decide,
    decision_of,
)
from odin_engine import evolve as evolve_game
from odin_engine.visibility import Until, parts_of, require, show
from odin_server.event_log import SqliteLog
from odin_server.table.events import (
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    Record,
    SeatTaken,
    TableClosed,
    TableEvent,
    TableOpened,
)
from odin_server.table.state import TableState, evolve
from odin_server.table.transcript import Transcript
from odin_server.table.visibility import Viewer, VisibleEvent, sight, visible
from odin_table.v1 import event_pb2

SEATS = 3


def states_of(records: list[Record]) -> Iterator[tuple[Record, TableState, TableState]]:
    """Each record with the states before and after it."""
    state = TableState()
    for record in records:
        before, state = state, evolve(state, record)
        yield record, before, state


async def logs_of(version: str, folder: Path) -> list[list[Record]]:
    """The tables of a version: whole games, finished and broken off."""
    shutil.copy(Path(__file__).parent / version / "tables.db", folder)
    log = SqliteLog(folder / "tables.db")
    try:
        return [
            [record for batch in await log.read(entry.handle) for record in batch.records]
            for entry in await log.open_tables()
        ]
    finally:
        await log.close()


def test_events_that_do_not_declare_who_may_know_them_are_refused() -> None:
    class CardsShown(NamedTuple):
        cards: tuple[Card, ...]

    with pytest.raises(TypeError, match="CardsShown does not declare"):
        require(DealStarted | CardsShown)


@pytest.mark.parametrize("version", ["first_log", "second_log", "third_log"])
async def test_what_is_for_everybody_holds_no_credential_code_or_secret(
    version: str, tmp_path: Path
) -> None:
    for records in await logs_of(version, tmp_path):
        secrets = {e.secret for r in records if isinstance(e := r.event, DealCommitted)}
        revealed = set[bytes]()
        for record, before, after in states_of(records):
            if isinstance(record.event, DealRevealed):
                revealed.add(before.secret)
            hidden = {after.host, after.code, *after.holders, *after.barred, *secrets - revealed}
            event = visible(record, after)
            told = repr((event.public, event.table))
            assert not [value for value in hidden if value and repr(value) in told], record
            assert after.seq == event.table.seq, "it is the table after this event"


def records_of_a_deal(order: list[Card]) -> list[Record]:
    """A deal of these cards has just started; the last record is the first decision."""
    options = TableOptions(SEATS, private=True)
    events: list[TableEvent | Event] = [
        TableOpened(options, b"host", "code", "log"),
        *(SeatTaken(n, f"name {n}", Occupant.PERSON, "", bytes([n])) for n in range(SEATS)),
        DealCommitted(b"s" * 32, 7),
        GameStarted(Options(players=SEATS), (), 1),
        DealStarted(1, 1, SEATS, tuple(order)),
        DecisionOpened(1, DecisionKind.OPEN),
    ]
    return [Record(seq, seq, event) for seq, event in enumerate(events, 1)]


def dealt(order: list[Card]) -> list[VisibleEvent]:
    """The same, as encoders are handed it."""
    return [visible(record, after) for record, _, after in states_of(records_of_a_deal(order))]


def test_hidden_cards_make_no_difference_to_what_encoders_are_handed() -> None:
    """Each seat, too, gets the same, as long as its own hand is."""
    order = random.Random(1).sample(DECK, len(DECK))
    other = [*order[:9], *random.Random(2).sample(order[9:], len(order) - 9)]
    for one, two in zip(dealt(order), dealt(other), strict=True):
        assert one.table == two.table
        assert one.public == two.public
        assert one.own.get(0) == two.own.get(0)
        assert one.own.keys() == two.own.keys()
        for seat in one.own.keys() - {0}:
            assert one.own[seat] != two.own[seat], "another hand is another part"
        assert (one.hidden == two.hidden) is (one.kind is not DealStarted)
    started, decision = dealt(order)[-2:]
    assert set(started.own) == {0, 1, 2}
    assert set(decision.own) == {1}


def test_a_watcher_sees_no_hand_and_no_code_and_a_seat_its_own() -> None:
    order = random.Random(1).sample(DECK, len(DECK))
    *_, (_, _, state) = states_of(records_of_a_deal(order))
    watcher, ann = sight(state, Viewer(None)), sight(state, Viewer(0))
    assert watcher.code == ""
    assert watcher.game is not None
    assert watcher.game.hand == ()
    assert ann.code == "code"
    assert ann.game is not None
    assert set(ann.game.hand) == set(order[:9])
    assert ann.table == watcher.table


def two_deals_and_one_that_is_broken_off() -> list[Record]:
    """A game of two players who do what happens when time is up."""
    options = Options(players=2, threshold=100, short_deck=False)
    events: list[TableEvent | Event] = [
        TableOpened(TableOptions(2), b"host", "", "log"),
        *(SeatTaken(n, f"name {n}", Occupant.PERSON, "", bytes([n + 1])) for n in range(2)),
    ]
    game = NEW

    def add(command: Command) -> None:
        nonlocal game
        for event in decide(game, command):
            events.append(event)
            game = evolve_game(game, event)

    add(StartGame(options, (), 0))
    for seed in range(3):
        add(StartDeal(tuple(random.Random(seed).sample(DECK, len(DECK)))))
        while seed < 2 and (decision := decision_of(game)):
            add(decision.default)
    events.append(TableClosed(CloseReason.HOST))
    return [Record(seq, seq, event) for seq, event in enumerate(events, 1)]


@pytest.mark.parametrize("until", Until)
def test_hidden_parts_are_open_once_that_is_over_but_not_of_a_broken_off_deal(until: Until) -> None:
    declared = parts_of(DealStarted)
    assert declared.hidden is not None
    transcript, over, expected = Transcript(100), 0, 0
    deals: list[event_pb2.DealStarted] = []
    everybody, each_seat, (shown_after, hands) = (
        declared.everybody,
        declared.each_seat,
        declared.hidden,
    )
    assert shown_after is Until.GAME_IS_OVER
    show(DealStarted, everybody=everybody, each_seat=each_seat, hidden=(until, hands))
    try:
        for record, before, after in states_of(two_deals_and_one_that_is_broken_off()):
            transcript.add(record, before, after)
            over += isinstance(record.event, DealEnded)
            if until is Until.DEAL_IS_OVER or not after.in_game:
                expected = over
            page, _ = transcript.history(0, record.seq, 0, None)
            events = event_pb2.EventBatch.FromString(page).events
            deals = [event.deal_started for event in events if event.HasField("deal_started")]
            assert [len(deal.hands) for deal in deals[:expected]] == [2] * expected
            assert not any(deal.hands or deal.undealt for deal in deals[expected:])
    finally:
        show(DealStarted, everybody=everybody, each_seat=each_seat, hidden=declared.hidden)
    assert expected == 2
    assert len(deals) == 3


@pytest.mark.parametrize(
    ("package", "module", "event"),
    [
        ("engine/odin_engine", "events", "Passed"),
        ("server/odin_server", "table.events", "SeatLeft"),
    ],
)
def test_a_class_of_events_that_declares_nothing_stops_the_import(
    package: str, module: str, event: str, tmp_path: Path
) -> None:
    root = Path(__file__).parents[2] / package
    copied = tmp_path / root.name
    shutil.copytree(root, copied, ignore=shutil.ignore_patterns("__pycache__"))
    file = copied / f"{module.replace('.', '/')}.py"
    declared = file.read_text(encoding="utf-8")
    file.write_text(declared.replace(f"@public\nclass {event}(", f"class {event}("))
    assert file.read_text(encoding="utf-8") != declared
    done = subprocess.run(
        (sys.executable, "-P", "-c", f"import {root.name}.{module}"),
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"TypeError: {event} does not declare" in done.stderr
