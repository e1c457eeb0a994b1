"""A right client passes every point, and each mistake is found at its point and nowhere else."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from odin_conformance.play import Pace
from odin_conformance.points import POINTS, Point
from odin_conformance.program import Client
from odin_conformance.run import Result, run_point
from odin_conformance.table import HANDLE
from tests.client.conformance.bare_client import BareClient, Mistake
from tests.support.patience import PATIENCE

QUIET: Final = 1.0
"""Seconds for which a stream may be quiet where that is what matters."""

BY_NAME: Final = {point.name: point for point in POINTS}
SILENCE: Final = BY_NAME["heartbeat-stops"]
OTHERS: Final = tuple(point for point in POINTS if point is not SILENCE)

HANGS: Final = "nothing for"

WHERE: Final = {
    Mistake.ACTS_ON_NO_FIRST_SNAPSHOT: ("snapshot-first", HANGS),
    Mistake.FORGETS_ITS_PLACE: ("resume", "WatchTable from a snapshot on"),
    Mistake.TAKES_ONLY_A_FIRST_SNAPSHOT: ("snapshot-in-mid-stream", HANGS),
    Mistake.KEEPS_THE_FIRST_LOG_ID: ("another-log", "of log 'log-1'"),
    Mistake.REMEMBERS_DECISIONS_OF_AN_OLD_LOG: ("another-log", HANGS),
    Mistake.ACTS_ON_EACH_DECISION_OF_A_BATCH: ("batch", "Act on decision"),
    Mistake.STUMBLES_OVER_AN_EVENT: ("unknown-event", "exit code 1"),
    Mistake.STUMBLES_OVER_AN_ITEM: ("unknown-item", "exit code 1"),
    Mistake.STUMBLES_OVER_A_VALUE: ("unknown-value", "exit code 1"),
    Mistake.REPEATS_WITH_A_NEW_REQUEST_ID: ("lost-answer", "with another request_id"),
    Mistake.GIVES_UP_AFTER_A_LOST_ANSWER: ("lost-answer", "exit code 1"),
    Mistake.WAITS_FOR_AN_ANSWER_FOR_EVER: ("no-answer", HANGS),
    Mistake.REPEATS_A_STALE_DECISION: ("stale-decision", "Act on decision"),
    Mistake.ACTS_ON_A_DECISION_IT_HAS_NOT_SEEN: ("stale-decision", "Act on decision"),
    Mistake.COMES_BACK_ALTHOUGH_SUPERSEDED: ("superseded", "WatchTable"),
    Mistake.LEAVES_ALTHOUGH_SUPERSEDED: ("superseded", "LeaveSeat"),
    Mistake.STAYS_ALTHOUGH_REMOVED: ("removed", HANGS),
    Mistake.SITS_DOWN_AGAIN_ALTHOUGH_REMOVED: ("removed", "TakeSeat"),
    Mistake.COMES_BACK_BEFORE_IT_IS_TIME: ("draining", "WatchTable after event"),
    Mistake.REPEATS_BEFORE_IT_IS_TIME: ("draining", "Act on decision"),
    Mistake.WAITS_ON_A_SILENT_STREAM_FOR_EVER: ("heartbeat-stops", HANGS),
    Mistake.GIVES_A_STREAM_UP_TOO_EARLY: ("heartbeat-stops", "WatchTable after event"),
    Mistake.HURRIES_ALTHOUGH_RATE_LIMITED: ("rate-limited", "WatchTable after event"),
    Mistake.KNOWS_REASONS_ONLY: ("unknown-reason", "exit code 1"),
}
"""The point where each mistake is found, and what came there."""


class InThisProcess:
    """A client under test as a task."""

    def __init__(self, client: BareClient) -> None:
        self._running: Final = asyncio.ensure_future(client.run())

    async def ended(self) -> int:
        await asyncio.wait((self._running,))
        return 1 if self._running.exception() else self._running.result()

    async def stop(self) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    def last_words(self) -> list[str]:
        return []


async def lead(point: Point, mistake: Mistake | None) -> Result:
    """Leads the bare client through one point, without waiting long for what will not come."""
    where, came = ("", "") if mistake is None else WHERE[mistake]
    here = where == point.name
    pace = Pace(
        patience=2 * QUIET if here and came == HANGS else PATIENCE,
        quiet=QUIET if point is SILENCE else PATIENCE,
        # A pause that is cut short is a long one, so that a busy machine does not fill it.
        retry_after=2.0 if here else 0.5,
    )
    silence = 1.5 * pace.quiet
    deadline = QUIET if point.name == "no-answer" else PATIENCE

    async def start(address: str) -> Client:
        client = BareClient(
            address, HANDLE, "Ann", silence=silence, deadline=deadline, mistake=mistake
        )
        return InThisProcess(client)

    return await run_point(point, start, pace)


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
async def test_a_right_client_passes(point: Point) -> None:
    result = await lead(point, None)
    assert result.passed, result


@pytest.mark.parametrize("mistake", Mistake, ids=lambda mistake: mistake.name.lower())
async def test_a_mistake_is_found_at_its_point_and_nowhere_else(mistake: Mistake) -> None:
    name, came = WHERE[mistake]
    points = OTHERS if BY_NAME[name] in OTHERS else POINTS
    results = await asyncio.gather(*(lead(point, mistake) for point in points))
    assert [result.point.name for result in results if not result.passed] == [name]
    (found,) = (result for result in results if not result.passed)
    assert came in found.came, found


async def test_other_mistakes_do_not_show_where_the_heartbeat_stops() -> None:
    others = [mistake for mistake in Mistake if WHERE[mistake][0] != SILENCE.name]
    results = await asyncio.gather(*(lead(SILENCE, mistake) for mistake in others))
    assert [result for result in results if not result.passed] == []
