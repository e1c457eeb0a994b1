"""The real server with its tables in a file: what `odin-table serve` is unless told otherwise."""

import dataclasses
import sys
import tempfile
from pathlib import Path

from bench.server.product import SETTINGS
from odin_server.main import run

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="odin-bench-") as folder:
        sys.exit(run(dataclasses.replace(SETTINGS, store=Path(folder) / "tables.db")))
