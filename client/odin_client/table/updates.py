"""What `TableModel.apply` and `Session.follow` report: events, notices, the state of the line.

Every one is a plain value, already folded into the model when it is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import TypeAlias

from odin_client.table.values import (
    Actor,
    ChatLine,
    CloseReason,
    Decision,
    LeaveReason,
    Options,
    Seat,
    SeatPresence,
    StreamEndReason,
)
from odin_engine import Card, CardSet, Colour


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
    level: str


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
    """The viewer's own; None for whoever does not play."""
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
    problem: str


class DealFault(Enum):
    """What does not add up about a deal."""

    COMMITMENT = "commitment"
    """The secret, or a commitment that was named later, is not what was committed to before."""
    REUSED = "reused"
    """The server committed itself to the secret of another deal, which others may know by now."""
    NONCES = "nonces"
    """Other nonces were used than the seats had given."""
    OWN_NONCE = "own nonce"
    """What this client had given was not used."""
    COLOURS = "colours"
    """Other colours should have left the deck (R2)."""
    OPENER = "opener"
    """Somebody else should have opened (R4)."""
    CARDS = "cards"
    """Somebody was dealt other cards."""
    ROUNDS = "rounds"
    """The key has other rounds than follow from who played, so that a server could search."""
    NEVER_REVEALED = "never revealed"
    """The deal is over, and its secret was not shown."""


class DealGap(Enum):
    """Why a deal is not checked in full. None of these says that the server cheats."""

    UNCOMMITTED = "uncommitted"
    """The server had committed itself to nothing."""
    LATE = "late"
    """This client was not there when the server committed itself to it."""
    MISSED = "missed"
    """A snapshot took the place of a part of it, so that whose each card was is not known."""
    SET_BACK = "set back"
    """The table has another log, in which the deal is another one, or is dealt again."""
    VOID = "void"
    """By what the server says, a substitute played the own seat, so that the own nonce was void."""
    TOO_MANY_ROUNDS = "too many rounds"
    """The key has more rounds than a client computes, since a server could stop it that way."""


@dataclass(frozen=True, slots=True)
class DealChecked:
    """What a client has worked out of a deal: after it, or as soon as it finds a fault."""

    deal: int
    faults: tuple[DealFault, ...] = ()
    """None: what was seen of it adds up."""
    gaps: tuple[DealGap, ...] = ()
    """None: all that had to be seen of it was seen."""
    nonces: int = 0
    """How many seats had added something."""
    seats: int = 0
    """How many seats played."""
    word: str = ""
    """Six letters to compare aloud: the same for all who were told the same. Empty: not known."""
    weak: bool = False
    """Whether people played, and the key was stretched so little that a server could search."""
    mine: bool = False
    """Whether this client had."""
    broken_off: bool = False
    """The table has ended before the deal did: its secret is never shown."""
    not_in_full: int = 0
    """How many deals were not checked in full so far in this process, this one included."""

    @property
    def in_full(self) -> bool:
        """Whether all of it was checked, and adds up."""
        return not (self.faults or self.gaps or self.broken_off)


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """The model was made anew from a snapshot: at the start, or when too much was missed."""


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


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The line to the server broke or came back; for a banner."""

    online: bool
    problem: str = ""
    """What is wrong, in a few words."""
    attempt: int = 0
    """How many times in a row it has been tried."""
    retry_in: float = 0.0
    """Seconds until the next attempt."""
    kept_until: datetime | None = None
    """When a substitute plays one's seat, or it is free; by the server's clock, as far as known."""


Update: TypeAlias = (
    Event | DealChecked | SnapshotTaken | PresenceChanged | ChatSaid | StreamEnded | LinkChanged
)
"""Anything that can be reported. All numbered ones are an `Event`."""
