"""Where commands write: data on stdout, talk on stderr, and nothing when nobody reads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.client.programs import Programs


@pytest.mark.parametrize("arguments", [("rules",), ("--help",), ("serve", "--settings")])
def test_when_nobody_reads_it_ends_without_a_word(arguments: tuple[str, ...]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "odin_client", *arguments],
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
        program = programs.run(*arguments)
        assert program.out == []
        assert program.errors


def test_without_a_terminal_nothing_is_asked(programs: Programs) -> None:
    alone = programs.run()
    assert alone.end() == 0
    assert alone.out[0].startswith("Usage: odin-table")
    assert alone.errors == []
