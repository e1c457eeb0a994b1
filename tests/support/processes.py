"""Starts processes for tests; whatever still runs at the end of a test is killed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

_NOT_PASSED_ON = ("ODIN_", "XDG_", "TMUX")
_OURS_TO_SET = (
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLORTERM",
    "SSH_CONNECTION",
)


def environment(home: Path | None = None, /, **more: str) -> dict[str, str]:
    """The environment of a program under test: without settings of the person who runs the tests.

    Its state, data and settings lie in `home`. `more` wins over everything.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _OURS_TO_SET and not name.startswith(_NOT_PASSED_ON)
    }
    if home is not None:
        kept |= {
            "XDG_STATE_HOME": str(home),
            "XDG_DATA_HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
        }
    return kept | more


@asynccontextmanager
async def running(
    *command: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int | None = asyncio.subprocess.PIPE,
    stderr: int | None = asyncio.subprocess.PIPE,
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Runs a program while the block runs. Its lines may be long: a game in JSON is one."""
    started = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, limit=2**24
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.wait()
