"""A real server on loopback, in the loop of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import grpc.aio
import pytest

from odin_server.main import Server
from odin_server.settings import Settings
from tests.support.people import Person
from tests.support.servers import serving

QUICK = Settings(port=0, bot_delay=0, deal_pause=0.05, seed=11, drain_grace=1.0)
"""Bots do not pause, and deals follow each other nearly at once."""

Serve = Callable[..., Coroutine[Any, Any, Server]]
Meet = Callable[..., Person]


@pytest.fixture
async def serve() -> AsyncGenerator[Serve]:
    """Starts servers, and stops them after the test."""
    async with AsyncExitStack() as started:

        async def serve_one(settings: Settings = QUICK, **given: Any) -> Server:
            return await started.enter_async_context(serving(settings, **given))

        yield serve_one


@pytest.fixture
async def meet(serve: Serve) -> AsyncGenerator[Meet]:
    """Makes people, each with a channel of their own, at a server."""
    channels: list[grpc.aio.Channel] = []

    def meet_one(server: Server, name: str) -> Person:
        channel = grpc.aio.insecure_channel(
            f"127.0.0.1:{server.port}", options=[("grpc.use_local_subchannel_pool", 1)]
        )
        channels.append(channel)
        return Person(channel, name)

    yield meet_one
    await asyncio.gather(*(channel.close() for channel in channels))
