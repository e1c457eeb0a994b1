"""What a table is at one moment: the fold of its records. Pure.

WAITING ──GameStarted──> (BETWEEN_DEALS) ──DealStarted──> PLAYING ──DealEnded──> BETWEEN_DEALS
   ^                                                              ──GameEnded──> GAME_OVER
   └──────────────────────────────RematchAsked──────────────────────────────────────┘
any phase ──TableClosed──> CLOSED
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from odin_contract.enums import LeaveReason, Occupant, Phase
from odin_contract.values import Options as TableOptions
from odin_engine import (
    NEW,
    CardPickedUp,
    CardsPlayed,
    DealEnded,
    DealStarted,
    DecisionKind,
    GameEnded,
    GameStarted,
    Passed,
    RoundEnded,
    State,
)
from odin_engine import evolve as evolve_game
from odin_engine.fair_deal import commitment, key_rounds
from odin_server.table.events import (
    BotFailed,
    DeadlineMoved,
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    HostChanged,
    NonceGiven,
    ReadyChanged,
    Record,
    RematchAsked,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
    TableClosed,
    TableOpened,
)

_Value = TypeVar("_Value")


IN_GAME: Final = (Phase.PLAYING, Phase.BETWEEN_DEALS)


class Seat(NamedTuple):
    """A seat that is taken, as everybody may know it: who holds it stands in the state."""

    name: str
    occupant: Occupant
    level: str
    said_ready: bool = False
    substitute: str | None = None
    """The level that plays it now, because its holder left or stayed away."""
    substituted_for: LeaveReason | None = None
    """Why there is a substitute."""
    nonce: bytes = b""
    """What it adds to the next deal; empty for nothing."""
    gives: bool = False
    """Whether it has ever given one by deal/2."""

    @property
    def ready(self) -> bool:
        """Ready for the game or the next deal. Whatever is no person always is."""
        return (
            self.said_ready or self.occupant is not Occupant.PERSON or self.substitute is not None
        )

    @property
    def abandoned(self) -> bool:
        """Whether its holder left on purpose during a game: somebody else may take it."""
        return self.substituted_for is LeaveReason.LEFT

    @property
    def played_by(self) -> str | None:
        """The level that plays this seat on the server; None when its holder does."""
        return self.substitute or self.level or None


class OpenDecision(NamedTuple):
    """The decision that is open."""

    id: int
    """The number of the record that opened it."""
    seat: int
    kind: DecisionKind
    deadline: int | None = None
    """When its time is up, in microseconds since 1970. None: there is no clock."""


class DealtFrom(NamedTuple):
    """What a deal follows from, so that everybody can check it (docs/fair-deal.md)."""

    commitment: bytes
    """What the server had published."""
    nonces: tuple[bytes, ...]
    """One per player."""
    rounds: int = 0
    """Those that the commitment binds. 0: it was dealt by deal/1."""
    key_rounds: int = 0
    """Those of the deal's key."""
    secret: bytes = b""
    """What is behind the commitment; empty before it is revealed."""


class TableState(NamedTuple):
    """A table at one moment. What is hidden comes last: for a viewer there is `visibility`."""

    seq: int = 0
    """The number of the last record."""
    log_id: str = ""
    """Which log the numbers of its events count in."""
    options: TableOptions = TableOptions()
    phase: Phase = Phase.WAITING
    seats: tuple[Seat | None, ...] = ()
    games: int = 0
    """How many games have started."""
    players: tuple[int, ...] = ()
    """The seats of the game: player number to seat number."""
    names: tuple[str, ...] = ()
    """Of the players, in that order; after the game as they were at its end."""
    banks: tuple[int, ...] = ()
    """What is left of each player's bank, without what the open decision takes. Microseconds."""
    decision: OpenDecision | None = None
    next_deal: int | None = None
    """Between deals: when the next one starts at the latest. Microseconds since 1970."""
    deal_ended: int = 0
    """When the last deal ended. Microseconds since 1970."""
    commitment: bytes = b""
    """The open commitment, to the next deal; empty when none is open."""
    rounds: int = 0
    """Those that the open commitment binds. 0: the next deal is dealt by deal/1."""
    dealt_from: DealtFrom | None = None
    """Of the running or last deal; None when nobody was committed to it."""

    code: str = ""
    """Of a private table. For its seats and its host."""
    host: bytes = b""
    """The digest of the host's credential. Nobody's to see, like all that follows."""
    holders: tuple[bytes, ...] = ()
    """By seat: the digest of the credential that holds it; empty for a bot's and a free one."""
    barred: frozenset[bytes] = frozenset()
    """The digests of the credentials that the host has removed: they take no seat here."""
    secret: bytes = b""
    """Behind the open commitment or that of the running deal; empty when there is none."""
    game: State = NEW

    def taken(self) -> list[tuple[int, Seat]]:
        """The seats that are taken, with their numbers."""
        return [(number, seat) for number, seat in enumerate(self.seats) if seat]

    def seat_held_by(self, holder: bytes) -> int | None:
        """The seat that this credential's digest holds."""
        return self.holders.index(holder) if holder and holder in self.holders else None

    def abandoned(self) -> list[int]:
        """The seats that somebody may take during the game, since their holders have left."""
        return [number for number, seat in self.taken() if seat.abandoned and self.in_game]

    @property
    def host_seat(self) -> int | None:
        """The host's seat, if the host has one."""
        return self.seat_held_by(self.host)

    def player_of(self, seat: int | None) -> int | None:
        """The engine's number for the player in this seat; None when it does not play."""
        return self.players.index(seat) if seat is not None and seat in self.players else None

    @property
    def people_answered(self) -> bool:
        """Whether somebody who plays here is ready; true as well where no person plays."""
        people = [
            seat
            for _, seat in self.taken()
            if seat.occupant is Occupant.PERSON and seat.substitute is None
        ]
        return not people or any(seat.said_ready for seat in people)

    def key_rounds(self, seats: Iterable[int]) -> int:
        """The rounds of the key of a next deal that these seats play in."""
        taken = [self.seats[number] for number in seats]
        people = any(seat and seat.occupant is Occupant.PERSON for seat in taken)
        return key_rounds(self.rounds, has_person=people)

    @property
    def coming_deal(self) -> tuple[int, int]:
        """The game and the deal that come next, both from 1."""
        return coming_deal(self.phase, self.games, self.game.deal)

    @property
    def in_game(self) -> bool:
        """Whether a game is under way."""
        return self.phase in IN_GAME


def coming_deal(phase: Phase, games: int, deal: int) -> tuple[int, int]:
    """The game and the deal that come next, both from 1, after these."""
    return (games, deal + 1) if phase is Phase.BETWEEN_DEALS else (games + 1, 1)


def evolve(state: TableState, record: Record) -> TableState:
    """The state after this record."""
    event = record.event
    return _EVOLVE[type(event)](state._replace(seq=record.seq), event, record)


def _opened(state: TableState, event: TableOpened, _: Record) -> TableState:
    return state._replace(
        options=event.options,
        code=event.code,
        log_id=event.log_id,
        host=event.host,
        seats=(None,) * event.options.seats,
        holders=(b"",) * event.options.seats,
    )


def _with_seat(state: TableState, number: int, seat: Seat | None) -> TableState:
    return state._replace(seats=_with(state.seats, number, seat))


def _with(values: tuple[_Value, ...], number: int, value: _Value) -> tuple[_Value, ...]:
    return (*values[:number], value, *values[number + 1 :])


def _changed(state: TableState, number: int, **changes: Any) -> TableState:
    seat = state.seats[number]
    assert seat is not None, "only a taken seat changes"
    return _with_seat(state, number, seat._replace(**changes))


def _seat_taken(state: TableState, event: SeatTaken, _: Record) -> TableState:
    player = state.player_of(event.seat)
    if state.in_game and player is not None:
        state = state._replace(names=_with(state.names, player, event.name))
    state = state._replace(holders=_with(state.holders, event.seat, event.holder))
    return _with_seat(state, event.seat, Seat(event.name, event.occupant, event.level))


def _seat_left(state: TableState, event: SeatLeft, _: Record) -> TableState:
    holder = state.holders[event.seat]
    if event.reason is LeaveReason.REMOVED and holder:
        state = state._replace(barred=state.barred | {holder})
    state = state._replace(holders=_with(state.holders, event.seat, b""))
    return _with_seat(state, event.seat, None)


def _host_changed(state: TableState, event: HostChanged, _: Record) -> TableState:
    return state._replace(host=b"" if event.seat is None else state.holders[event.seat])


def _ready_changed(state: TableState, event: ReadyChanged, _: Record) -> TableState:
    return _says_ready(state, event.seat, event.ready, event.nonce)


def _says_ready(state: TableState, seat: int, ready: bool, nonce: bytes) -> TableState:
    """By deal/1 a nonce came with being ready, and was void with not being ready."""
    by_deal_1 = {} if state.rounds else {"nonce": nonce}
    return _changed(state, seat, said_ready=ready, **by_deal_1)


def _nonce_given(state: TableState, event: NonceGiven, _: Record) -> TableState:
    return _changed(state, event.seat, nonce=event.nonce, gives=True)


def _substitute_seated(state: TableState, event: SubstituteSeated, _: Record) -> TableState:
    # Whether the seat was ready is forgotten: a client that starts with a snapshot now sees it as
    # ready, and could not know what it is once it resumes.
    return _changed(
        state,
        event.seat,
        said_ready=False,
        nonce=b"",
        substitute=event.level,
        substituted_for=event.reason,
    )


def _seat_resumed(state: TableState, event: SeatResumed, _: Record) -> TableState:
    return _changed(state, event.seat, substitute=None, substituted_for=None)


def _nobody_ready(state: TableState) -> TableState:
    return state._replace(
        seats=tuple([seat._replace(said_ready=False) if seat else None for seat in state.seats])
    )


def _rematch_asked(state: TableState, event: RematchAsked, _: Record) -> TableState:
    waiting = _nobody_ready(state)._replace(phase=Phase.WAITING)
    return _says_ready(waiting, event.seat, True, event.nonce)


def _closed(state: TableState, _event: TableClosed, _: Record) -> TableState:
    return state._replace(phase=Phase.CLOSED, decision=None, next_deal=None)


def _decision_opened(state: TableState, event: DecisionOpened, record: Record) -> TableState:
    return state._replace(decision=OpenDecision(record.seq, event.seat, event.kind, record.until))


def _deadline_moved(state: TableState, event: DeadlineMoved, _: Record) -> TableState:
    if state.next_deal is not None:
        return state._replace(next_deal=state.next_deal + event.given_back)
    decision = state.decision
    deadline = decision.deadline if decision else None
    assert decision is not None, "time was running"
    assert deadline is not None, "time was running"
    return state._replace(decision=decision._replace(deadline=deadline + event.given_back))


def _bot_failed(state: TableState, _event: BotFailed, _: Record) -> TableState:
    return state


def _deal_committed(state: TableState, event: DealCommitted, _: Record) -> TableState:
    return state._replace(
        commitment=commitment(event.secret, event.rounds),
        rounds=event.rounds,
        secret=event.secret,
    )


def _deal_revealed(state: TableState, _event: DealRevealed, _: Record) -> TableState:
    assert state.dealt_from is not None, "the deal was committed to"
    return state._replace(dealt_from=state.dealt_from._replace(secret=state.secret), secret=b"")


def _game_started(state: TableState, event: GameStarted, _: Record) -> TableState:
    return state._replace(
        phase=Phase.BETWEEN_DEALS,
        games=state.games + 1,
        players=tuple([number for number, _seat in state.taken()]),
        names=tuple([seat.name for _number, seat in state.taken()]),
        banks=(state.options.bank * 1_000_000,) * len(state.taken()),
        game=evolve_game(NEW, event),
        dealt_from=None,
    )


def _deal_started(state: TableState, event: DealStarted, _: Record) -> TableState:
    nonces = tuple([seat.nonce if (seat := state.seats[n]) else b"" for n in state.players])
    return state._replace(
        phase=Phase.PLAYING,
        next_deal=None,
        game=evolve_game(state.game, event),
        dealt_from=(
            DealtFrom(state.commitment, nonces, state.rounds, state.key_rounds(state.players))
            if state.commitment
            else None
        ),
        commitment=b"",
        rounds=0,
        seats=tuple([seat._replace(nonce=b"") if seat else None for seat in state.seats]),
    )


def _turn(
    state: TableState, event: CardsPlayed | CardPickedUp | Passed | RoundEnded, record: Record
) -> TableState:
    return state._replace(
        banks=_banks_after(state, record.time),
        decision=None,
        game=evolve_game(state.game, event),
    )


def _banks_after(state: TableState, time: int) -> tuple[int, ...]:
    """The banks after the open decision, if there is one, was made at this time.

    The bank runs last, so what is left until the deadline is left in it, but never more than was.
    """
    if state.decision is None or state.decision.deadline is None:
        return state.banks
    player = state.players.index(state.decision.seat)
    left = min(state.banks[player], max(0, state.decision.deadline - time))
    return _with(state.banks, player, left)


def _deal_ended(state: TableState, event: DealEnded, record: Record) -> TableState:
    return _nobody_ready(state)._replace(
        phase=Phase.BETWEEN_DEALS,
        next_deal=record.until,
        deal_ended=record.time,
        game=evolve_game(state.game, event),
    )


def _game_ended(state: TableState, event: GameEnded, _: Record) -> TableState:
    return state._replace(phase=Phase.GAME_OVER, game=evolve_game(state.game, event))


_EVOLVE: Final[dict[type, Callable[[TableState, Any, Record], TableState]]] = {
    TableOpened: _opened,
    SeatTaken: _seat_taken,
    SeatLeft: _seat_left,
    HostChanged: _host_changed,
    ReadyChanged: _ready_changed,
    SubstituteSeated: _substitute_seated,
    SeatResumed: _seat_resumed,
    RematchAsked: _rematch_asked,
    NonceGiven: _nonce_given,
    TableClosed: _closed,
    DecisionOpened: _decision_opened,
    DeadlineMoved: _deadline_moved,
    BotFailed: _bot_failed,
    DealCommitted: _deal_committed,
    DealRevealed: _deal_revealed,
    GameStarted: _game_started,
    DealStarted: _deal_started,
    CardsPlayed: _turn,
    CardPickedUp: _turn,
    Passed: _turn,
    RoundEnded: _turn,
    DealEnded: _deal_ended,
    GameEnded: _game_ended,
}
