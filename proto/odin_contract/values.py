"""What a viewer may know of a table, as plain frozen values. `reading` makes them from messages.

Texts are cleaned already. Times are in UTC, by the server's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from odin_contract.enums import Occupant, Phase
from odin_contract.limits import DEFAULT_THRESHOLD, SEATS
from odin_engine import Card, CardSet, Colour, DecisionKind


@dataclass(frozen=True, slots=True)
class PlayCards:
    """Puts cards down together."""

    cards: tuple[Card, ...]
    pick_up: Card | None = None
    """The card of the beaten set to take (R11). None: the server takes the only one, or asks."""


@dataclass(frozen=True, slots=True)
class PickUp:
    """Takes one card of the set that was beaten (R11)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Pass:
    """Passes (R10)."""


Action: TypeAlias = PlayCards | PickUp | Pass
"""What a seat can do. Which seat follows from the credential."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a table plays. The defaults are the server's."""

    seats: int = SEATS[-1]
    threshold: int | None = DEFAULT_THRESHOLD
    """When the game ends (R16). None: after a single deal."""
    short_deck: bool = True
    """Whether two players play without two of the colours (R2)."""
    private: bool = False
    open_to_bots: bool = True
    """Whether a program may take a free seat by itself."""
    title: str = ""
    turn_time: int = 0
    """For each decision, in seconds. 0: there is no clock."""
    bank: int = 0
    """For each seat and game, used after the time of a turn. In seconds."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One place at a table."""

    seat: int
    """From 0, clockwise."""
    occupant: Occupant = Occupant.NOBODY
    name: str = ""
    level: str = ""
    """Of a built-in bot, such as "greedy"."""
    ready: bool = False
    """For the game or for the next deal."""
    host: bool = False
    substituted: bool = False
    """A substitute plays it, because whoever holds it left or stayed away."""
    abandoned: bool = False
    """Whoever holds it left: anybody may take it while the game is under way."""
    nonce: bytes = b""
    """What it adds to the next deal; empty for nothing."""

    @property
    def free(self) -> bool:
        """Whether nobody holds it."""
        return self.occupant is Occupant.NOBODY


@dataclass(frozen=True, slots=True)
class Player:
    """One player of a game, as everybody sees it."""

    seat: int
    card_count: int = 0
    passed: bool = False
    """Whether the last turn in the running round was a pass (R10)."""
    penalties: tuple[int, ...] = ()
    """One for each finished deal."""
    total: int = 0
    bank: timedelta | None = None
    """What is left of it, without what the open decision takes. None: there is no clock."""
    name: str = ""
    """Who plays here, after the game: who did. Empty: an old server, or the name was deleted."""


@dataclass(frozen=True, slots=True)
class LegalPlay:
    """A set that may be played."""

    set: CardSet
    goes_out: bool
    """Whether it empties the hand, which ends the deal and takes nothing (R12)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that one seat has to decide now.

    What may be chosen is known to that seat only; for all others the last three are empty.
    """

    id: int
    seat: int
    kind: DecisionKind | None
    """None: of a kind that this version does not know."""
    may_pass: bool
    deadline: datetime | None = None
    """When the default action is taken. None: there is no clock."""
    plays: tuple[LegalPlay, ...] = ()
    """Lowest value first."""
    pick_ups: tuple[Card, ...] = ()
    """The cards that may be taken after a response, or now."""
    default_action: Action | None = None
    """What happens when time is up (D1)."""

    def seconds_left(self, now: datetime) -> int | None:
        """For a person to read; `now` by the server's clock. None: there is no clock."""
        if self.deadline is None:
            return None
        return max(0, round((self.deadline - now).total_seconds()))


@dataclass(frozen=True, slots=True)
class Game:
    """A game under way or just finished, as one viewer sees it."""

    game: int
    """From 1; counts the games of this table."""
    deal: int = 0
    """From 1; counts the deals of this game. 0 before the first."""
    removed: tuple[Colour, ...] = ()
    """The colours that left the deck (R2)."""
    opener: int = 0
    """The seat that opened the deal (R4)."""
    players: tuple[Player, ...] = ()
    """In the order of their seats."""
    centre: CardSet | None = None
    centre_seat: int | None = None
    """Who put the centre down."""
    discarded: tuple[Card, ...] = ()
    """In this deal, oldest first."""
    hand: tuple[Card, ...] | None = None
    """The viewer's own, in the order of the deck. None for a watcher."""
    hands: tuple[tuple[int, tuple[Card, ...]], ...] = ()
    """Every hand by seat, as far as events told them: in the history of a game that is over."""
    remaining_hands: tuple[tuple[int, tuple[Card, ...]], ...] = ()
    """After a deal: what every seat had left (R17)."""
    out_seat: int | None = None
    """After a deal: the seat that went out."""
    winners: tuple[int, ...] = ()
    """After the game (R16)."""
    commitment: bytes = b""
    """What the deal follows from, together with the nonces. Empty: it cannot be checked."""
    nonces: tuple[bytes, ...] = ()
    """What each player added to the deal, in the order of their seats."""
    secret: bytes = b""
    """What is behind the commitment, after the deal."""
    rounds: int = 0
    """Those that the commitment binds, for the key of a deal with people. 0: a deal by deal/1."""
    key_rounds: int = 0
    """Those of this deal's key."""

    @property
    def standings(self) -> tuple[tuple[int, Player], ...]:
        """Every player with their rank, from 1, lowest total first; equal totals share it (R16)."""
        best_first = sorted(self.players, key=lambda player: (player.total, player.seat))
        totals = [player.total for player in best_first]
        return tuple((totals.index(player.total) + 1, player) for player in best_first)

    def player(self, seat: int) -> Player:
        """The player at a seat; raises KeyError when that seat is not in the game."""
        for player in self.players:
            if player.seat == seat:
                return player
        raise KeyError(seat)


@dataclass(frozen=True, slots=True)
class SeatPresence:
    """Whether the holder of a seat is there."""

    seat: int
    connected: bool
    away_since: datetime | None = None
    kept_until: datetime | None = None
    """When a substitute plays, or the seat is free. None for somebody who is there, and when one
    plays already."""
    may_be_away: timedelta | None = None
    """For somebody who is there: for how long they may be away from now on, until that."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line of chat."""

    number: int
    """From 1; counts the lines of this table."""
    time: datetime
    name: str
    seat: int | None
    """Where it came from. None: a host without a seat."""
    text: str


@dataclass(frozen=True, slots=True)
class TableView:
    """All that one viewer may know after the event with number `seq`: the content of a snapshot.

    Without arguments: nothing, before the first snapshot (`log_id`).
    """

    table: str = ""
    """The handle."""
    log_id: str = ""
    """Which log `seq` counts in."""
    seq: int = 0
    """The last event that is part of this."""
    options: Options = Options()
    phase: Phase = Phase.UNKNOWN
    seats: tuple[Seat, ...] = ()
    """Every seat, also the free ones."""
    game: Game | None = None
    """None before the first one starts; after a game it stays until the next one."""
    decision: Decision | None = None
    """What has to be decided now."""
    my_seat: int | None = None
    """None for a watcher."""
    i_am_host: bool = False
    next_deal_time: datetime | None = None
    """When the next deal starts at the latest."""
    code: str = ""
    """Of a private table, for its seats and host."""
    commitment: bytes = b""
    """To the next deal: the one that a nonce has to name. Empty while a deal is being played."""
    rounds: int = 0
    """Those that the open commitment binds. 0: the next deal is by deal/1."""

    @property
    def my_turn(self) -> bool:
        """Whether the viewer has to decide something now."""
        return self.decision is not None and self.decision.seat == self.my_seat

    @property
    def hand(self) -> tuple[Card, ...]:
        """The viewer's own cards in the order of the deck; empty for a watcher."""
        return (self.game.hand or ()) if self.game else ()

    @property
    def in_game(self) -> bool:
        """Whether a game is being played."""
        return self.phase in (Phase.PLAYING, Phase.BETWEEN_DEALS)

    @property
    def me(self) -> Seat | None:
        """The viewer's seat."""
        return None if self.my_seat is None else self.seats[self.my_seat]

    @property
    def taken_seats(self) -> tuple[Seat, ...]:
        """The seats that are held."""
        return tuple(seat for seat in self.seats if not seat.free)


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A table in the list of a server."""

    table: str
    options: Options
    phase: Phase
    seats: tuple[Seat, ...]
    deal: int
    """Of the running game, from 1. 0 when none is being played."""
    create_time: datetime

    @property
    def joinable(self) -> bool:
        """Whether there is a seat to take: a free one, or in a game one whose holder has left.

        The server's own filter leaves out a table whose game is over, where a person may sit down
        for the rematch: a bot would wait there for nothing.
        """
        if self.phase in (Phase.WAITING, Phase.GAME_OVER):
            return any(seat.free for seat in self.seats)
        return self.deal > 0 and any(seat.abandoned for seat in self.seats)
