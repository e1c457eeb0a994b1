"""How large the terminal is: a size of 0 is one that it does not know."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from collections.abc import Generator

import pytest

from odin_cli.terminal.takeover import output_to


@pytest.fixture
def terminal() -> Generator[int]:
    main, other = os.openpty()
    yield other
    os.close(main)
    os.close(other)


@pytest.mark.parametrize(
    ("said", "variables", "size"),
    [
        ((24, 80), {"COLUMNS": "132", "LINES": "50"}, (24, 80)),
        ((0, 0), {}, (24, 80)),
        ((0, 80), {}, (24, 80)),
        ((30, 0), {}, (30, 80)),
        ((0, 0), {"COLUMNS": "132", "LINES": "50"}, (50, 132)),
        ((0, 60), {"COLUMNS": "132", "LINES": "50"}, (50, 60)),
        ((0, 0), {"COLUMNS": "0", "LINES": "-1"}, (24, 80)),
        ((0, 0), {"COLUMNS": "wide", "LINES": ""}, (24, 80)),
        ((65535, 65535), {}, (500, 500)),
    ],
)
def test_a_size_of_zero_is_unknown(
    terminal: int,
    monkeypatch: pytest.MonkeyPatch,
    said: tuple[int, int],
    variables: dict[str, str],
    size: tuple[int, int],
) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *said, 0, 0))
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with open(terminal, "w", closefd=False) as out:
        shown = output_to(out).get_size()
    assert (shown.rows, shown.columns) == size
