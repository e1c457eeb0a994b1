"""What `TableModel.apply` and `Session.follow` report besides the contract's events and notices.

Every one is a plain value, already folded into the model when it is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TypeAlias

from odin_contract.events import ChatSaid, Event, PresenceChanged, StreamEnded


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
    """Another player should have opened (R4)."""
    CARDS = "cards"
    """A player was dealt other cards."""
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
    """The model was rebuilt from a snapshot: at the start, or when too much was missed."""


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
