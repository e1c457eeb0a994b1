"""The benchmark of the engine, with so little to do that its figures mean nothing."""

import pytest

from bench.engine import playouts

pytestmark = pytest.mark.slow


def test_every_way_to_play_runs_and_is_reported() -> None:
    figures = {each.name: [each.run(2) / 1.0] for each in playouts.ALL}
    assert all(turns[0] > 20 for turns in figures.values())
    rows = list(playouts.rows(figures))
    assert [row.split(", ")[0] for row in rows] == [
        each.title.split(", ")[0] for each in playouts.ALL
    ]
    assert "NOT MET" in rows[0]


@pytest.mark.parametrize("each", playouts.ALL, ids=lambda each: each.name)
def test_equal_calls_do_equal_work(each: playouts.Playouts) -> None:
    assert each.run(3) == each.run(3)


def test_the_fast_loop_and_the_public_api_play_the_same_deals() -> None:
    assert playouts.fast_loop(10) == playouts.public_api(10)
