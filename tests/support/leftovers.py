"""Finds processes that a test has started, directly or not, and that are still there."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

from tests.support.patience import PATIENCE

MARK: Final = "MARK_OF_THE_TEST"
"""A variable in the environment of all that a test starts; each test has a value of its own."""


@pytest.fixture
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Sees that no process of the test outlives it, whoever has started it."""
    monkeypatch.setenv(MARK, secrets.token_hex(16))
    yield
    wait_until_gone()


def wait_until_gone(program: str = "") -> None:
    """Waits until no process of the test runs this program; raises AssertionError."""
    end = time.monotonic() + PATIENCE
    while left := running(program):
        assert time.monotonic() < end, f"these processes are left: {left}"
        time.sleep(0.02)


def running(program: str = "") -> list[str]:
    """The processes that this test has started, and those that they have, with this program."""
    mark = f"{MARK}={os.environ[MARK]}\0".encode()
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (
                (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            if program in command and mark in (process / "environ").read_bytes():
                found.append(command)
    return found
