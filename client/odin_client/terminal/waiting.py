"""The picture of a table that waits for its game: seats, invitation, options, what was said."""

from __future__ import annotations

from odin_client.terminal.board import log_lines, section
from odin_client.terminal.cells import BLANK, Click, Line, Span, line, pad, width
from odin_client.terminal.screen import Screen
from odin_client.values import Occupant, Options, Seat


def waiting_room(screen: Screen, cols: int, room: int) -> list[Line]:
    """The waiting room in at most so many lines; what was said gets what is left."""
    seats = [section("WAITING ROOM", cols), *(_seat(screen, seat) for seat in screen.table.seats)]
    invitation = [section("INVITE", cols), *_invitation(screen)] if screen.invitation else []
    options = [section("THIS TABLE", cols), line(f"   {describe(screen.table.options)}")]
    spare = room - len(seats)
    parts: list[Line] = []
    for part in (invitation, options):
        if part and len(part) + 1 <= spare:
            parts += [BLANK, *part]
            spare -= len(part) + 1
    if spare >= 3:
        heard = log_lines(screen.log, cols, spare - 2)
        parts += [BLANK, section("LOG AND CHAT", cols), *heard]
    return [*seats, *parts][:room]


def _seat(screen: Screen, seat: Seat) -> Line:
    number = f"  {seat.seat + 1}  "
    if seat.free:
        if not screen.table.i_am_host:
            return line(Span(f"{number}-- free --", "quiet"))
        hint = f"b adds a bot here ({screen.level})"
        return line(
            Span(f"{number}{pad('-- free --', 20)} {hint}", "quiet", Click("add_bot", seat.seat))
        )
    label = screen.label(seat.seat)
    who = pad(label, max(20, min(width(label), 26)))
    mine = "mine" if seat.seat == screen.table.my_seat else ""
    return line(Span(f"{number}{who} {_state(screen, seat)}", mine))


def _state(screen: Screen, seat: Seat) -> str:
    presence = screen.table.presence.get(seat.seat)
    states = [
        "host" if seat.host else "",
        "ready" if seat.ready else "not ready",
        "away" if presence and not presence.connected else "",
    ]
    level = f" ({seat.level})" if seat.level else ""
    return ", ".join(filter(None, states)) + level


def _invitation(screen: Screen) -> list[Line]:
    return [line("   ", Span(text, "mine")) for text in screen.invitation.splitlines()]


def describe(options: Options) -> str:
    """How a table plays, in one line."""
    ending = "one single deal" if options.threshold is None else f"to {options.threshold} points"
    deck = ", two play with 36 cards" if options.short_deck else ""
    private = ", private" if options.private else ""
    return f"{options.seats} seats, {ending}{deck}{private}"


def ready_line(screen: Screen) -> Line:
    """How far the table is from starting."""
    taken = screen.table.taken_seats
    ready = sum(seat.ready for seat in taken)
    if len(taken) < 2:
        missing = "a game needs two players"
        return line(
            f" {missing}: {'b adds a bot' if screen.table.i_am_host else 'wait for another'}"
        )
    starts = "Enter starts" if screen.table.i_am_host else "starts when all are"
    bots = all(seat.occupant is not Occupant.PERSON for seat in taken if not seat.ready)
    waits = "" if bots else f" · {starts}"
    return line(f" {ready} of {len(taken)} ready{waits}")
