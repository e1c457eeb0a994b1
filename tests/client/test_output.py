"""Where commands write: data on stdout, talk on stderr, and nothing when nobody reads."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.programs import Programs, open_table


@pytest.mark.parametrize("arguments", [("rules",), ("--help",), ("serve", "--settings")])
def test_when_nobody_reads_it_ends_without_a_word(arguments: tuple[str, ...]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "odin_cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=writes,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writes)
    assert done.stderr == ""
    assert done.returncode == 1


def test_what_is_no_data_is_said_on_stderr(programs: Programs) -> None:
    server = programs.serve()
    for arguments in (("ls", server), ("watch", server), ("join", server)):
        program = programs.run_apart(*arguments)
        assert program.out == []
        assert program.errors


def test_without_a_terminal_nothing_is_asked(programs: Programs) -> None:
    alone = programs.run_apart()
    assert alone.end() == 0
    assert alone.out[0].startswith("Usage: odin-table")
    assert alone.errors == []


@pytest.mark.often
@pytest.mark.usefixtures("each_time")
@pytest.mark.parametrize(("ui", "question"), [("json", "x"), ("line", "rules")])
def test_it_ends_on_sigterm_although_nobody_reads_what_it_writes(
    programs: Programs, tmp_path: Path, ui: str, question: str
) -> None:
    table = open_table(programs.serve())
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    program = subprocess.Popen(
        [sys.executable, "-m", "odin_cli", "join", table, "--name", "Ann", "--ui", ui],
        stdin=subprocess.PIPE,
        stdout=writes,
        stderr=writes,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )
    os.close(writes)
    assert program.stdin is not None
    try:
        program.stdin.write(f"{question}\n".encode() * 300)
        program.stdin.flush()
        _until_full(reads)
        program.terminate()
        assert program.wait(10) == 128 + signal.SIGTERM
    finally:
        program.kill()
        program.wait()
        os.close(reads)
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()


def _until_full(pipe: int) -> None:
    """Waits until nothing more is written to this pipe."""
    end = time.monotonic() + PATIENCE
    before, same = 0, 0
    while same < 5:
        assert time.monotonic() < end, f"there are {before} bytes"
        (now,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))
        same = same + 1 if now == before > 2_000 else 0
        before = now
        time.sleep(0.05)
