"""What seats add to the next deal (docs/fair-deal.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

from odin_server.errors import Reason, Refusal, not_allowed
from odin_server.table.commands.checks import own_seat, seat_at
from odin_server.table.commands.phases import check_phase
from odin_server.table.draft import Draft
from odin_server.table.events import NonceGiven
from odin_server.table.state import TableState


class Nonce(NamedTuple):
    """What a seat adds to the next deal."""

    nonce: bytes = b""
    """Empty for nothing."""
    commitment: bytes = b""
    """The one that it is for. Empty: whichever is open."""


NO_NONCE: Final = Nonce()


def give_nonce(draft: Draft, holder: bytes, nonce: Nonce) -> None:
    """Adds a nonce to the next deal, by deal/2, whether the seat is ready or not."""
    state = draft.state
    number = own_seat(state, holder)
    check_phase("give_nonce", state)
    is_for_the_next_deal(state, nonce)
    if not state.rounds:
        raise _stale_commitment(state, "An earlier version committed itself to the next deal.")
    if seat_at(state, number).substitute:
        raise not_allowed("A substitute plays your seat. Take it back first.")
    add_nonce(draft, number, nonce.nonce)


def add_nonce(draft: Draft, number: int, nonce: bytes) -> None:
    """Adds a nonce to the next deal, unless the seat has given just this one."""
    if nonce not in (b"", seat_at(draft.state, number).nonce):
        draft.add(NonceGiven(number, nonce))


def add_if_open(draft: Draft, number: int, nonce: Nonce) -> None:
    """Adds a nonce that is for the next deal, by deal/2, and drops any other."""
    if draft.state.rounds and nonce.commitment == draft.state.commitment:
        add_nonce(draft, number, nonce.nonce)


def is_for_the_next_deal(state: TableState, nonce: Nonce) -> None:
    """Refuses a nonce that is for another deal than the next one."""
    if nonce.commitment not in (b"", state.commitment):
        raise _stale_commitment(
            state, "That was for another deal than the next one. Look at the table again."
        )


def _stale_commitment(state: TableState, message: str) -> Refusal:
    facts: dict[str, str] = {}
    if state.commitment:
        game, deal = state.coming_deal
        facts = {"commitment": state.commitment.hex(), "game": str(game), "deal": str(deal)}
    return Refusal(Reason.STALE_COMMITMENT, message, facts=facts)
