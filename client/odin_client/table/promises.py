"""What a server can be held to: what it promised of each deal, and what this client gave to it.

A server may send a snapshot whenever it likes, and a snapshot takes the place of all that a
`TableModel` knows. So promises are kept apart from it: by table, game and deal, for the life of the
process. Neither a snapshot nor another log id clears them; each says in which log it was made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from odin_client.table.dealt_hands import DealtHands
from odin_client.table.updates import DealFault, DealGap
from odin_engine import Colour

LIMIT: Final = 100_000
"""How many deals are remembered; then the oldest one is forgotten."""


class DealKey(NamedTuple):
    """Names a deal of a server."""

    table: str
    game: int
    """Of the table, from 1."""
    deal: int
    """Of the game, from 1."""


class Terms(NamedTuple):
    """What a deal started from, besides its commitment."""

    seats: tuple[int, ...]
    """Of the players, in order."""
    nonces: tuple[bytes, ...]
    opener: int
    removed: tuple[Colour, ...]
    key_rounds: int = 0
    """Of the deal's key. 0: a deal by deal/1."""
    has_person: bool = False
    """Whether a person held the seat of a player, as far as it was seen."""


@dataclass
class OwnNonce:
    """What this client adds to one deal, by what it sent and what the server answered."""

    made: bytes = b""
    """Drawn once for each commitment: a server cannot ask for others until it likes the deck."""
    early: bytes = b""
    """The same for what is given before one is ready, so that the server learns the other late."""
    taken: bytes | None = None
    """What the server took. None: nothing, or it was taken back, so that any nonce is right."""
    maybe: set[bytes] = field(default_factory=set[bytes])
    """Sent, and not known to be taken."""
    seq: int = 0
    """What the server tells of the table up to this event may be older than `taken`."""
    log_id: str = ""
    """The log in which it was taken."""
    void: bool = False
    """Whether the server said that it is void, though this client did not take it back."""

    def allows(self, nonce: bytes) -> bool:
        """Whether the own seat may have added this."""
        return self.taken is None or nonce == self.taken or nonce in self.maybe

    def is_there(self, nonce: bytes, seq: int, log_id: str) -> None:
        """The server says that the own seat has added this: then it was taken, if it was sent."""
        if nonce and nonce in self.maybe:
            self.took(nonce, seq, log_id)

    def took(self, nonce: bytes, seq: int, log_id: str) -> None:
        """The server took this, and the number of the event is this; an empty one takes back."""
        self.maybe.discard(nonce)
        if seq >= self.seq:
            self.taken = nonce or None
            self.seq, self.log_id, self.void = seq, log_id, False


@dataclass
class Promise:
    """What is known of one deal."""

    key: DealKey
    commitment: bytes
    """Compared, and nothing else. Empty: the server committed itself to nothing."""
    log_id: str
    """The log in which the server said so last."""
    rounds: int = 0
    """Those that the commitment binds. 0: it is one by deal/1."""
    own: OwnNonce = field(default_factory=OwnNonce)
    terms: Terms | None = None
    """Once it has started."""
    terms_log: str = ""
    """The log in which it did."""
    hands: DealtHands = field(default_factory=DealtHands)
    seq: int = 0
    """The last event that was seen of it."""
    over: bool = False
    """Whether its cards are played; its secret is due."""
    gaps: set[DealGap] = field(default_factory=set[DealGap])
    """Why it cannot be checked in full."""
    told: bool = False
    """Whether a `DealChecked` was made for it: there is one for each deal."""


@dataclass
class Tally:
    """How many deals were checked in this process, and what came of it."""

    in_full: int = 0
    not_in_full: int = 0
    faulty: int = 0


class Promises:
    """All that was promised to one credential."""

    def __init__(self) -> None:
        """Knows of none."""
        self.tally: Final = Tally()
        self.heard: Final[dict[str, float]] = {}
        """When the server last said something of a table, by the monotonic clock."""
        self._deals: Final[dict[DealKey, Promise]] = {}
        self._deal_of: Final[dict[bytes, DealKey]] = {}

    def get(self, key: DealKey) -> Promise | None:
        """What is known of a deal."""
        return self._deals.get(key)

    def of(self, commitment: bytes) -> Promise | None:
        """The deal that this commitment is for."""
        key = self._deal_of.get(commitment)
        return self._deals.get(key) if key else None

    def note(
        self, key: DealKey, commitment: bytes, log_id: str, rounds: int = 0
    ) -> tuple[Promise, DealFault | DealGap | None]:
        """Takes note of what the server says a deal follows from; says what is wrong with that.

        Within one log it may not change. In another log it may: then the table was set back.
        """
        known = self._deals.get(key)
        fresh = Promise(key, commitment, log_id, rounds)
        if commitment and self._deal_of.get(commitment, key) != key:
            return known or self._keep(fresh), DealFault.REUSED
        if known is None:
            return self._keep(fresh), None
        if (known.commitment, known.rounds) == (commitment, rounds):
            known.log_id = log_id
            return known, None
        if known.log_id == log_id:
            return known, DealFault.COMMITMENT
        return self._keep(fresh), DealGap.SET_BACK

    def deal_again(self, known: Promise, log_id: str) -> tuple[Promise, DealFault | DealGap]:
        """Begins a deal anew that was dealt already, from the same commitment."""
        own = OwnNonce(made=known.own.made, early=known.own.early)
        again = Promise(known.key, known.commitment, log_id, known.rounds, own)
        same = known.terms_log == log_id
        return self._keep(again), DealFault.REUSED if same else DealGap.SET_BACK

    def _keep(self, promise: Promise) -> Promise:
        self._deals.pop(promise.key, None)
        self._deals[promise.key] = promise
        if promise.commitment:
            self._deal_of.setdefault(promise.commitment, promise.key)
        if len(self._deals) > LIMIT:
            oldest = self._deals.pop(next(iter(self._deals)))
            self._deal_of.pop(oldest.commitment, None)
        return promise


_KNOWN: Final[dict[str, Promises]] = {}


def promises_to(secret: str) -> Promises:
    """All that was promised to whoever holds this credential: the same for the whole process.

    A credential belongs to one server, and to one player there.
    """
    return _KNOWN.setdefault(secret, Promises())
