"""Flipped bits, few enough for each day."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.damage.run import IN_MEMORY, damage


async def test_no_flipped_bit_is_silent() -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        kinds, faults = await damage(Path(folder), 120, seed=3)
    assert not faults
    assert {"told", "harmless", "refused"} <= kinds.keys()
