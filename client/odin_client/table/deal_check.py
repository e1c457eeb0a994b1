"""Checks each deal: it has to follow from what was promised and given (docs/fair-deal.md).

What the server says is compared with what it has said before and with what this client has sent
(`promises`), and after the deal with the cards that were seen (`dealt_hands`). A fault is told as
soon as it is found, so that nobody has to play on; what merely could not be seen, after the deal.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final

from odin_client.errors import Refused
from odin_client.table.dealt_hands import DealtHands, may_change
from odin_client.table.promises import DealKey, OwnNonce, Promise, Promises, Tally, Terms
from odin_client.table.updates import DealChecked, DealFault, DealGap
from odin_contract.enums import Occupant, Phase
from odin_contract.events import (
    CardPickedUp,
    CardsPlayed,
    DealCommitted,
    DealEnded,
    DealRevealed,
    DealStarted,
    Event,
    SeatLeft,
    SubstituteSeated,
    TableClosed,
)
from odin_contract.values import Game, TableView
from odin_engine import Card
from odin_engine.fair_deal import (
    MAX_ROUNDS,
    ROUNDS,
    FirstDraw,
    commitment,
    draw_deal,
    draw_first,
    key_rounds,
    word,
)
from odin_engine.rules import HAND_SIZE

NEVER_AWAY: Final = 8.0
"""Seconds without a word of the server for which nobody can have lost a seat: ten are allowed."""


class DealCheck:
    """Follows the deals of one table. Its model lets it see each event before it folds it."""

    def __init__(self, promises: Promises | None = None, *, game: int = 1) -> None:
        """What was promised before is in `promises`; a snapshot without a game waits for `game`."""
        self._first_game: Final = game
        self._promises: Final = promises or Promises()
        self._deal: Promise | None = None
        """The one that is being played."""
        self._found: list[DealChecked] = []

    @property
    def tally(self) -> Tally:
        """How many deals were checked in this process, and what came of it."""
        return self._promises.tally

    def heard(self, table: str) -> None:
        """The server has said something of this table just now."""
        self._promises.heard[table] = time.monotonic()

    def found(self) -> list[DealChecked]:
        """What was found since the last call."""
        found, self._found = self._found, []
        return found

    # What this client does

    def nonce_for(
        self, open_commitment: bytes, fresh: Callable[[], bytes], *, early: bool = False
    ) -> bytes:
        """What to add to the deal of this commitment; the same each time.

        `early`: while one is not ready.
        """
        promise = self._promises.of(open_commitment)
        if promise is None:
            return fresh()
        own = promise.own
        if early:
            own.early = own.early or fresh()
        else:
            own.made = own.made or fresh()
        return own.early if early else own.made

    def has_given(self, open_commitment: bytes) -> bool:
        """Whether this client has sent a nonce for the deal of this commitment, or is about to."""
        promise = self._promises.of(open_commitment)
        return promise is None or promise.own.taken is not None or bool(promise.own.maybe)

    @contextmanager
    def giving(self, for_commitment: bytes, nonce: bytes) -> Generator[Callable[[int], None]]:
        """Sends a nonce meanwhile; an empty one takes back what was given.

        Call what this yields with the number in the server's answer. It is noted before it is sent,
        since the deal may have started before the answer is here.
        """
        promise = self._promises.of(for_commitment)
        own = promise.own if promise else OwnNonce()
        before = own.taken
        own.maybe.add(nonce)
        if not nonce:
            own.taken = None

        def taken(seq: int) -> None:
            own.took(nonce, seq, promise.log_id if promise else "")

        try:
            yield taken
        except Refused as refusal:
            if refusal.reason:  # else it is the line that says so, and nobody knows
                own.maybe.discard(nonce)
                own.taken = before if not nonce else own.taken
            raise

    # What the server says

    def see(self, event: Event, before: TableView, after: TableView) -> None:
        """Takes notice of an event, with what was known before it and is known after it."""
        if self._deal is not None and event.seq > self._deal.seq:
            self._follow(self._deal, event, before)
        match event:
            case DealCommitted():
                key = DealKey(before.table, event.game, event.deal)
                self._published(key, event.commitment, before.log_id, event.rounds)
            case DealStarted():
                self._started(event, before)
            case SubstituteSeated(seat=seat) | SeatLeft(seat=seat) if seat == before.my_seat:
                # What a seat gave for the next deal is void then.
                if promise := self._promises.of(before.commitment):
                    promise.own.void = True
            case _:
                pass
        if after.me is not None:
            self._compare_given(after.me.nonce, event.seq, after.commitment)

    def _follow(self, deal: Promise, event: Event, table: TableView) -> None:
        deal.seq = event.seq
        match event:
            case CardsPlayed():
                deal.hands.gave(event.seat, event.set.cards)
            case CardPickedUp():
                deal.hands.got(event.seat, event.card)
            case DealEnded():
                for score in event.scores:
                    deal.hands.gave(score.seat, score.remaining)
                deal.over = True
                if not deal.commitment:
                    self._tell(deal)
            case DealRevealed():
                self._revealed(deal, event.secret, table)
            case TableClosed():
                self._tell(deal, broken_off=True)
            case _:
                # What a newer server tells besides may come between.
                if isinstance(event, DealStarted) or (deal.over and type(event) is not Event):
                    self._tell(deal, DealFault.NEVER_REVEALED)
        if not deal.told and not self._is_own_nonce_in(deal, table.my_seat):
            self._tell(deal, DealFault.OWN_NONCE)

    def start_from(self, table: TableView, before: TableView) -> None:
        """The table was made anew from a snapshot; `before` is what it was."""
        away = time.monotonic() - self._promises.heard.get(table.table, 0) > NEVER_AWAY
        game = table.game
        shown = DealKey(table.table, game.game, game.deal) if game and game.deal else None
        lost, self._deal = self._deal, None
        if lost is not None and lost.key != shown:
            set_back = lost.terms_log != table.log_id
            lost.gaps.add(DealGap.SET_BACK if set_back else DealGap.MISSED)
            self._tell(lost)
        if table.phase is not Phase.PLAYING and table.commitment:
            promise = self._published(
                self._next_deal(table), table.commitment, table.log_id, table.rounds
            )
            if table.me is not None:
                # When this client was away for long, a substitute may have come and gone.
                promise.own.void |= away and not promise.own.allows(table.me.nonce)
                self._compare_given(table.me.nonce, table.seq, table.commitment)
        if game is not None and shown is not None:
            if away and (known := self._promises.get(shown)):
                known.own.void = True
            self._join(shown, game, table, before if lost and lost.key == shown else None)

    # The commitment, and the nonces for it

    def _next_deal(self, table: TableView) -> DealKey:
        """The deal that the open commitment of a snapshot is for."""
        game = table.game
        if game is None:
            return DealKey(table.table, self._first_game, 1)
        if table.phase is Phase.BETWEEN_DEALS:
            return DealKey(table.table, game.game, game.deal + 1)
        return DealKey(table.table, game.game + 1, 1)

    def _published(self, key: DealKey, promised: bytes, log_id: str, rounds: int) -> Promise:
        """A commitment is open: no card of its deal has been dealt."""
        promise, problem = self._promises.note(key, promised, log_id, rounds)
        if problem is None and promise.terms is not None:
            promise, problem = self._promises.deal_again(promise, log_id)
        self._note(promise, problem)
        return promise

    def _note(self, promise: Promise, problem: DealFault | DealGap | None) -> None:
        if isinstance(problem, DealGap):
            promise.gaps.add(problem)
        elif problem is not None:
            self._tell(promise, problem)

    def _compare_given(self, nonce: bytes, seq: int, open_commitment: bytes) -> None:
        """What the own seat has given, by what the server says; a lie is told at once."""
        promise = self._promises.of(open_commitment)
        if promise is not None:
            promise.own.is_there(nonce, seq, promise.log_id)
        if promise is None or promise.own.allows(nonce) or seq < promise.own.seq:
            return
        if not promise.own.void and promise.own.log_id == promise.log_id:
            self._tell(promise, DealFault.OWN_NONCE)

    def _is_own_nonce_in(self, deal: Promise, seat: int | None) -> bool:
        """Whether the deal was dealt with what this client gave, or may be without it."""
        terms, own = deal.terms, deal.own
        if terms is None or seat not in terms.seats:
            return True
        place = terms.seats.index(seat)
        own.is_there(b"".join(terms.nonces[place : place + 1]), own.seq, deal.terms_log)
        if place >= len(terms.nonces) or own.allows(terms.nonces[place]):
            return True
        if own.log_id != deal.terms_log:
            deal.gaps.add(DealGap.SET_BACK)
        elif own.void and not terms.nonces[place]:
            deal.gaps.add(DealGap.VOID)
        else:
            return False
        return True

    # The deal

    def _started(self, event: DealStarted, table: TableView) -> None:
        game = table.game
        assert game is not None, "a deal is part of a game"
        key = DealKey(table.table, game.game, event.deal)
        known = self._promises.get(key)
        promise, problem = self._promises.note(key, event.commitment, table.log_id, event.rounds)
        self._deal = promise
        if known is None and not event.commitment:
            problem = DealGap.UNCOMMITTED
        elif known is None:
            problem = problem or DealFault.COMMITMENT  # it was not out before the nonces
        elif promise.terms_log == table.log_id and promise.seq >= event.seq:
            return  # another session of this process has seen it already
        elif promise.terms is not None and problem is None:
            self._deal, problem = self._promises.deal_again(promise, table.log_id)
            promise = self._deal
        promise.seq = event.seq
        if promise.told:
            self._deal = None
            return
        seats = tuple(player.seat for player in game.players)
        faults = [problem] if isinstance(problem, DealFault) else []
        self._note(promise, None if faults else problem)
        given = tuple(table.seats[seat].nonce for seat in seats)
        if event.commitment and event.nonces != given:
            faults.append(DealFault.NONCES)
        has_person = any(table.seats[seat].occupant is Occupant.PERSON for seat in seats)
        promise.terms = Terms(
            seats, event.nonces, event.opener, game.removed, event.key_rounds, has_person
        )
        promise.terms_log = table.log_id
        if event.key_rounds != key_rounds(event.rounds, has_person=has_person):
            faults.append(DealFault.ROUNDS)
        faults += self._other_colours(promise)
        own = None
        if event.hand is not None and table.my_seat is not None:
            own = table.my_seat, event.hand
        promise.hands.begin(own)
        if not self._is_own_nonce_in(promise, table.my_seat):
            faults.append(DealFault.OWN_NONCE)
        if faults:
            self._tell(promise, *faults)

    def _other_colours(self, deal: Promise) -> list[DealFault]:
        """Within a game the same colours are out of the deck."""
        before = self._promises.get(deal.key._replace(deal=deal.key.deal - 1))
        if before is None or before.terms is None or deal.terms is None:
            return []
        same = before.terms_log != deal.terms_log or before.terms.removed == deal.terms.removed
        return [] if same else [DealFault.COLOURS]

    def _join(self, key: DealKey, game: Game, table: TableView, before: TableView | None) -> None:
        """A snapshot shows a deal: its start, a later moment, or its end."""
        known = self._promises.get(key)
        promise, problem = self._promises.note(key, game.commitment, table.log_id, game.rounds)
        playing = table.phase is Phase.PLAYING
        if known is None and not playing:
            promise.told = True  # over before this client came
        if promise.told:
            return
        if known is None:
            promise.gaps.add(DealGap.LATE if game.commitment else DealGap.UNCOMMITTED)
        if isinstance(problem, DealFault):
            self._tell(promise, problem)
            return
        self._note(promise, problem)
        seats = tuple(player.seat for player in game.players)
        # Who held the seats then is not known, but whoever gave a nonce for it held one.
        me = table.me
        was_there = me is not None and promise.own.taken is not None
        has_person = was_there and me is not None and me.occupant is Occupant.PERSON
        terms = Terms(seats, game.nonces, game.opener, game.removed, game.key_rounds, has_person)
        missed = table.seq - promise.seq
        if before is not None and promise.terms_log != table.log_id:
            before = None
        faults = self._from_then_on(promise, terms, game, table)
        allowed = {key_rounds(game.rounds, has_person=person) for person in (True, has_person)}
        if game.key_rounds not in allowed:
            faults.append(DealFault.ROUNDS)
        if before is not None and before.game is not None:
            changed = {*(game.hand or ())} - {*(before.game.hand or game.hand or ())}
            if changed and not may_change(len(changed), missed):
                faults.append(DealFault.CARDS)
        promise.seq = table.seq
        if not self._is_own_nonce_in(promise, table.my_seat):
            faults.append(DealFault.OWN_NONCE)
        if faults:
            self._tell(promise, *faults)
        elif playing:
            self._deal = promise
        else:
            self._ended(promise, game, table)

    def _ended(self, promise: Promise, game: Game, table: TableView) -> None:
        """A snapshot shows the end of a deal."""
        for seat, cards in game.remaining_hands:
            promise.hands.gave(seat, cards)
        if game.remaining_hands and promise.commitment:
            self._revealed(promise, game.secret, table)
        else:
            self._tell(promise, broken_off=not game.remaining_hands)

    def _from_then_on(
        self, promise: Promise, terms: Terms, game: Game, table: TableView
    ) -> list[DealFault]:
        """Takes note of a deal that a snapshot shows under way, or compares it with its start."""
        if promise.terms is not None and promise.terms_log == table.log_id:
            if missed := table.seq - promise.seq:
                promise.gaps.add(DealGap.MISSED)
                promise.hands.miss(max(missed, 0))
            return _differences(promise.terms, terms)
        if promise.terms is not None:
            promise.gaps.add(DealGap.SET_BACK)
            promise.hands = DealtHands()
        promise.terms, promise.terms_log = terms, table.log_id
        if game.centre or game.discarded or game.remaining_hands:
            promise.gaps.add(DealGap.MISSED)
        elif table.my_seat is not None and game.hand is not None:
            promise.hands.begin((table.my_seat, game.hand))
        else:
            promise.hands.begin(None)
        return self._other_colours(promise)

    def _revealed(self, deal: Promise, secret: bytes, table: TableView) -> None:
        assert table.game is not None, "a deal is part of a game"
        self._tell(deal, *_faults(deal, secret, table.game, short=_is_short(table)))

    def _tell(self, deal: Promise, *faults: DealFault, broken_off: bool = False) -> None:
        """Says what has come of a deal, once; after that it is of no interest."""
        if self._deal is deal:
            self._deal = None
        if deal.told:
            return
        deal.told = True
        tally, terms = self._promises.tally, deal.terms
        if faults:
            tally.faulty += 1
        elif deal.gaps or broken_off:
            tally.not_in_full += 1
        else:
            tally.in_full += 1
        nonces = terms.nonces if terms else ()
        self._found.append(
            DealChecked(
                deal.key.deal,
                tuple(dict.fromkeys(faults)),
                tuple(gap for gap in DealGap if gap in deal.gaps),
                nonces=sum(1 for nonce in nonces if nonce),
                seats=len(terms.seats) if terms else 0,
                word=_word_of(deal.commitment, terms),
                weak=terms is not None and terms.has_person and terms.key_rounds < ROUNDS,
                mine=deal.own.taken is not None and deal.own.taken in nonces,
                broken_off=broken_off,
                not_in_full=tally.not_in_full,
            )
        )


def _word_of(promised: bytes, terms: Terms | None) -> str:
    """The word of a deal; empty when nobody was committed to it, or it makes no sense."""
    try:
        return word(promised, terms.seats, terms.nonces) if promised and terms else ""
    except ValueError:
        return ""


def _differences(before: Terms, now: Terms) -> list[DealFault]:
    """A deal has started once, whatever a snapshot says later."""
    return [
        fault
        for fault, same in (
            (DealFault.NONCES, (before.seats, before.nonces) == (now.seats, now.nonces)),
            (DealFault.OPENER, before.opener == now.opener),
            (DealFault.COLOURS, before.removed == now.removed),
            (DealFault.ROUNDS, before.key_rounds == now.key_rounds),
        )
        if not same
    ]


def _is_short(table: TableView) -> bool:
    """Whether two colours leave the deck (R2)."""
    assert table.game is not None, "a deal is part of a game"
    return table.options.short_deck and len(table.game.players) == 2


def _faults(deal: Promise, secret: bytes, game: Game, *, short: bool) -> list[DealFault]:
    """What does not follow from secret and nonces; `game` is what is known after the deal."""
    terms = deal.terms
    assert terms is not None, "it was dealt"
    if not secret:
        return [DealFault.NEVER_REVEALED]
    if len(terms.nonces) != len(terms.seats):
        return [DealFault.NONCES]
    try:
        promised = commitment(secret, deal.rounds)
        if terms.key_rounds > MAX_ROUNDS:
            deal.gaps.add(DealGap.TOO_MANY_ROUNDS)
            return [] if promised == deal.commitment else [DealFault.COMMITMENT]
        drawn: FirstDraw | None = None
        if deal.key.deal == 1:
            drawn, order = draw_first(
                secret, terms.nonces, short_deck=short, rounds=terms.key_rounds
            )
        else:
            order = draw_deal(
                secret,
                terms.nonces,
                deal_number=deal.key.deal,
                removed=terms.removed,
                rounds=terms.key_rounds,
            )
    except ValueError:
        return [DealFault.COMMITMENT]
    faults: list[DealFault] = []
    if promised != deal.commitment:
        faults.append(DealFault.COMMITMENT)
    if drawn is not None and drawn.removed != terms.removed:
        faults.append(DealFault.COLOURS)
    if drawn is not None and terms.seats[drawn.first_opener] != terms.opener:
        faults.append(DealFault.OPENER)
    if not _is_dealt_from(order, deal, game):
        faults.append(DealFault.CARDS)
    return faults


def _is_dealt_from(order: Sequence[Card], deal: Promise, game: Game) -> bool:
    assert deal.terms is not None, "it was dealt"
    seats = deal.terms.seats
    # All cards that came to light, and whose they were.
    seen = Counter(game.discarded)
    seen.update(game.centre.cards if game.centre else ())
    for _, cards in game.remaining_hands:
        seen.update(cards)
    return seen == Counter(order[: len(seats) * HAND_SIZE]) and deal.hands.are(
        {
            seat: Counter(order[player * HAND_SIZE : (player + 1) * HAND_SIZE])
            for player, seat in enumerate(seats)
        }
    )
