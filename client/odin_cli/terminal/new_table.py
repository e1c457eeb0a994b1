"""The form of a new table: its fields, and the command that it stands for. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from odin_cli.speech.languages import _
from odin_cli.speech.words import clock, ending
from odin_cli.terminal.views.cells import BLANK, Click, Line, Span, line, pad, wrap
from odin_cli.terminal.views.frame import section
from odin_client.connection.address import Address
from odin_contract.limits import SEATS
from odin_contract.values import Options
from odin_engine.strategies import STRATEGIES

_THRESHOLDS: Final = (None, 5, 10, 15, 20, 25, 30, 50, 100)
"""What the form offers; the command takes any multiple of five (R16)."""

_CLOCKS: Final = ((0, 0), (15, 0), (30, 0), (45, 0), (60, 0), (120, 0), (30, 300), (45, 600))
"""Seconds a turn, and of the bank for a whole game; the command takes others as well."""

_LEVELS: Final = tuple(STRATEGIES)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table can be opened."""

    server: Address | None = None
    """None: a server of its own, started for it on this machine."""
    name: str = ""

    def __str__(self) -> str:
        if self.server is None:
            return _("this machine, on a server of its own")
        named = self.name not in ("", str(self.server))
        return f"{self.name} ({self.server})" if named else str(self.server)


@dataclass(frozen=True, slots=True)
class NewTable:
    """A table that somebody is about to open."""

    places: tuple[Place, ...] = (Place(),)
    place: Place = Place()
    options: Options = field(default_factory=Options)
    bots: int = 0
    level: str = "greedy"
    at: int = 0
    """Which field is changed by the arrows."""

    def moved(self, step: int) -> NewTable:
        """The next field, or the one before."""
        return replace(self, at=(self.at + step) % len(_FIELDS))

    def changed(self, step: int) -> NewTable:
        """The field with the next value, or the one before; the title is typed instead."""
        return _FIELDS[self.at].change(self, step)

    @property
    def types_title(self) -> bool:
        """Whether the field is one that is typed: the title."""
        return _FIELDS[self.at].change is _typed

    def titled(self, title: str) -> NewTable:
        """The same with another title."""
        return replace(self, options=replace(self.options, title=title.strip()))

    @property
    def command(self) -> tuple[str, ...]:
        """What opens it on the command line: only what is not the default."""
        options, usual = self.options, Options()
        to = options.threshold
        given = (
            (("--at", str(self.place.server)), self.place.server is not None),
            (("--title", options.title), bool(options.title)),
            (("--seats", str(options.seats)), options.seats != usual.seats),
            (("--single-deal",), to is None),
            (("--to", str(to)), to not in (None, usual.threshold)),
            (("--full-deck",), not options.short_deck),
            (("--turn-time", str(options.turn_time)), options.turn_time > 0),
            (("--bank", str(options.bank)), options.bank > 0),
            (("--bots", str(self.bots)), self.bots > 0),
            (("--level", self.level), self.bots > 0 and self.level != "greedy"),
            (("--no-bots",), not options.open_to_bots),
            (("--private",), options.private),
        )
        return ("host", *(word for words, wanted in given if wanted for word in words))


# The fields


def _typed(new: NewTable, _step: int) -> NewTable:
    return new


def _change_place(new: NewTable, step: int) -> NewTable:
    at = (new.places.index(new.place) + step) % len(new.places)
    return replace(new, place=new.places[at])


def _change_seats(new: NewTable, step: int) -> NewTable:
    seats = min(max(new.options.seats + step, SEATS[0]), SEATS[-1])
    options = replace(new.options, seats=seats)
    return replace(new, options=options, bots=min(new.bots, seats - 1))


def _change_threshold(new: NewTable, step: int) -> NewTable:
    at = (_THRESHOLDS.index(new.options.threshold) + step) % len(_THRESHOLDS)
    return replace(new, options=replace(new.options, threshold=_THRESHOLDS[at]))


def _change_deck(new: NewTable, _step: int) -> NewTable:
    return replace(new, options=replace(new.options, short_deck=not new.options.short_deck))


def _change_clock(new: NewTable, step: int) -> NewTable:
    now = (new.options.turn_time, new.options.bank)
    turn_time, bank = _CLOCKS[(_CLOCKS.index(now) + step) % len(_CLOCKS)]
    return replace(new, options=replace(new.options, turn_time=turn_time, bank=bank))


def _change_bots(new: NewTable, step: int) -> NewTable:
    return replace(new, bots=min(max(new.bots + step, 0), new.options.seats - 1))


def _change_level(new: NewTable, step: int) -> NewTable:
    return replace(new, level=_LEVELS[(_LEVELS.index(new.level) + step) % len(_LEVELS)])


def _change_open(new: NewTable, _step: int) -> NewTable:
    return replace(new, options=replace(new.options, open_to_bots=not new.options.open_to_bots))


def _change_private(new: NewTable, _step: int) -> NewTable:
    return replace(new, options=replace(new.options, private=not new.options.private))


@dataclass(frozen=True)
class _Field:
    """One line of the form."""

    name: Callable[[], str]
    value: Callable[[NewTable], str]
    change: Callable[[NewTable, int], NewTable]


_FIELDS: Final = (
    _Field(lambda: _("Where"), lambda new: str(new.place), _change_place),
    _Field(lambda: _("Title"), lambda new: new.options.title or _("none"), _typed),
    _Field(lambda: _("Seats"), lambda new: str(new.options.seats), _change_seats),
    _Field(lambda: _("Game"), lambda new: ending(new.options), _change_threshold),
    _Field(
        lambda: _("Deck for two"),
        lambda new: _("36 cards") if new.options.short_deck else _("54 cards"),
        _change_deck,
    ),
    _Field(lambda: _("The clock"), lambda new: clock(new.options) or _("none"), _change_clock),
    _Field(lambda: _("Bots"), lambda new: str(new.bots), _change_bots),
    _Field(lambda: _("They play"), lambda new: new.level, _change_level),
    _Field(
        lambda: _("Other bots"),
        lambda new: _("may sit down") if new.options.open_to_bots else _("may not sit down"),
        _change_open,
    ),
    _Field(
        lambda: _("Who finds it"),
        lambda new: _("whoever has the code") if new.options.private else _("everybody here"),
        _change_private,
    ),
)


def form(new: NewTable, cols: int, room: int) -> list[Line]:
    """The fields, and the command line that does the same, in at most `room` lines."""
    rows = [
        line(
            Span(
                f" {'▶' if at == new.at else ' '} {pad(field.name(), 16)} ← {field.value(new)} →",
                "turn" if at == new.at else "",
                Click("choose_field", at),
            )
        )
        for at, field in enumerate(_FIELDS)
    ]
    same = wrap("odin-table " + shlex.join(new.command), cols - 4)
    gap = [BLANK] if len(rows) + len(same) + 2 <= room else []
    shown = [section(_("NEW TABLE"), cols), *rows, *gap]
    return [*shown, *(line(Span(f"   {row}", "quiet")) for row in same)][:room]
