"""`TableModel`: what a client knows of one table. All interfaces and bots share it.

It is changed by `apply` alone (but a session notes the seat it took, and that it closed the
table). Folding the events after a snapshot gives exactly what a later snapshot holds; nothing
here guesses, and nothing is stored that follows from the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Final

from odin_cli.speech.languages import _
from odin_client.table.deal_check import DealCheck
from odin_client.table.updates import SnapshotTaken, Update
from odin_contract import reading
from odin_contract.events import (
    CardPickedUp,
    CardsPlayed,
    ChatSaid,
    DeadlineMoved,
    DealCommitted,
    DealEnded,
    DealRevealed,
    DealStarted,
    DecisionOpened,
    Event,
    GameEnded,
    GameStarted,
    HostChanged,
    NonceGiven,
    Passed,
    PresenceChanged,
    ReadyChanged,
    RematchAsked,
    RoundEnded,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
    TableClosed,
    TableOpened,
)
from odin_contract.values import (
    ChatLine,
    Decision,
    Game,
    LeaveReason,
    Occupant,
    Options,
    Phase,
    Player,
    Seat,
    SeatPresence,
    TableView,
)
from odin_engine import Card
from odin_engine.rules import HAND_SIZE
from odin_table.v1 import event_pb2, play_pb2

CHAT_KEPT: Final = 200
"""How many lines of chat a client keeps; the server gives a newcomer 50."""


class OutOfStepError(Exception):
    """An event does not follow the last one: the model needs a fresh snapshot."""


@dataclass
class TableModel:
    """One table as its viewer may see it. Empty until the first snapshot has come (`log_id`)."""

    table: str = ""
    """The handle."""
    log_id: str = ""
    """Which log `seq` counts in."""
    seq: int = 0
    """The last event that is part of this."""
    options: Options = field(default_factory=Options)
    phase: Phase = Phase.UNKNOWN
    seats: tuple[Seat, ...] = ()
    """Every seat, also the free ones."""
    my_seat: int | None = None
    """None for a watcher."""
    i_am_host: bool = False
    code: str = ""
    """Of a private table, for its seats and host."""
    game: Game | None = None
    """None before the first one starts; after a game it stays until the next one."""
    decision: Decision | None = None
    """What has to be decided now."""
    next_deal_time: datetime | None = None
    """When the next deal starts at the latest."""
    commitment: bytes = b""
    """To the next deal: the one that a nonce has to name."""
    rounds: int = 0
    """Those that the open commitment binds. 0: the next deal is by deal/1."""
    presence: dict[int, SeatPresence] = field(default_factory=dict[int, SeatPresence])
    """By seat."""
    watchers: int = 0
    chat: list[ChatLine] = field(default_factory=list[ChatLine])
    """Oldest first, at most CHAT_KEPT."""
    check: DealCheck = field(default_factory=DealCheck, repr=False, compare=False)
    """Checks the deals; a session notes there what it adds to them."""
    _gone: set[int] = field(default_factory=set[int])
    """Seats whose holders were there, and are not any more."""

    # What follows from the rest

    @property
    def my_turn(self) -> bool:
        """Whether the viewer has to decide something now."""
        return self.decision is not None and self.decision.seat == self.my_seat

    @property
    def hand(self) -> tuple[Card, ...]:
        """The viewer's own cards in the order of the deck; empty for a watcher."""
        return (self.game.hand or ()) if self.game else ()

    @property
    def closed(self) -> bool:
        """Whether the table has ended."""
        return self.phase is Phase.CLOSED

    @property
    def me(self) -> Seat | None:
        """The viewer's seat."""
        return None if self.my_seat is None else self.seats[self.my_seat]

    @property
    def taken_seats(self) -> tuple[Seat, ...]:
        """The seats that somebody holds."""
        return tuple(seat for seat in self.seats if not seat.free)

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
        return known or _("seat {number}").format(number=seat + 1)

    def player_name(self, seat: int) -> str:
        """Who plays the game at a seat, or has played it, whoever sits there now."""
        return self._played_as(seat) or self.name_of(seat)

    def played_by_me(self, seat: int) -> bool:
        """Whether the viewer plays or has played the game at a seat, and has not just sat down."""
        return seat == self.my_seat and self._played_as(seat) in ("", self.seats[seat].name)

    def _played_as(self, seat: int) -> str:
        players = self.game.players if self.game else ()
        return next((player.name for player in players if player.seat == seat), "")

    @property
    def view(self) -> TableView:
        """What a snapshot would hold now."""
        return TableView(**{f.name: getattr(self, f.name) for f in fields(TableView)})

    # Folding

    def apply(self, item: play_pb2.WatchTableResponse) -> list[Update]:
        """Folds one item of the stream and says what it brought, in order.

        An item, event or payload that this version does not know is stepped over. Events that are
        known already are skipped. Raises OutOfStepError when there is a hole, and
        NotUnderstoodError when the server breaks the contract; after either the model needs a
        fresh snapshot.
        """
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
        before = self.view
        for part in fields(view):
            setattr(self, part.name, getattr(view, part.name))
        self.check.start_from(self, before)
        # A lie is told first, since whoever hears of a snapshot acts on what it shows.
        return [*self.check.found(), SnapshotTaken()]

    def _fold_batch(self, batch: event_pb2.EventBatch) -> list[Update]:
        news: list[Update] = []
        for told in self._events_of(batch):
            event = told
            if isinstance(event, SeatLeft):
                mine = event.seat == self.my_seat
                event = replace(event, name=self.name_of(event.seat), mine=mine)
            elif isinstance(event, TableClosed):
                host = next((seat.name for seat in self.seats if seat.host), "")
                event = replace(event, by=host)
            elif isinstance(event, SeatTaken) and self.seats[event.seat.seat].abandoned:
                event = replace(event, instead_of=self.name_of(event.seat.seat))
            elif isinstance(event, ReadyChanged | RematchAsked) and self.rounds:
                # By deal/2 being ready leaves alone what a seat has given.
                event = replace(event, nonce=self.seats[event.seat].nonce)
            self.check.see(event, self)
            self._fold_table(event)
            self._fold_game(event)
            self.seq = event.seq
            found = self.check.found()
            # After the end of a game nobody may listen any more.
            news += (*found, event) if isinstance(event, GameEnded) else (event, *found)
        return news

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
        # Whoever has just sat down is not there yet for a moment; that is no coming back.
        self._gone = (self._gone | gone) & {*self.presence} - back
        return replace(told, gone=tuple(sorted(gone)), back=tuple(sorted(back)))

    def _hear(self, lines: tuple[ChatLine, ...]) -> list[Update]:
        # After resuming, the last lines come again; their numbers tell.
        last = self.chat[-1].number if self.chat else 0
        fresh = [line for line in lines if line.number > last]
        self.chat = [*self.chat, *fresh][-CHAT_KEPT:]
        return [ChatSaid(line) for line in fresh]

    def _fold_table(self, event: Event) -> None:
        """Seats and phases."""
        match event:
            case TableOpened():
                self.options = event.options
                self.seats = tuple(Seat(seat) for seat in range(event.options.seats))
                self.phase = Phase.WAITING
            case SeatTaken():
                if self.seats[event.seat.seat].abandoned:
                    self._lose_seat(event.seat.seat)
                self._gone.discard(event.seat.seat)
                self._set_seat(event.seat)
                self._play_under_a_new_name(event.seat)
            case SeatLeft():
                self._lose_seat(event.seat)
                self._set_seat(Seat(event.seat))
            case HostChanged():
                self.seats = tuple(replace(s, host=s.seat == event.seat) for s in self.seats)
                self.i_am_host = event.seat is not None and event.seat == self.my_seat
                self._hide_code()
            case SubstituteSeated(reason=reason):
                left = reason is LeaveReason.LEFT
                seat = self.seats[event.seat]
                self._set_seat(
                    replace(seat, substituted=True, ready=True, abandoned=left, nonce=b"")
                )
            case SeatResumed():
                seat = self.seats[event.seat]
                self._set_seat(replace(seat, substituted=False, ready=False, abandoned=False))
            case TableClosed():
                self.phase = Phase.CLOSED
                self.decision = None
                self.next_deal_time = None
            case _:
                self._fold_readiness(event)

    def _fold_readiness(self, event: Event) -> None:
        """Who is ready for the next deal, and what it will follow from."""
        match event:
            case ReadyChanged():
                seat = self.seats[event.seat]
                self._set_seat(replace(seat, ready=event.ready, nonce=event.nonce))
            case RematchAsked():
                self._ask_who_is_ready()
                seat = self.seats[event.seat]
                self._set_seat(replace(seat, ready=True, nonce=event.nonce))
                self.phase = Phase.WAITING
            case DealCommitted():
                self.commitment, self.rounds = event.commitment, event.rounds
            case NonceGiven():
                self._set_seat(replace(self.seats[event.seat], nonce=event.nonce))
            case DealStarted():
                self.commitment, self.rounds = b"", 0
                self.seats = tuple(replace(seat, nonce=b"") for seat in self.seats)
            case DealEnded():
                self._ask_who_is_ready()
            case _:
                pass

    def _play_under_a_new_name(self, seat: Seat) -> None:
        """Somebody plays on for a player who has left; after a game nobody does."""
        if self.game and self.phase in (Phase.PLAYING, Phase.BETWEEN_DEALS):
            players = (
                replace(p, name=seat.name) if p.seat == seat.seat else p for p in self.game.players
            )
            self.game = replace(self.game, players=tuple(players))

    def _ask_who_is_ready(self) -> None:
        """Persons have to say so anew; whoever else plays always is."""
        self.seats = tuple(
            replace(seat, ready=False)
            if seat.occupant is Occupant.PERSON and not seat.substituted
            else seat
            for seat in self.seats
        )

    def _lose_seat(self, seat: int) -> None:
        """Nobody holds this seat any more, or somebody else does."""
        if seat != self.my_seat:
            return
        self.my_seat = None
        self._hide_code()
        self.game = replace(self.game, hand=None) if self.game else None
        if self.decision is not None:
            self.decision = replace(self.decision, plays=(), pick_ups=(), default_action=None)

    def _hide_code(self) -> None:
        """Only seats and the host are shown the code."""
        if self.my_seat is None and not self.i_am_host:
            self.code = ""

    def _set_seat(self, seat: Seat) -> None:
        self.seats = tuple(seat if s.seat == seat.seat else s for s in self.seats)

    def _fold_game(self, event: Event) -> None:
        """Cards, decisions and scores."""
        if isinstance(event, GameStarted):
            self.game = Game(
                game=event.game,
                removed=event.removed,
                players=tuple(
                    Player(seat, bank=self._full_bank, name=self.seats[seat].name)
                    for seat in event.seats
                ),
                hand=() if self.my_seat in event.seats else None,
            )
            self.phase = Phase.PLAYING
        elif isinstance(event, DecisionOpened):
            self.decision = event.decision
        elif isinstance(event, DeadlineMoved):
            if self.decision is not None:
                self.decision = replace(self.decision, deadline=event.deadline)
            else:
                self.next_deal_time = event.deadline
        elif self.game is not None:
            self._fold_deal(event, self.game)

    @property
    def _full_bank(self) -> timedelta | None:
        return timedelta(seconds=self.options.bank) if self.options.turn_time else None

    def _charged(self, player: Player, time: datetime) -> Player:
        """The player after acting at this time: the bank runs last, until the deadline."""
        deadline = self.decision.deadline if self.decision else None
        if deadline is None or player.bank is None:
            return player
        return replace(player, bank=min(player.bank, max(timedelta(), deadline - time)))

    def _fold_deal(self, event: Event, game: Game) -> None:
        match event:
            case DealStarted():
                self.game = replace(
                    game,
                    deal=event.deal,
                    opener=event.opener,
                    players=tuple(
                        replace(p, card_count=HAND_SIZE, passed=False) for p in game.players
                    ),
                    centre=None,
                    centre_seat=None,
                    discarded=(),
                    hand=event.hand,
                    remaining_hands=(),
                    out_seat=None,
                    commitment=event.commitment,
                    nonces=event.nonces,
                    secret=b"",
                    rounds=event.rounds,
                    key_rounds=event.key_rounds,
                )
                self.phase = Phase.PLAYING
                self.next_deal_time = None
            case CardsPlayed():
                player = self._charged(game.player(event.seat), event.time)
                went_out = event.card_count == 0
                beaten = game.centre.cards if game.centre and went_out else ()
                self.game = replace(
                    _with_player(game, replace(player, card_count=event.card_count, passed=False)),
                    centre=event.set,
                    centre_seat=event.seat,
                    # R12: going out takes nothing, so all of the beaten set is discarded.
                    discarded=game.discarded + beaten,
                    hand=self._hand_without(game, event),
                )
                self.decision = None
            case CardPickedUp():
                player = self._charged(game.player(event.seat), event.time)
                mine = event.seat == self.my_seat and game.hand is not None
                self.game = replace(
                    _with_player(game, replace(player, card_count=event.card_count)),
                    discarded=game.discarded + event.discarded,
                    hand=tuple(sorted((*(game.hand or ()), event.card))) if mine else game.hand,
                )
                self.decision = None
            case Passed():
                player = self._charged(game.player(event.seat), event.time)
                self.game = _with_player(game, replace(player, passed=True))
                self.decision = None
            case RoundEnded():
                self.game = replace(
                    game,
                    players=tuple(replace(p, passed=False) for p in game.players),
                    centre=None,
                    centre_seat=None,
                    discarded=game.discarded + event.discarded,
                )
            case DealEnded():
                self.game = replace(
                    game,
                    players=tuple(_scored(p, event) for p in game.players),
                    remaining_hands=tuple((s.seat, s.remaining) for s in event.scores),
                    out_seat=event.out_seat,
                )
                self.decision = None
                self.next_deal_time = event.next_deal_time
                self.phase = Phase.BETWEEN_DEALS
            case DealRevealed():
                self.game = replace(game, secret=event.secret)
            case GameEnded():
                self.game = replace(game, winners=event.winners)
                self.phase = Phase.GAME_OVER
            case _:
                pass

    def _hand_without(self, game: Game, played: CardsPlayed) -> tuple[Card, ...] | None:
        if game.hand is None or played.seat != self.my_seat:
            return game.hand
        return tuple(card for card in game.hand if card not in played.set)


def _with_player(game: Game, player: Player) -> Game:
    players = tuple(player if p.seat == player.seat else p for p in game.players)
    return replace(game, players=players)


def _scored(player: Player, ended: DealEnded) -> Player:
    for score in ended.scores:
        if score.seat == player.seat:
            return replace(player, penalties=(*player.penalties, score.penalty), total=score.total)
    return player
