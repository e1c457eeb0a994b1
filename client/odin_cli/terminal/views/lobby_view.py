"""The picture of the table browser: the tables that were found, and the form of a new one. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from odin_cli.speech.languages import _
from odin_cli.speech.words import listed
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.keys import ALWAYS, MOUSE, Binding
from odin_cli.terminal.new_table import NewTable, form
from odin_cli.terminal.views.cells import BLANK, Click, Line, Span, line, pad
from odin_cli.terminal.views.frame import framed, key_line, section, title_bar
from odin_cli.terminal.views.pages import rules_rows, text_page
from odin_cli.terminal.views.waiting import describe
from odin_client.connection.address import Address
from odin_contract.enums import Phase
from odin_contract.values import TableSummary


@dataclass(frozen=True, slots=True)
class Listed:
    """A table that was found, and how to come to it."""

    address: Address
    """With its handle."""
    table: TableSummary
    where: str = ""
    """What its server is called."""
    seconds: float | None = None
    """How long the server took to answer."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that has answered, with or without tables."""

    address: Address
    name: str = ""


@dataclass
class LobbyScreen:
    """What somebody sees who looks for a table."""

    found: list[Listed] = field(default_factory=list[Listed])
    """In the order in which they were found."""
    cursor: int = 0
    pointed: bool = False
    """Whether the person has put the cursor there; until then it is at the first table."""
    wanted: str = ""
    """What the shown tables have in common."""
    looking: bool = True
    """Whether servers are being asked now."""
    served: list[Served] = field(default_factory=list[Served])
    """The servers that have answered, also those without a table."""
    new: NewTable | None = None
    """The form, while it is open."""
    help: bool = False
    """Whether the keys and the rules lie over it all."""
    scroll: int = 0
    notice: str = ""

    @property
    def shown(self) -> list[Listed]:
        """The tables that fit what is wanted; those with a seat to take come first."""
        fitting = [one for one in self.found if self.wanted.casefold() in _text_of(one).casefold()]
        return sorted(fitting, key=lambda one: not one.table.joinable)

    @property
    def at_cursor(self) -> Listed | None:
        """The table that Enter takes."""
        shown = self.shown
        return shown[min(self.cursor, len(shown) - 1)] if shown else None


def _text_of(one: Listed) -> str:
    names = [seat.name for seat in one.table.seats]
    return " ".join((one.table.table, one.table.options.title, str(one.address), *names))


def bindings(screen: LobbyScreen) -> tuple[Binding, ...]:
    """The keys that do something now, most important first."""
    close = Binding(("escape", "q"), "close", None, _("close"), _("Esc"))
    if screen.help:
        return (
            Binding(("down", "pagedown", "space"), "scroll", 5, _("on"), "↓"),
            Binding(("up", "pageup"), "scroll", -5, _("back"), "↑"),
            replace(close, keys=(*close.keys, "?", "f1", "enter")),
            MOUSE,
            *ALWAYS,
        )
    if screen.new is not None:
        return (
            Binding(("enter",), "open", None, _("open"), _("Enter")),
            Binding(("down", "tab", "j"), "field", 1, _("field"), "↑↓"),
            Binding(("up", "s-tab", "k"), "field", -1),
            Binding(("right", "space", "+"), "change", 1, _("change"), "←→"),
            Binding(("left", "-"), "change", -1),
            close,
            MOUSE,
            *ALWAYS,
        )
    return (
        Binding(("enter",), "join", None, _("join"), _("Enter")),
        Binding(("w",), "watch", None, _("watch"), "w"),
        Binding(("n",), "new", None, _("new table"), "n"),
        Binding(("p",), "play", None, _("play alone"), "p"),
        Binding(("q",), "leave", None, _("leave"), "q"),
        Binding(("a",), "type_address", None, _("address"), "a"),
        Binding(("/",), "type_filter", None, _("filter"), "/"),
        Binding(("r",), "look", None, _("look again"), "r"),
        Binding(("down", "j"), "move", 1),
        Binding(("up", "k"), "move", -1),
        Binding(("escape",), "clear"),
        Binding(("?", "f1"), "show_help", None, _("help"), "?"),
        MOUSE,
        *ALWAYS,
    )


def help_rows(cols: int) -> list[str]:
    """The keys of the browser, and the rules of the game."""
    keys = [
        f"{pad(binding.shown, 8)} {binding.label}"
        for binding in bindings(LobbyScreen())
        if binding.label
    ]
    return [*keys, "", *rules_rows(cols)]


def render_lobby(screen: LobbyScreen, cols: int, rows: int, caps: Capabilities) -> list[Line]:
    """The picture in at most `rows` lines of at most `cols` cells."""
    return framed(lambda c, r: _whole(screen, c, r), cols, rows, caps)


def _whole(screen: LobbyScreen, cols: int, rows: int) -> list[Line]:
    state = _("looking") + " …" if screen.looking else ""
    head = [title_bar(f" ODIN · {_('tables')}", f"{state} ", cols)]
    foot = [
        line(" ", Span(screen.notice, "news")) if screen.notice else BLANK,
        key_line(bindings(screen), cols),
    ]
    room = rows - len(head) - len(foot)
    if screen.help:
        middle = text_page(_("HELP"), help_rows(cols), screen.scroll, cols, room)
    elif screen.new is not None:
        middle = form(screen.new, cols, room)
    else:
        middle = _tables(screen, cols, room)
    middle = middle[:room]
    return [*head, *middle, *[BLANK] * (room - len(middle)), *foot]


def _tables(screen: LobbyScreen, cols: int, room: int) -> list[Line]:
    title = _("TABLES")
    if screen.wanted:
        title += " · " + _("with {text} (Esc: all)").format(text=screen.wanted)
    shown, chosen = screen.shown, screen.at_cursor
    details = _details(chosen, cols) if chosen else []
    space = max(room - 2 - len(details), 1)
    at = shown.index(chosen) if chosen else 0
    first = max(min(at - space // 2, len(shown) - space), 0)
    rows = [_row(one, one is chosen, cols) for one in shown[first : first + space]]
    if not rows:
        return [section(title, cols), BLANK, *_nothing(screen)]
    heading = line(Span("   " + _columns(_headings(), cols), "quiet"))
    gap = [BLANK] * (space - len(rows))
    return [section(title, cols), heading, *rows, *gap, *details]


def _nothing(screen: LobbyScreen) -> list[Line]:
    if screen.wanted and screen.found:
        return [line(f"   {_('No table is like that.')}")]
    if screen.looking:
        return [line(f"   {_('Looking for tables on this network')} …")]
    hints = (
        _("No table was found on this network."),
        "",
        _("n opens one, p plays against bots here and now."),
        _("a takes an address that somebody told you; r looks again."),
    )
    return [line(f"   {hint}") for hint in hints]


_Cells = tuple[str, str, str, str, str, str]


def _headings() -> _Cells:
    return _("table"), _("title"), _("players"), _("state"), _("ends"), _("where")


def _row(one: Listed, chosen: bool, cols: int) -> Line:
    table = one.table
    taken = sum(not seat.free for seat in table.seats)
    to = table.options.threshold
    cells = (
        table.table,
        table.options.title or listed(_names(table)),
        f"{taken}/{len(table.seats)}",
        _state(table),
        _("1 deal") if to is None else str(to),
        str(one.address.at("")) if not one.where else one.where,
    )
    style = "turn" if chosen else "" if table.joinable else "quiet"
    click = Click("choose", one.address)
    return line(Span(f" {'▶' if chosen else ' '} {_columns(cells, cols)}", style, click))


def _columns(cells: _Cells, cols: int) -> str:
    """The cells as far as there is room: the title goes first, then where it is."""
    handle, title, players, state, to, where = cells
    text = f"{pad(handle, 7)}"
    spare = cols - 3 - 7 - 8 - 14
    if spare >= 10:
        text += pad(title, min(spare, 20)) + " "
        spare -= min(spare, 20) + 1
    text += pad(players, 8) + pad(state, 14)
    if spare >= 7:
        text += pad(to, 7)
        spare -= 7
    return text + (pad(where, spare) if spare >= 12 else "")


def _details(one: Listed, cols: int) -> list[Line]:
    """More about the table at the cursor, the rows above the keys."""
    table = one.table
    answered = "" if one.seconds is None else f" · {one.seconds * 1000:.0f} ms"
    names = listed(_names(table)) or _("nobody")
    kind = describe(table.options)
    return [
        section(_("DETAILS"), cols),
        line(f" {table.options.title or table.table} · {kind}"),
        line(" ", _("At the table: {names}.").format(names=names)),
        line(Span(f" {one.address}{answered}", "quiet")),
    ]


def _names(table: TableSummary) -> list[str]:
    return [seat.name for seat in table.seats if not seat.free]


def _state(table: TableSummary) -> str:
    if table.deal:
        return _("deal {deal}").format(deal=table.deal)
    match table.phase:
        case Phase.WAITING:
            return _("waiting")
        case Phase.GAME_OVER:
            return _("game over")
        case _:
            return _("playing")
