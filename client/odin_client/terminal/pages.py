"""What can lie over the table: the keys, the rules, the log; and the end of a table.

Whose turn it is stays in sight below all of them.
"""

from __future__ import annotations

from typing import Final

from odin_client.rules_text import RULES
from odin_client.terminal.board import log_lines, section
from odin_client.terminal.cells import BLANK, Line, line, pad, wrap
from odin_client.terminal.screen import Screen

_KEYS: Final = (
    ("1-9", "type the number you want: 9 6 1 = 961; the same digit again: another equal card"),
    ("ROYGBV", "capitals: only that colour for the digits typed next"),
    ("Tab S-Tab", "next, previous legal play"),
    ("← → Space", "move, take the card up or down; or click it"),
    ("Enter", "play"),
    ("p", "pass; twice if you could play"),
    ("↑ ↓", "which card of the centre you take; or click it"),
    ("Bksp Esc", "put the last card back, put all back"),
    ("a s", "take the whole hand, sort it by colour or by number"),
    ("w l c", "scores, log, chat"),
    ("q", "leave"),
    ("F2 m", "mouse on or off; Shift and drag selects text"),
    ("Ctrl-C -L", "quit, your seat is kept; draw again"),
)

_RULES_IN_SHORT: Final = (
    "Same number or same colour. As many cards as the centre or one more, and a higher number. "
    "Then take one of the old cards. Empty your hand to go out: each card left costs a point."
)


def help_rows(cols: int) -> list[str]:
    """The keys, and the rules in three lines."""
    rows: list[str] = []
    for keys, meaning in _KEYS:
        first, *more = wrap(meaning, cols - 13)
        rows += [pad(keys, 11) + first, *(" " * 11 + row for row in more)]
    return [*rows, "", *wrap(_RULES_IN_SHORT, cols - 2)]


def rules_rows(cols: int) -> list[str]:
    """The rules in lines of this width: each paragraph is broken anew."""
    paragraphs = RULES.strip().split("\n\n")
    return [row for text in paragraphs for row in (*wrap(text, cols - 2), "")][:-1]


def text_page(title: str, rows: list[str], scroll: int, cols: int, room: int) -> list[Line]:
    """A page of text from the row that it is scrolled to; says so when there is more."""
    shown = rows[scroll : scroll + room - 1]
    more = len(rows) - scroll - len(shown)
    heading = f"{title} · {more} more: PgDn" if more > 0 else title
    return [section(heading, cols), *(line(f" {row}") for row in shown)]


def log_page(screen: Screen, cols: int, room: int) -> list[Line]:
    """What was heard, up to the entry that it is scrolled back to."""
    shown = screen.log[: len(screen.log) - screen.scroll]
    title = "LOG" if not screen.scroll else f"LOG · {screen.scroll} newer below"
    return [section(title, cols), *log_lines(shown, cols, room - 1)]


def closed(screen: Screen, cols: int, room: int) -> list[Line]:
    """The table has ended."""
    return [section("TABLE CLOSED", cols), BLANK, line(" This table has ended. q leaves."), BLANK][
        :room
    ]
