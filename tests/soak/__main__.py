"""`python -m tests.soak`: soaks a server and prints what was seen. Exits with 1 if memory stays."""

import argparse
import asyncio
import sys

from tests.soak.run import KEPT_AT_MOST, WARM_UP, Soak, soak

MIB = 2**20


def main() -> int:
    """Makes the soak that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--reconnects", type=int, default=1_000)
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="tables that do not count")
    arguments = parser.parse_args()
    seen = asyncio.run(soak(**vars(arguments)))
    sys.stdout.write(
        f"{arguments.tables:,} tables opened and abandoned, "
        f"{arguments.reconnects:,} reconnects of one seat\n{report(seen)}"
    )
    return 0 if seen.kept <= KEPT_AT_MOST else 1


def report(seen: Soak) -> str:
    """The figures of a soak."""
    rows = (
        ("memory at the start, MiB", seen.fresh / MIB),
        ("memory before, MiB", seen.before / MIB),
        ("memory at the most, MiB", seen.most / MIB),
        ("memory after, MiB", seen.after / MIB),
        ("kept, MiB (at most 10)", seen.kept / MIB),
        ("seconds", seen.seconds),
    )
    return "".join(f"{name:<28}{figure:>9,.1f}\n" for name, figure in rows)


if __name__ == "__main__":
    sys.exit(main())
