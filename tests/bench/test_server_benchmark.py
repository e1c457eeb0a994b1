"""The benchmark of the server, with so little to do that its figures mean nothing."""

import dataclasses
import json

import pytest

from bench.server.load import Size
from bench.server.measurements import COMPARISONS, Aim, Comparison, Measured, compare
from bench.server.report import as_json, rows_of

TINY = Size(seconds=0.3, warm_up=0.1, watchers=20, events=100, times=2, stall_acts=1_200)


# The comparisons by what they run: they differ in nothing else but the number of tables.
DIFFERENT = list({(c.floor, c.product): c for c in COMPARISONS}.values())


@pytest.mark.parametrize("comparison", DIFFERENT, ids=lambda comparison: comparison.name)
def test_every_comparison_runs_and_reports_all_its_figures(comparison: Comparison) -> None:
    few_tables = dataclasses.replace(comparison, tables=min(comparison.tables, 2))

    measured = compare(few_tables, TINY, turns=1)

    rows = "\n".join(rows_of(measured))
    assert all(aim.title in rows for aim in comparison.aims)
    report = json.loads(json.dumps(as_json(measured)))
    for aim in report["aims"]:
        assert aim["product"] > 0
        assert aim["floor"] > 0


def test_the_ratio_compares_within_a_turn_and_takes_the_median() -> None:
    aim = Aim("figure", "figure", at_least=0.65)
    comparison = Comparison("any", ("floor", "any"), ("product", "any"), (aim,))
    floor = [{"figure": value} for value in (100.0, 200.0, 400.0)]
    product = [{"figure": value} for value in (70.0, 160.0, 200.0)]

    assert Measured(comparison, floor, product).ratio(aim) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("aim", "ratio", "met"),
    [
        (Aim("", "", at_least=0.65), 0.65, True),
        (Aim("", "", at_least=0.65), 0.64, False),
        (Aim("", "", at_most=1.5), 1.5, True),
        (Aim("", "", at_most=1.5), 1.51, False),
        (Aim("", ""), 9.0, None),
    ],
)
def test_an_aim_says_whether_it_is_met(aim: Aim, ratio: float, met: bool | None) -> None:
    assert aim.met_by(ratio) is met
