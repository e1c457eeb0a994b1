"""Our own bot passes the points about deals; a client that does not check, or forgets, is found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, TypeVar

import pytest
from google.protobuf.message import Message

from odin_cli.speech.complaints import NOT_IN_FULL, exit_code
from odin_client.bots import BotRunner, make_bot
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import ClientError
from odin_client.session.session import Session
from odin_client.table.deal_check import DealCheck
from odin_client.table.model import Item
from odin_client.table.updates import Update
from odin_conformance.deal_points import DEAL_POINTS
from odin_conformance.play import Pace
from odin_conformance.points import Point
from odin_conformance.program import Client
from odin_conformance.run import Result, run_point
from odin_conformance.table import HANDLE
from odin_contract.enums import Occupant
from odin_contract.events import Event
from odin_contract.values import TableView
from odin_table.v1 import play_pb2

Answer = TypeVar("Answer", bound=Message)

Mistake: TypeAlias = Callable[[Session], None]


class Blind(DealCheck):
    """Looks at nothing, and gives one nonce to each deal."""

    _given_to = b""

    def has_given(self, open_commitment: bytes) -> bool:
        """Only when it was asked before, since it gives one then."""
        before, self._given_to = self._given_to, open_commitment
        return before == open_commitment

    def see(self, event: Event, before: TableView, after: TableView) -> None:
        """Does not."""

    def start_from(self, table: TableView, before: TableView) -> None:
        """Does not."""


def checks_nothing(session: Session) -> None:
    session.table.check = Blind()


def forgets_at_each_snapshot(session: Session) -> None:
    apply = session.table.apply

    def forgetful(item: Item) -> list[Update]:
        if isinstance(item, play_pb2.WatchTableResponse) and item.HasField("snapshot"):
            session.table.check = DealCheck()
        return apply(item)

    session.table.apply = forgetful  # type: ignore[method-assign]


def forgets_what_it_gave(session: Session) -> None:
    given: set[bytes] = set()

    async def noting(request: Message, answer: Awaitable[Answer]) -> Answer:
        del request
        given.add(session.table.commitment)
        return await answer

    session.noting = noting  # type: ignore[method-assign]

    # It gives one nonce to each deal all the same: a second one would be a mistake of its own.
    def has_given(open_commitment: bytes) -> bool:
        return open_commitment in given

    session.table.check.has_given = has_given  # type: ignore[method-assign]


HONEST: Final = {point.name for point in DEAL_POINTS if point.name.startswith("deal.honest")}

WHERE: Final[dict[Mistake, set[str]]] = {
    checks_nothing: {point.name for point in DEAL_POINTS} - HONEST,
    forgets_at_each_snapshot: {
        "deal.set-back",
        "deal.left-out-nonce-in-snapshot",
        "deal.snapshot",
        "deal.wrong-secret-in-snapshot",
    },
    forgets_what_it_gave: {
        "deal.left-out-nonce",
        "deal.left-out-nonce-by-1",
        "deal.left-out-nonce-in-snapshot",
        "deal.not-ready",
    },
}
"""The points where each mistake is found."""


class InThisProcess:
    """Our bot as a task, with a mistake or without."""

    def __init__(self, address: str, mistake: Mistake | None) -> None:
        self._running: Final = asyncio.ensure_future(self._play(address, mistake))

    async def _play(self, address: str, mistake: Mistake | None) -> int:
        connection = await Connection.open(Address.parse(address), Credential.new())
        try:
            session = Session(connection, HANDLE)
            if mistake is not None:
                mistake(session)
            await session.take_seat("Ann", occupant=Occupant.REMOTE_BOT)
            await BotRunner(session, make_bot("greedy"), lambda _: None).play()
        except ClientError as error:
            return exit_code(error)
        else:
            return NOT_IN_FULL if session.table.check.tally.not_in_full else 0
        finally:
            await connection.close()

    async def ended(self) -> int:
        await asyncio.wait((self._running,))
        return self._running.result()

    async def stop(self) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    def last_words(self) -> list[str]:
        return []


async def lead(point: Point, mistake: Mistake | None) -> Result:
    async def start(address: str) -> Client:
        return InThisProcess(address, mistake)

    return await run_point(point, start, Pace(patience=30, quiet=30))


@pytest.mark.parametrize("point", DEAL_POINTS, ids=lambda point: point.name)
async def test_our_bot_passes(point: Point) -> None:
    result = await lead(point, None)
    assert result.passed, result


@pytest.mark.parametrize("mistake", WHERE, ids=lambda mistake: mistake.__name__)
async def test_a_client_that_does_not_check_is_found(mistake: Mistake) -> None:
    results = await asyncio.gather(*(lead(point, mistake) for point in DEAL_POINTS))
    assert {result.point.name for result in results if not result.passed} == WHERE[mistake]
