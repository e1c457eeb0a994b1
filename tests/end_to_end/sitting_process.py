"""A process that sits at tables and does nothing else.

Its arguments are a port, then pairs of a handle and a credential. It follows each table from the
seat of that credential, as every client does, and comes back by itself when the line breaks.
"""

from __future__ import annotations

import asyncio
import sys

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session


async def follow(address: Address, table: str, secret: str) -> None:
    """Until the table has ended."""
    session = Session(await Connection.open(address, Credential(secret)), table)
    async for _ in session.follow():
        pass
    await session.close()


async def main(port: str, *pairs: str) -> None:
    address = Address("127.0.0.1", int(port))
    handles, secrets = pairs[::2], pairs[1::2]
    await asyncio.gather(*(follow(address, *pair) for pair in zip(handles, secrets, strict=True)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
