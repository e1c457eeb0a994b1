"""A line between client and server that a test can cut, or let fall silent."""

from __future__ import annotations

import asyncio
import contextlib

from odin_client.connection.address import Address


class CutLine:
    """Passes bytes on between its own port and a server. Make it with `to`."""

    def __init__(self, server: Address) -> None:
        self._server = server
        self._listener: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._answers = asyncio.Event()
        self._answers.set()
        self._carrying = asyncio.Event()
        self._carrying.set()
        self._silent: list[asyncio.Event] = []
        self.port = 0

    @classmethod
    async def to(cls, server: Address) -> CutLine:
        """A line to this server that stands."""
        line = cls(server)
        await line.mend()
        return line

    @property
    def address(self) -> Address:
        """Where a client connects."""
        return Address("127.0.0.1", self.port)

    async def cut(self) -> None:
        """Breaks the line; nobody can connect until it is mended."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self.drop()

    def drop(self) -> None:
        """Breaks every connection; whoever connects again gets through at once."""
        for carrying in self._silent:
            carrying.set()
        for writer in self._writers:
            writer.transport.abort()

    async def mend(self) -> None:
        """Lets clients connect again, at the same port."""
        self._answers.set()
        self._listener = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    def hold_answers(self) -> None:
        """From now on nothing comes back from the server, though everything gets there."""
        self._answers.clear()

    def fall_silent(self) -> None:
        """The connections that stand carry nothing any more; those that are made from now on do."""
        self._carrying.clear()
        self._silent.append(self._carrying)
        self._carrying = asyncio.Event()
        self._carrying.set()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection(self._server.host, self._server.port)
        except OSError:  # no server is there: whoever connects is told so, and may try again
            writer.transport.abort()
            return
        self._writers |= {writer, forth}
        gates = (self._carrying,)
        await asyncio.gather(
            self._pump(reader, forth, gates), self._pump(back, writer, (*gates, self._answers))
        )
        self._writers -= {writer, forth}

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        gates: tuple[asyncio.Event, ...],
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                for gate in gates:
                    await gate.wait()
                sink.write(data)
                await sink.drain()
        sink.transport.abort()
