"""Nothing is lost and nothing is done twice; and what would lose something is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.run import Size, chaos

pytestmark = pytest.mark.slow


async def test_nothing_is_lost_or_done_twice_while_the_server_is_killed_every_second() -> None:
    ledger = await chaos(Size(seconds=10))
    assert ledger.faults == {}
    # It was a trial, too: these are far below what even a slow machine comes to.
    assert ledger.counts["kills"] >= 2
    assert ledger.counts["lines cut"] >= 5
    assert ledger.counts["sent twice at once"] + ledger.counts["sent again after a kill"] >= 10
    assert len(ledger.acts) >= 50
    assert ledger.counts["tables replayed"] == Size.tables


FORGETFUL = """
import asyncio
from odin_server.event_log import SqliteLog

append = SqliteLog.append

async def append_later(self, table, expected_seq, batch):
    if any(record.actor for record in batch.records):
        self.later = getattr(self, "later", None) or set()
        self.later.add(asyncio.ensure_future(wait_and_append(self, table, expected_seq, batch)))
    else:
        await append(self, table, expected_seq, batch)

async def wait_and_append(self, *batch):
    await asyncio.sleep(0.3)  # the fault itself: whatever is killed before is lost
    await append(self, *batch)

SqliteLog.append = append_later
"""
"""A server that answers before it has stored: read by each Python that is started."""


async def test_a_server_that_answers_before_it_has_stored_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(FORGETFUL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ledger = await chaos(Size(seconds=3, tables=4, onlookers=1, lines=2, patience=3))
    assert ledger.counts["kills"] >= 1
    assert ledger.faults["lost"]
