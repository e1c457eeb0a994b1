"""`render`: the whole picture as a pure function of what is to be seen and how much room there is.

From top to bottom: the title, a rule or the banner of a broken line, the middle (which depends on
the page and on where the table is in its life), the line of the turn, a notice (or
what the tutorial says), the keys.
"""

from __future__ import annotations

from odin_cli.speech.languages import _
from odin_cli.speech.words import ending, listed
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.keys import bindings
from odin_cli.terminal.views import pages, scores
from odin_cli.terminal.views.board import MAX_ROWS, board, minutes, turn_line
from odin_cli.terminal.views.cells import (
    BLANK,
    Line,
    Span,
    fit,
    line,
    width,
    wrap,
)
from odin_cli.terminal.views.frame import MIN_ROWS, framed, key_line, title_bar
from odin_cli.terminal.views.guide import tip
from odin_cli.terminal.views.last_play import shown_with, went_out
from odin_cli.terminal.views.screen import Page, Question, Screen
from odin_cli.terminal.views.waiting import invite_page, options_page, ready_line, waiting_room
from odin_contract.enums import Phase


def render(screen: Screen, cols: int, rows: int, caps: Capabilities) -> list[Line]:
    """The picture in at most `rows` lines of at most `cols` cells."""
    hint = _("Your turn!") if screen.my_decision else _("You keep your seat.")
    return framed(lambda c, r: _whole(screen, c, r), cols, rows, caps, hint)


def window_title(screen: Screen) -> str:
    """What the window is called: which table, and whether one has to act."""
    name = f"Odin {screen.table.table}"
    return f"▶ {name} · {_('Your turn!')}" if screen.my_decision else name


def _whole(screen: Screen, cols: int, rows: int) -> list[Line]:
    roomy = rows > MIN_ROWS + 1
    # Where every row counts the rule leaves, and the banner takes the row of the notice.
    rule = [_second_line(screen, cols)] if roomy or screen.link else []
    notice = _notice(screen, cols) if roomy or not screen.link else []
    head = [_title(screen, cols), *rule]
    below = [_status(screen, cols), *notice]
    left = rows - len(head) - len(below) - 1
    room = min(left, MAX_ROWS) if screen.page is Page.TABLE else left
    middle = _middle(screen, cols, room)
    middle += [BLANK] * (room - len(middle))
    return [*head, *middle, *below, *[BLANK] * (left - room), key_line(bindings(screen), cols)]


def _middle(screen: Screen, cols: int, room: int) -> list[Line]:
    match screen.page:
        case Page.HELP:
            return pages.text_page(
                _("HELP"), pages.help_rows(screen, cols), screen.scroll, cols, room
            )
        case Page.RULES:
            return pages.text_page(_("RULES"), pages.rules_rows(cols), screen.scroll, cols, room)
        case Page.LOG:
            return pages.log_page(screen, cols, room)
        case Page.INVITE:
            return invite_page(screen, cols, room)
        case Page.OPTIONS:
            return options_page(screen, cols, room)
        case Page.SCORES:
            return scores.scores(screen, cols, room)
        case Page.TABLE:
            return _table(screen, cols, room)


def _table(screen: Screen, cols: int, room: int) -> list[Line]:
    """What depends on where the table is in its life."""
    if screen.lingering is not None:
        return board(shown_with(screen, screen.lingering), cols, room)
    if screen.at_final_scores:
        return scores.game_over(screen, cols, room)
    match screen.table.phase:
        case Phase.WAITING:
            return waiting_room(screen, cols, room)
        case Phase.PLAYING if screen.table.game:
            return board(screen, cols, room)
        case Phase.BETWEEN_DEALS if screen.table.game:
            return scores.deal_over(screen, cols, room)
        case Phase.CLOSED:
            return scores.closed(screen, cols, room)
        case _:
            return [BLANK, line(Span(f" {_('Waiting for the table')} …", "quiet"))]


# -- head


def _title(screen: Screen, cols: int) -> Line:
    table = screen.table
    parts = [f"ODIN {table.table}"]
    if table.game and table.game.deal:
        parts.append(_("deal {deal}").format(deal=table.game.deal))
    parts.append(ending(table.options))
    state = f"{'●' if screen.link is None else '○'} {screen.address}  ?={_('help')} "
    for more in _more_about(screen):
        if width(f" {' · '.join((*parts, more))} {state}") <= cols:
            parts.append(more)
    return title_bar(f" {' · '.join(parts)}", state, cols)


def _more_about(screen: Screen) -> list[str]:
    """What the title says as well where there is room, the most important first."""
    table, watchers = screen.table, screen.other_watchers
    removed = " ".join(colour.value for colour in table.game.removed) if table.game else ""
    return [
        *([_("without {colours}").format(colours=removed)] if removed else []),
        *([_("{count} watching").format(count=watchers)] if watchers else []),
        *([table.options.title] if table.options.title else []),
    ]


def _second_line(screen: Screen, cols: int) -> Line:
    link = screen.link
    if link is None:
        return line(Span("─" * cols, "rule"))
    left = screen.my_seat_is_kept_for
    if left is None:
        said = _("Connection lost · try {attempt}, again in {seconds} s · you keep your seat")
    else:
        said = _("Connection lost · try {attempt}, again in {seconds} s · seat kept {time}")
    text = " ! " + said.format(
        attempt=link.attempt, seconds=max(round(link.retry_in), 1), time=minutes(left or 0)
    )
    return fit(line(Span(f"{text:<{cols}}", "banner")), cols)


# -- foot


def _status(screen: Screen, cols: int) -> Line:
    """Whose turn it is, or what the table waits for."""
    if screen.question is Question.LEAVE:
        return line(" ", Span(f" {_('LEAVE?')} ", "question"), f"  {_leaving(screen)}")
    if screen.lingering is not None and (said := went_out(screen, screen.lingering)):
        return line(" ", Span(said, "news"))
    if screen.at_final_scores:
        return scores.rematch_line(screen)
    match screen.table.phase:
        case Phase.WAITING:
            return ready_line(screen)
        case Phase.PLAYING:
            return turn_line(screen, cols)
        case Phase.BETWEEN_DEALS:
            return scores.next_deal_line(screen)
        case _:
            return BLANK


def _leaving(screen: Screen) -> str:
    if screen.ends_with_me:
        return _("The table ends with you. q leaves, Esc stays")
    if screen.table.i_am_host:
        others = screen.table.other_people
        if not others:
            return _("q keeps your table, x closes it, Esc stays")
        named = listed(others) if len(others) <= 2 else _("all {count}").format(count=len(others))
        return _("q keeps it, x closes it for {names} as well, Esc stays").format(names=named)
    if screen.table.my_seat is not None and screen.playing:
        return _("A substitute plays on for you. q leaves, Esc stays")
    return _("q leaves, Esc stays")


def _notice(screen: Screen, cols: int) -> list[Line]:
    if screen.lesson:
        return _lesson(screen, cols)
    if screen.notice:
        return [line(" ", Span(screen.notice, "news"))]
    return [line(f" {tip(screen)}") if screen.guided else BLANK]


def _lesson(screen: Screen, cols: int) -> list[Line]:
    """The lesson, or for one key a notice in as many rows, so that the board stays in place."""
    rows = wrap(screen.lesson, cols - 2)
    if not screen.notice:
        return [line(f" {row}") for row in rows]
    said = [line(" ", Span(row, "news")) for row in wrap(screen.notice, cols - 2)]
    return [*said, *[BLANK] * (len(rows) - len(said))]
