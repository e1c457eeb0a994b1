"""The table of the kit tells a client one and the same game, by events and by snapshots."""

from __future__ import annotations

from random import Random

import pytest

from odin_client.table.model import TableModel
from odin_conformance.table import CLIENT, Table
from odin_contract import reading
from odin_contract.enums import Phase
from odin_engine import view_for
from odin_engine.strategies import STRATEGIES
from odin_table.v1 import event_pb2, play_pb2, table_pb2


@pytest.mark.parametrize("seed", range(20))
def test_folding_its_events_gives_what_its_snapshots_hold(seed: int) -> None:
    table = Table()
    table.sit_down("Ann", table_pb2.OCCUPANT_PERSON)
    model = TableModel()
    model.apply(play_pb2.WatchTableResponse(snapshot=table.view()))
    rng = Random(seed)
    strategies = [STRATEGIES[rng.choice(("random", "greedy"))]() for _ in range(2)]

    def tell() -> None:
        batch = event_pb2.EventBatch(events=table.events[model.seq :])
        model.apply(play_pb2.WatchTableResponse(events=batch))
        assert model.view == reading.view_of(table.view())

    table.make_ready(True)
    tell()
    table.start()
    tell()
    while decision := table.decision:
        assert model.my_turn == (decision.seat == CLIENT)
        if rng.random() < 0.1:
            table.time_out()
        else:
            action = strategies[decision.seat].choose(view_for(table.state, decision.seat), rng)
            table.act(action, event_pb2.ACTOR_BOT)
        tell()
    assert model.phase is Phase.GAME_OVER
    table.close()
    tell()
