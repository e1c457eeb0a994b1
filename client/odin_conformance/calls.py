"""What a script has in its hands: a call that waits, a stream that is open, a way to refuse."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    code_pb2,
    error_details_pb2,
    status_pb2,
)
from grpc_status import rpc_status

from odin_conformance.table import Table
from odin_engine import CopyableError
from odin_table.v1 import event_pb2, lobby_pb2, play_pb2


class Refusal(CopyableError):
    """A call fails. Without a reason it fails as if the line, and no server, had said so."""

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str = "",
        *,
        retry_after: float | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        """`reason` is a name of ErrorReason without its prefix, or one that there is not (yet).

        `retry_after` is in seconds.
        """
        super().__init__(reason or code.name)
        self.code: Final = code
        self.message: Final = f"the script says {reason or code.name}"
        self._reason: Final = reason
        self._retry_after: Final = retry_after
        self._facts: Final = dict(facts or {})

    def details(self) -> tuple[tuple[str, str | bytes], ...]:
        """The trailing metadata that goes with it."""
        if not self._reason:
            return ()
        info = error_details_pb2.ErrorInfo(
            reason=self._reason, domain="odin-table", metadata=self._facts
        )
        details = [any_pb2.Any()]
        details[0].Pack(info)
        if self._retry_after is not None:
            retry = error_details_pb2.RetryInfo()
            retry.retry_delay.FromMilliseconds(round(self._retry_after * 1000))
            details.append(any_pb2.Any())
            details[1].Pack(retry)
        code = code_pb2.Code.Value(self.code.name)
        status = status_pb2.Status(code=code, message=self.message, details=details)
        return tuple(rpc_status.to_status(status).trailing_metadata)


class _Then(Enum):
    """What comes after the last message."""

    END = "the stream is over"
    SILENCE = "it stays open"


class Stream:
    """One stream to the client, until the script ends it or the client does."""

    def __init__(self, table: Table) -> None:
        self._table: Final = table
        self._items: Final[asyncio.Queue[play_pb2.WatchTableResponse | Refusal | _Then]] = (
            asyncio.Queue()
        )

    def send(self, item: play_pb2.WatchTableResponse) -> None:
        """Sends one message."""
        self._items.put_nowait(item)

    def ends(self, end: event_pb2.StreamEnd) -> None:
        """Says why it ends, and ends it."""
        self.send(play_pb2.WatchTableResponse(stream_end=end))
        self._items.put_nowait(_Then.END)

    def breaks(self) -> None:
        """Breaks it after what was sent, as when a line is lost."""
        self._items.put_nowait(Refusal(grpc.StatusCode.UNAVAILABLE))

    def falls_silent(self) -> None:
        """Sends nothing any more after what was sent, not even heartbeats, and stays open."""
        self._items.put_nowait(_Then.SILENCE)

    async def items(self, heartbeat: float) -> AsyncIterator[play_pb2.WatchTableResponse]:
        """What is to be sent, and a heartbeat whenever nothing was for so many seconds."""
        while True:
            try:
                async with asyncio.timeout(heartbeat):
                    item = await self._items.get()
            except TimeoutError:
                beat = event_pb2.Heartbeat(server_time=self._table.server_time())
                item = play_pb2.WatchTableResponse(heartbeat=beat)
            if isinstance(item, Refusal):
                raise item
            if item is _Then.SILENCE:
                await asyncio.Event().wait()  # until the client gives it up
            if not isinstance(item, play_pb2.WatchTableResponse):
                return
            yield item


Scripted: TypeAlias = (
    lobby_pb2.TakeSeatRequest
    | lobby_pb2.SetReadyRequest
    | lobby_pb2.GiveNonceRequest
    | play_pb2.WatchTableRequest
    | play_pb2.ActRequest
)
"""The calls that a script answers."""

Outcome: TypeAlias = Message | Stream | Refusal


@dataclass(eq=False)
class Call:
    """A call that waits for its outcome."""

    request: Scripted
    time: float
    """When it came, by the clock of the loop."""
    outcome: asyncio.Future[Outcome] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def ends(self, outcome: Outcome) -> None:
        """Gives the client its answer, its stream or a refusal; nothing when it has given up."""
        if not self.outcome.done():
            self.outcome.set_result(outcome)


def in_words(request: Message) -> str:
    """A call as the report names it."""
    match request:
        case play_pb2.WatchTableRequest() if request.HasField("after_seq"):
            return f"WatchTable after event {request.after_seq} of log {request.log_id!r}"
        case play_pb2.WatchTableRequest():
            return "WatchTable from a snapshot on"
        case play_pb2.ActRequest():
            return f"Act on decision {request.decision_id}"
        case _:
            return type(request).__name__.removesuffix("Request")


def difference(before: Scripted, after: Scripted) -> str:
    """How a repeated request differs from the first one."""
    if type(before) is not type(after):
        return in_words(after)
    fields = [
        field.name
        for field in before.DESCRIPTOR.fields
        if getattr(before, field.name) != getattr(after, field.name)
    ]
    return f"{in_words(after)}, with another {' and '.join(fields)}"
