"""Streams: each is a cursor into the events of its table; nobody queues, nobody is waited for.

A stream that wakes up sends what is new since its cursor, in one message: everything when that
is little, a batch when it is more, a snapshot when it is far behind. Between the events go
notices: presence, chat, heartbeat, and the end of the stream.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final

from odin_contract.enums import Phase, StreamEndReason
from odin_contract.times import duration, timestamp
from odin_server.environment import Environment
from odin_server.table.encoding import chat_notice, field_bytes, presence_notice
from odin_server.table.table import Table
from odin_table.v1 import event_pb2, play_pb2

_Item = play_pb2.WatchTableResponse


class Stream:
    """One viewer of one table. `Watch` makes and closes it."""

    def __init__(self, table: Table, credential: bytes | None, environment: Environment) -> None:
        self.table: Final = table
        self.credential: Final = credential
        """The digest of the viewer's credential, or None."""
        self.idle_beats = 0
        """Ticks of the heart since something was sent."""
        self.presence_seen = -1
        """The version of the presence that was sent last."""
        settings = environment.settings
        life = (settings.stream_life_least, settings.stream_life_most)
        self.ends_at: Final = time.monotonic() + random.uniform(*life)
        """When it has lived long enough, in monotonic seconds."""
        self.closed_at: float | None = None
        """When its viewer went away to renew it, in monotonic seconds; None before."""
        self._settings: Final = settings
        self._clock: Final = environment.clock
        self._news: Final = asyncio.Event()
        self._end: event_pb2.StreamEnd | None = None
        self._beats_due = False

    @property
    def renews(self) -> bool:
        """Whether it ends, or has ended, for its client to open another one."""
        end = self._end
        return end is not None and end.reason == StreamEndReason.RENEW.value

    def wake(self) -> None:
        """There may be something to send."""
        self._news.set()

    def beat(self) -> None:
        """A heartbeat is due."""
        self._beats_due = True
        self._news.set()

    def end(self, reason: StreamEndReason, retry_after: timedelta | None) -> None:
        """Ends the stream after what it still has to send.

        The first reason counts; but whoever is superseded is not to come back.
        """
        superseded = reason is StreamEndReason.SUPERSEDED
        if self._end is None or (self.renews and superseded):
            delay = None if retry_after is None else duration(retry_after)
            self._end = event_pb2.StreamEnd(reason=reason.value, retry_after=delay)
        self._news.set()

    async def items(self, after_seq: int | None) -> AsyncIterator[bytes]:
        """The messages of the stream, encoded. `after_seq` None: a snapshot comes first."""
        table, settings = self.table, self._settings
        seat = table.viewer(self.credential).seat
        cursor = -1 if after_seq is None else after_seq
        # Whoever asks for the whole log gets it, however long it is.
        may_skip = after_seq != 0
        chat_seen = 0
        while True:
            # Whatever becomes new from here on, sending included, wakes the next wait.
            self._news.clear()
            seq = table.state.seq
            if cursor < seq:
                viewer = table.viewer(self.credential)
                # Whoever has just taken a seat in a game needs the hand that comes with it.
                new = viewer.seat not in (None, seat) and table.state.in_game
                seat = viewer.seat
                behind = may_skip and seq - cursor > settings.snapshot_after
                if cursor < 0 or behind or new:
                    yield field_bytes(_Item.SNAPSHOT_FIELD_NUMBER, table.view(viewer))
                    cursor = seq
                else:
                    chunk = table.transcript.chunk_after(cursor)
                    may_skip = may_skip or chunk.end_seq == seq
                    yield chunk.for_seat(seat)
                    cursor = chunk.end_seq
            elif self.presence_seen != table.presence.version:
                self.presence_seen = table.presence.version
                notice = presence_notice(*table.who_is_here()).SerializeToString()
                yield field_bytes(_Item.PRESENCE_FIELD_NUMBER, notice)
            elif chat_seen < table.chat.last_number:
                notice = chat_notice(table.chat.after(chat_seen)).SerializeToString()
                chat_seen = table.chat.last_number
                yield field_bytes(_Item.CHAT_FIELD_NUMBER, notice)
            elif self._end is not None:
                yield field_bytes(_Item.STREAM_END_FIELD_NUMBER, self._end.SerializeToString())
                return
            elif self._beats_due:
                heartbeat = event_pb2.Heartbeat(server_time=timestamp(self._clock.now()))
                yield field_bytes(_Item.HEARTBEAT_FIELD_NUMBER, heartbeat.SerializeToString())
            else:
                await self._news.wait()
                continue
            self.idle_beats = 0
            self._beats_due = False


class Watch:
    """All open streams of this server: wakes them, beats for them, ends them."""

    def __init__(self, environment: Environment) -> None:
        self._environment: Final = environment
        self._settings: Final = environment.settings
        self._clock: Final = environment.clock
        self._streams: Final[dict[Table, set[Stream]]] = {}
        self._draining = False
        self._heart: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the heart."""
        self._heart = asyncio.create_task(self._beat())

    async def stop(self) -> None:
        """Stops the heart."""
        if self._heart:
            self._heart.cancel()
            await asyncio.gather(self._heart, return_exceptions=True)

    def open(self, table: Table, credential: bytes | None) -> Stream:
        """A new stream: its viewer is present from now on, until `close`."""
        stream = Stream(table, credential, self._environment)
        self._environment.meter.count("streams")
        streams = self._streams.setdefault(table, set())
        renewed = next((s for s in streams if s.renews and s.credential == credential), None)
        if table.viewer(credential).seat is not None:
            self._supersede(table, credential)
        streams.add(stream)
        if renewed is not None:
            # It takes the place of that one: for everybody else nothing happens.
            streams.discard(renewed)
        else:
            table.stream_opened(credential)
        if table.state.phase is Phase.CLOSED:
            stream.end(StreamEndReason.TABLE_CLOSED, None)
        if self._draining:
            self._drain(stream)
        return stream

    def close(self, stream: Stream) -> None:
        """Whoever had this stream is gone, unless they come again at once to renew it."""
        if stream.renews:
            stream.closed_at = time.monotonic()
        else:
            self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        """Nobody is present with this stream any more. Nothing happens the second time."""
        streams = self._streams.get(stream.table, set())
        if stream in streams:
            streams.discard(stream)
            if not streams:
                del self._streams[stream.table]
            stream.table.stream_closed(stream.credential)

    def _supersede(self, table: Table, credential: bytes | None) -> None:
        """A seat is watched from one place: the newest."""
        for other in self._streams.get(table, ()):
            if other.credential == credential:
                other.end(StreamEndReason.SUPERSEDED, None)

    def table_changed(self, table: Table) -> None:
        """See `table.Listener`."""
        streams = self._streams.get(table, ())
        if table.state.phase is Phase.CLOSED:
            for stream in streams:
                stream.end(StreamEndReason.TABLE_CLOSED, None)
        for stream in streams:
            stream.wake()

    def drain(self) -> None:
        """Ends every stream, also those that are opened later, and says when to come back."""
        self._draining = True
        for streams in self._streams.values():
            for stream in streams:
                self._drain(stream)

    def _drain(self, stream: Stream) -> None:
        retry_after = timedelta(seconds=self._settings.drain_retry_after)
        stream.end(StreamEndReason.DRAINING, retry_after)

    async def _beat(self) -> None:
        """Every fifth of the time, looks for streams on which nothing was sent for all of it.

        And for those that have not been told of watchers who came or went, or have lived long
        enough.
        """
        ticks = 5
        while True:
            await asyncio.sleep(self._settings.heartbeat / ticks)
            now = time.monotonic()
            for stream in [stream for streams in self._streams.values() for stream in streams]:
                if stream.closed_at is not None:
                    if now >= stream.closed_at + self._settings.renewal_grace:
                        self._forget(stream)
                    continue
                if now >= stream.ends_at:
                    stream.end(StreamEndReason.RENEW, timedelta(0))
                if stream.presence_seen != stream.table.presence.version:
                    stream.wake()
                stream.idle_beats += 1
                if stream.idle_beats >= ticks:
                    stream.beat()
