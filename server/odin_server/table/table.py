"""One table: the only place that moves it, one command at a time.

    submit -> decide on a draft -> append to the log -> fold -> encode -> tell everybody

Persist first, publish second. The encoded events are in the `transcript`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from odin_contract.enums import Phase
from odin_server.environment import Environment
from odin_server.event_log import Conflict, EventLog, StoreUnavailable, TableDamaged
from odin_server.table import commands
from odin_server.table.chat import LINES_KEPT, Chat, Line
from odin_server.table.dealing import Dealer, Drawing, Drawn, NotDrawnYet
from odin_server.table.draft import Draft
from odin_server.table.events import (
    Batch,
    DecisionOpened,
    Record,
    RequestKey,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
)
from odin_server.table.presence import Presence, SeatPresence
from odin_server.table.state import TableState, evolve
from odin_server.table.transcript import Transcript
from odin_server.table.views import table_view
from odin_server.table.visibility import Viewer, sight
from odin_server.upkeep.outages import Standstill

_log: Final = logging.getLogger(__name__)

PAUSE_FOR_PEOPLE: Final = 1.0
"""Seconds. A shorter pause between deals is for machines, and runs out whoever has not answered."""

Result = TypeVar("Result")


class Done(NamedTuple, Generic[Result]):
    """What a command led to."""

    seq: int
    """The number of the last record after it."""
    result: Result
    records: tuple[Record, ...]
    """What it added to the log."""
    stretched: bool = False
    """Whether a key was stretched for it, or for the deal that it made due."""


class Listener(Protocol):
    """Whoever wants to know that a table has changed."""

    def table_changed(self, table: Table) -> None:
        """Something happened at this table. Must not wait."""
        ...


class World(NamedTuple):
    """What the tables of a server share."""

    log: EventLog
    environment: Environment
    standstill: Standstill
    dealer: Dealer


class Table:
    """One table, folded from its log, with whoever is at it."""

    def __init__(self, handle: str, world: World, listeners: Iterable[Listener] = ()) -> None:
        self.handle: Final = handle
        self.state = TableState()
        self.opened = world.environment.clock.now()
        """When it was opened, in microseconds since 1970."""
        self.last_time = 0
        """The time of the last record, in microseconds since 1970."""
        self.presence: Final = Presence(
            world.standstill.lived(), round(world.environment.settings.away_budget * 1e6)
        )
        """In time without outages: see `Standstill.lived`."""
        self.chat: Final = Chat()
        self.listeners: Final = list(listeners)
        self.transcript: Final = Transcript(world.environment.settings.batch_events)
        self._world: Final = world
        self._views: dict[Viewer, bytes] = {}
        self._waiting: deque[tuple[Callable[[Draft], Any], RequestKey | None, asyncio.Future[Any]]]
        self._waiting = deque()
        self._worker: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._empty_since: int | None = world.standstill.lived()
        """In time without outages, like `presence`."""
        self.is_damaged = False
        """Whether the log can take nothing more for this table, so that nothing is due any more."""
        self._lost = world.standstill.lost
        """How much of the time that was lost has been given back here already."""

    # Changing it

    async def submit(
        self, command: Callable[[Draft], Result], request: RequestKey | None = None
    ) -> Done[Result]:
        """Runs a command after those that wait already, and returns when it is kept.

        Raises the command's Refusal, or Conflict when the request is known by now: then find its
        answer in the log. A caller that goes away does not stop it.
        """
        future: asyncio.Future[Done[Result]] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, request, future))
        self._go_on()
        return await future

    def _go_on(self) -> None:
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        """Runs what waits, one after the other; ends when nothing does."""
        try:
            while self._waiting:
                command, request, future = self._waiting.popleft()
                try:
                    done = await self._run(command, request)
                except Exception as error:  # noqa: BLE001 (it belongs to whoever asked)
                    if not future.cancelled():
                        future.set_exception(error)
                else:
                    if await self._start_due():
                        done = done._replace(stretched=True)
                    if not future.cancelled():
                        future.set_result(done)
        finally:
            self._worker = None

    async def _start_due(self) -> bool:
        """Starts a deal that is due by now; gives whether a key was stretched for it.

        Nobody can change what it follows from meanwhile: commands wait for it. When it cannot be
        kept it is still due, and the timer tries again.
        """
        due = commands.deal_due(self.state)
        if due is None or due > self._world.environment.clock.now() or self.is_damaged:
            return False
        try:
            return (await self._do(commands.start_due, None)).stretched
        except (Conflict, StoreUnavailable, TableDamaged) as error:
            _log.warning("table %s: a deal could not start: %r", self.handle, error)
        except Exception:  # noqa: BLE001 (a worker has to go on)
            # Whoever asked for what went before is answered all the same.
            _log.exception("table %s: a deal could not start", self.handle)
        return True

    def _draft(self, drawn: tuple[Drawing, Drawn] | None = None) -> Draft:
        world = self._world
        pause = round(world.environment.settings.deal_pause * 1e6)
        return Draft(
            self.state,
            now=world.environment.clock.now(),
            chance=world.environment.rng.deals,
            deal_pause=pause,
            dealer=world.dealer,
            drawn=drawn,
        )

    async def _decide(self, command: Callable[[Draft], Result]) -> tuple[Draft, Result, bool]:
        """Runs a command on a draft, again when something had to be drawn first.

        Gives whether something had to.
        """
        drawn: tuple[Drawing, Drawn] | None = None
        while True:
            draft = self._draft(drawn)
            try:
                return draft, command(draft), drawn is not None
            except NotDrawnYet as needed:
                drawn = needed.drawing, await self._world.dealer.draw(needed.drawing)

    async def _run(
        self, command: Callable[[Draft], Result], request: RequestKey | None
    ) -> Done[Result]:
        if self.is_damaged:
            raise TableDamaged(f"table {self.handle} is damaged")
        await self._give_back_time()
        return await self._do(command, request)

    async def _give_back_time(self) -> None:
        """Before anything else is done, nobody has lost time for which the server stood still."""
        standstill = self._world.standstill
        standstill.check()
        lost, owed = standstill.lost, standstill.lost - self._lost
        if standstill.lost_at_length > self._lost or (owed and self._draft().time_is_up):
            await self._do(lambda draft: commands.give_back_time(draft, owed), None)
            self._lost = lost

    async def _do(
        self, command: Callable[[Draft], Result], request: RequestKey | None
    ) -> Done[Result]:
        draft, result, stretched = await self._decide(command)
        lost = self._world.standstill.lost
        records = tuple(draft.records)
        self._world.environment.meter.count("commands")
        if records or request:
            nothing = result if not records and isinstance(result, int) else None
            batch = Batch(records, request, nothing)
            try:
                await self._world.log.append(self.handle, self.state.seq, batch)
            except StoreUnavailable as error:
                self._world.standstill.failed(error)
                raise
            except TableDamaged as error:
                if not self.is_damaged:
                    self.is_damaged = True
                    _log.error("%s", error)
                raise
            except Conflict:
                await self.catch_up()
                self._publish()
                raise
        if records:
            self._fold(records, draft.states)
            if isinstance(records[-1].event, DecisionOpened):
                # What was lost before is no time of this decision.
                self._lost = max(self._lost, lost)
            self._publish()
        return Done(self.state.seq, result, records, stretched)

    async def restore(self) -> None:
        """Folds all that the log has of this table, before anybody sees it.

        Raises StoreUnavailable or TableDamaged.
        """
        await self.catch_up()
        self.chat.add(await self._world.log.lines(self.handle, LINES_KEPT))
        standstill = self._world.standstill
        last = max(standstill.last_server, self.last_time)
        if self.state.phase is not Phase.CLOSED:
            standstill.not_before(self.last_time)
            self._lost = standstill.lost
            owed = self._world.environment.clock.now() - last
            await self._do(lambda draft: commands.give_back_time(draft, owed), None)

    async def say(self, line: Line, request: RequestKey) -> int:
        """Keeps a line of chat, tells everybody, and returns its number.

        Raises StoreUnavailable, or Conflict when the request is known.
        """
        number = await self._world.log.say(self.handle, line, request)
        self.chat.add([line._replace(number=number)])
        self.changed()
        return number

    async def catch_up(self) -> None:
        """Folds what the log has of this table and this object has not, and tells nobody yet."""
        for batch in await self._world.log.read(self.handle, self.state.seq):
            _, *states = accumulate(batch.records, evolve, initial=self.state)
            self._fold(batch.records, states)

    def _fold(self, records: Iterable[Record], states: Iterable[TableState]) -> None:
        """Takes up records, each with the state after it."""
        for record, state in zip(records, states, strict=True):
            if record.seq == 1:
                self.opened = record.time
            self.last_time = record.time
            before, self.state = self.state, state
            self.transcript.add(record, before, state)
            if state.games > before.games:
                self.presence.game_started(self._world.standstill.lived())
            if before.in_game and not state.in_game:
                self.presence.changed()
            self._expect(record)
        self.transcript.act_ended()

    def _expect(self, record: Record) -> None:
        """Somebody who sits down, or is given back a seat, is waited for from then on."""
        match record.event:
            case SeatTaken(holder=holder) if holder:
                self.presence.expected(holder, self._world.standstill.lived())
            case SeatResumed(seat=number):
                self.presence.expected(self.state.holders[number], self._world.standstill.lived())
            case SubstituteSeated():
                self.presence.changed()
            case _:
                pass

    def _publish(self) -> None:
        self._views.clear()
        self.changed()

    def changed(self) -> None:
        """Tells everybody who listens, and looks at what is due next."""
        for listener in list(self.listeners):
            listener.table_changed(self)
        self._set_timer()

    # Looking at it

    def viewer(self, holder: bytes | None) -> Viewer:
        """Who this credential's digest is at this table."""
        if holder is None:
            return Viewer(None)
        return Viewer(self.state.seat_held_by(holder), self.state.host == holder)

    def view(self, viewer: Viewer) -> bytes:
        """What this viewer may see now: a TableView as bytes."""
        view = self._views.get(viewer)
        if view is None:
            message = table_view(self.handle, sight(self.state, viewer))
            view = self._views[viewer] = message.SerializeToString(deterministic=True)
        return view

    # What is due by itself

    def stream_opened(self, credential: bytes | None) -> None:
        """Somebody watches; None for somebody without a credential."""
        self.presence.came(credential, self._world.standstill.lived())
        self._presence_changed(credential)

    def stream_closed(self, credential: bytes | None) -> None:
        """Somebody watches no more."""
        missed = self._is_missed(credential)
        self.presence.left(credential, self._world.standstill.lived(), missed=missed)
        self._presence_changed(credential)

    def _is_missed(self, credential: bytes | None) -> bool:
        """Whether the table waits for whoever has this credential: a seat's holder, or the host."""
        viewer = self.viewer(credential)
        return viewer.seat is not None or viewer.is_host

    def _presence_changed(self, credential: bytes | None) -> None:
        if self._is_missed(credential):
            self.changed()
        # Of a crowd that comes or goes everybody is told together, with the next beat of the heart.

    def who_is_here(self) -> tuple[list[SeatPresence], int]:
        """Which holders of seats are there, and how many others watch."""
        seats = [self.seat_presence(number) for number, _ in self.state.taken()]
        return seats, self.presence.others({self.state.host, *self.state.holders} - {b""})

    def seat_presence(self, number: int) -> SeatPresence:
        """Whether the holder of this seat is there."""
        state, holder = self.state, self.state.holders[number]
        shown, in_game = self._world.standstill.shown, state.in_game
        if not holder:
            return SeatPresence(number)
        since = self.presence.away_since(holder)
        if since is None:
            may_be_away = self.presence.may_be_away(holder, in_game=in_game)
            return SeatPresence(number, may_be_away=may_be_away)
        seat = state.seats[number]
        until = self.presence.away_until(holder, in_game=in_game)
        if until is None or state.phase is Phase.CLOSED or (seat and seat.substitute):
            return SeatPresence(number, shown(since))
        return SeatPresence(number, shown(since), shown(until))

    def _is_empty(self) -> bool:
        """Whether neither somebody from outside plays here, nor the host is watching."""
        return not self.presence.is_here(self.state.host) and not any(
            self.state.holders[number] and seat.substitute is None
            for number, seat in self.state.taken()
        )

    def _due(self) -> list[tuple[int, Callable[[Draft], None]]]:
        """What happens by itself at this table, with the times in microseconds since 1970."""
        state, settings, shown = (
            self.state,
            self._world.environment.settings,
            self._world.standstill.shown,
        )
        if state.phase is Phase.CLOSED or self.is_damaged:
            return []
        due: list[tuple[int, Callable[[Draft], None]]] = []
        # No deal starts while everybody may have gone for coffee: the first who is ready lets it.
        held = settings.deal_pause >= PAUSE_FOR_PEOPLE and not state.people_answered
        if state.next_deal is not None and not held:
            due.append((state.next_deal, commands.next_deal))
        start = commands.deal_due(state)
        if start is not None:
            due.append((start, commands.start_due))
        if state.decision is not None and state.decision.deadline is not None:
            due.append((state.decision.deadline, commands.time_out))
        for number, _ in state.taken():
            until = self.seat_presence(number).kept_until
            if until is not None:
                due.append((until, commands.away_command(number)))
        if state.host and state.host_seat is None:
            until = self.presence.away_until(state.host, in_game=False)
            if until is not None:
                due.append((shown(until), commands.host_away))
        if self._empty_since is not None:
            end = self._empty_since + round(settings.empty_after * 1e6)
            due.append((shown(end), commands.close_empty_table))
        return due

    def _set_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if not self._is_empty():
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = self._world.standstill.lived()
        due = self._due()
        if due:
            delay = (min(time for time, _ in due) - self._world.environment.clock.now()) / 1e6
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, delay), self._time_is_up)

    def give_back_time(self) -> None:
        """An outage is over: extends the deadline, if time runs here, without being asked."""
        if self.state.next_deal is not None or (
            self.state.decision is not None and self.state.decision.deadline is not None
        ):
            # Any command will do, since time is given back before it.
            self._will_do(lambda _draft: None)
            self._go_on()

    def _time_is_up(self) -> None:
        self._timer = None
        due, now = self._due(), self._world.environment.clock.now()
        for time, command in due:
            if time <= now:
                self._will_do(command)
        if self._waiting:
            self._go_on()
        else:
            self._set_timer()

    def _will_do(self, command: Callable[[Draft], None]) -> None:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(self._due_was_done)
        self._waiting.append((command, None, future))

    def _due_was_done(self, future: asyncio.Future[Any]) -> None:
        if not future.cancelled() and future.exception() is None:
            return
        if self.is_damaged:
            return
        # The log did not take it: it is still due, so try again a little later.
        loop = asyncio.get_running_loop()
        self._timer = self._timer or loop.call_later(1.0, self._time_is_up)

    def forget_timer(self) -> None:
        """Nothing happens by itself any more: the server stops, or forgets this table."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
