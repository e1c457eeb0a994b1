"""The real server with both ways in: on the ports that its line names, HTTP's and then gRPC's."""

import asyncio
import dataclasses
import sys

from bench.server.product import SETTINGS
from odin_server.main import Server
from odin_server.settings import Http


async def serve() -> None:
    """Serves until it is told to stop."""
    http = Http(host="127.0.0.1", port=0)
    server = Server(dataclasses.replace(SETTINGS, http=http))
    await server.start()
    sys.stdout.write(f"{server.http_port},127.0.0.1:{server.port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
