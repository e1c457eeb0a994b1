"""The clients of the load: tables with the seats that play them, and those who only watch.

They use the contract's stubs, look at no more than the first and the last event of a message, and
do the first thing that the server says is legal, so that they measure the server and not
themselves. A refusal is not expected, and ends the run.
"""

import asyncio
import base64
import contextlib
import itertools
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeAlias

from grpc import aio

from odin_table.v1 import decision_pb2, event_pb2, lobby_pb2, play_pb2, table_pb2
from odin_table.v1.lobby_pb2_grpc import LobbyServiceStub
from odin_table.v1.play_pb2_grpc import PlayServiceStub

Stream = aio.UnaryStreamCall[play_pb2.WatchTableRequest, play_pb2.WatchTableResponse]
Credential = tuple[tuple[str, str], ...]

WayIn: TypeAlias = Callable[[play_pb2.ActRequest, Credential], Awaitable[play_pb2.ActResponse]]
"""Carries an act to the server; fails unless it is done."""

# No call of the load takes this long, in seconds, unless something is broken.
CALL_DEADLINE = 30

# Long games: a table of the load has to start over as seldom as possible.
_OPTIONS = table_pb2.TableOptions(seats=6, threshold=100)

_request_numbers = itertools.count()


def new_credential() -> Credential:
    """A fresh credential, as the metadata of a call."""
    secret = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    return (("authorization", f"Bearer {secret}"),)


def connect(address: str, **options: int) -> aio.Channel:
    """A connection of its own: the channels of one process share theirs unless told otherwise."""
    own = [("grpc.use_local_subchannel_pool", 1), *options.items()]
    return aio.insecure_channel(address, options=own)


def _request_id() -> str:
    return f"load-{next(_request_numbers)}"


class LoadedTable:
    """A table whose seats act as soon as they must, or at a steady pace.

    `acts` counts the answered acts. `delays` holds, for each act and each other seat, the seconds
    from just before the call until its event was there; `answers` until the call was answered.
    """

    def __init__(self, channel: aio.Channel) -> None:
        self.handle = ""
        self.credentials: list[Credential] = []
        self.log_id = ""
        self.head = 0
        self.acts = 0
        self.told_bytes = 0
        self.delays: list[float] = []
        self.answers: list[float] = []
        self._act_times: list[tuple[int, float]] = []
        self._interval = 0.0
        self._next_act = 0.0
        self._lobby = LobbyServiceStub(channel)
        self._play = PlayServiceStub(channel)
        self.way_in: WayIn = self.by_grpc
        """How acts reach the server."""

    async def by_grpc(
        self, request: play_pb2.ActRequest, credential: Credential
    ) -> play_pb2.ActResponse:
        """See `WayIn`."""
        return await self._play.Act(request, metadata=credential, timeout=CALL_DEADLINE)

    async def open(self, seats: int) -> None:
        """Creates the table, and takes its seats."""
        self.credentials = [new_credential() for _ in range(max(seats, 1))]
        created = await self._lobby.CreateTable(
            lobby_pb2.CreateTableRequest(request_id=_request_id(), options=_OPTIONS),
            metadata=self.credentials[0],
            timeout=CALL_DEADLINE,
        )
        self.handle = created.table
        for seat in range(seats):
            await self._lobby.TakeSeat(
                lobby_pb2.TakeSeatRequest(
                    request_id=_request_id(), table=self.handle, name=f"seat {seat}", seat=seat
                ),
                metadata=self.credentials[seat],
                timeout=CALL_DEADLINE,
            )

    async def start(self) -> None:
        """Starts the game, or the next deal."""
        request = lobby_pb2.StartGameRequest(request_id=_request_id(), table=self.handle)
        await self._lobby.StartGame(request, metadata=self.credentials[0], timeout=CALL_DEADLINE)

    def watch(
        self,
        credential: Credential,
        after_seq: int | None = None,
        channel: aio.Channel | None = None,
    ) -> Stream:
        """Opens a stream, on the connection of this table unless another is given."""
        play = self._play if channel is None else PlayServiceStub(channel)
        request = play_pb2.WatchTableRequest(
            table=self.handle, after_seq=after_seq, log_id=self.log_id
        )
        return play.WatchTable(request, metadata=credential)

    def pace(self, acts_per_second: float) -> None:
        """Acts no faster than that from now on, and forgets the delays so far."""
        self._interval = 1 / acts_per_second
        self._next_act = time.perf_counter()
        self.delays.clear()
        self.answers.clear()

    async def play(self, seat: int, sitting: asyncio.Semaphore) -> None:
        """Plays a seat until cancelled. Releases `sitting` when its stream is open."""
        stream = self.watch(self.credentials[seat])
        acts_seen = 0
        while isinstance(item := await stream.read(), play_pb2.WatchTableResponse):
            now = time.perf_counter()
            if item.HasField("snapshot"):
                self.log_id, self.head = item.snapshot.log_id, item.snapshot.seq
                sitting.release()
            elif item.HasField("events"):
                events = item.events.events
                if seat == 0:
                    self.head += len(events)
                    self.told_bytes += item.ByteSize()
                if events[0].HasField("cards_played") or events[0].HasField("passed"):
                    actor, acted = self._act_times[acts_seen]
                    acts_seen += 1
                    if actor != seat:
                        self.delays.append(now - acted)
                await self._answer(seat, events)
        raise RuntimeError("the server ended the stream of a seat")

    async def _answer(self, seat: int, events: Sequence[event_pb2.Event]) -> None:
        """Does what this seat must do after the events of a message, if anything."""
        if events[-1].HasField("decision_opened"):
            if events[-1].decision_opened.decision.HasField("choices"):
                await self._act(seat, events[-1].decision_opened.decision)
        elif seat == 0 and any(event.HasField("game_ended") for event in events):
            again = lobby_pb2.RematchRequest(request_id=_request_id(), table=self.handle)
            await self._lobby.Rematch(again, metadata=self.credentials[0], timeout=CALL_DEADLINE)
            await self.start()
        elif seat == 0 and any(event.HasField("deal_ended") for event in events):
            await self.start()

    async def _act(self, seat: int, decision: decision_pb2.Decision) -> None:
        if self._interval:
            self._next_act = max(self._next_act + self._interval, time.perf_counter())
            await asyncio.sleep(self._next_act - time.perf_counter())
        request = play_pb2.ActRequest(
            request_id=_request_id(),
            table=self.handle,
            decision_id=decision.id,
            action=_first_legal(decision),
        )
        self._act_times.append((seat, time.perf_counter()))
        await self.way_in(request, self.credentials[seat])
        self.answers.append(time.perf_counter() - self._act_times[-1][1])
        self.acts += 1


def _first_legal(decision: decision_pb2.Decision) -> decision_pb2.Action:
    """The lowest play, with the first card of the beaten set; else the pass."""
    choices = decision.choices
    if decision.kind == decision_pb2.DECISION_KIND_PICK_UP:
        return decision_pb2.Action(pick_up=decision_pb2.PickUp(card=choices.pick_ups[0]))
    if not choices.plays:
        return decision_pb2.Action(pass_turn=decision_pb2.PassTurn())
    play = decision_pb2.PlayCards(cards=choices.plays[0].cards)
    if choices.pick_ups and not choices.plays[0].goes_out:
        play.pick_up = choices.pick_ups[0]
    return decision_pb2.Action(play_cards=play)


@contextlib.asynccontextmanager
async def playing(address: str, tables: int, seats: int = 6) -> AsyncGenerator[list[LoadedTable]]:
    """Tables with all their seats at play, until the block ends.

    The seats of a table share a connection, which is the least work for the load.
    """
    async with contextlib.AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        loaded: list[LoadedTable] = []
        players: list[asyncio.Task[None]] = []
        sitting = asyncio.Semaphore(0)
        for _ in range(tables):
            channel = await stack.enter_async_context(connect(address))
            table = LoadedTable(channel)
            await table.open(seats)
            loaded.append(table)
            players += [group.create_task(table.play(seat, sitting)) for seat in range(seats)]
        for _ in players:
            await sitting.acquire()
        for table in loaded:
            await table.start()
        try:
            yield loaded
        finally:
            for player in players:
                player.cancel()
