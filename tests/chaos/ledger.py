"""What was answered and told during a run, and what was wrong with it at once."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from google.protobuf import text_format
from google.protobuf.message import Message

from odin_table.v1 import event_pb2, play_pb2


@dataclass(frozen=True)
class Answered:
    """An action and its answer."""

    request: play_pb2.ActRequest
    answer: play_pb2.ActResponse

    def __str__(self) -> str:
        return f"{in_a_line(self.request)}, answered {self.answer.seq},"


@dataclass
class Ledger:
    """Everything that clients were promised, and the faults that showed at once."""

    acts: list[Answered] = field(default_factory=list[Answered])
    """Every action that was answered, once each."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """How often something happened that may happen."""
    faults: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What may not happen, by its kind; a line for each time."""
    restarts: list[float] = field(default_factory=list[float])
    """Seconds from each start of a killed server until it served again."""
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    """Told of every answered action."""

    async def acted(self, request: play_pb2.ActRequest, answer: play_pb2.ActResponse) -> None:
        """An action was answered for the first time."""
        async with self.news:
            self.acts.append(Answered(request, answer))
            self.news.notify_all()

    def acts_at(self, table: str) -> list[Answered]:
        """The answered actions at one table."""
        return [act for act in self.acts if act.request.table == table]

    async def until_acts(self, count: int) -> None:
        """Waits until so many actions have been answered."""
        async with self.news:
            await self.news.wait_for(lambda: len(self.acts) >= count)

    def fault(self, kind: str, text: str) -> None:
        """Something is wrong."""
        self.faults.setdefault(kind, []).append(text)

    def answers(self, request: Message, answers: Sequence[Message]) -> None:
        """The same request got these answers."""
        same = [type(answer).FromString(answer.SerializeToString()) for answer in answers]
        for answer in same:
            answer.ClearField("replayed")
        if any(answer != same[0] for answer in same):
            texts = " and ".join(map(in_a_line, same))
            self.fault("unequal replays", f"{in_a_line(request)} was answered {texts}")


class Told:
    """What one viewer of a table was told: its numbers are checked as they come."""

    def __init__(self, ledger: Ledger) -> None:
        self.seq = 0
        """The last number so far."""
        self.events: dict[int, bytes] = {}
        """A digest of each event, by its number."""
        self._ledger = ledger

    def item(self, item: play_pb2.WatchTableResponse) -> None:
        """Takes a message of the stream, as it came."""
        if item.HasField("snapshot"):
            if item.snapshot.seq < self.seq:
                self._hole(f"a snapshot at {item.snapshot.seq}")
            self.seq = item.snapshot.seq
        for event in item.events.events:
            if event.seq != self.seq + 1:
                self._hole(f"event {event.seq}")
            self.seq = event.seq
            self.events[event.seq] = digest_of(event)

    def _hole(self, what: str) -> None:
        self._ledger.fault("holes", f"{what} came after {self.seq}")


def in_a_line(message: Message) -> str:
    """A message as short text."""
    return text_format.MessageToString(message, as_one_line=True)


def digest_of(event: event_pb2.Event) -> bytes:
    """What tells this event, as one viewer sees it, from all others."""
    return hashlib.blake2b(event.SerializeToString(deterministic=True), digest_size=8).digest()
