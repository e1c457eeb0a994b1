"""The benchmark of the ways in, with so little to do that its figures mean nothing."""

from __future__ import annotations

import pytest

from bench.web import ways_in

pytestmark = pytest.mark.slow


def test_every_way_in_is_measured_and_reported() -> None:
    figures = ways_in.measure(1, quick=True)
    assert len(figures) == 6
    assert all(figure > 0 for turns in figures.values() for figure in turns)
    assert len(list(ways_in.rows(figures))) == 3
