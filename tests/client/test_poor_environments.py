"""Without a home, or with one that cannot be written, or with bytes that are not UTF-8.

Every command starts, or says in a sentence what to do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from odin_cli.main import COMMANDS
from tests.support.patience import PATIENCE
from tests.support.programs import Programs, programs_in

EVERY_COMMAND = {
    "play": ["--level", "none", "--ui", "line"],  # refused by the server that it starts
    "host": ["--listen", "127.0.0.1:0", "--store", "memory", "--no-discovery", "--level", "none"],
    "join": ["SERVER"],
    "watch": ["SERVER"],
    "ls": ["SERVER"],
    "serve": ["--settings"],
    "backup": ["copy.db"],
    "export": ["games"],
    "bot": ["ZZZZ@SERVER"],
    "replay": [],
    "verify": [],
    "rules": [],
    "tutorial": [],
    "conformance": ["--list"],
    "doctor": [],
    "completion": ["bash"],
}

ALL_IN_ONE = """
import json, pwd, sys
from odin_cli.main import run

def nobody(_uid):
    raise KeyError("uid not found")

if sys.argv[1] == "homeless":
    pwd.getpwuid = nobody  # as in a container that runs as any number
for arguments in json.loads(sys.argv[2]):
    print(arguments[:1], "ends with", run(arguments), file=sys.stderr, flush=True)
"""

BAD = b"\xff\xfe".decode(errors="surrogateescape")
"""Bytes that are not UTF-8, as Python hands them on."""

HOMES: dict[str, dict[str, str]] = {
    "homeless": {},
    "not a folder": {"HOME": "/dev/null"},
    "not to be written": {"HOME": "/proc/1"},
    "not UTF-8": {"HOME": f"/proc/{BAD}", "LOGNAME": BAD, "USER": BAD, "LNAME": BAD},
}


def run_all(lines: Sequence[Sequence[str]], home: str, cwd: Path) -> subprocess.Popen[str]:
    """Runs these command lines, one after the other, in one process in this environment."""
    names = ("PATH", "LANG", "LC_ALL")
    plain = {name: value for name, value in os.environ.items() if name in names}
    return subprocess.Popen(
        [sys.executable, "-c", ALL_IN_ONE, home, json.dumps(lines)],
        env={**plain, "ODIN_DISCOVERY": "no", **HOMES[home]},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What all commands say on stderr in each environment; they are tried side by side."""
    lines = [[], *([name, *arguments] for name, arguments in EVERY_COMMAND.items())]
    cwd = tmp_path_factory.mktemp("cwd")
    with programs_in(tmp_path_factory.mktemp("server")) as programs:
        server = programs.serve("--store", "memory")
        lines = [[word.replace("SERVER", server) for word in line] for line in lines]
        started = {home: run_all(lines, home, cwd) for home in HOMES}
        told = {home: process.communicate(timeout=PATIENCE)[1] for home, process in started.items()}
    assert not list(cwd.iterdir()), "nothing is written where it does not belong"
    return told


def test_every_command_is_tried() -> None:
    assert set(EVERY_COMMAND) == set(COMMANDS)


@pytest.mark.parametrize("home", HOMES)
def test_every_command_starts_or_says_what_to_do(home: str, told: Mapping[str, str]) -> None:
    assert "something went wrong" not in told[home]
    assert "Traceback" not in told[home]
    ends = [line for line in told[home].splitlines() if "ends with" in line]
    assert len(ends) == 1 + len(EVERY_COMMAND), told[home]


def test_a_text_that_is_not_utf_8_is_said_to_be_so(tmp_path: Path) -> None:
    lines = [
        ["play", "--name", f"A{BAD}"],
        ["play", "--level", BAD],
        ["host", "--title", BAD, "--store", "memory"],
        ["serve", "--store", f"sqlite:/tmp/{BAD}"],
        ["join", "127.0.0.1", "--code", BAD],
        ["bot", "--strategy", BAD],
    ]
    process = run_all(lines, "homeless", tmp_path)
    _out, told = process.communicate(timeout=PATIENCE)
    assert told.count("is not UTF-8. Type it") == told.count("ends with 2") == len(lines), told


def test_a_game_is_played_without_a_home_that_can_be_written(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_state", Path("/dev/null"))
    game = programs.start("play", "--ui", "line", "--single-deal", "--pace", "0")
    game.line_with("Your turn")
    game.type("quit")
    assert game.end() == 0
