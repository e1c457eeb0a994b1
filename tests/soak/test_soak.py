"""A soak that is short enough for each day."""

from __future__ import annotations

import pytest

from tests.soak.run import KEPT_AT_MOST, soak

pytestmark = pytest.mark.slow


async def test_memory_comes_back_after_many_tables_and_reconnects() -> None:
    seen = await soak(tables=100, reconnects=50, warm_up=100)
    assert seen.kept <= KEPT_AT_MOST, seen
