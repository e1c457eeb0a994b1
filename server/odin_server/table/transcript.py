"""The encoded events of one table that viewers are sent, in streams and as history.

Each is encoded once per kind of viewer; a stream is a cursor into them (`watch`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from odin_engine import DealEnded
from odin_engine.visibility import Until
from odin_server.table.encoding import EncodedEvent, batch_item, encode_event
from odin_server.table.events import Record
from odin_server.table.state import TableState
from odin_server.table.visibility import visible


class Chunk:
    """Events that follow each other, as one item of a stream for each kind of viewer."""

    def __init__(self, end_seq: int, events: Sequence[EncodedEvent]) -> None:
        self.end_seq: Final = end_seq
        """The number of the last of them."""
        self._events: Final = events
        self._private: Final = frozenset[int]().union(*(event.private for event in events))
        self._items: Final[dict[int | None, bytes]] = {}

    def for_seat(self, seat: int | None) -> bytes:
        """What the holder of this seat gets, or a watcher (None); encoded once for each kind."""
        kind = seat if seat in self._private else None
        item = self._items.get(kind)
        if item is None:
            item = self._items[kind] = batch_item(event.for_seat(kind) for event in self._events)
        return item


class Transcript:
    """All events of one table so far, as bytes."""

    def __init__(self, chunk_events: int) -> None:
        self._chunk_events: Final = chunk_events
        """How many events a chunk has at most, unless one act has more."""
        self._events: Final[list[EncodedEvent]] = []
        self._act_ends: Final[list[int]] = []
        self._games: Final[list[tuple[int, int | None]]] = []
        """The numbers of the first and the last event of each game; None while it goes on."""
        self._deal_end = 0
        """The number of the last event that ended a deal."""
        self._hiding: list[int] = []
        """The numbers of the events with a part that is still hidden."""
        self._opened: Final[dict[int, bytes]] = {}
        """By number: the events whose hidden part everybody may see now."""
        self._chunks: Final[dict[int, Chunk]] = {}

    def add(self, record: Record, before: TableState, after: TableState) -> None:
        """Adds the next event."""
        seq = record.seq
        event = encode_event(visible(record, after))
        self._events.append(event)
        if event.hidden:
            self._hiding.append(seq)
        if after.games > before.games:
            self._games.append((seq, None))
        if isinstance(record.event, DealEnded):
            self._deal_end = seq
            self._open(Until.DEAL_IS_OVER)
        if before.in_game and not after.in_game:
            self._games[-1] = (self._games[-1][0], seq)
            self._open(Until.GAME_IS_OVER)

    def _open(self, over: Until) -> None:
        """Opens what was hidden until this, but for a deal that has been broken off."""
        hiding = self._hiding
        self._hiding = []
        for seq in hiding:
            hidden = self._events[seq - 1].hidden
            if hidden and hidden[0] is over and seq < self._deal_end:
                self._opened[seq] = hidden[1]
            else:
                self._hiding.append(seq)

    def act_ended(self) -> None:
        """The events since the last act belong together: no chunk ends between them."""
        self._act_ends.append(len(self._events))
        self._chunks.clear()

    def chunk_after(self, seq: int) -> Chunk:
        """What a stream sends next when this was the last number it sent."""
        chunk = self._chunks.get(seq)
        if chunk is None:
            end = self._end_of_acts(seq)
            chunk = self._chunks[seq] = Chunk(end, self._events[seq:end])
        return chunk

    def _end_of_acts(self, after_seq: int) -> int:
        """The last number of a chunk that starts after this one: whole acts.

        An act that is longer than a chunk comes whole all the same.
        """
        end = bisect_right(self._act_ends, after_seq + self._chunk_events) - 1
        if end < 0 or self._act_ends[end] <= after_seq:
            end += 1
        return self._act_ends[end]

    def history(
        self, after_seq: int, limit: int, game: int, seat: int | None
    ) -> tuple[bytes, bool]:
        """A page of at most `limit` events for the history, and whether there are more.

        Games that are over come with every hand, but for a deal that was broken off.
        `game` 0: everything.
        """
        first, last = 1, len(self._events)
        if game:
            if game > len(self._games):
                return b"", False
            first, end = self._games[game - 1]
            last = end or last
        start = max(first - 1, after_seq)
        end_seq = min(last, start + limit)
        page = b"".join(
            self._opened.get(seq) or self._events[seq - 1].for_seat(seat)
            for seq in range(start + 1, end_seq + 1)
        )
        return page, end_seq < last
