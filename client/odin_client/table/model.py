"""`TableModel`: what a client knows of one table. All interfaces and bots share it.

What the server has told is a `TableView`, folded by `odin_contract.fold`; the rest is what a
session adds: who is there, what was said, whether deals were dealt as promised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeAlias, TypeVar, overload

from odin_client.table.deal_check import DealCheck
from odin_client.table.updates import SnapshotTaken, Update
from odin_client.translatable import Translatable
from odin_contract import reading
from odin_contract.enums import Occupant, Phase
from odin_contract.events import (
    ChatSaid,
    Event,
    GameEnded,
    PresenceChanged,
    SeatLeft,
    SeatTaken,
    TableClosed,
)
from odin_contract.fold import fold
from odin_contract.values import (
    ChatLine,
    Seat,
    SeatPresence,
    TableView,
)
from odin_table.v1 import event_pb2, lobby_pb2, play_pb2

CHAT_KEPT: Final = 200
"""How many lines of chat a client keeps; the server gives a newcomer 50."""

Item: TypeAlias = (
    play_pb2.WatchTableResponse | lobby_pb2.TakeSeatResponse | lobby_pb2.CloseTableResponse
)
"""What a model folds: the stream, and answers that are known before the stream says so."""

T = TypeVar("T")


class OutOfStepError(Exception):
    """An event does not follow the last one: the model needs a fresh snapshot."""


class _Part(Generic[T]):
    """A part of a model's view, for reading: `table.seats` is `table.view.seats`."""

    def __init__(self, of: Callable[[TableView], T]) -> None:
        self._of: Final = of

    @overload
    def __get__(self, model: None, owner: type) -> _Part[T]: ...
    @overload
    def __get__(self, model: TableModel, owner: type) -> T: ...
    def __get__(self, model: TableModel | None, owner: type) -> T | _Part[T]:
        return self if model is None else self._of(model.view)

    def __set__(self, model: TableModel, value: T) -> None:
        raise AttributeError("It is a part of the view, which `apply` replaces as a whole.")


@dataclass
class TableModel:
    """One table as its viewer may see it. Empty until the first snapshot has come (`log_id`)."""

    view: TableView = field(default_factory=TableView)
    """What a snapshot would hold now."""
    presence: dict[int, SeatPresence] = field(default_factory=dict[int, SeatPresence])
    """By seat."""
    watchers: int = 0
    chat: list[ChatLine] = field(default_factory=list[ChatLine])
    """Oldest first, at most CHAT_KEPT."""
    check: DealCheck = field(default_factory=DealCheck, repr=False, compare=False)
    """Checks the deals; a session notes there what it adds to them."""
    _gone: set[int] = field(default_factory=set[int])
    """Seats whose holders were there, and are not any more."""

    table = _Part(lambda view: view.table)
    log_id = _Part(lambda view: view.log_id)
    seq = _Part(lambda view: view.seq)
    options = _Part(lambda view: view.options)
    phase = _Part(lambda view: view.phase)
    closed = _Part(lambda view: view.phase is Phase.CLOSED)
    seats = _Part(lambda view: view.seats)
    taken_seats = _Part(lambda view: view.taken_seats)
    my_seat = _Part(lambda view: view.my_seat)
    me = _Part(lambda view: view.me)
    i_am_host = _Part(lambda view: view.i_am_host)
    code = _Part(lambda view: view.code)
    game = _Part(lambda view: view.game)
    hand = _Part(lambda view: view.hand)
    decision = _Part(lambda view: view.decision)
    my_turn = _Part(lambda view: view.my_turn)
    next_deal_time = _Part(lambda view: view.next_deal_time)
    commitment = _Part(lambda view: view.commitment)
    rounds = _Part(lambda view: view.rounds)

    # Names, for a person to read

    @property
    def other_people(self) -> tuple[str, ...]:
        """The names of the people at the table besides the viewer."""
        return tuple(
            seat.name
            for seat in self.taken_seats
            if seat.occupant is Occupant.PERSON and seat.seat != self.my_seat
        )

    def seat_named(self, text: str) -> Seat | None:
        """The taken seat of this name, whatever the case, or else of this number from 1."""
        wanted = text.strip().casefold()
        named = [seat for seat in self.taken_seats if seat.name.casefold() == wanted]
        numbered = [seat for seat in self.taken_seats if str(seat.seat + 1) == wanted]
        return next(iter(named or numbered), None)

    def name_of(self, seat: int) -> str:
        """The name at a seat, for a person to read."""
        known = self.seats[seat].name if 0 <= seat < len(self.seats) else ""
        return known or Translatable("seat {number}", number=seat + 1)

    def player_name(self, seat: int) -> str:
        """Who plays the game at a seat, or has played it, even when another sits there now."""
        return self._played_as(seat) or self.name_of(seat)

    def played_by_me(self, seat: int) -> bool:
        """Whether the viewer plays or has played the game at a seat, and has not just sat down."""
        return seat == self.my_seat and self._played_as(seat) in ("", self.seats[seat].name)

    def _played_as(self, seat: int) -> str:
        players = self.game.players if self.game else ()
        return next((player.name for player in players if player.seat == seat), "")

    def start_again(self) -> None:
        """The next stream starts with a snapshot."""
        self.view = replace(self.view, log_id="")

    # What the stream says

    def apply(self, item: Item) -> list[Update]:
        """Folds one item of the stream and says what it brought, in order.

        The answers to the viewer's own calls that seat it or close the table are known before the
        stream says so, and may be folded as well.

        An item, event or payload that this version does not know is stepped over. Events that are
        known already are skipped. Raises OutOfStepError when there is a hole, and
        NotUnderstoodError when the server breaks the contract; after either the model needs a
        fresh snapshot.
        """
        match item:
            case lobby_pb2.TakeSeatResponse():
                self.view = replace(self.view, table=item.table, my_seat=item.seat)
                return []
            case lobby_pb2.CloseTableResponse():
                self.view = replace(self.view, phase=Phase.CLOSED)
                return []
            case _:
                news = self._take_in(item)
                self.check.heard(self.table)
                return news

    def _take_in(self, item: play_pb2.WatchTableResponse) -> list[Update]:
        match item.WhichOneof("item"):
            case "snapshot":
                return self._take(reading.view_of(item.snapshot))
            case "events":
                return self._fold_batch(item.events)
            case "presence":
                return [self._look_who_is_there(reading.presence_of(item.presence))]
            case "chat":
                return self._hear(reading.chat_lines_of(item.chat))
            case "stream_end":
                return [reading.stream_end_of(item.stream_end)]
            case _:
                return []

    def _take(self, view: TableView) -> list[Update]:
        before, self.view = self.view, view
        self.check.start_from(view, before)
        # A lie is told first, because clients act on what a snapshot shows.
        return [*self.check.found(), SnapshotTaken()]

    def _fold_batch(self, batch: event_pb2.EventBatch) -> list[Update]:
        news: list[Update] = []
        for told in self._events_of(batch):
            after = fold(self.view, told)
            event = self._with_names(told)
            before, self.view = self.view, after
            if isinstance(event, SeatTaken):
                self._gone.discard(event.seat.seat)
            self.check.see(event, before, self.view)
            found = self.check.found()
            # After the end of a game nobody may listen any more.
            news += (*found, event) if isinstance(event, GameEnded) else (event, *found)
        return news

    def _with_names(self, event: Event) -> Event:
        """The event with the names that nobody knows once it is folded."""
        match event:
            case SeatLeft(seat=seat):
                return replace(event, name=self.name_of(seat), mine=seat == self.my_seat)
            case SeatTaken(seat=seat) if self.seats[seat.seat].abandoned:
                return replace(event, instead_of=self.name_of(seat.seat))
            case TableClosed():
                return replace(event, by=next((seat.name for seat in self.seats if seat.host), ""))
            case _:
                return event

    def _events_of(self, batch: event_pb2.EventBatch) -> list[Event]:
        """Those that are not known already. A batch with a mistake in it is not taken at all."""
        fresh = [message for message in batch.events if message.seq > self.seq]
        for expected, message in enumerate(fresh, start=self.seq + 1):
            if message.seq != expected:
                raise OutOfStepError(f"event {message.seq} came after event {expected - 1}")
        return list(map(reading.event_of, fresh))

    def _look_who_is_there(self, told: PresenceChanged) -> PresenceChanged:
        before, self.presence = self.presence, {seat.seat: seat for seat in told.seats}
        self.watchers = told.watchers
        here = {seat.seat for seat in told.seats if seat.connected}
        gone = {seat.seat for seat in before.values() if seat.connected} & {*self.presence} - here
        back = self._gone & here
        # A player who has just sat down is not there yet for a moment; that is not coming back.
        self._gone = (self._gone | gone) & {*self.presence} - back
        return replace(told, gone=tuple(sorted(gone)), back=tuple(sorted(back)))

    def _hear(self, lines: tuple[ChatLine, ...]) -> list[Update]:
        # After resuming, the last lines come again; their numbers tell.
        last = self.chat[-1].number if self.chat else 0
        fresh = [line for line in lines if line.number > last]
        self.chat = [*self.chat, *fresh][-CHAT_KEPT:]
        return [ChatSaid(line) for line in fresh]
