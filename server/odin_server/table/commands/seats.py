"""Who sits where: taking, leaving and getting back a seat, hosts, built-in bots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from odin_contract.enums import LeaveReason, Occupant, Phase
from odin_server.authority import Authority
from odin_server.confusables import read_alike
from odin_server.errors import invalid_option, not_allowed
from odin_server.table.commands.checks import (
    abandoned_seat,
    free_seat,
    host_only,
    like,
    name_is_free,
    own_seat,
    seat_at,
)
from odin_server.table.commands.nonces import NO_NONCE, Nonce, add_if_open
from odin_server.table.commands.phases import check_phase
from odin_server.table.draft import Draft
from odin_server.table.events import (
    HostChanged,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
)

SUBSTITUTE_LEVEL: Final = "greedy"
"""Who plays for somebody who left or stayed away (D2)."""

BOT_NAMES: Final = ("Astrid", "Bjorn", "Freya", "Gunnar", "Hilda", "Ivar", "Leif", "Sigrid")
"""Names for bots that are added without one; more than a table has seats."""


def take_seat(
    draft: Draft,
    holder: bytes,
    name: str,
    wanted: int | None,
    occupant: Occupant,
    nonce: Nonce = NO_NONCE,
) -> int:
    """Sits the holder down, or gives back the seat that they hold. Returns the seat.

    During a game only at a seat whose holder has left: hand and score come with it. A nonce that is
    not for the next deal is dropped.
    """
    state = draft.state
    own = state.seat_held_by(holder)
    if own is None and occupant is Occupant.REMOTE_BOT and not state.options.open_to_bots:
        raise not_allowed("This table is not open to bots. Its host can change that next time.")
    if holder in state.barred:
        raise not_allowed("The host has removed you from this table. Choose another one.")
    check_phase("take_seat", state)
    if own is not None:
        resume_seat(draft, own)
        add_if_open(draft, own, nonce)
        return own
    seat = abandoned_seat(state, wanted) if state.in_game else free_seat(state, wanted)
    name_is_free(state, name, at=seat)
    draft.add(SeatTaken(seat, name, occupant, "", holder))
    if not draft.state.host and occupant is Occupant.PERSON:
        draft.add(HostChanged(seat))
    add_if_open(draft, seat, nonce)
    return seat


def leave_seat(draft: Draft, holder: bytes) -> None:
    """Leaves: during a game a substitute plays on, otherwise the seat is free."""
    number = own_seat(draft.state, holder)
    check_phase("leave_seat", draft.state)
    _vacate(draft, number, LeaveReason.LEFT)


def away_command(number: int) -> Callable[[Draft], None]:
    """What becomes of a seat whose holder has stayed away for too long."""

    def seat_away(draft: Draft) -> None:
        seat = draft.state.seats[number]
        if seat and seat.substitute is None:
            _vacate(draft, number, LeaveReason.AWAY)

    return seat_away


def resume_seat(draft: Draft, seat: int) -> None:
    """Gives a seat back to its holder, if a substitute plays it."""
    taken = draft.state.seats[seat]
    if taken and taken.substitute and draft.state.phase is not Phase.CLOSED:
        draft.add(SeatResumed(seat))


def come_back(draft: Draft, holder: bytes) -> None:
    """The holder of a seat watches again. A player who left on purpose only watches."""
    number = draft.state.seat_held_by(holder)
    if number is not None and seat_at(draft.state, number).substituted_for is LeaveReason.AWAY:
        resume_seat(draft, number)


def host_away(draft: Draft) -> None:
    """Passes on the role of a host who has no seat and has stayed away for too long."""
    if draft.state.host_seat is None:
        _pass_on_host(draft, after=-1)


def _vacate(draft: Draft, number: int, reason: LeaveReason) -> None:
    seat = seat_at(draft.state, number)
    was_host = draft.state.host_seat == number
    if draft.state.in_game:
        if seat.substituted_for in (reason, LeaveReason.LEFT):
            return
        draft.add(SubstituteSeated(number, reason, SUBSTITUTE_LEVEL))
    elif draft.state.phase is not Phase.CLOSED:
        draft.add(SeatLeft(number, reason))
    if was_host:
        _pass_on_host(draft, after=number)


def _pass_on_host(draft: Draft, after: int) -> None:
    """Makes the next person clockwise the host, if there is one."""
    state = draft.state
    count = len(state.seats)
    for number in ((after + step) % count for step in range(1, count + 1)):
        seat = state.seats[number]
        if seat and seat.occupant is Occupant.PERSON and not seat.substitute and number != after:
            draft.add(HostChanged(number))
            return
    if state.host and state.host_seat is None:
        draft.add(HostChanged(None))


def remove_seat(draft: Draft, by: Authority, number: int, name: str) -> None:
    """Frees the seat of a person or a remote bot, whose credential takes no seat here again.

    Host only, while the table waits. `name` is who is meant; empty: anyone who sits there.
    """
    state = draft.state
    host_only(state, by)
    check_phase("remove_seat", state)
    seat = state.seats[number] if 0 <= number < len(state.seats) else None
    if seat is None or not state.holders[number]:
        raise invalid_option("seat", f"No person and no remote bot sits at seat {number}.")
    if state.holders[number] == by.holder:
        raise invalid_option("seat", f"Seat {number} is your own: you can leave it.")
    if name and not read_alike(name, seat.name):
        raise invalid_option("name", f"{seat.name} sits at seat {number} now.")
    draft.add(SeatLeft(number, LeaveReason.REMOVED))


def add_bot(
    draft: Draft, by: Authority, level: str, wanted: int | None, name: str, levels: Sequence[str]
) -> int:
    """Seats a built-in bot. Host only, while the table waits. Returns the seat."""
    state = draft.state
    host_only(state, by)
    check_phase("add_bot", state)
    seat = free_seat(state, wanted)
    name = name or next(free for free in BOT_NAMES if not like(state, free))
    name_is_free(state, name, at=seat)
    if level not in levels:
        raise invalid_option("level", f"There is no such level. Choose {', '.join(levels)}.")
    draft.add(SeatTaken(seat, name, Occupant.BUILT_IN_BOT, level, b""))
    return seat


def remove_bot(draft: Draft, by: Authority, number: int) -> None:
    """Removes a built-in bot. Host only, while the table waits."""
    state = draft.state
    host_only(state, by)
    check_phase("remove_bot", state)
    seat = state.seats[number] if 0 <= number < len(state.seats) else None
    if seat is None or seat.occupant is not Occupant.BUILT_IN_BOT:
        raise invalid_option("seat", f"No built-in bot sits at seat {number}.")
    draft.add(SeatLeft(number, LeaveReason.REMOVED))
