"""A viewer whose process stands still costs the others nothing, and is told all at once later."""

from __future__ import annotations

import asyncio
import signal
import statistics
from pathlib import Path

import pytest

from bench.server.processes import resident_bytes
from bench.server.seats import LoadedTable, playing
from tests.support.patience import PATIENCE
from tests.support.programs import programs_in

pytestmark = pytest.mark.slow  # it measures delays

PACE = 100
"""Acts a second while delays are measured; the server could do several times as many."""
MEASURED = 150
"""Acts over which delays are measured."""
MISSED = 800
"""Acts at full speed, so that the viewer is far enough behind for a snapshot."""
MOST_MEMORY = 8 * 2**20
"""Bytes that the server may take meanwhile. It keeps the events of these acts anyway."""


async def test_a_stopped_viewer_delays_nobody_costs_little_and_gets_one_snapshot(
    tmp_path: Path,
) -> None:
    with programs_in(tmp_path) as programs:
        server = programs.start("serve", "--listen", "127.0.0.1:0")
        address = server.line_with("serves on").split()[-1]
        async with asyncio.timeout(4 * PATIENCE), playing(address, 1, seats=5) as (table,):
            viewer = programs.start_module("tests.end_to_end.lone_viewer", address, table.handle)
            await asyncio.to_thread(viewer.line_with, "events")
            before = await _delay(table)
            memory = resident_bytes(server.process.pid)

            viewer.process.send_signal(signal.SIGSTOP)
            table.pace(1e6)
            await _acts(table, MISSED)
            beside = await _delay(table)
            memory = resident_bytes(server.process.pid) - memory

            viewer.process.send_signal(signal.SIGCONT)
            head = table.head
            await asyncio.to_thread(viewer.next_line, lambda line: int(line.split()[1]) >= head)
        snapshots = [line for line in viewer.out if line.startswith("snapshot")]
        assert len(snapshots) == 2, "the first, and one when it woke"
        assert memory < MOST_MEMORY
        # Told at all while one stands still; and on a busy machine these few are noisy.
        assert beside < 3 * before + 0.005


async def _delay(table: LoadedTable) -> float:
    """Seconds from an act until its event is at another seat: the median, at a steady pace."""
    table.pace(PACE)
    await _acts(table, MEASURED)
    return statistics.median(table.delays)


async def _acts(table: LoadedTable, count: int) -> None:
    """Waits until so many more acts have been answered."""
    until = table.acts + count
    while table.acts < until:  # noqa: ASYNC110 (it is the seats that count)
        await asyncio.sleep(0.02)
