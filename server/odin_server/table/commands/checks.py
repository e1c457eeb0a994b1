"""Checks that several commands share: each raises a Refusal, and changes nothing."""

from __future__ import annotations

from odin_server.authority import Authority
from odin_server.confusables import read_alike, reads_like_a_mark
from odin_server.errors import Reason, Refusal, invalid_option, not_allowed
from odin_server.table.state import Seat, TableState


def seat_at(state: TableState, number: int) -> Seat:
    """The seat with this number, which is taken."""
    seat = state.seats[number]
    assert seat is not None, "the seat is taken"
    return seat


def own_seat(state: TableState, holder: bytes) -> int:
    """The seat that this credential holds."""
    number = state.seat_held_by(holder)
    if number is None:
        raise not_allowed("You hold no seat at this table.")
    return number


def host_only(state: TableState, by: Authority) -> None:
    """Refuses everyone but the host and operators."""
    if not by.may_host(state.host):
        raise not_allowed("Only the host of this table may do this.")


def free_seat(state: TableState, wanted: int | None) -> int:
    """A free seat: the wanted one, or the first."""
    free = [number for number, seat in enumerate(state.seats) if seat is None]
    if not free:
        raise Refusal(Reason.TABLE_FULL, "Every seat at this table is taken.")
    if wanted is None:
        return free[0]
    if not 0 <= wanted < len(state.seats):
        raise invalid_option("seat", f"This table has seats 0 to {len(state.seats) - 1}.")
    if wanted not in free:
        raise Refusal(Reason.SEAT_TAKEN, f"Seat {wanted} is taken. Choose another one.")
    return wanted


def abandoned_seat(state: TableState, wanted: int | None) -> int:
    """A seat whose holder left during the game: the wanted one, or the first."""
    abandoned = state.abandoned()
    if not abandoned:
        raise Refusal(
            Reason.ALREADY_STARTED,
            "A game is being played, and nobody has left it. You can watch meanwhile.",
        )
    if wanted is None:
        return abandoned[0]
    if wanted not in abandoned:
        raise Refusal(
            Reason.SEAT_TAKEN,
            f"During a game you can only take a seat whose holder has left: "
            f"{', '.join(map(str, abandoned))}.",
        )
    return wanted


def like(state: TableState, name: str, at: int | None = None) -> Seat | None:
    """The seat whose name is this one or reads like it, other than the seat to be taken."""
    others = (seat for number, seat in state.taken() if number != at)
    return next((seat for seat in others if read_alike(seat.name, name)), None)


def name_is_free(state: TableState, name: str, at: int) -> None:
    """Refuses a name that reads like another one at this table, or like a mark of clients."""
    if other := like(state, name, at):
        raise Refusal(
            Reason.NAME_TAKEN,
            f"{other.name} at this table has that name, or one that reads like it. Choose another.",
            facts={"name": other.name},
        )
    if reads_like_a_mark(name):
        raise Refusal(
            Reason.NAME_TAKEN,
            "That name reads like what clients write at a seat, such as (you). Choose another one.",
        )
