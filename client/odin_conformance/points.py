"""The points: one little script for each. `POINTS` has them in the order in which they are run.

In each the client takes the free seat, watches, plays the one deal to its end and ends with 0. The
client opens, and the other seat passes until the script is through, so the client has eight
decisions at the least, whatever it chooses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import grpc

from odin_conformance.calls import Refusal
from odin_conformance.play import Play
from odin_conformance.table import CLIENT, OTHER, Table
from odin_table.v1 import event_pb2, play_pb2, table_pb2

Script: TypeAlias = Callable[[Play], Awaitable[None]]

UNKNOWN: Final = 77
"""A value that no enum of the contract has."""


@dataclass(frozen=True)
class Point:
    """One thing that a client has to get right."""

    name: str
    expected: str
    """What the client has to do, in a sentence."""
    script: Script
    table: Callable[[], Table] = Table
    """The table where it happens, with nobody in the client's seat."""


async def _snapshot_first(play: Play) -> None:
    await play.sits_down()
    play.start()
    await play.watches()
    await play.acts()
    play.other_acts()
    await play.finishes()


async def _resume(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.cut()
    play.other_acts()
    await play.comes_back(resumes=True)
    await play.acts()
    play.cut()
    await play.comes_back(resumes=True)
    play.other_acts()
    await play.finishes()


async def _snapshot_in_mid_stream(play: Play) -> None:
    await play.begins()
    await play.acts()
    # As to a viewer who has fallen far behind.
    for _ in range(3):
        play.table.time_out()
    play.show()
    await play.acts()
    play.table.time_out()
    play.table.time_out()
    play.show()
    play.cut()
    play.other_acts()
    await play.comes_back()
    await play.finishes()


async def _another_log(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.cut()
    # The same numbers again, so that the open decision is called as the one that was acted on.
    seat = play.table.seats[CLIENT]
    play.table = Table("log-2")
    play.table.sit_down(seat.name, seat.occupant)
    play.table.make_ready(seat.ready)
    play.table.start()
    await play.comes_back()
    await play.acts()
    play.cut()
    play.other_acts()
    await play.comes_back()
    await play.finishes()


async def _batch(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.cut()
    for _ in range(5):
        play.table.time_out()
    await play.comes_back()
    await play.acts()
    play.cut()
    play.other_acts()
    await play.comes_back()
    await play.finishes()


async def _unknown_event(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.other_acts(first=_event_of_tomorrow())
    await play.acts()
    play.table.add(_event_of_tomorrow())
    play.tell()
    play.cut()
    await play.comes_back()
    play.other_acts()
    await play.finishes()


async def _unknown_item(play: Play) -> None:
    await play.begins()
    await play.acts()
    assert play.stream is not None, "the client watches"
    play.stream.send(play_pb2.WatchTableResponse.FromString(_FIELD_OF_TOMORROW))
    play.other_acts()
    await play.finishes()


async def _unknown_value(play: Play) -> None:
    play.table.seats[OTHER].occupant = table_pb2.Occupant.ValueType(UNKNOWN)
    await play.begins()
    await play.acts()
    play.other_acts(actor=event_pb2.Actor.ValueType(UNKNOWN))
    await play.acts()
    play.end_stream(event_pb2.StreamEndReason.ValueType(UNKNOWN), play.pace.retry_after)
    play.other_acts()
    await play.comes_back()
    await play.finishes()


async def _lost_answer(play: Play) -> None:
    call = await play.asks_for_a_seat()
    play.refuse(call, Refusal(grpc.StatusCode.UNAVAILABLE))
    play.confirm(await play.repeats(call), replayed=True)
    await play.watches()
    play.start()
    for code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        call = await play.tries()
        play.carry_out(call)
        play.refuse(call, Refusal(code))
        play.confirm(await play.repeats(call), replayed=True)
        play.tell()
        play.other_acts()
    call = await play.tries()
    play.carry_out(call)
    await play.restart()
    await play.repeats_and_comes_back(call)
    play.other_acts()
    await play.finishes()


async def _no_answer(play: Play) -> None:
    await play.begins()
    call = await play.tries()
    play.carry_out(call)
    play.confirm(await play.repeats(call), replayed=True)
    play.tell()
    play.other_acts()
    await play.finishes()


async def _stale_decision(play: Play) -> None:
    await play.begins()
    call = await play.tries()
    play.table.time_out()
    play.table.time_out()
    facts = {"decision_id": str(play.table.decision_id)}
    play.refuse(call, Refusal(grpc.StatusCode.ABORTED, "STALE_DECISION", facts=facts))
    await play.looks_again()
    play.tell()
    await play.acts()
    play.other_acts()
    await play.finishes()


async def _superseded(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.end_stream(event_pb2.STREAM_END_REASON_SUPERSEDED)
    await play.ends_silently()


async def _removed(play: Play) -> None:
    await play.sits_down()
    await play.watches()
    play.table.remove_client()
    play.tell()
    await play.ends_silently(late=("SetReady", "GetView"))


async def _draining(play: Play) -> None:
    await play.begins()
    call = await play.tries()
    play.refuse(call, _unavailable(play, "SERVER_DRAINING"))
    call = await play.repeats(call, not_before=play.pace.retry_after)
    play.carry_out(call)
    play.confirm(call)
    play.tell()
    play.end_stream(event_pb2.STREAM_END_REASON_DRAINING, play.pace.retry_after)
    play.other_acts()
    await play.comes_back(not_before=play.pace.retry_after)
    await play.finishes()


async def _silence(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.fall_silent()
    play.table.time_out()
    await play.comes_back(not_before=play.pace.quiet)
    await play.finishes()


async def _rate_limited(play: Play) -> None:
    await play.begins()
    await play.acts()
    play.cut()
    play.table.time_out()
    code, seconds = grpc.StatusCode.RESOURCE_EXHAUSTED, play.pace.retry_after
    play.refuse(await play.looks(), Refusal(code, "RATE_LIMITED", retry_after=seconds))
    await play.comes_back(not_before=seconds)
    await play.finishes()


async def _unknown_reason(play: Play) -> None:
    await play.begins()
    call = await play.tries()
    play.refuse(call, _unavailable(play, "REASON_OF_TOMORROW"))
    call = await play.repeats(call, not_before=play.pace.retry_after)
    play.carry_out(call)
    play.confirm(call)
    play.tell()
    play.other_acts()
    await play.finishes()


def _unavailable(play: Play, reason: str) -> Refusal:
    return Refusal(grpc.StatusCode.UNAVAILABLE, reason, retry_after=play.pace.retry_after)


_FIELD_OF_TOMORROW: Final = b"\xa2\x38\x02\x08\x01"
"""Field 900, a message with something in it: no message of the contract has one."""


def _event_of_tomorrow() -> event_pb2.Event:
    return event_pb2.Event.FromString(_FIELD_OF_TOMORROW)


POINTS: Final = (
    Point(
        "snapshot-first",
        "The decision that is open in the first snapshot is acted on.",
        _snapshot_first,
    ),
    Point(
        "resume",
        "After a cut it watches again, after the last event that it got whole.",
        _resume,
    ),
    Point(
        "snapshot-in-mid-stream",
        "A snapshot in mid-stream takes the place of all that was known, its number included.",
        _snapshot_in_mid_stream,
    ),
    Point(
        "another-log",
        "When log_id changes, numbers and decisions of the old log mean nothing any more.",
        _another_log,
    ),
    Point(
        "batch",
        "Of several events in one message all are taken in before it acts, once, on what is open "
        "then.",
        _batch,
    ),
    Point(
        "unknown-event",
        "An event of a kind that it does not know is stepped over, and its number counts.",
        _unknown_event,
    ),
    Point(
        "unknown-item",
        "An item of the stream that it does not know is stepped over.",
        _unknown_item,
    ),
    Point(
        "unknown-value",
        "A value of an enum that it does not know stops nothing.",
        _unknown_value,
    ),
    Point(
        "lost-answer",
        "A call whose answer is lost is repeated with the same request_id and content.",
        _lost_answer,
    ),
    Point(
        "no-answer",
        "A call that gets no answer at all is given up in time, and repeated in the same way.",
        _no_answer,
    ),
    Point(
        "stale-decision",
        "After STALE_DECISION it looks again and acts on the new decision, not again on the old.",
        _stale_decision,
    ),
    Point(
        "superseded",
        "After SUPERSEDED it ends, and calls nothing that would disturb the new client.",
        _superseded,
    ),
    Point(
        "removed",
        "When the host removes its seat it ends, and does not ask for a seat there again.",
        _removed,
    ),
    Point(
        "draining",
        "While a server stops it waits for as long as it is told, then repeats and resumes.",
        _draining,
    ),
    Point(
        "heartbeat-stops",
        "A stream that has fallen silent is given up in time, but not too early, and resumed.",
        _silence,
    ),
    Point(
        "rate-limited",
        "After RATE_LIMITED it waits for as long as it is told, then comes back.",
        _rate_limited,
    ),
    Point(
        "unknown-reason",
        "A reason that it does not know is judged by its gRPC code: UNAVAILABLE is repeated.",
        _unknown_reason,
    ),
)
