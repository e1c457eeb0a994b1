"""The page of examples/web in a real browser, at a real server. `make test-web` runs this."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest
from google.protobuf import duration_pb2

from odin_table.v1 import lobby_pb2, play_pb2, table_pb2
from tests.support.patience import PATIENCE
from tests.support.people import Person, payload
from tests.web.chromium import Chromium
from tests.web.site import PAGE, Site, all_events, play_on, sit_down, somebody

pytestmark = pytest.mark.web


async def test_the_page_passes_its_own_checks(page_folder: Path) -> None:
    assert (page_folder / "main.js").is_file()
    await asyncio.to_thread(PAGE.carry_out, PAGE.check)


@pytest.mark.timeout(600)
async def test_a_whole_game_is_played_and_watched(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    table = await sit_down(page, seats=4)
    watcher = await browser.open(f"{site.url}#{table}")
    await watcher.until_it_says("Zoe")
    async with somebody(site, "Ann") as ann:
        await ann.sit(table)
        await ann.leave(table)  # the page is told of both
        await page.until_it_says("Ann left")

        await page.click("button", "Ready")
        await page.until("document.querySelectorAll('.hand .card').length === 9")
        await watcher.until("document.querySelector('.centre')")
        assert not await watcher.has(".hand"), "a watcher sees no hand"
        assert not await watcher.has(".choosing")

        await play_on(page, until=".winner")
        await watcher.until("document.querySelector('.winner')")
        view = await ann.view(table)
        assert view.phase == table_pb2.TABLE_PHASE_GAME_OVER
        assert len(view.game.source.nonces[0]) == 32, "the page has added to the deal"
        winners = [view.seats[seat].name for seat in view.game.winners]
        totals = {view.seats[p.seat].name: str(p.total) for p in view.game.players}
        for one in (page, watcher):
            assert await one.texts("#scores-title") == [f"{' and '.join(winners)} won"]
            names, sums = await one.texts("tbody th"), await one.texts("tbody .sum")
            assert dict(zip(names, sums, strict=True)) == totals
        assert (page.errors, watcher.errors) == ([], [])


async def test_whoever_starts_has_added_to_the_deal(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    table = await sit_down(page)
    await page.click("button", "Start")
    await page.until("document.querySelectorAll('.hand .card').length === 9")
    async with somebody(site, "Ann") as ann:
        source = (await ann.view(table)).game.source
    assert list(map(len, source.nonces)) == [32, 0, 0], "bots add nothing"


@pytest.mark.timeout(600)
async def test_a_server_that_is_killed_and_comes_back_leaves_no_hole(
    browser: Chromium, site: Site
) -> None:
    page = await browser.open(site.url)
    table = await sit_down(page, seats=4, bots=3, ends="at 10")
    await page.click("button", "Ready")
    own = (
        "[...document.querySelectorAll('.log li')].filter((one) => /^Zoe p/.test(one.textContent))"
    )
    for acts in (1, 2):
        await page.until("document.querySelector('.choosing')")
        if await page.has(".play"):
            await page.click(".play")
            await page.click(".choosing button.main")
        else:
            await page.click(".choosing button", "Pass")
        await page.until(f"{own}.length === {acts}")
        await site.kill()
        await page.until_it_says("reconnecting")
        # The bots act as soon as it is back; the page is told later.
        await page.offline(True)
        await site.start()
        async with somebody(site, "Ann") as ann:
            await told_until_it_is_up_to(ann, table, seat=0)
        await page.offline(False)
        await page.until("!document.body.classList.contains('offline')")
    await play_on(page, until=".winner")

    async with somebody(site, "Ann") as ann:
        view = await ann.view(table)
        names = [seat.name for seat in view.seats]
        happened = [
            f"{names[event.cards_played.seat]} played {event.cards_played.value}"
            for event in await all_events(ann, table)
            if payload(event) == "cards_played"
        ]
    told = [
        said[0]
        for line in await page.texts(".log li")
        if (said := re.match(r".* played \d+", line)) is not None
    ]
    assert told == happened[-len(told) :]
    assert len(told) > 10
    assert page.errors == []


async def told_until_it_is_up_to(person: Person, table: str, *, seat: int) -> None:
    """Waits until this seat has to act."""
    async with aclosing(person.watch(table)) as items:
        async for item in items:
            open_now = [
                *(event.decision_opened.decision for event in item.events.events),
                item.snapshot.decision,
            ]
            if any(one.id and one.seat == seat for one in open_now):
                return


async def test_a_refusal_is_shown_in_the_words_of_the_server(browser: Chromium, site: Site) -> None:
    async with somebody(site, "zoe") as other:
        table = await other.open_table()
        await other.sit(table)
        page = await browser.open(f"{site.url}#{table}")
        await page.until("document.querySelector('#name')")
        await page.fill("#name", "Zoe")
        await page.click("button", "Sit down")
        await page.until("document.querySelector('#news').textContent.includes('zoe at')")
        await page.fill("#name", "Bob")
        await page.click("button", "Sit down")
        await page.until_it_says("Bob (you)")
        assert await page.texts("#news") == [""]

    page = await browser.open(f"{site.url}#NONE")
    await page.until_it_says("There is no such table here.")
    assert not await page.has("body.offline"), "the server is there, the table is not"
    assert await page.texts("main") == ["All tables"]


async def test_the_list_of_tables_comes_back_with_the_server(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    await page.until("document.querySelector('.tables')")
    await site.kill()
    await page.until_it_says("reconnecting")
    await site.start()
    await page.until("!document.body.classList.contains('offline')")
    assert await page.texts("#news") == [""]


async def test_of_two_tabs_one_plays(browser: Chromium, site: Site) -> None:
    first = await browser.open(site.url)
    table = await sit_down(first, seats=3, bots=1)
    await first.until_it_says("1 seat is free")
    await first.click("button", "Add a bot")
    await first.until("document.querySelectorAll('.seat').length === 3")
    assert "Add a bot" not in await first.texts("button"), "every seat is taken"
    await first.click("button", "Ready")
    await first.until("document.querySelector('.choosing')")

    second = await browser.open(f"{site.url}#{table}", beside=first)
    await second.until("document.querySelector('.choosing')")
    await first.until_it_says("You play this seat in another window now.")
    assert not await first.has(".choosing"), "what is chosen here may be over there"
    await first.click("button", "Play here")
    await first.until("document.querySelector('.choosing')")
    await second.until_it_says("You play this seat in another window now.")


async def test_whoever_closes_the_tab_is_away_and_comes_back_to_the_seat(
    browser: Chromium, site: Site
) -> None:
    async with somebody(site, "Ann") as ann:
        table = await ann.open_table()
        page = await browser.open(f"{site.url}#{table}")
        await page.until("document.querySelector('#name')")
        await page.fill("#name", "Zoe")
        await page.click("button", "Sit down")
        await page.until_it_says("Zoe (you)")
        async with aclosing(ann.watch(table)) as items:
            await presence(items, connected=True)
            again = await browser.open(f"{site.url}#/", beside=page)
            await page.close()
            await presence(items, connected=False)
            await again.click(".tables a")
            await again.until_it_says("Zoe (you)")
            await presence(items, connected=True)


async def test_a_seat_is_played_in_one_window_and_shows_the_time_that_is_left(
    browser: Chromium, site: Site
) -> None:
    async with somebody(site, "Ann") as ann:
        clock = table_pb2.Clock(per_turn=duration_pb2.Duration(seconds=600))
        table = await ann.open_table(table_pb2.TableOptions(seats=2, clock=clock))
        first = await browser.open(f"{site.url}#{table}")
        await first.until("document.querySelector('#name')")
        await first.fill("#name", "Zoe")
        await first.click("button", "Sit down")
        await first.until_it_says("Zoe (you)")
        second = await browser.open(f"{site.url}#{table}", beside=first)
        await first.until_it_says("another window")
        await first.click("button", "Play here")
        await second.until_it_says("another window")
        await first.until("!document.body.innerText.includes('another window')")

        await ann.add_bot(table)
        await first.click("button", "Ready")
        await first.until(r"/^\d+ s$/.test(document.querySelector('.seat time')?.textContent)")


async def presence(items: AsyncGenerator[play_pb2.WatchTableResponse], *, connected: bool) -> None:
    async for item in items:
        if any(one.seat == 0 and one.connected == connected for one in item.presence.seats):
            return


async def test_text_from_the_network_is_text(browser: Chromium, site: Site) -> None:
    name = "<img src=x onerror=a()>"
    async with somebody(site, name) as other:
        options = table_pb2.TableOptions(title="<b>bold</b>")
        table = await other.open_table(options)
        await other.call(other.lobby.TakeSeat, lobby_pb2.TakeSeatRequest(table=table, name=name))
        page = await browser.open(site.url)
        await page.until_it_says("<b>bold</b>")
        await page.click(".tables a")
        await page.until_it_says(name)
        assert not await page.has("img, b")
        assert page.errors == []


async def test_it_is_played_by_keys_alone(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    await sit_down(page)
    await page.click("button", "Ready")
    await page.until("document.querySelector('.choosing')")
    async with asyncio.timeout(PATIENCE):
        while not any("Zoe played" in line for line in await page.texts(".log li")):
            if await page.has(".choosing .play"):
                first = (await page.texts(".play strong"))[0]
                await page.press(first[0])
                assert await page.has(".hand [aria-pressed=true]")
                await page.press("Escape")
                assert not await page.has(".hand [aria-pressed=true]")
                await page.press("n")
                await page.press("Enter")
            elif await page.has(".choosing"):
                await page.press("p")
            await page.until("!document.querySelector('.choosing')")
            await page.until("document.querySelector('.choosing, .scores')")


@pytest.mark.parametrize(("width", "height"), [(320, 640), (390, 800), (1280, 720)])
async def test_nothing_is_wider_than_the_screen(
    browser: Chromium, site: Site, width: int, height: int
) -> None:
    page = await browser.open(site.url)
    await page.size(width, height)

    async def fits(what: str) -> None:
        assert await page.value("document.documentElement.scrollWidth <= innerWidth"), what
        # Also small fingers meet them, and whoever hears the page knows what they are.
        for wrong in (
            "one.checkVisibility() && one.getBoundingClientRect().height < 28",
            "!(one.getAttribute('aria-label') || one.textContent.trim())",
        ):
            buttons = "[...document.querySelectorAll('button')]"
            assert not await page.value(f"{buttons}.some((one) => {wrong})"), what

    await fits("the tables")
    await sit_down(page, seats=6, bots=5)
    await fits("the waiting room")
    await page.click("button", "Ready")
    await page.until("document.querySelector('.choosing')")
    await fits("my turn")
    await play_on(page, until=".winner")
    await fits("the scores")
