"""Servers in the loop of a test, on loopback."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from odin_server.main import Server
from odin_server.settings import Settings


@asynccontextmanager
async def serving(settings: Settings, **given: Any) -> AsyncGenerator[Server]:
    """A server while the block runs; `given` is for its constructor."""
    server = Server(settings, **given)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
