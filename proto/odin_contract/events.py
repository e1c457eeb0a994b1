"""What a server tells of a table, as plain frozen values: numbered events, and notices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from odin_contract.enums import (
    Actor,
    CloseReason,
    LeaveReason,
    StreamEndReason,
)
from odin_contract.limits import NAME_LENGTH, TEXT_LENGTH
from odin_contract.values import (
    ChatLine,
    Decision,
    Options,
    Seat,
    SeatPresence,
)
from odin_engine import Card, CardSet, Colour

Name = Annotated[str, NAME_LENGTH]
"""Text from the network, at most so long."""
Prose = Annotated[str, TEXT_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something numbered that happened. Itself used for a kind that this version does not know."""

    seq: int
    """From 1, without holes."""
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOpened(Event):
    """The table was opened."""

    options: Options


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTaken(Event):
    """Somebody sat down."""

    seat: Seat
    instead_of: str = ""
    """During a game: who has left this seat; filled in by the model, the last to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatLeft(Event):
    """A seat became free."""

    seat: int
    reason: LeaveReason
    name: str = ""
    """Who sat there; the model fills it in, since it is the last to know."""
    mine: bool = False
    """Whether it was the viewer's own; filled in by the model as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChanged(Event):
    """Somebody else is the host now."""

    seat: int | None
    """None: a host without a seat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyChanged(Event):
    """A seat became ready, or no longer is."""

    seat: int
    ready: bool
    nonce: bytes = b""
    """What the seat adds to the next deal; empty for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubstituteSeated(Event):
    """A substitute plays a seat from now on."""

    seat: int
    reason: LeaveReason
    level: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResumed(Event):
    """Whoever holds the seat plays it again."""

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RematchAsked(Event):
    """Somebody asked for another game."""

    seat: int
    nonce: bytes = b""
    """What this seat adds to its first deal; empty for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NonceGiven(Event):
    """A seat gave a nonce for the next deal, by deal/2: it replaces what the seat gave before."""

    seat: int
    nonce: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClosed(Event):
    """The table has ended."""

    reason: CloseReason
    by: str = ""
    """The name of the host who closed it, if they sat there; filled in by the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameStarted(Event):
    """A game starts."""

    game: int
    seats: tuple[int, ...]
    removed: tuple[Colour, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DealStarted(Event):
    """A deal starts: everybody holds nine cards (R3)."""

    deal: int
    opener: int
    hand: tuple[Card, ...] | None
    """The viewer's own; None for a watcher."""
    hands: tuple[tuple[int, tuple[Card, ...]], ...] = ()
    """Every hand by seat: in the history of a game that is over."""
    commitment: bytes = b""
    """Empty: nobody was committed to it, and it cannot be checked."""
    nonces: tuple[bytes, ...] = ()
    """What each player added, in the order of their seats."""
    rounds: int = 0
    """Those that the commitment binds. 0: a deal by deal/1."""
    key_rounds: int = 0
    """Those of this deal's key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOpened(Event):
    """A seat has to decide something."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsPlayed(Event):
    """A set was put down, and is the centre now."""

    seat: int
    set: CardSet
    opening: bool
    card_count: int
    """How many cards are left in the hand, before any pick-up."""
    actor: Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPickedUp(Event):
    """A card of the beaten set was picked up (R11)."""

    seat: int
    card: Card
    discarded: tuple[Card, ...]
    """The other cards of that set."""
    card_count: int
    actor: Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed(Event):
    """A seat passed."""

    seat: int
    actor: Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEnded(Event):
    """Everybody else passed (R14)."""

    opener: int
    """The seat that opens the next round."""
    discarded: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class DealScore:
    """What a deal cost one seat."""

    seat: int
    remaining: tuple[Card, ...]
    penalty: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DealEnded(Event):
    """A hand is empty (R15)."""

    deal: int
    out_seat: int
    scores: tuple[DealScore, ...]
    next_deal_time: datetime | None
    """None when the game is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded(Event):
    """The game ended (R16)."""

    winners: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DealCommitted(Event):
    """The server committed itself to the secret of the next deal."""

    game: int
    deal: int
    commitment: bytes
    rounds: int = 0
    """Those that it binds, for the key of a deal with people. 0: a deal by deal/1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealRevealed(Event):
    """The secret of the deal that has just ended."""

    deal: int
    secret: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineMoved(Event):
    """Time in which nobody could act was given back."""

    deadline: datetime
    """Of the open decision; between deals, when the next one starts."""
    given_back: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class BotFailed(Event):
    """A bot raised, was too slow or did something illegal."""

    seat: int
    problem: Prose


@dataclass(frozen=True, slots=True)
class PresenceChanged:
    """Who is there has changed."""

    seats: tuple[SeatPresence, ...]
    watchers: int
    gone: tuple[int, ...] = ()
    """Seats whose holders were there before; filled in by the model, as the next one."""
    back: tuple[int, ...] = ()
    """Seats whose holders had gone, and are there again."""


@dataclass(frozen=True, slots=True)
class ChatSaid:
    """Somebody said something."""

    line: ChatLine


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The server has ended the stream by itself."""

    reason: StreamEndReason
    retry_after: float | None
    """Seconds. None: do not come back."""
