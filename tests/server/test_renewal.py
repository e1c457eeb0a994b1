"""A stream ends by itself after a while and another one takes its place: nobody notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from odin_table.v1 import event_pb2, play_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import Person, payload

RENEWS = replace(QUICK, heartbeat=0.05, stream_life_least=0.1, stream_life_most=0.3)
RENEW = event_pb2.STREAM_END_REASON_RENEW


class Follower:
    """Follows a table as the contract says: after each end of a stream comes the next one."""

    def __init__(self, person: Person, table: str) -> None:
        self.person = person
        self.table = table
        self.seqs: list[int] = []
        self.kinds: list[str] = []
        self.renewals = 0
        self.presences: list[event_pb2.Presence] = []

    async def follow(self, renewals: int, until: str = "") -> None:
        """Until it was renewed so often and, if wanted, an event of this kind has come."""
        log_id = (await self.person.view(self.table)).log_id
        async with asyncio.timeout(PATIENCE):
            while self.renewals < renewals or (until and until not in self.kinds):
                after_seq = self.seqs[-1] if self.seqs else 0
                async with aclosing(
                    self.person.watch(self.table, after_seq=after_seq, log_id=log_id)
                ) as items:
                    await self._hear(items)

    async def _hear(self, items: AsyncGenerator[play_pb2.WatchTableResponse]) -> None:
        async for item in items:
            for event in item.events.events:
                self.seqs.append(event.seq)
                self.kinds.append(payload(event))
            if item.HasField("presence"):
                self.presences.append(item.presence)
            if item.HasField("stream_end"):
                assert item.stream_end.reason == RENEW
                assert item.stream_end.HasField("retry_after")
                assert item.stream_end.retry_after.ToNanoseconds() == 0
                self.renewals += 1


async def test_a_stream_that_is_renewed_misses_nothing_and_nobody_notices(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(replace(RENEWS, bot_delay=0.05))
    ann, watcher = meet(server, "Ann"), meet(server, "watcher")
    stranger = Person(watcher.channel, "stranger")
    stranger.metadata = ()  # without a credential
    table = await ann.open_table()
    await ann.sit(table)
    for _ in range(2):
        await ann.add_bot(table)
    followers = [Follower(person, table) for person in (ann, watcher, stranger)]
    await asyncio.gather(*(follower.follow(renewals=1) for follower in followers))
    for follower in followers:
        follower.presences.clear()
    presence = (await server.lobby.find(table, "", None)).presence
    before = presence.version
    await ann.start(table)
    started = presence.version
    await ann.leave(table)
    substituted = presence.version
    told = (follower.follow(renewals=6, until="deal_ended") for follower in followers)
    await asyncio.gather(*told)
    assert before < started < substituted == presence.version
    for follower in followers:
        assert follower.seqs == list(range(1, len(follower.seqs) + 1))
        assert all(seat.connected for told in follower.presences for seat in told.seats)
        assert {told.watchers for told in follower.presences} == {2}


async def test_whoever_does_not_come_again_is_away_after_a_moment(serve: Serve, meet: Meet) -> None:
    server = await serve(replace(RENEWS, renewal_grace=0.3))
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await Follower(ann, table).follow(renewals=1)
    async with asyncio.timeout(PATIENCE):
        while await connected(bob, table, seat=0):
            pass


async def connected(person: Person, table: str, seat: int) -> bool:
    """What somebody who comes now is told about who is there."""
    async with aclosing(person.watch(table)) as items:
        presences = (item.presence async for item in items if item.HasField("presence"))
        return (await anext(presences)).seats[seat].connected
