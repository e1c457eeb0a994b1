"""The full-screen client as its user meets it: in a pseudo-terminal, with a real server behind it.

Each figure stands beside the least that this machine can do: a Python that does nothing, or one
that only imports the libraries which the client needs. A key is timed until its picture is to be
seen in the terminal of the measurement, with the work of that terminal in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from odin_cli.local.local_server import LocalServer
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_contract.values import Options
from odin_table.v1 import play_pb2
from tests.support.terminals import PyteTerminal

SECONDS: Final = 6
"""How long the ticks of a clock are counted in one turn."""

KEYS: Final = 60
"""How many keys are pressed in one turn."""

BUSY: Final = 0.01
"""Seconds between two acts of bots at a table with about 200 events a second."""

_PROGRAM: Final = (sys.executable, "-m", "odin_cli")
_LIBRARIES: Final = "import grpc.aio, prompt_toolkit.application, prompt_toolkit.layout"


@dataclass(frozen=True)
class Screens:
    """One figure. `run` takes how much to do, and gives the floor (if there is one) and ours."""

    name: str
    title: str
    aim: float | None
    run: Callable[[int], tuple[float | None, float]]
    work: int = 1


# What is measured


def version(_work: int) -> tuple[float, float]:
    """Milliseconds until `odin-table --version` has ended; and until a Python has."""
    return _milliseconds((sys.executable, "-c", "pass")), _milliseconds((*_PROGRAM, "--version"))


def first_frame(_work: int) -> tuple[float, float]:
    """Milliseconds until the first picture of a table; and until the libraries are there."""
    floor = _milliseconds((sys.executable, "-c", _LIBRARIES))
    with _server() as address:
        table = asyncio.run(_open(address, Options(seats=2)))
        start = time.perf_counter()
        with _client("join", table, "--name", "Zoe") as terminal:
            terminal.wait_for("WAITING ROOM")
            return floor, (time.perf_counter() - start) * 1000


def tick(seconds: int) -> tuple[None, float]:
    """Bytes that a client writes for each second of a clock that runs."""
    with _server("--set", "bot_delay=50") as address:
        # A bot that thinks for long: a clock runs, and nothing else happens.
        options = Options(seats=3, turn_time=120, bank=0)
        table = asyncio.run(_open(address, options, bots=3, start=True))
        with _client("watch", table) as terminal:
            terminal.wait_for("WATCHING", "is thinking")
            _let_pass(terminal, 2)
            before = len(terminal.output)
            _let_pass(terminal, seconds)
            return None, (len(terminal.output) - before) / seconds


def key(keys: int) -> tuple[None, float]:
    """The 99th percentile of the milliseconds from a key to its picture, at a busy table."""
    return None, _busy(keys).slowest


def usual_key(keys: int) -> tuple[None, float]:
    """The median of the same."""
    return None, _busy(keys).usual


def busy(keys: int) -> tuple[None, float]:
    """Events a second at that table, to read the figures before with."""
    return None, _busy(keys).events


def memory(keys: int) -> tuple[float, float]:
    """MiB of a client that has been busy; and of a Python with the libraries."""
    code = f"{_LIBRARIES}; print(open('/proc/self/status').read())"
    said = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    return _resident(said.stdout), _busy(keys).memory


ALL: Final = (
    Screens("version", "odin-table --version, ms", None, version),
    Screens("first-frame", "first frame of a table, ms", None, first_frame),
    Screens("tick", "bytes for each second of a clock", 200, tick, SECONDS),
    Screens("key", "key to screen, p99, ms", 50, key, KEYS),
    Screens("usual-key", "    the median of the same", None, usual_key, KEYS),
    Screens("busy", "    events a second meanwhile", None, busy, KEYS),
    Screens("memory", "resident memory, MiB", None, memory, KEYS),
)

NAME: Final = "terminal"
"""Of all of them together."""


def measure(turns: int, quick: bool) -> dict[str, dict[str, list[float]]]:
    """The figures of this many turns: floor and ours, by name."""
    _measured.clear()
    figures: dict[str, dict[str, list[float]]] = {each.name: {} for each in ALL}
    for turn in range(turns):
        for each in ALL:
            floor, ours = each.run(max(each.work // 3, 1) if quick else each.work)
            figures[each.name].setdefault("odin-table", []).append(ours)
            if floor is not None:
                figures[each.name].setdefault("floor", []).append(floor)
        if turn < turns - 1:
            _measured.clear()
    return figures


def rows(figures: dict[str, dict[str, list[float]]]) -> Iterator[str]:
    """A line for each figure."""
    for each in ALL if figures else ():
        ours = median(figures[each.name]["odin-table"])
        floor = figures[each.name].get("floor")
        beside = f"{median(floor):>10.0f}" if floor else " " * 10
        aim = "" if each.aim is None else f"<= {each.aim:g}"
        verdict = "" if each.aim is None else "met" if ours <= each.aim else "NOT MET"
        yield f"{each.title:<52} {beside} {ours:>10.0f} {'':>7} {aim:>7}  {verdict}".rstrip()


# How


@dataclass(frozen=True)
class _Busy:
    """What a busy table gave."""

    slowest: float
    """Milliseconds of a key, the 99th percentile."""
    usual: float
    """The median of the same."""
    events: float
    """A second."""
    memory: float
    """MiB."""


_measured: dict[int, _Busy] = {}
"""That of this turn: several figures come from one run."""


def _busy(keys: int) -> _Busy:
    if keys not in _measured:
        _measured[keys] = _at_a_busy_table(keys)
    return _measured[keys]


def _at_a_busy_table(keys: int) -> _Busy:
    with _server("--set", f"bot_delay={BUSY}", "--set", "deal_pause=0.01") as address:
        options = Options(seats=6, threshold=100)
        table = asyncio.run(_open(address, options, bots=6, start=True))
        with _client("watch", table) as terminal:
            terminal.wait_for("WATCHING")
            first, start = asyncio.run(_seq(table)), time.perf_counter()
            waits: list[float] = []
            for number in range(keys):
                opens = number % 2 == 0
                pressed = time.perf_counter()
                terminal.press("w")
                if opens:
                    terminal.wait_for("── SCORES")
                else:
                    terminal.wait_until(lambda screen: "── SCORES" not in screen, "the table")
                waits.append((time.perf_counter() - pressed) * 1000)
                _let_pass(terminal, 0.05)
            seconds = time.perf_counter() - start
            events = asyncio.run(_seq(table)) - first
            status = Path(f"/proc/{terminal.process.pid}/status").read_text()
            slowest = quantiles(waits, n=100, method="inclusive")[-1]
            return _Busy(slowest, median(waits), events / seconds, _resident(status))


def _milliseconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - start) * 1000


def _resident(status: str) -> float:
    """MiB, from what the system says of a process."""
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def _let_pass(terminal: PyteTerminal, seconds: float) -> None:
    """Reads what is written for so long."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        terminal.wait_for_change(terminal.screen(), left)


@contextlib.contextmanager
def _server(*options: str) -> Generator[Address]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        arguments = ["--store", "memory", "--seed", "1", *options]
        server = LocalServer.start("127.0.0.1:0", arguments, tied=True, log=log)
        try:
            yield server.address
        finally:
            asyncio.run(server.stop())


@contextlib.contextmanager
def _client(*arguments: str) -> Generator[PyteTerminal]:
    with tempfile.TemporaryDirectory() as home:
        own = {"XDG_STATE_HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home}
        terminal = PyteTerminal((*_PROGRAM, *arguments), 80, 24, own)
        try:
            yield terminal
        finally:
            terminal.close()


async def _open(address: Address, options: Options, *, bots: int = 0, start: bool = False) -> str:
    """Opens a table with bots, and starts the game if asked to; gives what `join` takes."""
    connection = await Connection.open(address, Credential.new())
    try:
        session = await Session.open_table(connection, options)
        for _ in range(bots):
            await session.add_bot("greedy")
        if start and bots < options.seats:
            await session.start()
        return str(session.address)
    finally:
        await connection.close()


async def _seq(table: str) -> int:
    """The number of the last event of a table."""
    address = Address.parse(table)
    connection = await Connection.open(address)
    try:
        request = play_pb2.GetViewRequest(table=address.handle)
        return (await connection.call(connection.table.GetView, request)).view.seq
    finally:
        await connection.close()
