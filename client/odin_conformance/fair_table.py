"""A table of the kit that commits itself to each deal, and may lie about it when a script says so.

What it says follows from docs/fair-deal.md, so that a client that checks deals has nothing to
complain of, until the script names a lie. It deals by `deal/2`, or by `deal/1` like older servers.
"""

from __future__ import annotations

import hashlib
from enum import Enum, auto

from odin_conformance.table import CLIENT, OTHER, Table
from odin_engine import Action, Event, Options, StartDeal, StartGame
from odin_engine.fair_deal import ROUNDS, commitment, draw_deal, draw_first, key_rounds
from odin_engine.rules import HAND_SIZE
from odin_table.v1 import event_pb2, table_pb2


class Lie(Enum):
    """What a server can lie about."""

    NONCE_LEFT_OUT = auto()
    """The deal follows from no nonce of the client, which had been taken."""
    SECRET_WRONG = auto()
    """Another secret is shown than the one that the server committed itself to."""
    HANDS_EXCHANGED = auto()
    """Each of the two gets the hand of the other."""
    COMMITMENT_EXCHANGED = auto()
    """The deal follows from another commitment than the one before the nonces."""
    COMMITMENT_REPLAYED = auto()
    """The next deal follows from the secret of this one, which everybody knows by then."""
    KEY_NOT_STRETCHED = auto()
    """The key of the deal has one round, although a person plays."""
    ROUNDS_EXCHANGED = auto()
    """The deal has other rounds than those that were published with the commitment."""


class FairTable(Table):
    """Two seats, and as many deals as a script starts, or one."""

    def __init__(
        self,
        *,
        single_deal: bool = False,
        set_back: FairTable | None = None,
        rounds: int = ROUNDS,
    ) -> None:
        """Waits for the client, and has committed itself to the first deal.

        When it was `set_back` it has another log than it had, and promises something else. It
        deals by `deal/1` when it has no `rounds`.
        """
        self.single_deal = single_deal
        self._rounds = rounds
        self._key_rounds = 0
        self.lie: Lie | None = None
        """What it lies about from now on."""
        self.given = False
        """Whether the client has given a nonce."""
        self._secret = b""
        """Of the deal that waits for nonces; empty while one is played."""
        self._dealt_from = b""
        self._nonces: tuple[bytes, ...] = ()
        self._shown = b""
        self._committed = 100 if set_back else 0
        self._set_back = set_back is not None
        super().__init__("log-2" if set_back else "log-1")
        self._commit()

    @property
    def commitment(self) -> bytes:
        """The open one; empty while a deal is being played."""
        return commitment(self._secret, self._rounds) if self._secret else b""

    @property
    def checkable(self) -> bool:
        """Not for a client that knows of another log."""
        return not self._set_back

    @property
    def takes_nonces(self) -> bool:
        """Whether a deal of this game waits for what the client adds to it."""
        waits = (table_pb2.TABLE_PHASE_WAITING, table_pb2.TABLE_PHASE_BETWEEN_DEALS)
        return bool(self._secret) and self._phase in waits

    def give(self, nonce: bytes) -> None:
        """Notes that the client is ready, and what it adds to the next deal."""
        self.given = True
        self._give(CLIENT, b"" if self.lie is Lie.NONCE_LEFT_OUT else nonce)

    def make_ready(self, ready: bool) -> None:
        """Says that the client is ready, or is not after all: by `deal/1` its nonce is void."""
        super().make_ready(ready)
        self.seats[CLIENT].nonce = b""

    def exchange_commitment(self) -> None:
        """Goes on as if it had committed itself to something else."""
        self._secret = _secret(-self._committed)

    def start(self) -> None:
        """Starts the next deal, and the game when there is none."""
        nonces = [seat.nonce for seat in self.seats]
        if self.lie is Lie.NONCE_LEFT_OUT:
            nonces[CLIENT] = b""
        if self.lie is Lie.COMMITMENT_EXCHANGED:
            self.exchange_commitment()
        self._dealt_from, self._secret = self._secret, b""
        self._nonces, self._shown = tuple(nonces), b""
        has_person = any(seat.occupant == table_pb2.OCCUPANT_PERSON for seat in self.seats)
        if self.lie in (Lie.KEY_NOT_STRETCHED, Lie.ROUNDS_EXCHANGED):
            has_person = False
        self._key_rounds = key_rounds(self._rounds, has_person=has_person)
        for seat in self.seats:
            seat.nonce = b""
        if self.state.deal == 0:
            drawn, order = draw_first(
                self._dealt_from, nonces, short_deck=False, rounds=self._key_rounds
            )
            threshold = None if self.single_deal else 100
            options = Options(players=2, threshold=threshold, short_deck=False)
            start = StartGame(options, removed=(), first_opener=drawn.first_opener)
            self._do(start, event_pb2.ACTOR_UNSPECIFIED)
        else:
            number = self.state.deal + 1
            order = draw_deal(
                self._dealt_from,
                nonces,
                deal_number=number,
                removed=(),
                rounds=self._key_rounds,
            )
        if self.lie is Lie.HANDS_EXCHANGED:
            one, other = order[:HAND_SIZE], order[HAND_SIZE : 2 * HAND_SIZE]
            order = (*other, *one, *order[2 * HAND_SIZE :])
        self._do(StartDeal(order), event_pb2.ACTOR_UNSPECIFIED)
        self._open_decision()

    def _give(self, seat: int, nonce: bytes) -> None:
        self.seats[seat].nonce = nonce
        changed = event_pb2.ReadyChanged(seat=seat, ready=True)
        if not self._rounds:
            changed.nonce = nonce
        elif nonce:
            given = event_pb2.NonceGiven(seat=seat, nonce=nonce)
            self.add(event_pb2.Event(nonce_given=given))
        if changed.nonce or not self.seats[seat].ready:
            self.seats[seat].ready = True
            self.add(event_pb2.Event(ready_changed=changed))

    def _commit(self) -> None:
        if self.lie is Lie.COMMITMENT_REPLAYED:
            self._secret = self._dealt_from
        else:
            self._committed += 1
            self._secret = _secret(self._committed)
        over = self._phase == table_pb2.TABLE_PHASE_GAME_OVER
        committed = event_pb2.DealCommitted(
            game=2 if over else 1,
            deal=1 if over else self.state.deal + 1,
        )
        self._say_promise(committed)
        self.add(event_pb2.Event(deal_committed=committed))
        self._give(OTHER, b"what the other seat adds")

    def _do(
        self, command: StartGame | StartDeal | Action, actor: event_pb2.Actor.ValueType
    ) -> None:
        super()._do(command, actor)
        if self._shown and not self._secret:
            self._commit()

    def _told(self, message: event_pb2.Event) -> None:
        super()._told(message)
        if message.HasField("deal_ended"):
            self._shown = self._dealt_from
            if self.lie is Lie.SECRET_WRONG:
                self._shown = _secret(0)
            revealed = event_pb2.DealRevealed(deal=message.deal_ended.deal, secret=self._shown)
            if self._rounds:
                self.add(event_pb2.Event(stretched_deal_revealed=revealed))
            else:
                self.add(event_pb2.Event(deal_revealed=revealed))

    # Messages

    @property
    def options(self) -> table_pb2.TableOptions:
        """How it plays."""
        options = super().options
        if not self.single_deal:
            options.threshold = 100
        return options

    def view(self) -> table_pb2.TableView:
        """What a snapshot holds now."""
        view = super().view()
        if self._secret:
            self._say_promise(view)
        return view

    def _game(self) -> table_pb2.GameView:
        game = super()._game()
        self._say_source(game)
        game.secret = self._shown
        return game

    def _message(self, event: Event, actor: event_pb2.Actor.ValueType) -> event_pb2.Event:
        message = super()._message(event, actor)
        if message.HasField("deal_started"):
            self._say_source(message.deal_started)
        return message

    def _say_promise(self, message: event_pb2.DealCommitted | table_pb2.TableView) -> None:
        """Says what the next deal will follow from."""
        if self._rounds:
            message.source.commitment = self.commitment
            message.source.rounds = self._rounds
        else:
            message.commitment = self.commitment

    def _say_source(self, message: event_pb2.DealStarted | table_pb2.GameView) -> None:
        """Says what the deal that was started follows from."""
        source = message.source if self._rounds else message
        source.commitment = commitment(self._dealt_from, self._rounds)
        source.nonces.extend(self._nonces)
        if self._rounds:
            message.source.rounds = 1 if self.lie is Lie.ROUNDS_EXCHANGED else self._rounds
            message.source.key_rounds = self._key_rounds


def _secret(number: int) -> bytes:
    """The same ones each time: what a client adds to them is its own."""
    return hashlib.sha256(f"odin-table/conformance/{number}".encode()).digest()
