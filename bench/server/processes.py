"""The processes of a measurement, and what the system says about them (Linux)."""

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

# Seconds. A process that takes longer is broken: a start takes about one, a stop at most five.
START_DEADLINE = 30
STOP_DEADLINE = 20

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class ProcessFailed(Exception):
    """A server or a load ended, or kept silent, before it had done its part."""


@dataclass(frozen=True)
class ServerProcess:
    """A server that is ready: HOST:PORT where it listens, and the number of its process."""

    address: str
    pid: int


@contextlib.contextmanager
def running_server(module: str) -> Generator[ServerProcess]:
    """Runs `python -m module` until the block ends.

    The module prints one line that ends in HOST:PORT when it is ready.
    Raises ProcessFailed when it does not.
    """
    with subprocess.Popen([sys.executable, "-m", module], stdout=subprocess.PIPE) as process:
        try:
            output = process.stdout
            assert output is not None  # it is a pipe
            ready, _, _ = select.select([output], [], [], START_DEADLINE)
            line = output.readline().decode() if ready else ""
            if not line:
                raise ProcessFailed(f"{module} did not get ready. See what it printed above.")
            yield ServerProcess(line.split()[-1], process.pid)
        finally:
            process.terminate()
            try:
                process.wait(STOP_DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()


def output_of(module: str, argument: str, deadline: float) -> str:
    """What `python -m module argument` prints.

    Raises ProcessFailed when it fails, or takes longer than `deadline` seconds.
    """
    command = [sys.executable, "-m", module, argument]
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, text=True, timeout=deadline, check=True
        ).stdout
    except subprocess.TimeoutExpired as error:
        raise ProcessFailed(f"{module} took longer than {deadline:.0f} s: {argument}") from error
    except subprocess.CalledProcessError as error:
        raise ProcessFailed(f"{module} failed: {argument}. See what it printed above.") from error


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used so far, in seconds; all its threads."""
    # The name, in parentheses, may hold anything; what follows it is numbers (proc_pid_stat(5)).
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = int(numbers[11]), int(numbers[12])
    return (user + system) / _TICKS_PER_SECOND


@contextlib.contextmanager
def watching_others(figures: dict[str, float]) -> Generator[None]:
    """Adds `others_busy` to `figures`: how many cores other programs kept busy during the block.

    Processes that this one starts in the block have to end in it, to count as its own.
    """
    began, machine, own = time.perf_counter(), _machine_cpu_seconds(), _own_cpu_seconds()
    yield
    others = (_machine_cpu_seconds() - machine) - (_own_cpu_seconds() - own)
    figures["others_busy"] = max(others, 0.0) / (time.perf_counter() - began)


def _machine_cpu_seconds() -> float:
    """The processor time that the whole machine has used (proc_stat(5)), also on its host."""
    ticks = [int(number) for number in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / _TICKS_PER_SECOND


def _own_cpu_seconds() -> float:
    """The processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def resident_bytes(pid: int) -> int:
    """The memory of a process that is in RAM now, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
