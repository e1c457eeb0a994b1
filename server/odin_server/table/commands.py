"""What may be done to a table: each command checks, and adds events to a draft. Pure.

A command raises Refusal or adds events; a refused draft is thrown away, so nothing has changed.
Time and chance are the draft's. That the next seat has to decide follows by itself: `settle` adds
it, in the same batch. That a deal starts is a command of its own (`start_due`), since drawing it
may take time: `deal_due` says when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from odin_engine import (
    NEW,
    Action,
    IllegalAction,
    InvalidOption,
    Options,
    StartDeal,
    StartGame,
    decide,
    decision_of,
)
from odin_engine import Phase as GamePhase
from odin_engine.strategies import STRATEGIES
from odin_server.confusables import read_alike, reads_like_a_mark
from odin_server.errors import Reason, Refusal, by_the_rules, invalid_option, not_allowed
from odin_server.table.dealing import Drawing, Drawn
from odin_server.table.draft import Draft
from odin_server.table.events import (
    Actor,
    BotFailed,
    CloseReason,
    DeadlineMoved,
    DecisionOpened,
    HostChanged,
    LeaveReason,
    NonceGiven,
    Occupant,
    ReadyChanged,
    RematchAsked,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
    TableClosed,
    TableOpened,
    TableOptions,
)
from odin_server.table.state import Seat, TablePhase, TableState

SUBSTITUTE_LEVEL: Final = "greedy"
"""Who plays for somebody who left or stayed away (D2)."""

BOT_NAMES: Final = ("Astrid", "Bjorn", "Freya", "Gunnar", "Hilda", "Ivar", "Leif", "Sigrid")
"""Names for bots that are added without one; more than a table has seats."""

PROGRAM_WAIT: Final = 250_000
"""For how long the next deal waits for nonces of programs that gave one before. Microseconds."""

_PLAYED_BY: Final[Mapping[Occupant, Actor]] = {
    Occupant.PERSON: Actor.PERSON,
    Occupant.REMOTE_BOT: Actor.BOT,
    Occupant.BUILT_IN_BOT: Actor.BOT,
}


# Opening and ending


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


def close_table(draft: Draft, holder: bytes) -> None:
    """Ends the table for everybody. Host only."""
    _host_only(draft.state, holder)
    _still_open(draft.state)
    draft.add(TableClosed(CloseReason.HOST))


def close_empty_table(draft: Draft) -> None:
    """Ends a table that nobody is at any more."""
    if draft.state.phase is not TablePhase.CLOSED:
        draft.add(TableClosed(CloseReason.EMPTY))


# Seats


class Nonce(NamedTuple):
    """What a seat adds to the next deal."""

    nonce: bytes = b""
    """Empty for nothing."""
    commitment: bytes = b""
    """The one that it is for. Empty: whichever is open."""


NO_NONCE: Final = Nonce()


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
    _still_open(state)
    if own is not None:
        resume_seat(draft, own)
        _add_if_open(draft, own, nonce)
        return own
    seat = _abandoned_seat(state, wanted) if state.in_game else _free_seat(state, wanted)
    _name_is_free(state, name, at=seat)
    draft.add(SeatTaken(seat, name, occupant, "", holder))
    if not draft.state.host and occupant is Occupant.PERSON:
        draft.add(HostChanged(seat))
    _add_if_open(draft, seat, nonce)
    return seat


def leave_seat(draft: Draft, holder: bytes) -> None:
    """Leaves: during a game a substitute plays on, otherwise the seat is free."""
    _vacate(draft, _own_seat(draft.state, holder), LeaveReason.LEFT)


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
    if taken and taken.substitute and draft.state.phase is not TablePhase.CLOSED:
        draft.add(SeatResumed(seat))


def come_back(draft: Draft, holder: bytes) -> None:
    """The holder of a seat watches again. Whoever left on purpose only watches."""
    number = draft.state.seat_held_by(holder)
    if number is not None and _seat_at(draft.state, number).substituted_for is LeaveReason.AWAY:
        resume_seat(draft, number)


def host_away(draft: Draft) -> None:
    """Passes on the role of a host who has no seat and has stayed away for too long."""
    if draft.state.host_seat is None:
        _pass_on_host(draft, after=-1)


def _vacate(draft: Draft, number: int, reason: LeaveReason) -> None:
    seat = _seat_at(draft.state, number)
    was_host = draft.state.host_seat == number
    if draft.state.in_game:
        if seat.substituted_for in (reason, LeaveReason.LEFT):
            return
        draft.add(SubstituteSeated(number, reason, SUBSTITUTE_LEVEL))
    elif draft.state.phase is not TablePhase.CLOSED:
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


def remove_seat(draft: Draft, holder: bytes, number: int, name: str) -> None:
    """Frees the seat of a person or a remote bot, whose credential takes no seat here again.

    Host only, while the table waits. `name` is who is meant; empty: anyone who sits there.
    """
    state = draft.state
    _host_only(state, holder)
    _waiting(state)
    seat = state.seats[number] if 0 <= number < len(state.seats) else None
    if seat is None or not seat.holder:
        raise invalid_option("seat", f"No person and no remote bot sits at seat {number}.")
    if seat.holder == holder:
        raise invalid_option("seat", f"Seat {number} is your own: you can leave it.")
    if name and not read_alike(name, seat.name):
        raise invalid_option("name", f"{seat.name} sits at seat {number} now.")
    draft.add(SeatLeft(number, LeaveReason.REMOVED))
    settle(draft)


# Built-in bots


def add_bot(draft: Draft, holder: bytes, level: str, wanted: int | None, name: str) -> int:
    """Seats a built-in bot. Host only, while the table waits. Returns the seat."""
    state = draft.state
    _host_only(state, holder)
    _waiting(state)
    seat = _free_seat(state, wanted)
    name = name or next(free for free in BOT_NAMES if not _like(state, free))
    _name_is_free(state, name, at=seat)
    if level not in STRATEGIES:
        raise invalid_option("level", f"There is no such level. Choose {', '.join(STRATEGIES)}.")
    draft.add(SeatTaken(seat, name, Occupant.BUILT_IN_BOT, level, b""))
    return seat


def remove_bot(draft: Draft, holder: bytes, number: int) -> None:
    """Removes a built-in bot. Host only, while the table waits."""
    state = draft.state
    _host_only(state, holder)
    _waiting(state)
    seat = state.seats[number] if 0 <= number < len(state.seats) else None
    if seat is None or seat.occupant is not Occupant.BUILT_IN_BOT:
        raise invalid_option("seat", f"No built-in bot sits at seat {number}.")
    draft.add(SeatLeft(number, LeaveReason.REMOVED))


# Games and deals


def set_ready(draft: Draft, holder: bytes, ready: bool, nonce: Nonce = NO_NONCE) -> None:
    """Says whether a seat is ready for the game or the next deal, and what it adds to that.

    Whoever says so is back: from a substitute they take their seat first.
    """
    state = draft.state
    number = _own_seat(state, holder)
    _still_open(state)
    if state.phase is TablePhase.GAME_OVER:
        raise _over("This game is over. Ask for a rematch.")
    if state.phase is TablePhase.PLAYING:
        raise Refusal(Reason.ALREADY_STARTED, "A deal is being played already.")
    _is_for_the_next_deal(state, nonce)
    resume_seat(draft, number)
    _say_ready(draft, number, ready, nonce.nonce)


def start_game(draft: Draft, holder: bytes) -> None:
    """Starts the game with the seats that are taken, or the next deal. Host only."""
    state = draft.state
    _host_only(state, holder)
    _still_open(state)
    match state.phase:
        case TablePhase.GAME_OVER:
            raise _over("This game is over. Ask for a rematch.")
        case TablePhase.PLAYING:
            raise Refusal(Reason.ALREADY_STARTED, "A deal is being played already.")
        case TablePhase.BETWEEN_DEALS:
            next_deal(draft)
        case _:
            _start_game(draft)


def rematch(draft: Draft, holder: bytes, nonce: Nonce = NO_NONCE) -> None:
    """Asks for another game with the same seats; at a table that waits, the same as being ready."""
    state = draft.state
    number = _own_seat(state, holder)
    _still_open(state)
    _not_in_game(state, "A game is being played already.")
    _is_for_the_next_deal(state, nonce)
    if state.phase is TablePhase.WAITING:
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
        _add_nonce(draft, number, nonce.nonce)


def give_nonce(draft: Draft, holder: bytes, nonce: Nonce) -> None:
    """Adds a nonce to the next deal, by deal/2, whether the seat is ready or not."""
    state = draft.state
    number = _own_seat(state, holder)
    _still_open(state)
    if state.phase is TablePhase.PLAYING:
        raise Refusal(Reason.ALREADY_STARTED, "A deal is being played already.")
    _is_for_the_next_deal(state, nonce)
    if not state.rounds:
        raise _stale_commitment(state, "An earlier version committed itself to the next deal.")
    if _seat_at(state, number).substitute:
        raise not_allowed("A substitute plays your seat. Take it back first.")
    _add_nonce(draft, number, nonce.nonce)


def deal_due(state: TableState) -> int | None:
    """From when on a deal is due since all are ready for it. Microseconds since 1970; None: never.

    Programs that gave a nonce before are always ready, but have a moment to give one now.
    """
    seats = [seat for _, seat in state.taken()]
    if not all(seat.ready for seat in seats):
        return None
    if state.phase is TablePhase.WAITING:
        # A table of bots alone starts when it is full, or when its host says so.
        complete = any(seat.occupant is Occupant.PERSON for seat in seats) or all(state.seats)
        if not complete or len(seats) < 2:
            return None
    elif state.phase is not TablePhase.BETWEEN_DEALS:
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
    if draft.state.phase is TablePhase.WAITING:
        _start_game(draft)
    else:
        next_deal(draft)


def next_deal(draft: Draft) -> None:
    """Starts the next deal, whoever is ready; does nothing unless the table is between deals."""
    if draft.state.phase is TablePhase.BETWEEN_DEALS:
        secret, state = draft.committed(), draft.state
        drawing = Drawing(
            secret,
            _nonces(state, state.players),
            draft.state.key_rounds(state.players),
            deal=state.game.deal + 1,
            removed=state.game.removed,
        )
        _start_deal(draft, draft.draw(drawing))


def _start_deal(draft: Draft, drawn: Drawn) -> None:
    draft.add_game_events(decide(draft.state.game, StartDeal(drawn.order)))
    settle(draft)


def _nonces(state: TableState, seats: Iterable[int]) -> tuple[bytes, ...]:
    return tuple([_seat_at(state, number).nonce for number in seats])


def _say_ready(draft: Draft, number: int, ready: bool, nonce: bytes) -> None:
    seat = _seat_at(draft.state, number)
    says = seat.occupant is Occupant.PERSON and seat.said_ready != ready
    if draft.state.rounds:
        _add_nonce(draft, number, nonce)
        if says:
            draft.add(ReadyChanged(number, ready))
    elif says or nonce not in (b"", seat.nonce):
        draft.add(ReadyChanged(number, ready, nonce))


def _add_nonce(draft: Draft, number: int, nonce: bytes) -> None:
    if nonce not in (b"", _seat_at(draft.state, number).nonce):
        draft.add(NonceGiven(number, nonce))


def _add_if_open(draft: Draft, number: int, nonce: Nonce) -> None:
    if draft.state.rounds and nonce.commitment == draft.state.commitment:
        _add_nonce(draft, number, nonce.nonce)


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


# Acting


def act(draft: Draft, holder: bytes, decision_id: int, action: Action) -> None:
    """Acts for the seat that the caller holds; the player named in the action does not matter."""
    state = draft.state
    number = state.seat_held_by(holder)
    if number is None or (state.in_game and number not in state.players):
        raise not_allowed("You hold no seat in this game.")
    if state.phase in (TablePhase.GAME_OVER, TablePhase.CLOSED):
        raise _over("This game is over.")
    if state.phase is TablePhase.WAITING:
        raise Refusal(
            Reason.NOT_STARTED,
            "The game has not started yet.",
            facts={"phase": "WAITING"},
        )
    if state.decision is None or state.decision.id != decision_id:
        raise Refusal(
            Reason.STALE_DECISION,
            "That decision is not open any more. Look at the table again, then decide.",
            facts={"decision_id": str(state.decision.id)} if state.decision else {},
        )
    if state.decision.seat != number:
        raise Refusal(
            Reason.NOT_YOUR_TURN,
            f"It is the turn of seat {state.decision.seat}. Wait for your decision.",
            facts={"seat": str(state.decision.seat)},
        )
    if draft.time_is_up:
        # The time-out is on its way, and nothing else may come of this decision.
        raise Refusal(Reason.STALE_DECISION, "Your time is up. Look at the table again.")
    resume_seat(draft, number)
    seat = _seat_at(state, number)
    _apply(draft, number, action, _PLAYED_BY[seat.occupant])


def time_out(draft: Draft) -> None:
    """Takes the default action (D1) of the open decision if its time is up; else does nothing."""
    decision = draft.state.decision
    if decision is not None and draft.time_is_up:
        _apply_default(draft, decision.seat)


def give_back_time(draft: Draft, microseconds: int) -> None:
    """Gives back time in which nobody could act; nothing when no time runs."""
    state = draft.state
    runs = state.decision is not None and state.decision.deadline is not None
    if microseconds > 0 and (runs or state.next_deal is not None):
        draft.add(DeadlineMoved(microseconds))


def act_for_bot(draft: Draft, decision_id: int, action: Action) -> None:
    """Acts for a seat that the server plays; does nothing if it no longer plays this decision."""
    number = _seat_played_here(draft, decision_id)
    if number is not None:
        seat = _seat_at(draft.state, number)
        _apply(draft, number, action, Actor.SUBSTITUTE if seat.substitute else Actor.BOT)


def bot_failed(draft: Draft, decision_id: int, problem: str) -> None:
    """Reports a bot and takes its default action (D1); does nothing if it no longer plays this."""
    number = _seat_played_here(draft, decision_id)
    if number is not None:
        draft.add(BotFailed(number, problem))
        _apply_default(draft, number)


def _seat_played_here(draft: Draft, decision_id: int) -> int | None:
    """The seat of this decision, if it is open, in time, and the server plays that seat."""
    decision = draft.state.decision
    if decision is None or decision.id != decision_id or draft.time_is_up:
        return None
    seat = draft.state.seats[decision.seat]
    return decision.seat if seat and seat.played_by else None


def _apply_default(draft: Draft, number: int) -> None:
    """Takes the default action (D1) of the open decision, which is this seat's."""
    decision = decision_of(draft.state.game)
    assert decision is not None, "an open decision is the engine's"
    _apply(draft, number, decision.default, Actor.CLOCK)


def _apply(draft: Draft, number: int, action: Action, actor: Actor) -> None:
    player = draft.state.player_of(number)
    assert player is not None, "whoever has to decide plays"
    try:
        events = decide(draft.state.game, action._replace(seat=player))
    except IllegalAction as error:
        raise by_the_rules(error, number) from None
    draft.add_game_events(events, actor)
    settle(draft)


def settle(draft: Draft) -> None:
    """What follows by itself: the next decision."""
    state = draft.state
    if state.phase is TablePhase.PLAYING and state.decision is None:
        decision = decision_of(state.game)
        assert state.game.phase is GamePhase.PLAYING, "a deal is being played"
        assert decision is not None, "somebody can always act"
        opened = DecisionOpened(state.players[decision.seat], decision.kind)
        draft.add(opened, until=draft.deadline_of(decision.seat))


# Checks that several commands share


def _seat_at(state: TableState, number: int) -> Seat:
    """The seat with this number, which is taken."""
    seat = state.seats[number]
    assert seat is not None, "the seat is taken"
    return seat


def _own_seat(state: TableState, holder: bytes) -> int:
    number = state.seat_held_by(holder)
    if number is None:
        raise not_allowed("You hold no seat at this table.")
    return number


def _host_only(state: TableState, holder: bytes) -> None:
    if state.host != holder:
        raise not_allowed("Only the host of this table may do this.")


def _over(message: str) -> Refusal:
    return Refusal(Reason.GAME_OVER, message)


def _still_open(state: TableState) -> None:
    if state.phase is TablePhase.CLOSED:
        raise _over("This table has ended. Open another one.")


def _not_in_game(state: TableState, message: str) -> None:
    if state.in_game:
        raise Refusal(Reason.ALREADY_STARTED, message)


def _waiting(state: TableState) -> None:
    _still_open(state)
    if state.phase is TablePhase.GAME_OVER:
        raise _over("This game is over. Ask for a rematch first.")
    _not_in_game(state, "A game is being played already.")


def _is_for_the_next_deal(state: TableState, nonce: Nonce) -> None:
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


def _free_seat(state: TableState, wanted: int | None) -> int:
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


def _abandoned_seat(state: TableState, wanted: int | None) -> int:
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


def _like(state: TableState, name: str, at: int | None = None) -> Seat | None:
    """Whoever has this name or one that reads like it, other than at the seat to be taken."""
    others = (seat for number, seat in state.taken() if number != at)
    return next((seat for seat in others if read_alike(seat.name, name)), None)


def _name_is_free(state: TableState, name: str, at: int) -> None:
    if other := _like(state, name, at):
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
