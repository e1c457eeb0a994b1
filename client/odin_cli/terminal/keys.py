"""Which keys do what: bindings of keys to named commands, as they are now.

`bindings` is the only table of keys; the line of keys at the bottom of the screen is made from it,
and a click on it is the same command. Digits mean a card with this number everywhere, capitals are
colours, other letters are commands, so that none of them clash. Every key here exists in any
terminal, and every function key has a plain twin.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from odin_cli.speech.languages import _
from odin_cli.terminal.views.screen import Page, Question, Screen
from odin_contract.enums import Occupant, Phase
from odin_engine import Colour

_NUMBERS: Final = range(1, 10)

_AZERTY: Final = dict(zip("&é\"'(-è_ç§!", "12345678968", strict=True))
"""What the keys of the digits give without Shift in France and Belgium."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Keys that give one command."""

    keys: tuple[str, ...]
    """None: only a hint in the line of keys. Names: `enter`, `escape`, `tab`, `s-tab`, `space`,
    `backspace`, `left`, `right`, `up`, `down`, `pageup`, `pagedown`, `f1`, `f2`, `c-c`, `c-l`,
    `c-z`, or the character itself."""
    command: str
    argument: object = None
    label: str = ""
    """What the line of keys says it does. Empty: it is not shown there."""
    shown: str = ""
    """How the line of keys writes the keys."""


def bound(key: str, among: Iterable[Binding]) -> Binding | None:
    """The binding of a key, if it has one; else that of the digit or letter that it stands for."""
    by_key = {name: binding for binding in among for name in binding.keys}
    return by_key.get(key) or by_key.get(_stands_for(key))


def _stands_for(key: str) -> str:
    """The plain form of a full-width key, and the digit of a key that is one in some layout."""
    plain = unicodedata.normalize("NFKC", key)
    if len(plain) != 1:
        return key
    digit = unicodedata.decimal(plain, None)
    return str(digit) if digit is not None else _AZERTY.get(plain, plain)


ALWAYS: Final = (
    Binding(("c-c",), "quit"),
    Binding(("c-l",), "redraw"),
    Binding(("c-z",), "suspend"),
)
"""What works even while nothing can be drawn."""

MOUSE: Final = Binding(("f2", "m"), "switch_mouse")
_EVERYWHERE: Final = (MOUSE, *ALWAYS)


def _help() -> Binding:
    return Binding(("?", "f1"), "open", Page.HELP, _("help"), "?")


def _leave() -> Binding:
    return Binding(("q",), "leave", None, _("leave"), "q")


def _log() -> Binding:
    return Binding(("l", "pageup"), "open", Page.LOG, _("log"), "l")


def _scores() -> Binding:
    return Binding(("w",), "open", Page.SCORES, _("scores"), "w")


def _invite() -> Binding:
    return Binding(("i",), "invite", None, _("invite"), "i")


def _options() -> Binding:
    return Binding(("o",), "open", Page.OPTIONS, _("options"), "o")


def bindings(screen: Screen) -> tuple[Binding, ...]:
    """The keys that do something now, most important first."""
    if screen.question is Question.LEAVE:
        return (*_leaving(screen), *_EVERYWHERE)
    if screen.page is not Page.TABLE:
        return (*_page(screen), *_EVERYWHERE)
    retry = (Binding(("r",), "retry", None, _("retry now"), "r"),) if screen.link else ()
    return (*retry, *_of_phase(screen), *_EVERYWHERE)


def _leaving(screen: Screen) -> tuple[Binding, ...]:
    stay = Binding(("escape", "n"), "stay", None, _("stay"), _("Esc"))
    if screen.table.i_am_host and not screen.ends_with_me:
        return (
            Binding(("q", "k"), "leave", None, _("leave, keep the table"), "q"),
            Binding(("x",), "close_table", None, _("close the table"), "x"),
            stay,
        )
    return (Binding(("q", "y"), "leave", None, _("leave"), "q"), stay)


def _page(screen: Screen) -> tuple[Binding, ...]:
    close = Binding(("escape", "q", "enter"), "open", Page.TABLE, _("close"), _("Esc"))
    match screen.page:
        case Page.HELP:
            other = Binding(
                ("tab", "?", "f1", "right"), "open", Page.RULES, _("the rules"), _("Tab")
            )
            return (other, *_scrolling(), close)
        case Page.RULES:
            other = Binding(("tab", "?", "f1", "left"), "open", Page.HELP, _("the keys"), _("Tab"))
            return (other, *_scrolling(), close)
        case Page.INVITE:
            return (Binding(("i",), "open", Page.TABLE), close)
        case Page.OPTIONS:
            return (Binding(("o",), "open", Page.TABLE), close)
        case Page.LOG:
            return (*_scrolling(), Binding(("l",), "open", Page.TABLE), close)
        case _:
            return (Binding(("w",), "open", Page.TABLE), close)


def _scrolling() -> tuple[Binding, ...]:
    return (
        Binding(("pageup",), "scroll", -10, _("back"), _("PgUp")),
        Binding(("pagedown",), "scroll", 10, _("on"), _("PgDn")),
        Binding(("up",), "scroll", -1),
        Binding(("down",), "scroll", 1),
    )


def _of_phase(screen: Screen) -> tuple[Binding, ...]:
    seated = screen.table.my_seat is not None
    talk = (
        (Binding(("c",), "chat", None, _("chat"), "c"),) if seated or screen.table.i_am_host else ()
    )
    start = (
        (Binding(("enter",), "start", None, _("start"), _("Enter")),)
        if screen.table.i_am_host
        else ()
    )
    about = (_invite(), _options())
    if screen.at_final_scores:
        return _at_final_scores(screen, talk)
    match screen.table.phase:
        case Phase.WAITING:
            played = (_scores(),) if screen.table.game else ()
            ready = (Binding(("space",), "ready", None, _("ready"), _("Space")),) if seated else ()
            host = screen.table.i_am_host
            bots, more = (_bots(screen), _more_about_bots(screen)) if host else ((), ())
            return (
                *(*start, *ready, *bots, _options(), *talk, _leave(), _invite()),
                *(*more, *played, _log(), _help()),
            )
        case Phase.PLAYING:
            play = _pick_up(screen) if screen.choosing_pick_up else _play()
            mine = play if screen.hand else ()
            return (*mine, *talk, _scores(), _log(), _leave(), *about, _help())
        case Phase.BETWEEN_DEALS:
            ready = (Binding(("enter", "space"), "ready", None, _("ready"), _("Enter")),)
            return (
                *(ready if seated else start),
                *(_leave(), *talk, _scores(), _log(), *about, _help()),
            )
        case _:
            leave = Binding(("q", "enter"), "leave", None, _("leave"), "q")
            return (leave, _scores(), _log(), _help())


def _at_final_scores(screen: Screen, talk: tuple[Binding, ...]) -> tuple[Binding, ...]:
    seated = screen.table.my_seat is not None
    again = (Binding(("enter",), "rematch", None, _("rematch"), _("Enter")),) if seated else ()
    # Somebody wants another game: the waiting room is behind the scores.
    waits = screen.table.phase is Phase.WAITING
    room = (Binding(("escape",), "to_waiting_room", None, _("waiting room"), _("Esc")),)
    return (*again, *(room if waits else ()), _leave(), *talk, _scores(), _log(), _help())


def _bots(screen: Screen) -> tuple[Binding, ...]:
    """Adding bots and freeing seats. `k` frees any seat, so `B` is shown only without people."""
    kick = Binding(("k",), "ask_whom_to_remove", None, _("remove"), "k")
    less = Binding(("B",), "remove_bot", None, _("no bot"), "B")
    return (
        Binding(("b",), "add_bot", None, _("bot"), "b"),
        kick if _others_sit_here(screen) else less,
    )


def _more_about_bots(screen: Screen) -> tuple[Binding, ...]:
    return (
        *((Binding(("B",), "remove_bot"),) if _others_sit_here(screen) else ()),
        Binding(("right", "+"), "change_level", 1, _("level"), "←→"),
        Binding(("left", "-"), "change_level", -1),
    )


def _others_sit_here(screen: Screen) -> bool:
    return any(
        seat.occupant is not Occupant.BUILT_IN_BOT and seat.seat != screen.table.my_seat
        for seat in screen.table.taken_seats
    )


def _play() -> tuple[Binding, ...]:
    return (
        Binding(("enter",), "play", None, _("play"), _("Enter")),
        Binding(("p",), "pass_turn", None, _("pass"), "p"),
        Binding((), "type_number", None, _("number"), "1-9"),
        *(Binding((str(number),), "type_number", number) for number in _NUMBERS),
        *(Binding((colour.value,), "type_colour", colour) for colour in Colour),
        Binding(("tab",), "walk", 1, _("legal"), _("Tab")),
        Binding(("s-tab",), "walk", -1),
        Binding(("space",), "toggle", None, _("toggle"), _("Spc")),
        Binding(("left",), "move", -1),
        Binding(("right",), "move", 1),
        Binding(("backspace", "u"), "put_back"),
        Binding(("escape",), "clear"),
        Binding(("up",), "walk_pick_up", -1),
        Binding(("down",), "walk_pick_up", 1),
        Binding(("s",), "sort", None, _("sort"), "s"),
        Binding(("a",), "whole_hand"),
    )


def _pick_up(screen: Screen) -> tuple[Binding, ...]:
    back = (
        (Binding(("escape",), "stay", None, _("back"), _("Esc")),)
        if screen.question is Question.PICK_UP
        else ()
    )
    return (
        Binding(("enter", "space"), "take", None, _("take"), _("Enter")),
        Binding((), "type_pick_up", None, _("which card"), "1-9"),
        *(Binding((str(number),), "type_pick_up", number) for number in _NUMBERS),
        *(Binding((colour.value,), "type_pick_up_colour", colour) for colour in Colour),
        Binding(("right", "down", "tab"), "walk_pick_up", 1),
        Binding(("left", "up", "s-tab"), "walk_pick_up", -1),
        *back,
    )
