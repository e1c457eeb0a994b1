"""A meter that is given to a server counts what happens there."""

from __future__ import annotations

from collections import Counter

import pytest

from odin_table.v1 import table_pb2
from tests.server.conftest import Meet, Serve
from tests.support.people import Refused, play_until


class Counts:
    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    def count(self, name: str) -> None:
        self.of[name] += 1


async def test_a_meter_counts_what_happens(serve: Serve, meet: Meet) -> None:
    meter = Counts()
    ann = meet(await serve(meter=meter), "Ann")
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    await ann.sit(table)
    await ann.add_bot(table)
    with pytest.raises(Refused):
        await ann.add_bot(table, "nobody")
    assert (meter.of["calls"], meter.of["refusals"], meter.of["commands"]) == (4, 1, 3)
    await ann.start(table)
    await play_until(ann, table)
    assert meter.of["streams"] == 1
    assert meter.of["calls"] > 5
    assert meter.of["bot_failures"] == meter.of["outages"] == 0
