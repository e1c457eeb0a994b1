"""The benchmark of the full-screen client, with so little to do that its figures mean nothing."""

from __future__ import annotations

import pytest

from bench.terminal import screens

pytestmark = pytest.mark.slow


def test_every_figure_is_measured_and_reported() -> None:
    figures: dict[str, dict[str, list[float]]] = {}
    for each in screens.ALL:
        floor, ours = each.run(2)
        assert ours >= 0
        figures[each.name] = {"odin-table": [ours]} | ({"floor": [floor]} if floor else {})
    rows = list(screens.rows(figures))
    for each, row in zip(screens.ALL, rows, strict=True):
        assert row.startswith(each.title)
    assert figures["tick"]["odin-table"][0] <= 200
