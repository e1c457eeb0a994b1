"""The life of a table: opening and ending it, being ready, games and deals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from odin_contract.enums import CloseReason, Occupant, Phase
from odin_contract.values import Options as TableOptions
from odin_engine import NEW, InvalidOption, Options, StartDeal, StartGame, decide
from odin_server.authority import Authority
from odin_server.errors import Reason, Refusal, invalid_option
from odin_server.table.commands.checks import host_only, own_seat, seat_at
from odin_server.table.commands.nonces import NO_NONCE, Nonce, add_nonce, is_for_the_next_deal
from odin_server.table.commands.phases import check_phase
from odin_server.table.commands.seats import resume_seat
from odin_server.table.dealing import Drawing, Drawn
from odin_server.table.draft import Draft
from odin_server.table.events import (
    ReadyChanged,
    RematchAsked,
    SeatLeft,
    TableClosed,
    TableOpened,
)
from odin_server.table.state import TableState

PROGRAM_WAIT: Final = 250_000
"""For how long the next deal waits for nonces of programs that gave one before. Microseconds."""


def open_table(draft: Draft, options: TableOptions, host: bytes, code: str, log_id: str) -> None:
    """Opens the table; its options were checked by `check_options`."""
    draft.add(TableOpened(options, host, code, log_id))
    draft.commit()


def check_options(options: TableOptions) -> None:
    """Raises INVALID_OPTION for what the rules do not offer (R2, R3, R16)."""
    try:
        Options(players=options.seats, threshold=options.threshold)
    except InvalidOption as error:
        field = "seats" if error.option == "players" else error.option
        raise invalid_option(f"options.{field}", error.message) from None


def close_table(draft: Draft, by: Authority) -> None:
    """Ends the table for everybody. Host only."""
    host_only(draft.state, by)
    check_phase("close_table", draft.state)
    draft.add(TableClosed(CloseReason.HOST))


def close_empty_table(draft: Draft) -> None:
    """Ends a table that nobody is at any more."""
    if draft.state.phase is not Phase.CLOSED:
        draft.add(TableClosed(CloseReason.EMPTY))


def set_ready(draft: Draft, holder: bytes, ready: bool, nonce: Nonce = NO_NONCE) -> None:
    """Says whether a seat is ready for the game or the next deal, and what it adds to that.

    Whoever says so is back: from a substitute they take their seat first.
    """
    state = draft.state
    number = own_seat(state, holder)
    check_phase("set_ready", state)
    is_for_the_next_deal(state, nonce)
    resume_seat(draft, number)
    _say_ready(draft, number, ready, nonce.nonce)


def start_game(draft: Draft, by: Authority) -> None:
    """Starts the game with the seats that are taken, or the next deal. Host only."""
    state = draft.state
    host_only(state, by)
    check_phase("start_game", state)
    if state.phase is Phase.BETWEEN_DEALS:
        next_deal(draft)
    else:
        _start_game(draft)


def rematch(draft: Draft, holder: bytes, nonce: Nonce = NO_NONCE) -> None:
    """Asks for another game with the same seats; at a table that waits, the same as being ready."""
    state = draft.state
    number = own_seat(state, holder)
    check_phase("rematch", state)
    is_for_the_next_deal(state, nonce)
    if state.phase is Phase.WAITING:
        _say_ready(draft, number, ready=True, nonce=nonce.nonce)
        return
    # Whoever is not here now is not here for the next game.
    for other, seat in list(state.taken()):
        if seat.substituted_for is not None and other != number:
            draft.add(SeatLeft(other, seat.substituted_for))
    resume_seat(draft, number)
    by_deal_2 = draft.state.rounds > 0
    draft.add(RematchAsked(number, b"" if by_deal_2 else nonce.nonce))
    if by_deal_2:
        add_nonce(draft, number, nonce.nonce)


def deal_due(state: TableState) -> int | None:
    """From when on a deal is due since all are ready for it. Microseconds since 1970; None: never.

    Programs that gave a nonce before are always ready, but have a moment to give one now.
    """
    seats = [seat for _, seat in state.taken()]
    if not all(seat.ready for seat in seats):
        return None
    if state.phase is Phase.WAITING:
        # A table of bots alone starts when it is full, or when its host says so.
        complete = any(seat.occupant is Occupant.PERSON for seat in seats) or all(state.seats)
        if not complete or len(seats) < 2:
            return None
    elif state.phase is not Phase.BETWEEN_DEALS:
        return None
    waits = state.rounds and any(
        seat.occupant is Occupant.REMOTE_BOT and seat.gives and not (seat.nonce or seat.substitute)
        for seat in seats
    )
    return state.deal_ended + PROGRAM_WAIT if waits else 0


def start_due(draft: Draft) -> None:
    """Starts the game or the deal that all are ready for; does nothing when none is due."""
    due = deal_due(draft.state)
    if due is None or due > draft.now:
        return
    if draft.state.phase is Phase.WAITING:
        _start_game(draft)
    else:
        next_deal(draft)


def next_deal(draft: Draft) -> None:
    """Starts the next deal, ready or not; does nothing unless the table is between deals."""
    if draft.state.phase is Phase.BETWEEN_DEALS:
        secret = draft.committed()
        state = draft.state  # after `committed`, which may have added to it
        drawing = Drawing(
            secret,
            _nonces(state, state.players),
            draft.state.key_rounds(state.players),
            deal=state.game.deal + 1,
            removed=state.game.removed,
        )
        _start_deal(draft, draft.draw(drawing))


def _start_game(draft: Draft) -> None:
    seats = [number for number, _ in draft.state.taken()]
    if len(seats) < 2:
        raise Refusal(
            Reason.NOT_STARTED,
            "A game needs two players. Wait for somebody, or add a bot.",
            facts={"phase": "WAITING"},
        )
    options = Options(
        players=len(seats),
        threshold=draft.state.options.threshold,
        short_deck=draft.state.options.short_deck,
    )
    secret = draft.committed()
    drawn = draft.draw(
        Drawing(
            secret,
            _nonces(draft.state, seats),
            draft.state.key_rounds(seats),
            deal=1,
            short_deck=options.colours_to_remove > 0,
        )
    )
    assert drawn.first is not None, "it is the first deal of a game"
    first = drawn.first
    draft.add_game_events(decide(NEW, StartGame(options, first.removed, first.first_opener)))
    _start_deal(draft, drawn)


def _start_deal(draft: Draft, drawn: Drawn) -> None:
    draft.add_game_events(decide(draft.state.game, StartDeal(drawn.order)))


def _nonces(state: TableState, seats: Iterable[int]) -> tuple[bytes, ...]:
    return tuple([seat_at(state, number).nonce for number in seats])


def _say_ready(draft: Draft, number: int, ready: bool, nonce: bytes) -> None:
    seat = seat_at(draft.state, number)
    says = seat.occupant is Occupant.PERSON and seat.said_ready != ready
    if draft.state.rounds:
        add_nonce(draft, number, nonce)
        if says:
            draft.add(ReadyChanged(number, ready))
    elif says or nonce not in (b"", seat.nonce):
        draft.add(ReadyChanged(number, ready, nonce))
