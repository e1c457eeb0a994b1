"""Runs points, each with a server and a client of its own, and says what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from odin_conformance.play import Pace, Play, Shortfall
from odin_conformance.points import Point
from odin_conformance.program import Client
from odin_conformance.server import ScriptedServer

CALLS_SHOWN: Final = 40
"""How many calls a report has: the last ones, since they tell most."""

Start: TypeAlias = Callable[[str], Awaitable[Client]]
"""Starts the client under test; takes HOST:PORT."""


@dataclass(frozen=True)
class Result:
    """How a client did at one point."""

    point: Point
    expected: str
    """What the client had to do; when it fell short, at that step."""
    came: str
    """What it did instead; empty when it passed."""
    calls: tuple[str, ...]
    """All that it called, in order."""
    last_words: tuple[str, ...]
    """The last lines that it wrote to stderr."""

    @property
    def passed(self) -> bool:
        """Whether the client did all that was expected."""
        return not self.came


async def run_point(point: Point, start: Start, pace: Pace) -> Result:
    """Leads one client through one point. Whatever happens, it is ended in the end.

    Raises what `start` raises.
    """
    server = ScriptedServer(point.table(), pace.quiet / 2)
    expected, came = point.expected, ""
    async with server.running():
        client = await start(server.address)
        play = Play(server, client, pace)
        try:
            await point.script(play)
        except Shortfall as shortfall:
            expected, came = shortfall.expected, shortfall.came
        finally:
            play.close()
            await client.stop()
    return Result(point, expected, came, tuple(server.seen), tuple(client.last_words()))


async def run_points(
    points: Sequence[Point], start: Start, pace: Pace, at_once: int = 1
) -> AsyncIterator[Result]:
    """The results in the order of the points; so many are run at once."""
    slots = asyncio.Semaphore(at_once)

    async def run(point: Point) -> Result:
        async with slots:
            return await run_point(point, start, pace)

    running = [asyncio.ensure_future(run(point)) for point in points]
    try:
        for result in running:
            yield await result
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def report(result: Result) -> list[str]:
    """What to print about a result."""
    lines = [
        f"{result.point.name}: {'passed' if result.passed else 'FAILED'}",
        f"  expected  {result.expected}",
        f"  came      {result.came or 'as expected'}",
    ]
    if not result.passed:
        calls = _counted(result.calls)
        if len(calls) > CALLS_SHOWN:
            calls = [f"({len(calls) - CALLS_SHOWN} more)", *calls[-CALLS_SHOWN:]]
        lines.append(f"  calls     {', '.join(calls) or 'none'}")
        lines += [f"  stderr    {line}" for line in result.last_words]
    return lines


def _counted(calls: Sequence[str]) -> list[str]:
    """Calls in order, the same ones in a row counted."""
    counted: list[tuple[str, int]] = []
    for call in calls:
        if counted and counted[-1][0] == call:
            counted[-1] = (call, counted[-1][1] + 1)
        else:
            counted.append((call, 1))
    return [call if times == 1 else f"{call} ({times} times)" for call, times in counted]
