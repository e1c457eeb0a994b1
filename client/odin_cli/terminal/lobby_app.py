"""The table browser: the first screen of `odin-table`. Gives what the person chose to do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from odin_cli.lan.network import LOOPBACK
from odin_cli.speech.complaints import complaint
from odin_cli.speech.languages import _
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.full_screen import FullScreen
from odin_cli.terminal.keys import ALWAYS, bound
from odin_cli.terminal.new_table import NewTable, Place
from odin_cli.terminal.views.cells import Click, Line
from odin_cli.terminal.views.frame import fits
from odin_cli.terminal.views.lobby_view import (
    Listed,
    LobbyScreen,
    Served,
    bindings,
    help_rows,
    render_lobby,
)
from odin_client.connection.address import Address, BadAddress

LOOK_AGAIN: Final = 10.0
"""Seconds between two looks at the network by itself."""

Source: TypeAlias = Callable[[], AsyncGenerator[Listed | Served]]
"""Looks once, and gives servers and their tables as they are found."""


@dataclass(frozen=True, slots=True)
class Play:
    """Play alone against bots."""


@dataclass(frozen=True, slots=True)
class Join:
    """Sit down at a table."""

    address: Address
    code: str = ""
    name: str = ""
    """Empty: the usual one."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Watch a table."""

    address: Address


@dataclass(frozen=True, slots=True)
class Open:
    """Open a table and sit down."""

    new: NewTable
    name: str = ""
    """Empty: the usual one."""


Choice: TypeAlias = Play | Join | Watch | Open


async def run(
    source: Source,
    *,
    caps: Capabilities,
    notice: str = "",
    nameless: Join | Open | None = None,
    log_file: Path | None = None,
    terminal_input: Input | None = None,
    terminal_output: Output | None = None,
) -> Choice | int:
    """Lets a person choose; gives what they chose, or the exit code when they leave.

    `nameless` was refused because the person's name is taken there: the browser asks for another
    name first.
    """
    content = _Lobby(source, caps, notice, nameless)
    full = FullScreen(content, caps, terminal_input, terminal_output)
    content.take(full)
    code = await full.run(content.look_on(), log_file=log_file)
    return code if content.choice is None else content.choice


class _Lobby:
    """The browser as the content of a full screen."""

    def __init__(
        self, source: Source, caps: Capabilities, notice: str, nameless: Join | Open | None
    ) -> None:
        self.choice: Choice | None = None
        self._source: Final = source
        self._caps: Final = caps
        self._nameless: Final = nameless
        self._screen: Final = LobbyScreen(notice=notice)
        self._look_now: Final = asyncio.Event()

    def take(self, full: FullScreen) -> None:
        """Uses this terminal from now on."""
        self._full = full
        self._commands: Mapping[str, Callable[..., None]] = {
            **full.commands,
            "join": self._join,
            "watch": self._watch,
            "play": lambda: self._choose(Play()),
            "new": self._new,
            "type_address": lambda: full.ask(_("address [code]:"), self._typed_address),
            "type_filter": lambda: full.ask(_("only tables with:"), self._typed_filter),
            "look": self._look_now.set,
            "leave": lambda: full.end(0),
            "move": self._move,
            "choose": self._choose_row,
            "clear": lambda: self._typed_filter(""),
            "show_help": self._show_help,
            "scroll": self._scroll,
            "close": self._close,
            "field": self._field,
            "choose_field": self._choose_field,
            "change": self._change,
            "open": self._open,
        }

    def draw(self, cols: int, rows: int) -> list[Line]:
        return render_lobby(self._screen, cols, rows, self._caps)

    def press(self, key: str) -> None:
        self._screen.notice = ""
        if binding := bound(key, bindings(self._screen) if fits(*self._full.size) else ALWAYS):
            self._do(binding.command, binding.argument)

    def click(self, click: Click) -> None:
        self._screen.notice = ""
        self._do(click.command, click.argument)

    def tell(self, notice: str) -> None:
        self._screen.notice = notice

    def _do(self, command: str, argument: Any) -> None:
        self._commands[command](*() if argument is None else (argument,))

    # Looking

    async def look_on(self) -> None:
        """Looks at the network again and again; a table that is no longer found leaves the list."""
        if self._nameless is not None:
            self._full.ask(_("another name:"), self._typed_name)
            self._full.draw_anew()
        while True:
            await self._look()
            self._look_now.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look_now.wait(), LOOK_AGAIN)

    async def _look(self) -> None:
        screen = self._screen
        screen.looking = True
        self._full.draw_anew()
        seen: set[Address] = set()
        served: list[Served] = []
        async with contextlib.aclosing(self._source()) as tables:
            async for one in tables:
                if isinstance(one, Served):
                    served.append(one)
                    continue
                seen.add(one.address)
                self._note(one)
                self._full.draw_anew()
        self._with_cursor_kept(lambda: [one for one in screen.found if one.address in seen])
        screen.served = served
        screen.looking = False
        self._full.draw_anew()

    def _note(self, one: Listed) -> None:
        found = self._screen.found
        known = [other.address for other in found]
        if one.address in known:
            at = known.index(one.address)
            self._with_cursor_kept(lambda: [*found[:at], one, *found[at + 1 :]])
        else:
            self._with_cursor_kept(lambda: [*found, one])

    def _with_cursor_kept(self, change: Callable[[], list[Listed]]) -> None:
        """Changes what was found; a cursor that was put at a table stays there if it can."""
        screen = self._screen
        before = screen.at_cursor if screen.pointed else None
        screen.found = change()
        addresses = [one.address for one in screen.shown]
        if before is not None and before.address in addresses:
            screen.cursor = addresses.index(before.address)

    # Choosing

    def _choose(self, choice: Choice) -> None:
        self.choice = choice
        self._full.end(0)

    def _join(self) -> None:
        chosen = self._screen.at_cursor
        if chosen is None:
            self.tell(_("There is no table here yet: n opens one."))
        elif not chosen.table.joinable:
            self.tell(
                _("A game is being played there; w watches it.")
                if any(seat.free for seat in chosen.table.seats)
                else _("No seat is free there; w watches it.")
            )
        else:
            self._choose(Join(chosen.address))

    def _watch(self) -> None:
        chosen = self._screen.at_cursor
        if chosen is None:
            self.tell(_("There is no table here to watch."))
        else:
            self._choose(Watch(chosen.address))

    def _typed_address(self, text: str) -> None:
        words = text.split()
        if not words:
            return
        try:
            address = Address.parse(words[0])
        except BadAddress as problem:
            self.tell(complaint(problem))
            return
        self._choose(Join(address, *words[1:2]))

    def _typed_name(self, text: str) -> None:
        if self._nameless is not None and text.strip():
            self._choose(replace(self._nameless, name=text.strip()))

    def _typed_filter(self, text: str) -> None:
        self._screen.wanted = text.strip()
        self._screen.cursor, self._screen.pointed = 0, False

    def _move(self, step: int) -> None:
        last = max(len(self._screen.shown) - 1, 0)
        self._screen.cursor = min(max(min(self._screen.cursor, last) + step, 0), last)
        self._screen.pointed = True

    def _choose_row(self, address: Address) -> None:
        """A click goes to a table; a second one joins it, or watches it."""
        chosen = self._screen.at_cursor
        if chosen is not None and chosen.address == address:
            self._join() if chosen.table.joinable else self._watch()
        else:
            addresses = [one.address for one in self._screen.shown]
            self._screen.cursor = addresses.index(address) if address in addresses else 0
            self._screen.pointed = True

    # Pages

    def _show_help(self) -> None:
        self._screen.help, self._screen.scroll = True, 0

    def _scroll(self, lines: int) -> None:
        last = len(help_rows(self._full.size[0])) - 1
        self._screen.scroll = min(max(self._screen.scroll + lines, 0), last)

    def _close(self) -> None:
        self._screen.help, self._screen.new = False, None

    def _new(self) -> None:
        screen = self._screen
        known = [Place(one.address, one.name) for one in screen.served]
        known += [Place(one.address.at(""), one.where) for one in screen.found]
        places = {place.server: place for place in reversed((Place(), *known))}
        chosen = screen.at_cursor
        here = next((p.server for p in known if p.server and p.server.host == LOOPBACK), None)
        wanted = here if chosen is None else chosen.address.at("")
        screen.new = NewTable(tuple(reversed(places.values())), places[wanted])

    def _field(self, step: int) -> None:
        if self._screen.new is not None:
            self._screen.new = self._screen.new.moved(step)

    def _choose_field(self, at: int) -> None:
        if self._screen.new is not None:
            self._screen.new = self._screen.new.moved(at - self._screen.new.at)

    def _change(self, step: int) -> None:
        new = self._screen.new
        if new is not None and new.types_title:
            self._full.ask(_("title:"), self._typed_title, new.options.title)
        elif new is not None:
            self._screen.new = new.changed(step)

    def _typed_title(self, title: str) -> None:
        if self._screen.new is not None:
            self._screen.new = self._screen.new.titled(title)

    def _open(self) -> None:
        if self._screen.new is not None:
            self._choose(Open(self._screen.new))
