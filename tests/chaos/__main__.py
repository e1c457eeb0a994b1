"""`python -m tests.chaos`: makes a run and prints what was seen. Exits with 1 if it is wrong."""

import argparse
import asyncio
import statistics
import sys

from tests.chaos.ledger import Ledger
from tests.chaos.run import FAULTS, Size, chaos


def main() -> int:
    """Makes the run that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--seconds", type=float, default=Size.seconds)
    parser.add_argument("--tables", type=int, default=Size.tables)
    parser.add_argument("--seats", type=int, default=Size.seats, help="at each table")
    parser.add_argument("--onlookers", type=int, default=Size.onlookers, help="in all")
    parser.add_argument("--seed", type=int, default=Size.seed)
    parser.add_argument("--store", choices=("sqlite", "memory"), default=Size.store)
    size = Size(**vars(parser.parse_args()))
    ledger = asyncio.run(chaos(size))
    sys.stdout.write(report(size, ledger))
    return 1 if ledger.faults else 0


def report(size: Size, ledger: Ledger) -> str:
    """The figures of a run, and the first lines of each fault."""
    what = f"{size.tables} tables of {size.seats} bots, {size.onlookers} onlookers"
    lines = [f"{what}, {size.seconds:g} s, seed {size.seed}, store {size.store}"]
    counts = {"actions answered": len(ledger.acts), **dict(sorted(ledger.counts.items()))}
    lines += [f"{name:<32}{count:>9,}" for name, count in counts.items()]
    if ledger.restarts:
        lines.append(
            f"{'seconds until served again':<32}{statistics.median(ledger.restarts):>9.2f}"
            f"  (at most {max(ledger.restarts):.2f})"
        )
    lines += [f"{name:<32}{len(ledger.faults.get(name, ())):>9,}" for name in FAULTS]
    for name, faults in ledger.faults.items():
        lines += [f"{name}: {text}" for text in faults[:5]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
