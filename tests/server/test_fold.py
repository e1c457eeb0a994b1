"""What a viewer folds is what the server would show, at every number (`odin_contract.fold`).

The server's own view of a table is the fold of its records; a viewer only gets its part of their
events. Both are compared after each record of whole games: for each credential that held a seat or
was the host, and for a watcher.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from odin_contract import events
from odin_contract.fold import fold, may_follow
from odin_contract.reading import event_of, view_of
from odin_contract.values import TableView
from odin_engine import View
from odin_engine.strategies import STRATEGIES
from odin_engine.strategies.greedy import Greedy
from odin_server.event_log import EventLog, MemoryLog, SqliteLog
from odin_server.table.commands import give_back_time
from odin_server.table.encoding import encode_event
from odin_server.table.events import Record, SeatTaken
from odin_server.table.state import TableState, evolve
from odin_server.table.views import table_view
from odin_server.table.visibility import Viewer, sight, visible
from odin_server.upkeep.thinker import Threads
from odin_table.v1 import event_pb2, lobby_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.clocks import SetClock
from tests.support.patience import PATIENCE
from tests.support.people import Person, first_choice

HANDLE = "K7QF"


class Follower:
    """Folds what one credential is sent; starts with a snapshot whenever it gets a seat."""

    def __init__(self, holder: bytes | None) -> None:
        self.holder = holder
        """The digest of the credential. None: a watcher."""
        self.view = TableView()
        self.folded = set[type]()

    def see(self, record: Record, after: TableState) -> None:
        """Folds a record, and compares with what the server shows now."""
        seat = None if self.holder is None else after.seat_held_by(self.holder)
        viewer = Viewer(seat, self.holder is not None and after.host == self.holder)
        shown = view_of(table_view(HANDLE, sight(after, viewer)))
        sat_down = seat is not None and self.view.my_seat is None
        if not self.view.log_id or sat_down:
            self.view = shown
            return
        encoded = encode_event(visible(record, after)).for_seat(seat)
        event = event_of(event_pb2.EventBatch.FromString(encoded).events[0])
        assert may_follow(self.view, event), f"{event} for seat {seat}"
        self.view = fold(self.view, event)
        self.folded.add(type(event))
        # A game starts with its first deal, in one act: nobody is shown one without the other.
        if not isinstance(event, events.GameStarted):
            assert self.view == shown, f"{event} folded for seat {seat}"


def compare(records: Iterable[Record]) -> set[type]:
    """Compares for everybody; gives the classes of the events that were folded."""
    records = list(records)
    holders = {event.holder for r in records if isinstance(event := r.event, SeatTaken)} - {b""}
    followers = [Follower(holder) for holder in (*holders, None)]
    state = TableState()
    for record in records:
        state = evolve(state, record)
        for follower in followers:
            follower.see(record, state)
    return set[type]().union(*(follower.folded for follower in followers))


async def records_of(log: EventLog, table: str) -> list[Record]:
    return [record for batch in await log.read(table) for record in batch.records]


@pytest.mark.parametrize("version", ["first_log", "second_log", "third_log"])
async def test_folding_is_what_was_shown_at_tables_of_earlier_versions(
    version: str, tmp_path: Path
) -> None:
    shutil.copy(Path(__file__).parent / version / "tables.db", tmp_path)
    log = SqliteLog(tmp_path / "tables.db")
    try:
        tables = [entry.handle for entry in await log.open_tables()]
        assert tables
        for table in tables:
            assert compare(await records_of(log, table))
    finally:
        await log.close()


class Sulky(Greedy):
    """Fails while it has many cards."""

    def choose(self, view: View, rng: random.Random) -> Any:
        if len(view.hand) > 6:
            raise RuntimeError("sulks")
        return super().choose(view, rng)


async def play(people: list[Person], table: str, until: table_pb2.TablePhase.ValueType) -> None:
    """All of them play until the table is in this phase."""
    async with asyncio.timeout(PATIENCE):
        while True:
            for person in people:
                view = await person.view(table)
                if view.phase == until:
                    return
                if view.phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS:
                    await person.ready(table)
                elif view.decision.HasField("choices"):
                    action = first_choice(view.decision.choices)
                    await person.act(table, view.decision.id, action)


async def test_folding_is_what_the_server_shows_whatever_happens(serve: Serve, meet: Meet) -> None:
    time, log = SetClock(), MemoryLog()
    settings = replace(QUICK, deal_pause=3600, away_budget=36000)
    strategies = {**STRATEGIES, "hard": Sulky}
    server = await serve(settings, clock=time, log=log, thinker=Threads(strategies))
    ann, bob, zoe, kim = [meet(server, name) for name in ("Ann", "Bob", "Zoe", "Kim")]
    clock = table_pb2.Clock(per_turn=Duration(seconds=60), bank=Duration(seconds=60))
    options = table_pb2.TableOptions(
        seats=4, threshold=5, clock=clock, visibility=table_pb2.VISIBILITY_PRIVATE
    )
    opened = await ann.call(ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(options=options))
    table = opened.table
    for person in (ann, bob, zoe):
        await person.sit(table, code=opened.code)
    await ann.add_bot(table, "hard")
    committed = (await ann.view(table)).source.commitment
    for person in (ann, bob):
        give = lobby_pb2.GiveNonceRequest(table=table, commitment=committed, nonce=b"\7" * 16)
        await person.call(person.lobby.GiveNonce, give)
        await person.ready(table)
    await bob.ready(table, ready=False)
    await bob.ready(table)
    await zoe.ready(table)
    for seconds in (3, 50, 65, 70, 121):
        found = await server.lobby.find(table, opened.code, None)
        await found.submit(lambda draft: give_back_time(draft, 2_500_000))
        time.let_pass(seconds, server)
    await bob.leave(table)
    await bob.sit(table, code=opened.code)
    await zoe.leave(table)
    await kim.sit(table, code=opened.code)
    await play([ann, bob, kim], table, table_pb2.TABLE_PHASE_GAME_OVER)
    await bob.call(bob.lobby.Rematch, lobby_pb2.RematchRequest(table=table))
    await ann.leave(table)
    host = bob if (await bob.view(table)).you_are_host else kim
    await host.call(host.lobby.RemoveBot, lobby_pb2.RemoveBotRequest(table=table, seat=3))
    await zoe.sit(table, code=opened.code)
    await host.start(table)
    await host.call(host.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
    # The first events come before any seat is taken, so that everybody starts after them.
    classes = {one for one in vars(events).values() if isinstance(one, type)}
    assert compare(await records_of(log, table)) == {
        one for one in classes if issubclass(one, events.Event)
    } - {events.Event, events.TableOpened}
