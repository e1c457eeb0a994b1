"""The page for people who hear it, who hold a telephone, or who have never played."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odin_table.v1 import table_pb2
from tests.web.chromium import Chromium, Page
from tests.web.site import PAGE, Site, play_on, sit_down, somebody

pytestmark = pytest.mark.web


async def faults_of(page: Page) -> list[str]:
    """What axe finds that keeps people out: serious and critical violations, with the elements."""
    axe = (PAGE.folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
    await page.value(f"{axe}; 0")
    await page.value("axe.run().then((found) => { window.found = JSON.stringify(found); }); 0")
    await page.until("window.found")
    found: dict[str, Any] = json.loads(await page.value("window.found"))
    await page.value("delete window.found")
    assert found["passes"], "axe looked at the page"
    return [
        f"{fault['id']}: {node['html']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


async def test_no_screen_keeps_people_out(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    await page.size(390, 800)
    await page.until("document.querySelector('.tables')")
    assert await faults_of(page) == []
    await sit_down(page)
    assert await faults_of(page) == []
    await page.click("button", "Ready")
    await page.until("document.querySelector('.choosing')")
    assert await faults_of(page) == []
    await page.size(1280, 900)
    await page.click("summary", "What happened")
    await page.until("document.querySelector('details[open] .log li')")
    assert await faults_of(page) == []
    await play_on(page, until=".winner")
    assert await faults_of(page) == []


async def test_what_happens_is_heard_on_a_telephone(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    await page.size(390, 800)
    await sit_down(page)
    assert not await page.has("details[open]"), "there is no room for the list"
    await page.click("button", "Ready")
    await page.until("document.querySelector('.choosing')")
    assert "Your turn" in await page.texts("[role=log] p")
    # A region that is not rendered is not read out.
    assert await page.value("document.querySelector('[role=log]').checkVisibility()")
    assert await page.value("document.querySelectorAll('h1').length") == 1


async def test_every_play_is_seen_whole_and_a_chosen_card_covers_none(
    browser: Chromium, site: Site
) -> None:
    page = await browser.open(site.url)
    await page.size(1280, 900)
    await sit_down(page)
    await page.click("button", "Ready")
    await page.until("document.querySelector('.choosing .play')")
    # As many as a hand can have.
    await page.value(
        """(() => {
          const plays = document.querySelector(".plays");
          const one = plays.firstElementChild;
          for (let more = 0; more < 40; more++) plays.append(one.cloneNode(true));
        })()"""
    )
    assert await page.value(
        """(() => {
          const box = document.querySelector(".plays").getBoundingClientRect();
          return [...document.querySelectorAll(".play")].every((one) => {
            const { top, bottom } = one.getBoundingClientRect();
            return top >= box.top && bottom <= box.bottom;
          });
        })()"""
    )
    await page.size(320, 640)  # the hand takes two rows
    covered = """(() => {
      const boxes = [...document.querySelectorAll(".hand .card")].map((one) => {
        one.setAttribute("aria-pressed", "false");
        return one.getBoundingClientRect();
      });
      const rows = new Set(boxes.map((box) => box.top));
      const last = [...document.querySelectorAll(".hand .card")].at(-1);
      last.style.transition = "none";
      last.setAttribute("aria-pressed", "true");
      const raised = last.getBoundingClientRect();
      const above = boxes.filter((box) => box.top < boxes.at(-1).top);
      return [rows.size, above.some((box) => box.bottom > raised.top)];
    })()"""
    rows, covers = await page.value(covered)
    assert rows > 1
    assert not covers


async def test_a_handle_is_taken_in_small_letters(browser: Chromium, site: Site) -> None:
    async with somebody(site, "Ann") as ann:
        table = await ann.open_table(table_pb2.TableOptions(title="Långskepp"))
        page = await browser.open(f"{site.url}#{table.lower()}")
        await page.until_it_says("Långskepp")
        page = await browser.open(site.url)
        await page.until("document.querySelector('#code')")
        await page.fill("#code", f" {table.lower()} ")
        await page.click("button", "Enter")
        await page.until("document.querySelector('.seats')")


async def test_a_table_with_a_clock_is_opened_here(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    await page.until("document.querySelector('#clock')")
    await page.choose("#clock", "45 s, and 10 min a game")
    table = await sit_down(page)
    async with somebody(site, "Ann") as ann:
        clock = (await ann.view(table)).options.clock
        assert (clock.per_turn.seconds, clock.bank.seconds) == (45, 600)


async def test_a_newcomer_is_told_how_it_goes(browser: Chromium, site: Site) -> None:
    page = await browser.open(site.url)
    await page.until("document.querySelector('.rules')")
    await page.click(".rules summary")
    await page.until_it_says("three fives are 555")
    await sit_down(page)
    assert await page.has(".beside .rules"), "at the table too"
    await page.until_it_says("Ready: the game starts as soon as everybody is ready.")
    await page.until_it_says("Start: it starts now, whoever is ready.")
    await page.click("button", "Ready")
    await page.until("document.querySelector('.choosing')")
    (hint,) = await page.texts(".choosing .hint")
    opens = "respond" not in (await page.texts("#centre-title"))[0]
    assert hint.startswith("You open" if opens else ("Choose cards", "Nothing in your hand"))
