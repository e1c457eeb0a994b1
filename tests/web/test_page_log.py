"""The log of the page: what happened while nobody looked, once each and under the right names."""

from __future__ import annotations

import asyncio
import re

import pytest

from odin_table.v1 import chat_pb2, lobby_pb2, table_pb2
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused, first_choice, payload, play_until
from tests.web.chromium import Chromium, Page
from tests.web.site import Site, all_events, play_on, sit_down, somebody

pytestmark = pytest.mark.web

ZOE = 1


async def seat_zoe(browser: Chromium, site: Site, ann: Person, table: str) -> Page:
    """A page that sits as Zoe at Ann's table."""
    await ann.sit(table)
    page = await browser.open(f"{site.url}#{table}")
    await page.until("document.querySelector('#name')")
    await page.fill("#name", "Zoe")
    await page.click("button", "Sit down")
    await page.until_it_says("Zoe (you)")
    return page


async def until_zoe_has_to_act(ann: Person, table: str, answered: int = 0) -> int:
    """Plays for Ann until nothing more happens without the page. Gives the decision of Zoe."""
    async with asyncio.timeout(PATIENCE):
        while True:
            decision = (await ann.view(table)).decision
            if decision.seat == ZOE and decision.id not in (0, answered):
                return decision.id
            if decision.HasField("choices"):
                await ann.act(table, decision.id, first_choice(decision.choices))
            await asyncio.sleep(0.05)


async def zoe_plays(page: Page, ann: Person, table: str) -> None:
    """Plays what the page offers first, or passes, until the page has to act again."""
    answered = await until_zoe_has_to_act(ann, table)
    await page.until("document.querySelector('.choosing')")
    if await page.has(".choosing .play"):
        await page.click(".choosing .play")
        await page.click(".choosing button.main")
    else:
        await page.click(".choosing button", "Pass")
    await until_zoe_has_to_act(ann, table, answered)


async def plays_of(ann: Person, table: str) -> list[str]:
    """All plays and passes so far, in the words of the page."""
    names = [seat.name for seat in (await ann.view(table)).seats]
    said: list[str] = []
    for event in await all_events(ann, table):
        if payload(event) == "cards_played":
            said.append(f"{names[event.cards_played.seat]} played {event.cards_played.value}")
        elif payload(event) == "passed":
            said.append(f"{names[event.passed.seat]} passed")
    return said


async def told(page: Page, selector: str = ".log li") -> list[str]:
    """The plays and what was said, as the page has them."""
    entry = re.compile(r"\w+ (played \d+|passed\b(?!:))|Ann: .*")
    return [found[0] for text in await page.texts(selector) if (found := entry.match(text))]


async def until_told(page: Page, expected: list[str]) -> None:
    """Waits until the log has these plays and lines of chat, neither more nor fewer."""
    try:
        async with asyncio.timeout(PATIENCE):
            while await told(page) != expected:  # noqa: ASYNC110 (a page)
                await asyncio.sleep(0.05)
    except TimeoutError:
        assert await told(page) == expected


async def test_whoever_comes_back_or_comes_to_watch_sees_what_has_happened_once(
    browser: Chromium, site: Site
) -> None:
    async with somebody(site, "Ann") as ann:
        table = await ann.open_table(table_pb2.TableOptions(seats=3))
        page = await seat_zoe(browser, site, ann, table)
        await ann.add_bot(table)
        await ann.ready(table)
        await page.click("button", "Ready")
        await zoe_plays(page, ann, table)
        expected = await plays_of(ann, table)
        await ann.call(ann.chat.SendChat, chat_pb2.SendChatRequest(table=table, text="well, well"))
        expected.append("Ann: well, well")
        await until_told(page, expected)
        assert "Ann: well, well" in await told(page, "[role=log] p")

        # The server is killed, and the stream begins again with what was said before.
        await site.kill()
        await page.until_it_says("reconnecting")
        await site.start()
        await page.until("!document.body.classList.contains('offline')")

    async with somebody(site, "Ann") as ann:
        await zoe_plays(page, ann, table)
        plays = await plays_of(ann, table)
        expected += plays[len(expected) - 1 :]
        await until_told(page, expected)

        await page.call("Page.reload")
        watcher = await browser.open(f"{site.url}#{table}")
        for one in (page, watcher):
            await until_told(one, expected)
            assert (await one.texts(".log li")).count("A new game") == 1
            assert await told(one, "[role=log] p") == [], "nobody wants to hear it all again"
        await page.until("document.querySelector('.choosing')")
        await zoe_plays(page, ann, table)
        plays = await plays_of(ann, table)
        expected += plays[len(expected) - 1 :]
        for one in (page, watcher):
            await until_told(one, expected)
            assert await told(one, "[role=log] p"), "what is new is heard"
            assert one.errors == []


async def test_scores_and_log_keep_the_names_of_those_who_played(
    browser: Chromium, site: Site
) -> None:
    options = table_pb2.TableOptions(seats=2, single_deal=True)
    async with somebody(site, "Ann") as ann, somebody(site, "Bob") as bob:
        table = await ann.open_table(options)
        page = await seat_zoe(browser, site, ann, table)
        await ann.ready(table)
        await page.click("button", "Ready")
        await asyncio.gather(play_until(ann, table), play_on(page, until=".winner"))
        expected = await plays_of(ann, table)
        total = (await page.texts(".seat .total"))[0]
        await ann.leave(table)
        await page.until_it_says("Ann left")
        assert await page.texts("tbody th") == ["Ann", "Zoe"]
        await page.click("button", "Another game")
        await page.until_it_says("1 seat is free")
        await bob.sit(table)
        await page.until_it_says("Bob sat down")
        watcher = await browser.open(f"{site.url}#{table}")
        await watcher.until_it_says("Bob sat down")
        for one in (page, watcher):
            await until_told(one, expected)
            assert "Ann left" in await one.texts(".log li")
            assert total.endswith("pt")
            assert (await one.texts(".seat .total"))[0] == "", "it is not Bob who played"
            assert one.errors == []


async def test_the_host_frees_seats_of_a_table_that_waits(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    table = await sit_down(page, seats=3, bots=1)
    async with somebody(site, "Ann") as ann:
        await ann.sit(table)
        await page.until("document.querySelectorAll('.seat').length === 3")
        assert len(await page.texts(".seat button")) == 2, "not for the own seat"
        await page.size(390, 800)
        for row in await page.value(
            "[...document.querySelectorAll('.doing')].map((e) => [e.scrollWidth, e.clientWidth])"
        ):
            assert row[0] <= row[1], "whether they are ready is read in full"
        await page.value("window.confirm = (asked) => { window.asked = asked; return true; }; 0")
        await page.click("[aria-label='Remove Ann']")
        await page.until_it_says("The host removed Ann")
        assert "Ann cannot sit down at this table again" in await page.value("window.asked")
        with pytest.raises(Refused, match="removed you"):
            await ann.sit(table)
        await page.click(".seat button")
        await page.until("document.querySelectorAll('.seat').length === 1")
        assert await page.texts("#news") == [""]


async def test_whoever_is_removed_is_told_so_and_does_not_come_back(
    browser: Chromium, site: Site
) -> None:
    async with somebody(site, "Ann") as ann:
        table = await ann.open_table()
        page = await seat_zoe(browser, site, ann, table)
        assert not await page.has(".seat button"), "Zoe is not the host"
        request = lobby_pb2.RemoveSeatRequest(table=table, seat=ZOE, name="Zoe")
        await ann.call(ann.lobby.RemoveSeat, request)
        await page.until("document.querySelector('#news').textContent")
        assert await page.texts("#news") == ["The host has removed you from this table."]
        assert await page.texts("main") == ["All tables"]
        assert not await page.has("body.offline")
