"""`python -m bench`: measures, each figure beside its floor, and reports (docs/benchmarks.md).

It exits with 0 whether the aims are met or not: an aim is there to be looked at.
"""

import argparse
import json
import sys
from pathlib import Path

from bench.engine import playouts
from bench.server.measurements import COMPARISONS, FULL, QUICK, compare
from bench.server.processes import ProcessFailed
from bench.server.report import HEADING, as_json, machine, rows_of
from bench.store import writer
from bench.terminal import screens
from bench.web import ways_in

SUMMARY = "Measure, each figure beside its floor."
RESULTS = Path("bench-results.json")
PLAYOUTS = "playouts"
"""The name of the measurement of the engine."""


def main() -> int:
    """Measures what is asked for: a row for each figure as it comes, then one JSON object."""
    names = [PLAYOUTS, screens.NAME, writer.NAME, ways_in.NAME, *(c.name for c in COMPARISONS)]
    parser = argparse.ArgumentParser(prog="python -m bench", description=SUMMARY)
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="shorter runs and fewer of them")
    parser.add_argument("--turns", type=int, help="how many times floor and product run in turn")
    parser.add_argument("--json", type=Path, default=RESULTS, help=f"instead of {RESULTS}")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.only) - set(names))
    if unknown:
        parser.error(f"No measurement is called {', '.join(unknown)}. Choose {', '.join(names)}.")

    size = QUICK if arguments.quick else FULL
    turns = arguments.turns or (3 if arguments.quick else 5)
    engine: dict[str, list[float]] = {}
    if not arguments.only or PLAYOUTS in arguments.only:
        engine = playouts.measure(turns, arguments.quick)
        print("\n".join(playouts.rows(engine)), flush=True)
    store: dict[str, list[float]] = {}
    if not arguments.only or writer.NAME in arguments.only:
        store = writer.measure(turns, arguments.quick)
        print("\n".join(writer.rows(store)), flush=True)
    web: dict[str, list[float]] = {}
    if not arguments.only or ways_in.NAME in arguments.only:
        web = ways_in.measure(turns, arguments.quick)
        print("\n".join(ways_in.rows(web)), flush=True)
    terminal: dict[str, dict[str, list[float]]] = {}
    if not arguments.only or screens.NAME in arguments.only:
        terminal = screens.measure(turns, arguments.quick)
        print(HEADING, *screens.rows(terminal), sep="\n", flush=True)
    wanted = [c for c in COMPARISONS if not arguments.only or c.name in arguments.only]
    if wanted:
        print(HEADING, flush=True)
    results: list[dict[str, object]] = []
    for comparison in wanted:
        try:
            measured = compare(comparison, size, turns)
        except ProcessFailed as error:
            print(f"{comparison.name}: {error}", file=sys.stderr)
            return 1
        print("\n".join(rows_of(measured)), flush=True)
        results.append(as_json(measured))
    parts = {"engine": engine, "terminal": terminal, "store": store, "web": web, "server": results}
    report = json.dumps({"machine": machine(), "turns": turns, **parts})
    arguments.json.write_text(report + "\n")
    print(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
