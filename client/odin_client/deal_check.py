"""Checks each deal when its secret is shown: it has to follow from what was promised and given.

What a deal follows from is specified in docs/fair-deal.md; here it is compared with what this
client has seen: the commitment before the first nonce, the nonces as they were given, every card.
The cards dealt to a seat are those that it played or had left, without those that it picked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odin_client.updates import (
    CardPickedUp,
    CardsPlayed,
    DealChecked,
    DealEnded,
    DealFault,
    DealRevealed,
    DealStarted,
    Event,
    ReadyChanged,
    SeatLeft,
    SubstituteSeated,
    TableClosed,
)
from odin_client.values import Game, Phase
from odin_engine import Card
from odin_engine.fair_deal import FirstDraw, commitment, draw_deal, draw_first
from odin_engine.rules import HAND_SIZE

if TYPE_CHECKING:
    from odin_client.table import TableModel


@dataclass
class _Deal:
    """What was seen of the deal that is under way."""

    number: int
    commitment: bytes
    nonces: tuple[bytes, ...]
    seats: tuple[int, ...]
    """Of the players, in order."""
    opener: int
    whole: bool
    """Whether it was seen from its start."""
    my_seat: int | None = None
    hand: tuple[Card, ...] | None = None
    """What the viewer was dealt."""
    faults: list[DealFault] = field(default_factory=list[DealFault])
    dealt: dict[int, Counter[Card]] = field(default_factory=dict[int, Counter[Card]])
    """By seat: how often each card was played or left, without how often it was picked up."""
    over: bool = False


class DealCheck:
    """Follows the deals of one table. Its model lets it see each event before it folds it."""

    def __init__(self) -> None:
        """Has seen nothing yet."""
        self._deal: _Deal | None = None
        self._given: tuple[bytes, bytes] | None = None

    def gave(self, for_commitment: bytes, nonce: bytes) -> None:
        """This client adds a nonce to the deal of this commitment: it has to be in there."""
        self._given = for_commitment, nonce

    def gave_nothing(self) -> None:
        """The last nonce was not taken, or nobody knows whether it was."""
        self._given = None

    def start_from(self, table: TableModel) -> None:
        """The table was made anew from a snapshot: what was seen before is not known any more."""
        game, me = table.game, table.me
        now_there = [(table.commitment, me.nonce)] if me else []
        if game is not None:
            now_there += [(game.commitment, nonce) for nonce in game.nonces]
        if self._given not in now_there:
            self._given = None  # it may have become void while nobody listened
        self._deal = None
        if game is not None and table.phase is Phase.PLAYING and game.commitment:
            seats = tuple(player.seat for player in game.players)
            self._deal = _Deal(
                game.deal, game.commitment, game.nonces, seats, game.opener, whole=False
            )

    def see(self, event: Event, table: TableModel) -> DealChecked | None:
        """Takes notice of an event that the table has not folded yet; the check, when it is due."""
        match event:
            case DealStarted():
                self._deal = self._started(event, table) if event.commitment else None
                return None
            case (
                SubstituteSeated(seat=seat)
                | SeatLeft(seat=seat)
                | ReadyChanged(seat=seat, ready=False)
            ) if seat == table.my_seat:
                # What a seat gave for the next deal is void then.
                if self._given and self._given[0] == table.commitment:
                    self._given = None
            case _:
                pass
        deal = self._deal
        if deal is None:
            return None
        match event:
            case CardsPlayed():
                deal.dealt.setdefault(event.seat, Counter()).update(event.set.cards)
            case CardPickedUp():
                deal.dealt.setdefault(event.seat, Counter())[event.card] -= 1
            case DealEnded():
                for score in event.scores:
                    deal.dealt.setdefault(score.seat, Counter()).update(score.remaining)
                deal.over = True
            case DealRevealed():
                return self._revealed(deal, event, table)
            case TableClosed():
                self._deal = None
                return DealChecked(deal.number, broken_off=True)
            case _:
                # What a newer server tells besides may come between.
                if deal.over and type(event) is not Event:
                    self._deal = None
                    return DealChecked(deal.number, (*deal.faults, DealFault.NEVER_REVEALED))
        return None

    @staticmethod
    def _started(event: DealStarted, table: TableModel) -> _Deal:
        seats = tuple(player.seat for player in table.game.players) if table.game else ()
        deal = _Deal(
            event.deal,
            event.commitment,
            event.nonces,
            seats,
            event.opener,
            whole=True,
            my_seat=table.my_seat,
            hand=event.hand,
        )
        if event.commitment != table.commitment:
            deal.faults.append(DealFault.COMMITMENT)
        if event.nonces != tuple(table.seats[seat].nonce for seat in seats):
            deal.faults.append(DealFault.NONCES)
        return deal

    def _revealed(self, deal: _Deal, event: DealRevealed, table: TableModel) -> DealChecked:
        self._deal = None
        faults = list(deal.faults)
        given = self._given if self._given and self._given[0] == deal.commitment else None
        mine = False
        if given is not None:
            self._given = None
            place = deal.seats.index(table.my_seat) if table.my_seat in deal.seats else None
            mine = place is not None and deal.nonces[place : place + 1] == (given[1],)
            if place is not None and not mine:
                faults.append(DealFault.OWN_NONCE)
        assert table.game is not None, "a deal is part of a game"
        faults += _faults(deal, event.secret, table.game, short=_is_short(table))
        return DealChecked(
            deal.number,
            tuple(dict.fromkeys(faults)),
            whole=deal.whole,
            nonces=sum(1 for nonce in deal.nonces if nonce),
            mine=mine,
        )


def _is_short(table: TableModel) -> bool:
    """Whether two colours leave the deck (R2)."""
    assert table.game is not None, "a deal is part of a game"
    return table.options.short_deck and len(table.game.players) == 2


def _faults(deal: _Deal, secret: bytes, game: Game, *, short: bool) -> list[DealFault]:
    """What does not follow from secret and nonces; `game` is what is known after the deal."""
    if len(deal.nonces) != len(deal.seats):
        return [DealFault.NONCES]
    try:
        promised = commitment(secret)
        drawn: FirstDraw | None = None
        if deal.number == 1:
            drawn, order = draw_first(secret, deal.nonces, short_deck=short)
        else:
            order = draw_deal(secret, deal.nonces, deal_number=deal.number, removed=game.removed)
    except ValueError:
        return [DealFault.COMMITMENT]
    faults: list[DealFault] = []
    if promised != deal.commitment:
        faults.append(DealFault.COMMITMENT)
    if drawn is not None and drawn.removed != game.removed:
        faults.append(DealFault.COLOURS)
    if drawn is not None and deal.seats[drawn.first_opener] != deal.opener:
        faults.append(DealFault.OPENER)
    if not _is_dealt_from(order, deal, game):
        faults.append(DealFault.CARDS)
    return faults


def _is_dealt_from(order: Sequence[Card], deal: _Deal, game: Game) -> bool:
    hands = {
        seat: Counter(order[player * HAND_SIZE : (player + 1) * HAND_SIZE])
        for player, seat in enumerate(deal.seats)
    }
    if not deal.whole:
        # Whose each card was before the viewer came is not known, but all of them are known now.
        seen = Counter(game.discarded)
        seen.update(game.centre.cards if game.centre else ())
        for _, cards in game.remaining_hands:
            seen.update(cards)
        return seen == Counter(order[: len(deal.seats) * HAND_SIZE])
    if deal.hand is not None and hands.get(deal.my_seat or 0) != Counter(deal.hand):
        return False
    return all(hand == deal.dealt.get(seat) for seat, hand in hands.items())
