"""`Following`: one table, watched; its stream, which resumes after an outage, and its clock."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Final, TypeAlias

import grpc
import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp

from odin_client.connection.address import Address
from odin_client.connection.connection import (
    Connection,
    backoff,
    refusal_of,
)
from odin_client.errors import CopyableError, Refused, SeatLost
from odin_client.table.deal_check import DealCheck
from odin_client.table.model import OutOfStepError, TableModel
from odin_client.table.updates import LinkChanged, SnapshotTaken, Update
from odin_client.translatable import Translatable
from odin_contract.enums import (
    LeaveReason,
    StreamEndReason,
)
from odin_contract.events import SeatLeft, StreamEnded
from odin_contract.times import time_of
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import (
    TableView,
)
from odin_table.v1 import play_pb2

_log: Final = logging.getLogger(__name__)

SILENCE: Final = 25.0
"""Seconds without a message after which the line counts as broken. The server says something at
least every ten."""

_Stream: TypeAlias = grpc.aio.UnaryStreamCall[
    play_pb2.WatchTableRequest, play_pb2.WatchTableResponse
]

Tap: TypeAlias = Callable[[play_pb2.WatchTableResponse], None]
"""Sees each message of the stream as it came, before it is folded."""

_TRANSIENT: Final = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    # What a dying server, or gRPC between two servers, answers to a stream.
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
"""After these a stream is opened again. A stream changes nothing, so that is always safe."""


class _BrokenError(CopyableError):
    """A stream is over, and another one is to be opened; quietly when that was to be expected."""

    def __init__(self, problem: Refused, *, quiet: bool = False) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.quiet = quiet


def _removes_me(update: Update) -> bool:
    return isinstance(update, SeatLeft) and update.mine and update.reason is LeaveReason.REMOVED


class Following:
    """One table over one connection, as `follow` and `look` keep it current."""

    def __init__(self, connection: Connection, table: str, *, code: str = "") -> None:
        """Calls nothing. `code` opens a private table to a watcher."""
        self.connection: Final = connection
        self.table: Final = TableModel(TableView(table=table), check=DealCheck(connection.promises))
        """What is known of the table; current while `follow` runs."""
        self.link = LinkChanged(online=True)
        """Whether the connection stands; for a banner."""
        self.code: Final = code
        """Of a private table, as far as it is known."""
        self._set_clock(connection.info.server_time)
        self._wake = asyncio.Event()
        self._stream: _Stream | None = None
        self._closing = False
        self._left = False
        """Whether the seat was given up; one may watch on then."""

    async def look(self) -> None:
        """Looks at the table once, before following it: then nothing of what is next is missed.

        `follow` goes on from there, without a snapshot of its own.
        """
        answer = await self.connection.call(
            self.connection.table.GetView,
            play_pb2.GetViewRequest(table=self.table.table, code=self.code),
        )
        self.table.apply(play_pb2.WatchTableResponse(snapshot=answer.view))

    @property
    def address(self) -> Address:
        """How others reach this table."""
        return self.connection.address.at(self.table.table)

    def server_now(self) -> datetime:
        """The time by the server's clock, for counting down to times that it sends."""
        return datetime.now(UTC) + self._clock_offset

    # Following

    async def follow(
        self, *, tap: Tap | None = None, patience: float | None = None
    ) -> AsyncGenerator[Update, None]:
        """What happens at the table, from a snapshot on; `table` has it already.

        All updates of one message are folded before the first of them is yielded. A broken or
        silent line is reported (`LinkChanged`) and mended: the stream resumes after the last event.
        Ends when the server says that there is no coming back (the last update is a `StreamEnded`:
        the table has ended, or the same seat is followed from elsewhere), and after `close`. Raises
        SeatLost when the host has freed one's seat, or a snapshot shows that it is gone, otherwise
        Refused when the server will not let one watch, and Unreachable when the line stays broken
        for `patience` seconds (None: never).
        """
        broken_since = 0.0
        kept_until: datetime | None = None
        attempt = 0
        while not self._closing:
            try:
                async with contextlib.aclosing(self._one_stream(tap)) as stream:
                    async for update in stream:
                        attempt = 0
                        yield update
                return
            except _BrokenError as broken:
                if broken.quiet:
                    continue
                attempt += 1
                now = time.monotonic()
                if attempt == 1:
                    broken_since, kept_until = now, self._kept_until()
                if patience is not None and now - broken_since > patience:
                    raise await self.connection.unreachable(broken.problem) from broken
                pause = max(backoff(attempt), broken.problem.retry_after or 0)
                message = broken.problem.message
            _log.info("table %r: line lost (attempt %d): %s", self.table.table, attempt, message)
            self.link = LinkChanged(
                online=False,
                problem=message,
                attempt=attempt,
                retry_in=pause,
                kept_until=kept_until,
            )
            yield self.link
            if await self._paused(pause):
                return

    def _kept_until(self) -> datetime | None:
        """Until when the own seat is kept, when the line has broken just now."""
        mine = self.table.presence.get(-1 if self.table.my_seat is None else self.table.my_seat)
        return self.server_now() + mine.may_be_away if mine and mine.may_be_away else None

    def retry_now(self) -> None:
        """Ends the pause before the next attempt to mend the line."""
        self._wake.set()

    async def _one_stream(self, tap: Tap | None) -> AsyncGenerator[Update, None]:
        """The updates of one stream; raises _BrokenError when another one is to be opened."""
        request = play_pb2.WatchTableRequest(table=self.table.table, code=self.code)
        if self.table.log_id:
            request.after_seq = self.table.seq
            request.log_id = self.table.log_id
        stream = self._stream = self.connection.watch(request)
        try:
            while (item := await self._next_item(stream)) is not None:
                if not self.link.online:
                    _log.info("table %r: line mended", self.table.table)
                    self.link = LinkChanged(online=True)
                    yield self.link
                if tap:
                    tap(item)
                seated = self.table.my_seat is not None and not self._left
                updates = self._fold(item)
                self._has_folded()
                for update in updates:
                    yield update
                    if _removes_me(update):
                        raise SeatLost(removed=True)
                    if seated and isinstance(update, SnapshotTaken) and self.table.my_seat is None:
                        raise SeatLost(removed=False)
                    if isinstance(update, StreamEnded):
                        if update.retry_after is None:
                            return
                        raise _BrokenError(
                            Refused(
                                "",
                                Translatable("the server restarts"),
                                retry_after=update.retry_after,
                            ),
                            quiet=update.reason is StreamEndReason.RENEW,
                        )
        finally:
            stream.cancel()

    async def _next_item(self, stream: _Stream) -> play_pb2.WatchTableResponse | None:
        """The next message; None after `close`. Raises _BrokenError, or Refused for good."""
        try:
            async with asyncio.timeout(SILENCE):
                item = await stream.read()
        except grpc.aio.AioRpcError as error:
            refusal = refusal_of(error, "WatchTable")
            if error.code() not in _TRANSIENT:
                raise refusal from error
            raise _BrokenError(refusal) from error
        except TimeoutError:
            raise _BrokenError(Refused("", Translatable("the server fell silent"))) from None
        except asyncio.CancelledError:
            # A stream that was cancelled here says so in the same way as a task that is.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            if self._closing:
                return None
            raise _BrokenError(
                Refused("", Translatable("the stream starts anew")), quiet=True
            ) from None
        if not isinstance(item, play_pb2.WatchTableResponse):
            raise _BrokenError(Refused("", Translatable("the server ended the stream")))
        return item

    def _fold(self, item: play_pb2.WatchTableResponse) -> list[Update]:
        if item.HasField("heartbeat"):
            self._set_clock(item.heartbeat.server_time)
        elif item.events.events and time_of(item.events.events[-1].time) > self.server_now():
            # It may be long ago when catching up, but it is never later at the server than now.
            self._set_clock(item.events.events[-1].time)
        try:
            return self.table.apply(item)
        except (OutOfStepError, NotUnderstoodError) as error:
            self.table.start_again()
            raise _BrokenError(Refused("", str(error))) from error

    async def _paused(self, seconds: float) -> bool:
        """Waits, or less when woken; gives whether the session was closed meanwhile."""
        self._wake.clear()
        if not self._closing:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), seconds)
        return self._closing

    def _start_anew(self, *, with_snapshot: bool) -> None:
        """Lets the stream start again: the viewer has changed."""
        if with_snapshot:
            self.table.start_again()
        if self._stream is not None:
            self._stream.cancel()

    def _set_clock(self, server_time: Timestamp) -> None:
        self._clock_offset = time_of(server_time) - datetime.now(UTC)

    async def close(self) -> None:
        """Stops following and closes the connection. The seat is kept."""
        self._closing = True
        self._wake.set()
        if self._stream is not None:
            self._stream.cancel()
        await self.connection.close()

    def _has_folded(self) -> None:
        """Called when a message is folded, before its updates are yielded."""
