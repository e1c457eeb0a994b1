"""What happens at a table besides the game itself, and the records that its log consists of.

The engine's events and these together are the whole history of a table. A record carries the
number, the time, who chose it, and until when something waits. Players of the engine are counted
from 0; seats of a table are what everybody else speaks of (`TableState.players` maps them).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from odin_contract.enums import Actor, CloseReason, LeaveReason, Occupant
from odin_contract.values import Options as TableOptions
from odin_engine import DecisionKind
from odin_engine import Event as GameEvent
from odin_engine.visibility import public, require, show


class TableOpened(NamedTuple):
    """The table was opened: always record 1."""

    options: TableOptions
    host: bytes
    """The digest of the host's credential. Nobody's to see."""
    code: str
    """The code of a private table, for its seats and host; empty for a public one."""
    log_id: str
    """Names this log: a client that followed another one has to start again."""


show(TableOpened, everybody=lambda opened: opened.options)


class SeatTaken(NamedTuple):
    """Somebody sat down."""

    seat: int
    name: str
    occupant: Occupant
    level: str
    """The level of a built-in bot; empty for all others."""
    holder: bytes
    """The digest of the credential that holds the seat; empty for a built-in bot."""


show(SeatTaken, everybody=lambda taken: taken.seat)


@public
class SeatLeft(NamedTuple):
    """A seat became free."""

    seat: int
    reason: LeaveReason


@public
class HostChanged(NamedTuple):
    """The holder of this seat is the host now; without a seat, the next person to sit down is."""

    seat: int | None


@public
class ReadyChanged(NamedTuple):
    """A seat became ready, or no longer is."""

    seat: int
    ready: bool
    nonce: bytes = b""
    """What the seat adds to a next deal by deal/1; empty for nothing."""


@public
class SubstituteSeated(NamedTuple):
    """A substitute plays a seat from now on."""

    seat: int
    reason: LeaveReason
    level: str


@public
class SeatResumed(NamedTuple):
    """Whoever holds the seat plays it again."""

    seat: int


@public
class RematchAsked(NamedTuple):
    """Somebody asked for another game: the table waits again."""

    seat: int
    nonce: bytes = b""
    """What this seat adds to its first deal by deal/1; empty for nothing."""


@public
class NonceGiven(NamedTuple):
    """A seat gave a nonce for the next deal, by deal/2: it replaces what the seat gave before."""

    seat: int
    nonce: bytes


@public
class TableClosed(NamedTuple):
    """The table has ended: always the last record."""

    reason: CloseReason


class DecisionOpened(NamedTuple):
    """A seat has to decide something. The number of the record names the decision."""

    seat: int
    kind: DecisionKind


show(DecisionOpened, everybody=lambda opened: opened, one_seat=lambda _, own: own.decision)


@public
class DeadlineMoved(NamedTuple):
    """Time in which nobody could act was given back, to the open decision or the pause."""

    given_back: int
    """Microseconds."""


class DealCommitted(NamedTuple):
    """The server committed itself to the secret of the next deal."""

    secret: bytes
    """What the deal will follow from, with the nonces. Nobody's to see until the deal is over."""
    rounds: int = 0
    """For the key of a deal that a person plays in. 0: it is dealt by deal/1."""


show(DealCommitted, everybody=lambda _: None)


@public
class DealRevealed(NamedTuple):
    """The secret of the deal that has just ended is shown."""


@public
class BotFailed(NamedTuple):
    """A bot raised, was too slow or did something illegal; its default action follows."""

    seat: int
    problem: str


TableEvent: TypeAlias = (
    TableOpened
    | SeatTaken
    | SeatLeft
    | HostChanged
    | ReadyChanged
    | SubstituteSeated
    | SeatResumed
    | RematchAsked
    | NonceGiven
    | TableClosed
    | DecisionOpened
    | DeadlineMoved
    | BotFailed
    | DealCommitted
    | DealRevealed
)
require(TableEvent)


class Record(NamedTuple):
    """One event as it stands in the log."""

    seq: int
    """From 1, without holes."""
    time: int
    """Microseconds since 1970, UTC."""
    event: TableEvent | GameEvent
    actor: Actor | None = None
    """Who chose it, for what a seat chose."""
    until: int | None = None
    """For a decision: when its time is up, if there is a clock. For the end of a deal: when the
    next one starts at the latest. Microseconds since 1970."""


class RequestKey(NamedTuple):
    """What makes a repeated request known: it lies in the same batch as what it did."""

    credential: bytes
    """The digest of the caller's credential."""
    request_id: str
    content: bytes
    """A digest of what was asked for."""


class Batch(NamedTuple):
    """The records of one command: appended as a whole or not at all.

    Without records it only says that a request had nothing to do, so that it stays so.
    """

    records: tuple[Record, ...]
    request: RequestKey | None = None
    """The request that led to it; None for what the server did by itself."""
    result: int | None = None
    """What the answer says besides, for a request that had nothing to add."""
