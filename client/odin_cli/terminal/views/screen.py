"""`Screen`: everything that the picture shows, and nothing about how it is drawn.

The table comes from the server; the rest is what this person is doing: what is chosen, where the
cursor is, which page is open, which question waits for an answer. Commands change it, views read
it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto

from odin_cli.play.hand_order import by_colour, by_number
from odin_cli.play.selection import Selection, Situation, Verdict, judge
from odin_cli.speech.languages import _
from odin_cli.speech.words import player_name, seat_name
from odin_cli.terminal.views.log import Log
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, LinkChanged
from odin_contract.enums import Occupant, Phase
from odin_contract.values import Decision, Game
from odin_engine import Card, DecisionKind


class Page(Enum):
    """What lies over the table."""

    TABLE = auto()
    """Nothing."""
    HELP = auto()
    RULES = auto()
    SCORES = auto()
    LOG = auto()
    INVITE = auto()
    OPTIONS = auto()


class Question(Enum):
    """What has to be answered before something is done."""

    PICK_UP = auto()
    """Which card to take, asked by Enter."""
    PASS = auto()
    """Really, although something could be played?"""
    HOLD_BACK = auto()
    """Really less than the whole hand, which could go out?"""
    LEAVE = auto()


class Sort(Enum):
    """The order in which the hand lies."""

    COLOUR = "colour"
    NUMBER = "number"


@dataclass
class Screen:
    """What one person sees."""

    table: TableModel
    address: str = ""
    """Of the server, for the title."""
    invitation: str = ""
    """The command with which others sit down here. Empty: nobody can."""
    picture: tuple[str, ...] = ()
    """The first line of the invitation as a QR code; empty where none can be drawn."""
    ends_with_me: bool = False
    """Whether the server is only mine and ends when I leave."""
    selection: Selection = field(default_factory=Selection)
    cursor: int = 0
    """The place in the sorted hand."""
    sort: Sort = Sort.COLOUR
    page: Page = Page.TABLE
    question: Question | None = None
    guided: bool = False
    """Whether a newcomer is told in the first deal what to do."""
    lesson: str = ""
    """What the tutorial says to do now: below the table, in as many rows as it takes."""
    notice: str = ""
    """One line that the next key takes away."""
    until_my_turn: str = ""
    """A notice that is not true any more as soon as it is this person's turn."""
    fresh: Card | None = None
    """The card that was just picked up: it stands out for a moment."""
    checked: DealChecked | None = None
    """After a deal: whether it was dealt as the server had promised."""
    saved: str = ""
    """After a game: where it was kept."""
    ended: str = ""
    """Why the table has ended, as far as it was heard."""
    reading_scores: bool = False
    """Whether this person has not left the final scores yet, whoever has asked for a rematch."""
    last_game: Game | None = None
    """The last one that ended: until a deal of the next one is over its scores can be looked up."""
    lingering: Game | None = None
    """The end of a round or deal that is shown for a moment longer, before what it is now."""
    sent: int | None = None
    """The decision that an action has been sent for. While it is the open one, all waits."""
    link: LinkChanged | None = None
    """What is wrong with the line to the server; None while it is fine."""
    log: Log = field(default_factory=Log)
    scroll: int = 0
    """How far the open page is scrolled: lines of the rules from their beginning, entries of the
    log from the newest."""
    levels: tuple[str, ...] = ("greedy",)
    """The levels of bots that this server has."""
    level: str = "greedy"
    """Of the next bot that is added."""
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    """The moment that is drawn."""

    @property
    def hand(self) -> tuple[Card, ...]:
        """My hand as it lies on the screen; empty for whoever does not play."""
        ordered = by_number if self.sort is Sort.NUMBER else by_colour
        return ordered(self.table.hand)

    @property
    def at_final_scores(self) -> bool:
        """Whether the scores of a finished game are shown: until the person leaves them."""
        phase = self.table.phase
        return self.table.game is not None and (
            phase is Phase.GAME_OVER or (phase is Phase.WAITING and self.reading_scores)
        )

    @property
    def playing(self) -> bool:
        """Whether a deal is being played."""
        return self.table.phase is Phase.PLAYING and self.table.game is not None

    @property
    def my_decision(self) -> Decision | None:
        """The open decision, if it is mine."""
        return self.table.decision if self.table.my_turn else None

    @property
    def sending(self) -> bool:
        """Whether my action is under way: sent, and its events have not come yet."""
        return self.my_decision is not None and self.my_decision.id == self.sent

    @property
    def seconds_left(self) -> int | None:
        """For the open decision, if there is one and a clock."""
        decision = self.table.decision
        return decision.seconds_left(self.now) if decision else None

    def kept_for(self, seat: int) -> int | None:
        """How many seconds a seat is kept yet, when its holder is away and nobody plays it."""
        presence = self.table.presence.get(seat)
        if presence is None or presence.kept_until is None:
            return None
        return max(0, round((presence.kept_until - self.now).total_seconds()))

    @property
    def my_seat_is_kept_for(self) -> int | None:
        """How many seconds of a broken line are left until somebody else plays; None: unknown."""
        if self.link is None or self.link.kept_until is None:
            return None
        left = round((self.link.kept_until - self.now).total_seconds())
        return left if left > 0 else None

    @property
    def counts_down(self) -> bool:
        """Whether the picture changes with time alone."""
        return (
            self.table.next_deal_time is not None
            or self.seconds_left is not None
            or self.my_seat_is_kept_for is not None
            or any(seat.kept_until for seat in self.table.presence.values())
        )

    @property
    def other_watchers(self) -> int:
        """How many watch without a seat, besides this person."""
        return max(self.table.watchers - (self.table.my_seat is None), 0)

    @property
    def choosing_pick_up(self) -> bool:
        """Whether it is about the card to take now: asked by Enter, or by the server (R13)."""
        decision = self.my_decision
        return decision is not None and (
            decision.kind is DecisionKind.PICK_UP or self.question is Question.PICK_UP
        )

    @property
    def situation(self) -> Situation:
        """What the selection is measured against. Nobody plays over their own set (R14)."""
        game, decision = self.table.game, self.my_decision
        return Situation(
            hand=self.table.hand,
            centre=None if game is None or self.centre_is_mine else game.centre,
            plays=tuple(play.set for play in decision.plays) if decision else None,
        )

    @property
    def centre_is_mine(self) -> bool:
        """Whether I put down what lies in the centre."""
        game = self.table.game
        return (
            game is not None
            and game.centre_seat is not None
            and game.centre_seat == self.table.my_seat
        )

    @property
    def verdict(self) -> Verdict:
        """What is to be said about the selection now."""
        return judge(self.selection, self.situation)

    @property
    def takeable(self) -> tuple[Card, ...]:
        """The cards of which one may be taken now, or after a response to what lies there (R11)."""
        decision, game = self.my_decision, self.table.game
        if decision is not None and decision.kind is DecisionKind.PICK_UP:
            return decision.pick_ups
        if game is None or game.centre is None or self.centre_is_mine:
            return ()
        return game.centre.cards

    def label(self, seat: int) -> str:
        """How a seat is called in lists: who is a bot, and who is me."""
        return self._labelled(seat, seat_name(self.table, seat), mine=seat == self.table.my_seat)

    def player_label(self, seat: int) -> str:
        """The same of a player, whoever sits there now."""
        name = player_name(self.table, seat)
        return self._labelled(seat, name, mine=self.table.played_by_me(seat))

    def _labelled(self, seat: int, name: str, *, mine: bool) -> str:
        if mine:
            return _("{name} (you)").format(name=name)
        bots = (Occupant.BUILT_IN_BOT, Occupant.REMOTE_BOT)
        bot = any(
            one.seat == seat and one.occupant in bots and seat_name(self.table, seat) == name
            for one in self.table.seats
        )
        return f"{name} [{_('bot')}]" if bot else name
