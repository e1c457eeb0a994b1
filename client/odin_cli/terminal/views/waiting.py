"""The picture of a table that waits for its game: seats, invitation, options, what was said."""

from __future__ import annotations

from odin_cli.speech.languages import _
from odin_cli.speech.words import clock, colour_name, ending, listed
from odin_cli.terminal.views.board import away, log_lines
from odin_cli.terminal.views.cells import BLANK, Click, Line, Span, line, pad, width, wrap
from odin_cli.terminal.views.frame import section
from odin_cli.terminal.views.screen import Screen
from odin_contract.enums import Occupant
from odin_contract.values import Options, Seat


def waiting_room(screen: Screen, cols: int, room: int) -> list[Line]:
    """The waiting room in at most so many lines; what was said gets what is left."""
    seats = [
        section(" · ".join(filter(None, (_("WAITING ROOM"), screen.table.options.title))), cols),
        *(_seat(screen, seat) for seat in screen.table.seats),
    ]
    invitation = [section(_("INVITE"), cols), *_invitation(screen)] if screen.invitation else []
    options = [section(_("THIS TABLE"), cols), line(f"   {describe(screen.table.options)}")]
    if time := clock(screen.table.options):
        options.append(line(f"   {time}"))
    spare = room - len(seats)
    parts: list[Line] = []
    for part in (invitation, options):
        if part and len(part) + 1 <= spare:
            parts += [BLANK, *part]
            spare -= len(part) + 1
    if spare >= 3:
        heard = log_lines(screen.log, cols, spare - 2)
        parts += [BLANK, section(_("LOG AND CHAT"), cols), *heard]
    return [*seats, *parts][:room]


def _seat(screen: Screen, seat: Seat) -> Line:
    number = f"  {seat.seat + 1}  "
    if seat.free:
        free = f"-- {_('free')} --"
        if not screen.table.i_am_host:
            return line(Span(f"{number}{free}", "quiet"))
        hint = _("b adds a bot here ({level})").format(level=screen.level)
        return line(Span(f"{number}{pad(free, 20)} {hint}", "quiet", Click("add_bot", seat.seat)))
    label = screen.label(seat.seat)
    who = pad(label, max(20, min(width(label), 26)))
    mine = "mine" if seat.seat == screen.table.my_seat else ""
    return line(Span(f"{number}{who} {_state(screen, seat)}", mine))


def _state(screen: Screen, seat: Seat) -> str:
    presence = screen.table.presence.get(seat.seat)
    states = [
        _("host") if seat.host else "",
        _("ready") if seat.ready else _("not ready"),
        away(screen, seat.seat) if presence and not presence.connected else "",
    ]
    level = f" ({seat.level})" if seat.level else ""
    return ", ".join(filter(None, states)) + level


def _invitation(screen: Screen) -> list[Line]:
    return [line("   ", Span(text, "mine")) for text in screen.invitation.splitlines()]


def describe(options: Options) -> str:
    """How a table plays, in one line."""
    parts = [_("{count} seats").format(count=options.seats), ending(options)]
    if options.short_deck:
        parts.append(_("36 cards for two players"))
    if options.private:
        parts.append(_("private"))
    return ", ".join(parts)


def invite_page(screen: Screen, cols: int, room: int) -> list[Line]:
    """Every line with which others sit down, and the first of them as a picture."""
    lines = [section(_("INVITE"), cols), *_invitation(screen)]
    if not screen.invitation:
        hint = _("Others see this table in `odin-table`, or type the address that you typed.")
        return [*lines, *(line(f"   {row}") for row in wrap(hint, cols - 4))]
    picture = screen.picture
    if len(lines) + len(picture) > room or any(width(row) + 4 > cols for row in picture):
        hint = _("A larger window shows a picture that a telephone can read.")
        return [*lines, *(line(f"   {row}") for row in wrap(hint, cols - 4))][:room]
    return [*lines, *(line("   ", Span(row, "picture")) for row in picture)]


def options_page(screen: Screen, cols: int, room: int) -> list[Line]:
    """How this table plays, an option a line. They were chosen when it was opened."""
    options, game = screen.table.options, screen.table.game
    deck = _("36 cards for two players") if options.short_deck else _("54 cards")
    rows = (
        (_("Title"), options.title),
        (_("Seats"), str(options.seats)),
        (_("Game"), ending(options)),
        (_("The deck"), deck),
        (_("The clock"), clock(options) or _("none")),
        (_("Who finds it"), _("whoever has the code") if options.private else _("everybody")),
        (_("Code"), screen.table.code),
        (_("Other bots"), _("may sit down") if options.open_to_bots else _("may not sit down")),
        (_("Not in this game"), listed(map(colour_name, game.removed)) if game else ""),
        (_("Watching"), str(screen.other_watchers or "")),
    )
    shown = [line(f"   {pad(name, 16)} {value}") for name, value in rows if value]
    return [section(_("THIS TABLE"), cols), *shown][:room]


def ready_line(screen: Screen) -> Line:
    """How far the table is from starting."""
    taken = screen.table.taken_seats
    ready = sum(seat.ready for seat in taken)
    if len(taken) < 2:
        missing = (
            _("a game needs two players: b adds a bot")
            if screen.table.i_am_host
            else _("a game needs two players: wait for another")
        )
        return line(f" {missing}")
    bots = all(seat.occupant is not Occupant.PERSON for seat in taken if not seat.ready)
    if bots:
        text = _("{ready} of {count} ready")
    elif screen.table.i_am_host:
        text = _("{ready} of {count} ready · Enter starts")
    else:
        text = _("{ready} of {count} ready · starts when all are")
    return line(f" {text.format(ready=ready, count=len(taken))}")
