"""The words of the scripts: what the client does (and is waited for), what the script does.

Each word of the client waits for its next call and raises `Shortfall` when another one comes, none
comes in time, or the client has ended. Nothing here looks at what a client prints.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

import grpc

from odin_conformance.calls import Call, Refusal, Scripted, Stream, difference, in_words
from odin_conformance.fair_table import FairTable
from odin_conformance.program import Client
from odin_conformance.server import ScriptedServer
from odin_conformance.table import CLIENT, HANDLE, OTHER, Table
from odin_contract.decisions import action_of, at_seat
from odin_contract.limits import REQUEST_ID_LENGTH
from odin_contract.two_way import NotUnderstoodError
from odin_engine import Action, CopyableError, IllegalAction, view_for
from odin_engine.fair_deal import MAX_NONCE_LENGTH
from odin_engine.strategies import Greedy
from odin_table.v1 import decision_pb2, event_pb2, lobby_pb2, play_pb2

NOT_IN_FULL: Final = 8
"""The exit code of a client whose deals could not all be checked in full."""

AT_ONCE: Final = 0.3
"""Seconds in which a client that does not look again would have called again."""

EARLY: Final = 0.97
"""The part of a pause after which it counts as kept: clocks of two programs differ a little."""


@dataclass(frozen=True)
class Pace:
    """How long things take. In seconds."""

    patience: float = 60.0
    """Until something that the client has to do must have happened."""
    quiet: float = 10.0
    """For how long a stream may be quiet: the contract's promise of a heartbeat."""
    retry_after: float = 1.0
    """What the server asks for when the client shall come back later."""


class Shortfall(CopyableError):
    """The client did not do what was expected."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(f"expected {expected}; came {came}")
        self.expected: Final = expected
        self.came: Final = came


Request = TypeVar("Request", bound=Scripted)


class Play:
    """One client at the scripted table."""

    def __init__(self, server: ScriptedServer, client: Client, pace: Pace) -> None:
        self.server: Final = server
        self.pace: Final = pace
        self.stream: Stream | None = None
        """The client's stream; None when it has none, or is not to be told anything."""
        self.told = 0
        """The number of the last event that the client has got."""
        self.told_log = ""
        """The log in which it counts."""
        self.moment = 0.0
        """When the script did last what the client has to answer to."""
        self._client_ended: Final = asyncio.ensure_future(client.ended())
        self._greedy: Final = Greedy()

    @property
    def table(self) -> Table:
        """The table as it is."""
        return self.server.table

    @table.setter
    def table(self, table: Table) -> None:
        self.server.table = table

    @property
    def fair(self) -> FairTable:
        """The same table, where it commits itself to its deals."""
        assert isinstance(self.table, FairTable), "the point says so"
        return self.table

    def close(self) -> None:
        """Nobody waits for the client any more."""
        self._client_ended.cancel()

    # What the client does

    async def asks_for_a_seat(self) -> Call:
        """Takes the seat; it has it then, but no answer yet."""
        call, request = await self._next(lobby_pb2.TakeSeatRequest, "TakeSeat")
        if request.HasField("seat") and request.seat != CLIENT:
            raise Shortfall(f"TakeSeat of any seat, or of seat {CLIENT}", f"seat {request.seat}")
        self.table.sit_down(request.name, request.occupant)
        table = self.table
        adds = isinstance(table, FairTable) and request.commitment == table.commitment
        if isinstance(table, FairTable) and adds and request.nonce:
            table.give(request.nonce)
        return call

    async def sits_down(self) -> None:
        """Takes the seat."""
        self.confirm(await self.asks_for_a_seat())

    async def watches(self) -> None:
        """Opens its first stream, which begins with a snapshot."""
        call, request = await self._next(
            play_pb2.WatchTableRequest, "WatchTable from a snapshot on"
        )
        if request.HasField("after_seq"):
            raise Shortfall("WatchTable from a snapshot on", in_words(request))
        self._serve(call, request)

    async def begins(self) -> None:
        """Sits down and watches; then the game starts, and it has to open."""
        await self.sits_down()
        await self.watches()
        self.start()

    async def comes_back(self, *, resumes: bool = False, not_before: float = 0.0) -> None:
        """Watches again; `not_before` so many seconds have passed since the script's last deed.

        A client that names a place has to name the last number and log that came whole. Whether
        it has to name one (or may be content with a snapshot) says `resumes`.
        """
        expected = self._place(resumes)
        call, request = await self._next(
            play_pb2.WatchTableRequest, expected, not_before=not_before
        )
        self._serve_rightly(call, request, resumes)

    async def looks(self) -> Call:
        """Watches again, wherever; the call has still to get its outcome."""
        call, _ = await self._next(play_pb2.WatchTableRequest, "WatchTable")
        return call

    async def tries(self) -> Call:
        """Acts on the open decision, and legally; nothing is done about it yet."""
        decision, number = self.table.decision, self.table.decision_id
        assert decision is not None, "a deal is played"
        assert decision.seat == CLIENT, "the client has to act"
        call, request = await self._next(play_pb2.ActRequest, f"Act on decision {number}")
        if request.decision_id != number:
            raise Shortfall(f"Act on decision {number}", in_words(request))
        if not 1 <= len(request.request_id) <= REQUEST_ID_LENGTH:
            raise Shortfall(
                f"a request_id of 1 to {REQUEST_ID_LENGTH} characters", repr(request.request_id)
            )
        return call

    async def acts(self) -> None:
        """Acts on the open decision; it is done, answered and told."""
        call = await self.tries()
        self.carry_out(call)
        self.confirm(call)
        self.tell()

    async def repeats(self, call: Call, *, not_before: float = 0.0) -> Call:
        """Sends the same request again, after so many seconds at the earliest."""
        expected = f"{in_words(call.request)} again, with the same request_id and content"
        again, request = await self._next(type(call.request), expected, not_before=not_before)
        if request != call.request:
            raise Shortfall(expected, difference(call.request, request))
        return again

    async def repeats_and_comes_back(self, call: Call) -> None:
        """Both, in any order, after the line was cut."""
        expected = f"{in_words(call.request)} again, and WatchTable"
        left: set[type[Scripted]] = {type(call.request), play_pb2.WatchTableRequest}
        while left:
            again = await self._any(expected)
            if type(again.request) not in left:
                raise Shortfall(expected, in_words(again.request))
            left.discard(type(again.request))
            if isinstance(again.request, play_pb2.WatchTableRequest):
                self._serve_rightly(again, again.request, resumes=False)
            elif again.request != call.request:
                raise Shortfall(expected, difference(call.request, again.request))
            else:
                self.confirm(again, replayed=True)

    async def looks_again(self) -> None:
        """Does not act before it has seen more than it knows: on its stream, or by a call."""
        mark = len(self.server.seen)
        try:
            async with asyncio.timeout(AT_ONCE):
                call = await self.server.calls.get()
        except TimeoutError:
            return
        if isinstance(call.request, play_pb2.WatchTableRequest):
            self._serve_rightly(call, call.request, resumes=False)
        elif "GetView" in self.server.seen[mark:]:
            self.server.calls.put_nowait(call)
        else:
            raise Shortfall("a look at the table, and no call before", in_words(call.request))

    async def ends_well(self) -> None:
        """Ends by itself with exit code 0; it does not watch or act any more.

        A client that checks deals says by its exit code that a deal could not be checked in full.
        """
        expected = "its end with exit code 0"
        if self.table.checkable is False:
            expected = "its end with another exit code than 0"
        code = await self._end(expected)
        right = {None: code in (0, NOT_IN_FULL), True: code == 0, False: code > 0}
        if not right[self.table.checkable]:
            raise Shortfall(expected, _its_end(code))

    async def ends_silently(self, late: Sequence[str] = ()) -> None:
        """Ends by itself with any exit code, and calls nothing any more for its seat.

        Calls of the names in `late` may have been on their way.
        """
        mark = len(self.server.seen)
        code = await self._end("its end, without another call")
        if code < 0:
            raise Shortfall("its end by itself", _its_end(code))
        for call in self.server.seen[mark:]:
            if call not in ("GetServerInfo", "ListTables", *late):
                raise Shortfall("its end, without another call", call)

    async def begins_fairly(self) -> None:
        """Sits down, watches, and adds to the deal that the table has committed itself to."""
        await self.sits_down()
        await self.watches_and_gives()

    async def watches_and_gives(self) -> None:
        """Watches, and adds to the deal that the table has committed itself to."""
        watches = False
        while not (watches and self.fair.given):
            expected = "GiveNonce or SetReady with a nonce for the open commitment"
            call = await self._any(expected)
            request = call.request
            if isinstance(request, play_pb2.WatchTableRequest):
                watches = True
                self._serve(call, request)
            elif not isinstance(request, lobby_pb2.GiveNonceRequest | lobby_pb2.SetReadyRequest):
                raise Shortfall(expected, in_words(request))
            elif (
                not 1 <= len(request.nonce) <= MAX_NONCE_LENGTH
                or request.commitment != self.fair.commitment
            ):
                raise Shortfall(expected, f"{in_words(request)} without one")
            else:
                self.fair.give(request.nonce)
                self.confirm(call)
                self.tell()
                # The stream may overtake the answer, and until that is there, the nonce may have
                # been refused for all that the client knows.
                await asyncio.sleep(AT_ONCE)

    async def plays_the_deal(self, *, shown: bool = False) -> None:
        """Plays a deal against greedy; its end is told by events, or `shown` by a snapshot."""
        while decision := self.table.decision:
            if decision.seat == CLIENT:
                call = await self.tries()
                self.carry_out(call)
                self.confirm(call)
            else:
                view = view_for(self.table.state, OTHER)
                self.table.act(self._greedy.choose(view, Random(0)), event_pb2.ACTOR_PERSON)
            if shown and not self.table.decision_id:
                self.show()
            else:
                self.tell()

    async def stops(self) -> None:
        """Sends no further act, and ends by itself with another exit code than 0."""
        expected = "no further act, and its end with another exit code than 0"
        while self.table.decision and self.table.decision.seat == OTHER:
            self.other_acts()
        while isinstance(news := await self._news(expected), Call):
            if isinstance(news.request, play_pb2.ActRequest):
                raise Shortfall(expected, in_words(news.request))
            if isinstance(news.request, play_pb2.WatchTableRequest):
                self._serve(news, news.request)
            else:
                self.refuse(news, Refusal(grpc.StatusCode.FAILED_PRECONDITION, "ALREADY_STARTED"))
        if news <= 0:
            raise Shortfall(expected, _its_end(news))

    async def _end(self, expected: str) -> int:
        news = await self._news(expected)
        if isinstance(news, Call):
            raise Shortfall(expected, in_words(news.request))
        return news

    async def finishes(self) -> None:
        """Plays the game to its end against greedy, and ends with 0 when the table has ended."""
        while self.table.decision:
            if self.table.decision.seat == CLIENT:
                await self.acts()
            else:
                self.other_acts(self._greedy.choose(view_for(self.table.state, OTHER), Random(0)))
        self.table.close()
        self.tell()
        self.end_stream(event_pb2.STREAM_END_REASON_TABLE_CLOSED)
        await self.ends_well()

    # What the script does

    def start(self) -> None:
        """Starts the game; the client has to open."""
        self.table.start()
        self.tell()

    def tell(self) -> None:
        """Sends all events that the client has not got, in one message."""
        if self.stream is not None and self.told < len(self.table.events):
            batch = event_pb2.EventBatch(events=self.table.events[self.told :])
            self.stream.send(play_pb2.WatchTableResponse(events=batch))
            self.told = len(self.table.events)
        self._note_the_time()

    def show(self) -> None:
        """Sends a fresh snapshot."""
        assert self.stream is not None, "the client watches"
        self.stream.send(play_pb2.WatchTableResponse(snapshot=self.table.view()))
        self.told, self.told_log = len(self.table.events), self.table.log_id
        self._note_the_time()

    def other_acts(
        self,
        action: Action | None = None,
        actor: event_pb2.Actor.ValueType = event_pb2.ACTOR_PERSON,
        *,
        first: event_pb2.Event | None = None,
    ) -> None:
        """The other seat does this (unless named, the default action) and the client is told.

        Something else may have happened `first`.
        """
        decision = self.table.decision
        assert decision is not None, "a deal is played"
        assert decision.seat == OTHER, "the script has to act"
        if first is not None:
            self.table.add(first)
        self.table.act(action or decision.default, actor)
        self.tell()

    def carry_out(self, call: Call) -> None:
        """Does what the client has asked for; it is neither answered nor told yet."""
        request = call.request
        assert isinstance(request, play_pb2.ActRequest), "it is an action"
        decision = self.table.decision_id
        try:
            self.table.act(_action(request.action), event_pb2.ACTOR_PERSON)
        except (IllegalAction, NotUnderstoodError, ValueError) as problem:
            raise Shortfall(f"one of the choices of decision {decision}", str(problem)) from None

    def confirm(self, call: Call, *, replayed: bool = False) -> None:
        """Answers a call that was carried out."""
        seq = len(self.table.events)
        if isinstance(call.request, play_pb2.ActRequest):
            call.ends(play_pb2.ActResponse(seq=seq, replayed=replayed))
        elif isinstance(call.request, lobby_pb2.SetReadyRequest):
            call.ends(lobby_pb2.SetReadyResponse(seq=seq, replayed=replayed))
        elif isinstance(call.request, lobby_pb2.GiveNonceRequest):
            call.ends(lobby_pb2.GiveNonceResponse(seq=seq, replayed=replayed))
        else:
            seat = lobby_pb2.TakeSeatResponse(table=HANDLE, seat=CLIENT, seq=seq, replayed=replayed)
            call.ends(seat)

    def refuse(self, call: Call, refusal: Refusal) -> None:
        """Lets a call fail."""
        call.ends(refusal)
        self._note_the_time()

    def cut(self) -> None:
        """Breaks the client's stream."""
        assert self.stream is not None, "the client watches"
        self.stream.breaks()
        self.stream = None
        self._note_the_time()

    def end_stream(
        self, reason: event_pb2.StreamEndReason.ValueType, retry_after: float | None = None
    ) -> None:
        """Ends the client's stream as a server does by itself."""
        assert self.stream is not None, "the client watches"
        end = event_pb2.StreamEnd(reason=reason)
        if retry_after is not None:
            end.retry_after.FromMilliseconds(round(retry_after * 1000))
        self.stream.ends(end)
        self.stream = None
        self._note_the_time()

    def fall_silent(self) -> None:
        """Says nothing any more on the client's stream, which stays open."""
        assert self.stream is not None, "the client watches"
        self.stream.falls_silent()
        self.stream = None
        self._note_the_time()

    async def restart(self) -> None:
        """Cuts every connection; the server is back at once."""
        self.stream = None
        await self.server.restart()
        self._note_the_time()

    # How calls are waited for

    def _place(self, resumes: bool) -> str:
        """Where the client has to come back to, in words."""
        place = f"WatchTable after event {self.told} of log {self.told_log!r}"
        return place if resumes else f"{place}, or from a snapshot on"

    def _serve_rightly(
        self, call: Call, request: play_pb2.WatchTableRequest, resumes: bool
    ) -> None:
        """Gives the client its stream, if it is right about where it is."""
        if request.HasField("after_seq"):
            right = (request.after_seq, request.log_id) == (self.told, self.told_log)
        else:
            right = not resumes
        if not right:
            raise Shortfall(self._place(resumes), in_words(request))
        self._serve(call, request)

    def _serve(self, call: Call, request: play_pb2.WatchTableRequest) -> None:
        """Gives the client its stream, from the place that it names."""
        self.stream = Stream(self.table)
        call.ends(self.stream)
        same_log = request.HasField("after_seq") and request.log_id == self.table.log_id
        if same_log and request.after_seq <= len(self.table.events):
            self.told, self.told_log = request.after_seq, request.log_id
            self.tell()
        else:
            self.show()
        presence = event_pb2.Presence()
        for seat in (OTHER, CLIENT):
            presence.seats.add(seat=seat, connected=True)
        self.stream.send(play_pb2.WatchTableResponse(presence=presence))

    async def _next(
        self, kind: type[Request], expected: str, *, not_before: float = 0.0
    ) -> tuple[Call, Request]:
        """The next call, which has to be of this kind and not too early."""
        call = await self._any(expected)
        request = call.request
        if not isinstance(request, kind):
            raise Shortfall(expected, in_words(request))
        waited = call.time - self.moment
        if waited < not_before * EARLY:
            raise Shortfall(
                f"after {not_before:g} s or more: {expected}",
                f"after {waited:.2f} s: {in_words(request)}",
            )
        return call, request

    async def _any(self, expected: str) -> Call:
        """The next call that a script sees."""
        news = await self._news(expected)
        if not isinstance(news, Call):
            raise Shortfall(expected, _its_end(news))
        return news

    async def _news(self, expected: str) -> Call | int:
        """The next call that a script sees, or the exit code of a client that has ended."""
        coming = asyncio.ensure_future(self.server.calls.get())
        await asyncio.wait(
            (coming, self._client_ended),
            timeout=self.pace.patience,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if coming.done():
            return coming.result()
        coming.cancel()
        if self._client_ended.done():
            return self._client_ended.result()
        raise Shortfall(expected, f"nothing for {self.pace.patience:g} s")

    def _note_the_time(self) -> None:
        self.moment = asyncio.get_running_loop().time()


def _action(message: decision_pb2.Action) -> Action:
    action = action_of(message)
    if action is None:
        raise ValueError("an Act without an action")
    return at_seat(action, CLIENT)


def _its_end(code: int) -> str:
    return f"its end by signal {-code}" if code < 0 else f"its end with exit code {code}"
