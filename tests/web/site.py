"""A server that shows the page of examples/web, and what people do there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import grpc.aio

from odin_table.v1 import event_pb2
from tests.interop.examples import ROOT, Example
from tests.support.killable import KillableServer, free_port
from tests.support.patience import PATIENCE
from tests.support.people import Person
from tests.web.chromium import Page

PAGE = Example(
    "TypeScript for browsers",
    ROOT / "examples/web",
    needs=("node", "npm"),
    build=(
        ("npm", "ci", "--no-audit", "--no-fund"),
        ("npm", "run", "generate"),
        ("npm", "run", "build"),
    ),
    check=(("npm", "run", "--silent", "check"),),
    run=(),
)
QUICK = ("bot_delay=0.1", "deal_pause=0.3")


class Site(KillableServer):
    """A server with the page."""

    def __init__(self, folder: Path, page: Path) -> None:
        self.http = free_port()
        options = ("--http", str(self.http), "--page", str(page))
        super().__init__(folder, f"sqlite:{folder}/tables.db", QUICK, options)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}/"


@asynccontextmanager
async def somebody(site: Site, name: str) -> AsyncGenerator[Person]:
    """A person at the same server who speaks gRPC."""
    async with grpc.aio.insecure_channel(site.address.server) as channel:
        yield Person(channel, name)


async def all_events(person: Person, table: str) -> list[event_pb2.Event]:
    """All events of a table so far."""
    view = await person.view(table)
    seen: list[event_pb2.Event] = []
    async with aclosing(person.events(table)) as events:
        async for event in events:
            seen.append(event)
            if event.seq >= view.seq:
                return seen
    return seen


async def sit_down(page: Page, *, seats: int = 3, bots: int = 2, ends: str = "one deal") -> str:
    """Opens a table with bots from the list of tables, and sits down. Gives its handle."""
    await page.until("document.querySelector('#name')")
    await page.fill("#name", "Zoe")
    for field, value in (("#seats", seats), ("#bots", bots), ("#ends", ends)):
        await page.choose(field, str(value))
    await page.click("button", "Open and sit down")
    await page.until("document.querySelector('.seats')")
    await page.until(f"document.querySelectorAll('.seat').length === {bots + 1}")
    return str(await page.value("location.hash.slice(1)"))


async def play_on(page: Page, until: str) -> None:
    """Plays what is offered first, until an element is there."""
    async with asyncio.timeout(4 * PATIENCE):
        while not await page.has(until):
            if await page.has(".choosing .play"):
                await page.click(".choosing .play")
                await page.click(".choosing button.main")
            elif await page.has(".choosing"):
                await page.click(".choosing button", "Pass")
            elif await page.has(".line button.main") and await page.has(".scores"):
                await page.click(".line button.main")
            await asyncio.sleep(0.05)
