"""What the disk itself takes to keep something: the floor under everything that is kept."""

import os
import statistics
import tempfile
import time

_BYTES = 4096
"""About what SQLite writes for one act."""


def fdatasync_ms(times: int = 200) -> float:
    """Milliseconds to write a page at the end of a file and have it on the disk: the median."""
    seconds: list[float] = []
    with tempfile.TemporaryFile() as file:
        for _ in range(times):
            began = time.perf_counter()
            os.write(file.fileno(), bytes(_BYTES))
            os.fdatasync(file.fileno())
            seconds.append(time.perf_counter() - began)
    return 1e3 * statistics.median(seconds)
