"""Several things at the same time, of which the first to end ends all: what an interface does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def until_first_ends(*parts: Coroutine[Any, Any, None]) -> None:
    """Runs these side by side until one of them ends, and stops the others.

    Raises what the one that ended has raised.
    """
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
