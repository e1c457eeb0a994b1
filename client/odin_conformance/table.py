"""The table of the kit: two seats, one deal, fixed hands, a clock that only events move.

It is real by the rules (the engine checks every action) and its messages are those that a server
would send to the seat of the client under test. The other seat is played by the script. The
tutorial plays at such a table as well (`odin_cli.play.lesson`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from odin_contract.cards import CARDS
from odin_contract.decisions import decision_message
from odin_contract.games import game_message
from odin_contract.moves import write_move
from odin_contract.options import options_message
from odin_contract.times import timestamp
from odin_contract.values import Options as TableOptions
from odin_engine import (
    DECK,
    NEW,
    Action,
    Card,
    DealStarted,
    Decision,
    Event,
    GameStarted,
    Options,
    StartDeal,
    StartGame,
    State,
    decide,
    decision_of,
    evolve,
    view_for,
)
from odin_table.v1 import decision_pb2, event_pb2, table_pb2

HANDLE: Final = "K7QF"
OTHER: Final = 0
"""The seat that the script plays, which is the host's."""
CLIENT: Final = 1
"""The seat that is left for the client under test."""

_HANDS: Final = ("R2 R7 O5 O9 Y1 G3 G8 B4 V6", "R1 R4 O2 O7 Y3 Y8 G5 B6 V9")
"""By seat. No hand is a set, so nobody goes out with the first play."""

_BEGIN: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
_STEP: Final = timedelta(seconds=1)
"""From one event to the next."""
_TURN_TIME: Final = timedelta(minutes=10)


def _order() -> tuple[Card, ...]:
    """The shuffled deck: the two hands, then the others in the order of the deck."""
    dealt = tuple(Card.parse(text) for hand in _HANDS for text in hand.split())
    return (*dealt, *(card for card in DECK if card not in dealt))


class Table:
    """The table, its log, and what the client's seat may see of them."""

    def __init__(self, log_id: str = "log-1") -> None:
        self.log_id: Final = log_id
        self.events: Final[list[event_pb2.Event]] = []
        """As the client's seat gets them; their numbers are 1, 2, 3 ..."""
        self.now = _BEGIN
        """The server's clock."""
        self.state: State = NEW
        self.seats: Final = [
            table_pb2.Seat(
                seat=OTHER,
                occupant=table_pb2.OCCUPANT_PERSON,
                name="Script",
                ready=True,
                host=True,
            ),
            table_pb2.Seat(seat=CLIENT),
        ]
        self._phase: table_pb2.TablePhase.ValueType = table_pb2.TABLE_PHASE_WAITING
        self._decision_id = 0
        self._deadline = _BEGIN
        opened = event_pb2.TableOpened(options=self.options)
        self.add(event_pb2.Event(table_opened=opened))
        self.add(event_pb2.Event(seat_taken=event_pb2.SeatTaken(seat=self.seats[OTHER])))

    @property
    def options(self) -> table_pb2.TableOptions:
        """How it plays."""
        seconds = int(_TURN_TIME.total_seconds())
        return options_message(
            TableOptions(seats=2, threshold=None, short_deck=False, turn_time=seconds)
        )

    @property
    def decision(self) -> Decision | None:
        """The engine's open decision; None before and after the game."""
        return decision_of(self.state)

    @property
    def checkable(self) -> bool | None:
        """Whether its deals can be checked in full; None when it commits itself to none."""
        return None

    @property
    def takes_nonces(self) -> bool:
        """Whether a script waits for what the client adds to a deal."""
        return False

    @property
    def decision_id(self) -> int:
        """The id of the open decision; 0 when none is open."""
        return self._decision_id if self.decision else 0

    # What happens

    def add(self, event: event_pb2.Event) -> None:
        """Gives the event its number and time, and keeps it."""
        event.seq = len(self.events) + 1
        event.time.CopyFrom(timestamp(self.now))
        self.events.append(event)
        self.now += _STEP

    def sit_down(self, name: str, occupant: table_pb2.Occupant.ValueType) -> None:
        """Gives the client its seat, under this name."""
        seat = self.seats[CLIENT]
        seat.name = name
        seat.occupant = occupant or table_pb2.OCCUPANT_PERSON
        seat.ready = occupant == table_pb2.OCCUPANT_REMOTE_BOT
        self.add(event_pb2.Event(seat_taken=event_pb2.SeatTaken(seat=seat)))

    def remove_client(self) -> None:
        """Frees the client's seat, as its host does."""
        self.seats[CLIENT].Clear()
        self.seats[CLIENT].seat = CLIENT
        left = event_pb2.SeatLeft(seat=CLIENT, reason=event_pb2.LEAVE_REASON_REMOVED)
        self.add(event_pb2.Event(seat_left=left))

    def make_ready(self, ready: bool) -> None:
        """Notes that the client is ready, or no longer is."""
        if self.seats[CLIENT].ready != ready:
            self.seats[CLIENT].ready = ready
            changed = event_pb2.ReadyChanged(seat=CLIENT, ready=ready)
            self.add(event_pb2.Event(ready_changed=changed))

    def start(self) -> None:
        """Starts the game and its deal; the client has to open."""
        options = Options(players=2, threshold=None, short_deck=False)
        self._do(StartGame(options, removed=(), first_opener=CLIENT), event_pb2.ACTOR_UNSPECIFIED)
        self._do(StartDeal(_order()), event_pb2.ACTOR_UNSPECIFIED)
        self._open_decision()

    def act(self, action: Action, actor: event_pb2.Actor.ValueType) -> None:
        """Does what a seat has chosen, and opens the next decision. Raises the engine's refusal."""
        self._do(action, actor)
        self._open_decision()

    def time_out(self) -> None:
        """Lets the time of the open decision pass: the default action is taken (D1)."""
        assert self.decision is not None, "somebody has to act"
        self.now = self._deadline
        self.act(self.decision.default, event_pb2.ACTOR_CLOCK)

    def close(self) -> None:
        """Ends the table."""
        self._phase = table_pb2.TABLE_PHASE_CLOSED
        closed = event_pb2.TableClosed(reason=event_pb2.CLOSE_REASON_HOST)
        self.add(event_pb2.Event(table_closed=closed))

    def _do(
        self, command: StartGame | StartDeal | Action, actor: event_pb2.Actor.ValueType
    ) -> None:
        for event in decide(self.state, command):
            self.state = evolve(self.state, event)
            message = self._message(event, actor)
            self.add(message)
            self._told(message)

    def _told(self, message: event_pb2.Event) -> None:
        """What follows for the table from an event of the game."""
        if message.HasField("deal_started"):
            self._phase = table_pb2.TABLE_PHASE_PLAYING
        elif message.HasField("deal_ended"):
            self._phase = table_pb2.TABLE_PHASE_BETWEEN_DEALS
            for seat in self.seats:
                seat.ready = seat.occupant == table_pb2.OCCUPANT_REMOTE_BOT
        elif message.HasField("game_ended"):
            self._phase = table_pb2.TABLE_PHASE_GAME_OVER

    def _open_decision(self) -> None:
        if self.decision:
            self._decision_id = len(self.events) + 1
            self._deadline = self.now + _TURN_TIME
            opened = event_pb2.DecisionOpened(decision=self._decision())
            self.add(event_pb2.Event(decision_opened=opened))

    # Messages

    def view(self) -> table_pb2.TableView:
        """What a snapshot holds now."""
        view = table_pb2.TableView(
            table=HANDLE,
            log_id=self.log_id,
            seq=len(self.events),
            options=self.options,
            phase=self._phase,
            seats=self.seats,
            your_seat=CLIENT,
        )
        if self._phase != table_pb2.TABLE_PHASE_WAITING:
            view.game.CopyFrom(self._game())
        if self.decision:
            view.decision.CopyFrom(self._decision())
        return view

    def summary(self) -> table_pb2.TableSummary:
        """The table in the list."""
        return table_pb2.TableSummary(
            table=HANDLE,
            options=self.options,
            phase=self._phase,
            seats=self.seats,
            deal=self.state.deal,
            create_time=timestamp(_BEGIN),
        )

    def server_time(self) -> Timestamp:
        """The server's clock as a message."""
        return timestamp(self.now)

    def _game(self) -> table_pb2.GameView:
        names = [seat.name for seat in self.seats]
        message = game_message(view_for(self.state, CLIENT), (OTHER, CLIENT), names, banks=(0, 0))
        message.game = 1
        return message

    def _decision(self) -> decision_pb2.Decision:
        decision = self.decision
        assert decision is not None, "one is open"
        return decision_message(
            self._decision_id,
            decision.seat,
            decision.kind,
            self._deadline if self.options.HasField("clock") else None,
            own=decision if decision.seat == CLIENT else None,
        )

    def _message(self, event: Event, actor: event_pb2.Actor.ValueType) -> event_pb2.Event:
        """What the client's seat gets of this event; the state has it already."""
        message = event_pb2.Event()
        counts = [hand.bit_count() for hand in self.state.hands]
        write_move(message, event, (OTHER, CLIENT), counts, actor)
        if isinstance(event, GameStarted):
            message.game_started.game = 1
        elif isinstance(event, DealStarted):
            message.deal_started.hand.seat = CLIENT
            message.deal_started.hand.cards.extend(CARDS.numbers(event.hand_of(CLIENT)))
        return message
