"""Times and durations.

The server counts microseconds (since 1970, UTC), clients have `datetime` and `timedelta`; the
contract has Timestamp and Duration.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp


def timestamp(time: int | datetime) -> Timestamp:
    """A time, in microseconds since 1970 or as a datetime, as a message."""
    if isinstance(time, datetime):
        message = Timestamp()
        message.FromDatetime(time)
        return message
    seconds, rest = divmod(time, 1_000_000)
    return Timestamp(seconds=seconds, nanos=rest * 1000)


def duration(length: int | timedelta) -> Duration:
    """A length of time, in microseconds or as a timedelta, as a message."""
    if isinstance(length, timedelta):
        message = Duration()
        message.FromTimedelta(length)
        return message
    seconds, rest = divmod(length, 1_000_000)
    return Duration(seconds=seconds, nanos=rest * 1000)


def time_of(message: Timestamp) -> datetime:
    """The time in UTC."""
    return message.ToDatetime(tzinfo=UTC)


def time_in(message: Message, field: str) -> datetime | None:
    """The time in this field of a message; None when it is absent."""
    return time_of(getattr(message, field)) if message.HasField(field) else None


def length_in(message: Message, field: str) -> timedelta | None:
    """The length of time in this field of a message; None when it is absent."""
    length: Duration = getattr(message, field)
    return length.ToTimedelta() if message.HasField(field) else None
