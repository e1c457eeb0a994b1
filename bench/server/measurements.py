"""What is measured, beside which floor, and what the aim is.

A comparison makes its two runs in turn, several times over, each with a fresh server and a fresh
load. Floor and product are compared within a turn, since a machine is not the same from one
minute to the next; the ratio that is reported is the median of the turns.
"""

import dataclasses
import json
import statistics
from dataclasses import dataclass

from bench.server.load import Figures, Run, Size
from bench.server.processes import output_of, running_server, watching_others

FLOOR = "bench.server.floor"
PRODUCT = "bench.server.product"
DURABLE = "bench.server.durable"

# How many cores other programs may keep busy: the ratios do not change by more than from turn to
# turn anyway.
QUIET = 0.2
FEWEST_QUIET = 3
EXTRA_TURNS = 2

# No run takes this long, in seconds, unless something is broken.
RUN_DEADLINE = 120

FULL = Size(
    seconds=2, warm_up=0.5, watchers=1_000, crowd=10_000, events=1_000, times=15, stall_acts=1_500
)
QUICK = Size(
    seconds=1, warm_up=0.3, watchers=500, crowd=1_000, events=1_000, times=5, stall_acts=1_500
)


@dataclass(frozen=True)
class Aim:
    """What product / floor of one figure should be: at least, or at most. Neither: no aim."""

    title: str
    figure: str
    at_least: float | None = None
    at_most: float | None = None

    def met_by(self, ratio: float) -> bool | None:
        """Whether a ratio is what was aimed at. None when nothing was."""
        if self.at_least is not None:
            return ratio >= self.at_least
        if self.at_most is not None:
            return ratio <= self.at_most
        return None

    def __str__(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return f"≤ {self.at_most:g}" if self.at_most is not None else ""


@dataclass(frozen=True)
class Comparison:
    """Two runs, and the figures that are compared.

    `floor` and `product` are a module that serves and a measure that loads it.
    """

    name: str
    floor: tuple[str, str]
    product: tuple[str, str]
    aims: tuple[Aim, ...]
    tables: int = 1


@dataclass(frozen=True)
class Measured:
    """The figures of a comparison: of each turn those of the floor, and those of the product."""

    comparison: Comparison
    turns: list[tuple[Figures, Figures]]

    @property
    def quiet(self) -> list[tuple[Figures, Figures]]:
        """The turns during which other programs left the machine alone."""
        return [turn for turn in self.turns if max(f["others_busy"] for f in turn) <= QUIET]

    @property
    def counted(self) -> list[tuple[Figures, Figures]]:
        """The turns that the results are taken from: the quiet ones, or all if those are few."""
        return self.quiet if len(self.quiet) >= FEWEST_QUIET else self.turns

    def medians(self, aim: Aim) -> tuple[float, float]:
        """The figure at the floor and at the product."""
        floor, product = zip(*self.counted, strict=True)
        return (
            statistics.median(figures[aim.figure] for figures in floor),
            statistics.median(figures[aim.figure] for figures in product),
        )

    def ratio(self, aim: Aim) -> float:
        """What the product reaches for each 1 of the floor: the median of the turns."""
        return statistics.median(
            product[aim.figure] / floor[aim.figure] for floor, product in self.counted
        )


def _acts(tables: int) -> Comparison:
    return Comparison(
        name=f"acts-{tables}",
        floor=(FLOOR, "acts"),
        product=(PRODUCT, "acts"),
        aims=(
            Aim(f"acts/s, {tables} tables of six", "per_second", at_least=0.65),
            Aim("    server's processor time an act, µs", "server_us_each"),
        ),
        tables=tables,
    )


COMPARISONS = (
    _acts(1),
    _acts(8),
    _acts(128),
    Comparison(
        name="acts-128-in-file",
        floor=(FLOOR, "acts"),
        product=(DURABLE, "acts"),
        aims=(
            Aim("acts/s, 128 tables of six, kept in a file", "per_second", at_least=0.6),
            Aim("    server's processor time an act, µs", "server_us_each"),
        ),
        tables=128,
    ),
    Comparison(
        name="answers-in-file",
        floor=(PRODUCT, "answers_without_a_disk"),
        product=(DURABLE, "answers"),
        aims=(
            Aim("act to its answer, in a file (floor: in memory), p50, ms", "p50_ms"),
            Aim("    the same, less 3 × fdatasync", "p50_less_disk_ms", at_most=1),
        ),
    ),
    Comparison(
        name="delay",
        floor=(FLOOR, "delay"),
        product=(PRODUCT, "delay"),
        aims=(
            Aim("act to event at another seat, p50, ms", "p50_ms", at_most=1.5),
            Aim("act to event at another seat, p99, ms", "p99_ms", at_most=2),
        ),
    ),
    Comparison(
        name="reads",
        floor=(FLOOR, "empty_calls"),
        product=(PRODUCT, "reads"),
        aims=(Aim("reads/s (floor: empty calls)", "per_second", at_least=0.8),),
        tables=8,
    ),
    Comparison(
        name="catching-up",
        floor=(FLOOR, "catching_up"),
        product=(PRODUCT, "catching_up"),
        aims=(Aim("events/s catching up (floor: one by one)", "per_second", at_least=10),),
    ),
    Comparison(
        name="memory",
        floor=(FLOOR, "memory"),
        product=(PRODUCT, "memory"),
        aims=(Aim("memory of an idle watcher, KiB", "kib_each", at_most=1.5),),
        tables=40,
    ),
    Comparison(
        name="coming-back",
        floor=(FLOOR, "coming_back"),
        product=(DURABLE, "coming_back"),
        aims=(
            Aim("watchers that come back at once, a second", "per_second"),
            Aim("    refused, and one", "refused", at_most=1),
        ),
        tables=20,
    ),
    Comparison(
        name="stalled",
        floor=(PRODUCT, "delay_beside_reader"),
        product=(PRODUCT, "delay_beside_stalled"),
        aims=(Aim("p99 beside a stalled watcher, ms (floor: it reads)", "p99_ms", at_most=1.2),),
    ),
)


def compare(
    comparison: Comparison, size: Size, turns: int, extra_turns: int = EXTRA_TURNS
) -> Measured:
    """Makes the runs of a comparison, floor and product in turn. Raises ProcessFailed.

    Turns that were not quiet are taken again, as long as that costs no more than `extra_turns`.
    """
    measured = Measured(comparison, [])
    while len(measured.quiet) < turns and len(measured.turns) < turns + extra_turns:
        floor = _run(comparison.floor, comparison.tables, size)
        product = _run(comparison.product, comparison.tables, size)
        measured.turns.append((floor, product))
    return measured


def _run(side: tuple[str, str], tables: int, size: Size) -> Figures:
    module, measure = side
    figures: Figures = {}
    with watching_others(figures), running_server(module) as server:
        run = Run(measure, server.address, server.pid, size, tables)
        text = json.dumps(dataclasses.asdict(run))
        figures |= json.loads(output_of("bench.server.load", text, RUN_DEADLINE))
    return figures
