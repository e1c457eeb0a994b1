"""A batch in the making: what a command adds to, and what is thrown away when it refuses.

Time, chance and what was drawn are the draft's, so that commands stay pure. What the engine decided
becomes records here, with what a deal that can be checked needs beside it (docs/fair-deal.md).
"""

from __future__ import annotations

import random
from typing import Final

from odin_contract.enums import Actor, Phase
from odin_engine import DealEnded, GameEnded, decision_of
from odin_engine import Event as GameEvent
from odin_engine.fair_deal import ROUNDS, SECRET_LENGTH
from odin_server.table.dealing import Dealer, Drawing, Drawn, NotDrawnYet
from odin_server.table.events import (
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    Record,
    TableEvent,
)
from odin_server.table.state import TableState, evolve


class Draft:
    """A batch in the making: the records so far, and the state after them."""

    def __init__(
        self,
        state: TableState,
        *,
        now: int,
        chance: random.Random,
        deal_pause: int,
        dealer: Dealer,
        drawn: tuple[Drawing, Drawn] | None = None,
    ) -> None:
        self.state = state
        self.records: list[Record] = []
        self.states: list[TableState] = []
        """The state after each of the records."""
        self.chance: Final = chance
        self.now: Final = now
        """Microseconds since 1970."""
        self._deal_pause: Final = deal_pause
        """Microseconds until the next deal starts, whoever is ready."""
        self._dealer: Final = dealer
        self._drawn: Final = drawn
        """What was drawn before, since it takes time."""

    def add(
        self,
        event: TableEvent | GameEvent,
        actor: Actor | None = None,
        until: int | None = None,
    ) -> None:
        """Adds what happened next."""
        record = Record(self.state.seq + 1, self.now, event, actor, until)
        self.state = evolve(self.state, record)
        self.records.append(record)
        self.states.append(self.state)

    @property
    def time_is_up(self) -> bool:
        """Whether the open decision, if there is one, can be made no more: its time is up."""
        decision = self.state.decision
        return decision is not None and (
            decision.deadline is not None and decision.deadline <= self.now
        )

    def deadline_of(self, player: int) -> int | None:
        """When the time is up of a decision that this player is given now; None: never."""
        turn_time = self.state.options.turn_time
        if not turn_time:
            return None
        return self.now + turn_time * 1_000_000 + self.state.banks[player]

    def add_game_events(self, events: tuple[GameEvent, ...], actor: Actor | None = None) -> None:
        """Adds what the engine decided, and what follows from it on its own.

        When a deal ends its secret is shown, and the next one is committed to; unless the game has
        ended a pause begins. While a deal is played the next decision opens.
        """
        pauses = not isinstance(events[-1], GameEnded)
        ended = False
        for event in events:
            if not isinstance(event, DealEnded):
                self.add(event, actor)
                continue
            ended = True
            self.add(event, actor, self.now + self._deal_pause if pauses else None)
            if self.state.dealt_from is not None:
                self.add(DealRevealed())
        if ended:
            self.commit()
        self._settle()

    def _settle(self) -> None:
        """Opens the next decision, if a deal is played and none is open."""
        state = self.state
        if state.phase is not Phase.PLAYING or state.decision is not None:
            return
        decision = decision_of(state.game)
        assert decision is not None, "somebody can always act while a deal is played"
        opened = DecisionOpened(state.players[decision.seat], decision.kind)
        self.add(opened, until=self.deadline_of(decision.seat))

    def commit(self) -> None:
        """Commits the server to the secret of the next deal."""
        self.add(DealCommitted(self.chance.randbytes(SECRET_LENGTH), ROUNDS))

    def committed(self) -> bytes:
        """The secret of the next deal.

        In a log of the first version nothing may be open: then it is committed to only now, by
        deal/1, since nobody has time to add anything.
        """
        if not self.state.commitment:
            self.add(DealCommitted(self.chance.randbytes(SECRET_LENGTH)))
        return self.state.secret

    def draw(self, drawing: Drawing) -> Drawn:
        """What chance decides about a deal. Raises NotDrawnYet when that takes time."""
        if not drawing.takes_time:
            return self._dealer.deal(drawing)
        if self._drawn is None or self._drawn[0] != drawing:
            raise NotDrawnYet(drawing)
        return self._drawn[1]
