"""The benchmark of the server, with so little to do that its figures mean nothing."""

import dataclasses
import json

import pytest

from bench.server.load import Figures, Size
from bench.server.measurements import COMPARISONS, Aim, Comparison, Measured, compare
from bench.server.report import as_json, rows_of

pytestmark = pytest.mark.slow

TINY = Size(seconds=0.3, warm_up=0.1, watchers=20, crowd=40, events=100, times=2, stall_acts=1_200)


# The comparisons by what they run: they differ in nothing else but the number of tables.
DIFFERENT = list({(c.floor, c.product): c for c in COMPARISONS}.values())


@pytest.mark.parametrize("comparison", DIFFERENT, ids=lambda comparison: comparison.name)
def test_every_comparison_runs_and_reports_all_its_figures(comparison: Comparison) -> None:
    few_tables = dataclasses.replace(comparison, tables=min(comparison.tables, 2))

    measured = compare(few_tables, TINY, turns=1, extra_turns=0)

    rows = "\n".join(rows_of(measured))
    assert all(aim.title in rows for aim in comparison.aims)
    report = json.loads(json.dumps(as_json(measured)))
    for aim in report["aims"]:
        # What is left when the disk's time is taken off may be nothing.
        assert aim["product"] > 0 or aim["figure"] == "p50_less_disk_ms"
        assert aim["floor"] > 0


AIM = Aim("figure", "figure", at_least=0.65)
ANY = Comparison("any", ("floor", "any"), ("product", "any"), (AIM,))


def turn(floor: float, product: float, others_busy: float = 0) -> tuple[Figures, Figures]:
    return {"figure": floor, "others_busy": 0}, {"figure": product, "others_busy": others_busy}


def test_the_ratio_compares_within_a_turn_and_takes_the_median() -> None:
    measured = Measured(ANY, [turn(100, 70), turn(200, 160), turn(400, 200)])

    assert measured.ratio(AIM) == pytest.approx(0.7)


def test_turns_that_others_disturbed_do_not_count_while_enough_were_quiet() -> None:
    quiet = [turn(100, 70), turn(100, 80), turn(100, 90)]
    disturbed = [turn(100, 10, others_busy=1), turn(100, 10, others_busy=1)]

    assert Measured(ANY, disturbed + quiet).ratio(AIM) == pytest.approx(0.8)
    assert Measured(ANY, disturbed + quiet[:2]).ratio(AIM) == pytest.approx(0.4)


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
