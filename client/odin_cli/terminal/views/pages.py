"""What can lie over the table: the keys, the rules, the log.

Whose turn it is stays in sight below all of them.
"""

from __future__ import annotations

from odin_cli.speech.languages import _
from odin_cli.speech.rules_text import rules_paragraphs
from odin_cli.terminal.views.board import log_lines
from odin_cli.terminal.views.cells import Line, line, pad, width, wrap
from odin_cli.terminal.views.frame import section
from odin_cli.terminal.views.screen import Screen
from odin_contract.enums import Phase


def _keys(screen: Screen) -> tuple[tuple[str, str], ...]:
    """Every key that means something where the person is, and what it does."""
    about = (
        ("i o", _("how others come here; how this table plays")),
        ("w l c", _("scores, log, chat")),
        ("q", _("leave")),
        ("F2 m", _("mouse on or off; Shift and drag selects text")),
        ("Ctrl-C -L", _("quit, your seat is kept; draw again")),
    )
    if screen.table.phase is Phase.WAITING:
        return (
            (_("Enter"), _("start, whoever is ready (host)")),
            (_("Space"), _("ready, or not ready after all")),
            ("b B", _("seat a bot, take the last one away (host)")),
            ("← →", _("how the next bot plays (host)")),
            ("k", _("free a seat, of a bot or a person (host)")),
            *about,
        )
    return (
        (
            "1-9",
            _("type the number you want: 9 6 1 = 961; the same digit again: another equal card"),
        ),
        ("ROYGBV", _("capitals: only that colour for the digits typed next; or the card to take")),
        (_("Tab S-Tab"), _("next, previous legal play")),
        (_("← → Space"), _("move, take the card up or down; or click it")),
        (_("Enter"), _("play")),
        ("p", _("pass; twice if you could play")),
        ("↑ ↓", _("which card of the centre you take; or click it")),
        (_("Bksp Esc"), _("put the last card back, put all back")),
        ("a s", _("take the whole hand, sort it by colour or by number")),
        *about,
    )


def help_rows(screen: Screen, cols: int) -> list[str]:
    """The keys, and the rules in three lines."""
    rows: list[str] = []
    column = max(width(keys) for keys, _meaning in _keys(screen)) + 2
    for keys, meaning in _keys(screen):
        first, *more = wrap(meaning, cols - column - 2)
        rows += [pad(keys, column) + first, *(" " * column + row for row in more)]
    in_short = _(
        "Same number or same colour. As many cards as the centre or one more, and a higher "
        "number. Then take one of the old cards. Empty your hand to go out: each card left costs "
        "a point."
    )
    return [*rows, "", *wrap(in_short, cols - 2)]


def rules_rows(cols: int) -> list[str]:
    """The rules in lines of this width: each paragraph is broken anew."""
    return [row for text in rules_paragraphs() for row in (*wrap(text, cols - 2), "")][:-1]


def text_page(title: str, rows: list[str], scroll: int, cols: int, room: int) -> list[Line]:
    """A page of text from the row that it is scrolled to; says so when there is more."""
    shown = rows[scroll : scroll + room - 1]
    more = len(rows) - scroll - len(shown)
    heading = f"{title} · {_('{count} more: PgDn').format(count=more)}" if more > 0 else title
    return [section(heading, cols), *(line(f" {row}") for row in shown)]


def log_page(screen: Screen, cols: int, room: int) -> list[Line]:
    """What was heard, up to the entry that it is scrolled back to."""
    shown = screen.log[: len(screen.log) - screen.scroll]
    title = _("LOG")
    if screen.scroll:
        title += " · " + _("{count} newer below").format(count=screen.scroll)
    return [section(title, cols), *log_lines(shown, cols, room - 1)]
