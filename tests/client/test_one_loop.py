"""Whatever a process of the client does one after the other, it does in one loop."""

from __future__ import annotations

import asyncio

from odin_cli.interface import in_one_loop


def test_the_next_work_finds_the_same_loop_and_nothing_that_was_left_behind() -> None:
    left: list[asyncio.Task[bool]] = []

    async def first() -> asyncio.AbstractEventLoop:
        left.append(asyncio.create_task(asyncio.Event().wait()))
        return asyncio.get_running_loop()

    async def second() -> asyncio.AbstractEventLoop:
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return asyncio.get_running_loop()

    # A line that was left in the first may still have something to tell its loop.
    assert in_one_loop(first()) is in_one_loop(second())
    assert left[0].cancelled()
