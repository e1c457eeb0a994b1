"""Announces a server on the local network by DNS-SD, so that clients find it without an address.

What is announced is the server, never a table: clients ask it for its public tables, and a private
one is nowhere to be seen. The service is `_odin-table._tcp.local.`, one instance for each run of a
server, under all addresses that lead to it. Its TXT record:

    id        16 hex digits, drawn at each start: two instances with one id are one server
    version   of the program, such as 0.1.0

Nothing here ever stops a server. What fails is said in one line, once, and tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import logging
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Sequence
from typing import Final

from odin_cli.lan.network import addresses_of, spoken_by

SERVICE: Final = "_odin-table._tcp.local."

CHECK: Final = 10.0
"""Seconds between two looks whether this machine has the same addresses as before."""

RETRY: Final = 30.0
"""Seconds until an announcement that failed is tried again."""

_NAME_LENGTH: Final = 40
"""Characters of the machine's name that are announced; a label of DNS has room for 63 bytes."""

_log: Final = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def announced(host: str, port: int, *, only: Sequence[str] = ()) -> AsyncGenerator[None]:
    """Announces a server that listens on this host and port while the block runs.

    `only` names addresses of this machine to announce instead of all that others may reach.
    """
    properties = {
        "id": secrets.token_hex(8),
        "version": importlib.metadata.version("odin-table"),
    }
    task = asyncio.create_task(_announce(host, port, properties, only))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _announce(host: str, port: int, properties: dict[str, str], only: Sequence[str]) -> None:
    """Keeps the announcement true: again under other addresses when those of the machine change."""
    complained = False
    while True:
        try:
            addresses = addresses_of(host, only)
            async with _registered(addresses, port, properties):
                await _until_they_differ(addresses, host, only)
        except Exception as problem:  # noqa: BLE001 -- a network may be odd in any way
            if not complained:
                complained = True
                _log.warning(
                    "not announced on the network: %s", str(problem) or type(problem).__name__
                )
            await asyncio.sleep(RETRY)


async def _until_they_differ(addresses: Sequence[str], host: str, only: Sequence[str]) -> None:
    while True:
        await asyncio.sleep(CHECK)
        if addresses_of(host, only) != addresses:
            return


@contextlib.asynccontextmanager
async def _registered(
    addresses: Sequence[str], port: int, properties: dict[str, str]
) -> AsyncGenerator[None]:
    """Answers for this server, under these addresses, while the block runs."""
    if not addresses:
        raise OSError("this machine has no address in a network")
    # Takes a tenth of a second, which only those pay who announce.
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf  # noqa: PLC0415

    # The id makes the name unique, so that nobody has to be asked whether it is free.
    instance = f"{socket.gethostname().partition('.')[0][:_NAME_LENGTH]}-{properties['id'][:4]}"
    service = AsyncServiceInfo(
        SERVICE,
        f"{instance}.{SERVICE}",
        port=port,
        parsed_addresses=list(addresses),
        properties=dict(properties),
        server=f"odin-{properties['id']}.local.",
    )
    network = AsyncZeroconf(interfaces=spoken_by(addresses))
    try:
        # It gives an Awaitable of nothing, and does not say so to type checkers.
        sent: Awaitable[object] = await network.async_register_service(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            service, allow_name_change=True
        )
        await sent
        yield
    finally:
        await network.async_close()  # which says goodbye
