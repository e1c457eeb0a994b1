"""A browser, and a server with the page, for each test."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.need import need
from tests.web import chromium
from tests.web.chromium import Chromium
from tests.web.site import PAGE, Site


@pytest.fixture(scope="session")
def page_folder() -> Path:
    """The page, built as its README says."""
    need(*PAGE.missing())
    PAGE.carry_out(PAGE.build)
    return PAGE.folder / "dist"


@pytest.fixture
async def browser() -> AsyncGenerator[Chromium]:
    program = chromium.executable()
    if program is None:
        need("Chromium (on Debian: apt install chromium)")
    assert program is not None
    async with chromium.running(program) as one:
        yield one


@pytest.fixture
async def site(tmp_path: Path, page_folder: Path) -> AsyncGenerator[Site]:
    one = Site(tmp_path, page_folder)
    await one.start()
    yield one
    await one.stop()
