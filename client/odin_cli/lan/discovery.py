"""Finds servers and their tables: what `announcement` announces, and where one has been before.

A server with several addresses is found once, and reached by whichever of them answers first, so
that nobody has to guess which network leads to it. What fails is reported in one line; then
nothing is found, and everything that needs no discovery works as before.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from odin_cli.lan.announcement import SERVICE
from odin_cli.lan.known_servers import KnownServers
from odin_cli.lan.network import LOOPBACK, own_addresses, spoken_by
from odin_cli.speech.languages import _
from odin_client.connection.address import Address, is_this_machine
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import ClientError
from odin_client.session.lobby import listing
from odin_contract.limits import TITLE_LENGTH
from odin_contract.reading import summary_of
from odin_contract.texts import clean
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import TableSummary
from odin_table.v1 import lobby_pb2

if TYPE_CHECKING:
    from zeroconf import Zeroconf
    from zeroconf.asyncio import AsyncServiceInfo

WAIT: Final = 2.0
"""Seconds to look for. Servers answer within a tenth of one; the rest is for bad radio."""

PATIENCE: Final = 2.0
"""Seconds that a server which was found has to answer in."""

_MOST_ADDRESSES: Final = 8
_MOST_SERVERS: Final = 100
"""What is looked at; whatever else a network may claim is not."""

Report = Callable[[str], None]
"""Is told, in one line, why nothing can be found."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that may be there, and every address that may lead to it."""

    name: str
    """What it is announced as, cleaned."""
    addresses: tuple[Address, ...]
    id: str = ""
    """The same for all announcements of one server. Empty when it was not announced."""
    version: str = ""
    """Of its program, as announced."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server says about its public tables."""

    server: FoundServer
    address: Address
    """The one that answered first."""
    listing: lobby_pb2.ListTablesResponse
    seconds: float
    """How long the answer took."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A public table of a server that has answered."""

    answer: Answer
    table: TableSummary

    @property
    def address(self) -> Address:
        """Where the table is, handle included."""
        return self.answer.address.at(self.table.table)


async def known_servers() -> AsyncGenerator[FoundServer]:
    """The servers that one has been at, this machine's included, whether or not they are there."""
    addresses = [*KnownServers().all(), Address(LOOPBACK)]
    for address in dict.fromkeys(addresses):
        yield FoundServer(name=str(address), addresses=(address,))


def _silent(_problem: str) -> None:
    """Nobody wants to know."""


async def found_servers(
    *, wait: float | None = WAIT, only: Sequence[str] = (), report: Report = _silent
) -> AsyncGenerator[FoundServer]:
    """Servers on the network as they are heard of, for `wait` seconds (None: until closed).

    `only` names the addresses of this machine by which to look. Raises nothing.
    """
    found: asyncio.Queue[FoundServer] = asyncio.Queue()
    seen: set[str] = set()
    end = None if wait is None else time.monotonic() + wait
    async with contextlib.AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(_listening(found, only))
        except Exception as problem:  # noqa: BLE001 -- a network may be odd in any way
            why = str(problem) or type(problem).__name__
            report(_("Cannot look on the network: {problem}.").format(problem=why))
            return
        while len(seen) < _MOST_SERVERS:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                server = await asyncio.wait_for(found.get(), left)
            except TimeoutError:
                return
            if server.id not in seen:
                seen.add(server.id)
                yield server


@contextlib.asynccontextmanager
async def _listening(
    found: asyncio.Queue[FoundServer], only: Sequence[str]
) -> AsyncGenerator[None]:
    """Puts every server that is announced into the queue while the block runs."""
    # Takes a tenth of a second, which only those pay who look.
    from zeroconf import DNSQuestionType, ServiceStateChange  # noqa: PLC0415
    from zeroconf.asyncio import (  # noqa: PLC0415
        AsyncServiceBrowser,
        AsyncServiceInfo,
        AsyncZeroconf,
    )

    tasks: set[asyncio.Task[None]] = set()

    async def ask(zeroconf: Zeroconf, name: str) -> None:
        service = AsyncServiceInfo(SERVICE, name)
        # Questions to all, since of several programs on one machine only one gets what is sent to
        # it alone.
        if await service.async_request(zeroconf, 3000, question_type=DNSQuestionType.QM):
            server = _server_of(service)
            if server is not None:
                found.put_nowait(server)

    def heard(zeroconf: Zeroconf, name: str, state_change: ServiceStateChange, **_: Any) -> None:
        if state_change is not ServiceStateChange.Removed and len(tasks) < _MOST_SERVERS:
            task = asyncio.ensure_future(ask(zeroconf, name))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    network = AsyncZeroconf(interfaces=spoken_by(only or [*own_addresses(), LOOPBACK]))
    try:
        browser = AsyncServiceBrowser(
            network.zeroconf, SERVICE, handlers=[heard], question_type=DNSQuestionType.QM
        )
        try:
            yield
        finally:
            await browser.async_cancel()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await network.async_close()


def _server_of(service: AsyncServiceInfo) -> FoundServer | None:
    """What an announcement says; None when it leads nowhere."""
    hosts = service.parsed_scoped_addresses()[:_MOST_ADDRESSES]
    properties = service.decoded_properties
    if not hosts or not service.port:
        return None
    name = service.name.removesuffix(f".{SERVICE}")
    return FoundServer(
        name=clean(name, TITLE_LENGTH),
        addresses=tuple(Address(host, service.port) for host in hosts),
        id=clean(properties.get("id") or service.name, TITLE_LENGTH),
        version=clean(properties.get("version") or "", TITLE_LENGTH),
    )


async def reach(
    addresses: Sequence[Address], credential: Credential | None = None, *, patience: float
) -> Connection:
    """Connects to all addresses of one server at once, and keeps the one that answers first.

    Raises what `Connection.open` raised for the last of them when none does.
    """
    attempts = [
        asyncio.create_task(Connection.open(address, credential, patience=patience))
        for address in addresses
    ]
    kept: Connection | None = None
    problem = ClientError(_("There is no address to connect to."))
    try:
        for attempt in asyncio.as_completed(attempts):
            try:
                kept = await attempt
            except ClientError as error:
                problem = error
            else:
                return kept
        raise problem
    finally:
        for task in attempts:
            task.cancel()
        for result in await asyncio.gather(*attempts, return_exceptions=True):
            if isinstance(result, Connection) and result is not kept:
                await result.close()


async def answers(servers: AsyncIterable[FoundServer]) -> AsyncGenerator[Answer]:
    """What these servers say about their tables, as it comes; one that says nothing is left out.

    A server that is named twice, by its announcement and by an address of it, is listed once.
    """
    given: asyncio.Queue[tuple[set[Address], Answer] | None] = asyncio.Queue()
    heard: set[Address] = set()

    async def ask(server: FoundServer) -> None:
        with contextlib.suppress(ClientError):
            answer = await _ask(server)
            given.put_nowait((await asyncio.to_thread(_places, server), answer))

    async def ask_all() -> None:
        try:
            async with asyncio.TaskGroup() as asking:
                async for server in servers:
                    asking.create_task(ask(server))
        finally:
            given.put_nowait(None)

    task = asyncio.create_task(ask_all())
    try:
        while (heard_of := await given.get()) is not None:
            places, answer = heard_of
            if heard.isdisjoint(places):
                yield answer
            heard |= places
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _places(server: FoundServer) -> set[Address]:
    """Where a server is; this machine is one place under all its names and addresses."""
    return {
        Address(LOOPBACK, address.port) if is_this_machine(address.host) else address
        for address in server.addresses
    }


async def found_tables(servers: AsyncIterable[FoundServer]) -> AsyncGenerator[FoundTable]:
    """The public tables of these servers, as they answer."""
    async with contextlib.aclosing(answers(servers)) as given:
        async for answer in given:
            for table in tables_of(answer):
                yield table


def tables_of(answer: Answer) -> list[FoundTable]:
    """The tables in an answer; none when it makes no sense, since anything may be announced."""
    try:
        return [FoundTable(answer, summary_of(table)) for table in answer.listing.tables]
    except (NotUnderstoodError, ValueError, OverflowError):
        return []


async def _ask(server: FoundServer) -> Answer:
    """Asks a server for its tables; raises ClientError when it does not answer."""
    connection = await reach(server.addresses, patience=PATIENCE)
    try:
        start = time.monotonic()
        tables = await listing(connection)
        return Answer(server, connection.address, tables, time.monotonic() - start)
    finally:
        await connection.close()
