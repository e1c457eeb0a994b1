"""`python -m tests.damage`: flips bits and prints what became of each. Exits with 1 on a fault."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.damage.run import IN_MEMORY, damage


def main() -> int:
    """Makes the run that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.damage")
    parser.add_argument("--flips", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        kinds, faults = asyncio.run(damage(Path(folder), arguments.flips, arguments.seed))
    sys.stdout.write(f"{arguments.flips:,} bits flipped (seed {arguments.seed})\n")
    for kind, count in kinds.most_common():
        sys.stdout.write(f"{kind:<12}{count:>7,}\n")
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
