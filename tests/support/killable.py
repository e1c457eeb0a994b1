"""A server in a process of its own that can be killed, and comes back at the same port."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from odin_cli.local.local_server import LocalServer
from odin_client.connection.address import Address

UNLIMITED = tuple(
    f"{name}=1000000"
    for name in (
        "tables_per_address",
        "seats_per_address",
        "streams_per_address",
        "calls_per_second_per_address",
        "calls_per_second_per_credential",
    )
)
"""All clients come from one address, which in earnest would be refused."""


class KillableServer:
    """`odin-table serve` on a port of its own, again and again."""

    def __init__(
        self, folder: Path, store: str, changes: Sequence[str], options: Sequence[str] = ()
    ) -> None:
        """Nothing runs yet. `store` and `changes` are what --store and --set take."""
        self.address = Address("127.0.0.1", free_port())
        self._log = folder / "server.log"
        self._options = [word for change in changes for word in ("--set", change)]
        self._options += options
        if store:
            self._options += ["--store", store]
        self._server: LocalServer | None = None

    @property
    def pid(self) -> int:
        """The number of the process that runs."""
        assert self._server is not None, "it runs"
        return self._server.pid

    async def start(self) -> float:
        """Starts it; gives the seconds until it served. Raises ClientError when it does not."""
        began = time.monotonic()
        self._server = await asyncio.to_thread(
            LocalServer.start, self.address.server, self._options, tied=True, log=self._log
        )
        return time.monotonic() - began

    async def kill(self) -> None:
        """Ends it without a word, as a crash does."""
        os.kill(self.pid, signal.SIGKILL)
        await self.stop()

    async def stop(self) -> None:
        """Ends it if it runs."""
        if self._server is not None:
            await self._server.stop()
            self._server = None


def free_port() -> int:
    """A port that nothing gets by chance while the server is away.

    The system takes ports for those who connect from 32768 upwards (ip(7)).
    """
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
