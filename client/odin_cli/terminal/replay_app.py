"""The full-screen replay of a finished game."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from odin_cli.games.replay import Replay
from odin_cli.speech.languages import _
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.full_screen import FullScreen
from odin_cli.terminal.keys import bound
from odin_cli.terminal.views.cells import Click, Line
from odin_cli.terminal.views.log import Log
from odin_cli.terminal.views.replay_view import ReplayScreen, bindings, help_rows, render_replay

PACE: Final = 1.0
"""Seconds between two steps that follow each other by themselves."""


async def run(
    replay: Replay,
    *,
    caps: Capabilities,
    log_file: Path | None = None,
    terminal_input: Input | None = None,
    terminal_output: Output | None = None,
) -> int:
    """Shows a game until the person has seen enough; gives the exit code, as the table does."""
    content = _Content(replay, caps)
    full = FullScreen(content, caps, terminal_input, terminal_output)
    content.take(full)
    full.set_title(_("REPLAY {table}").format(table=replay.position.table.table))
    return await full.run(content.tick(), log_file=log_file)


class _Content:
    """A game as the content of a full screen."""

    def __init__(self, replay: Replay, caps: Capabilities) -> None:
        self._replay: Final = replay
        self._caps: Final = caps
        self._screen: Final = ReplayScreen(replay.position, last=replay.last)
        self._go(1)

    def take(self, full: FullScreen) -> None:
        self._full = full
        self._commands: Mapping[str, Callable[..., None]] = {
            **full.commands,
            "step": self._step,
            "deal": self._deal,
            "run": self._run,
            "show_help": lambda: self._show_help(True),
            "close": lambda: self._show_help(False),
            "scroll": self._scroll,
            "leave": lambda: full.end(0),
        }

    def draw(self, cols: int, rows: int) -> list[Line]:
        return render_replay(self._screen, cols, rows, self._caps)

    def press(self, key: str) -> None:
        self._screen.notice = ""
        if binding := bound(key, bindings(self._screen)):
            self._do(binding.command, binding.argument)

    def click(self, click: Click) -> None:
        self._screen.notice = ""
        self._do(click.command, click.argument)

    def tell(self, notice: str) -> None:
        self._screen.notice = notice

    async def tick(self) -> None:
        """Goes on while it runs by itself."""
        while True:
            await asyncio.sleep(PACE)
            if self._screen.running:
                self._go(self._replay.step + 1)
                self._full.draw_anew()

    def _do(self, command: str, argument: Any) -> None:
        self._commands[command](*() if argument is None else (argument,))

    def _step(self, steps: int) -> None:
        self._screen.running = False
        self._go(self._replay.step + steps)

    def _deal(self, step: int) -> None:
        """To the beginning of the next deal, or of this one or the one before."""
        here = self._replay.step
        if step > 0:
            later = [deal for deal in self._replay.deals if deal > here]
            self._step((later[0] if later else self._replay.last) - here)
        else:
            earlier = [deal for deal in self._replay.deals if deal < here]
            self._step((earlier[-1] if earlier else 0) - here)

    def _show_help(self, shown: bool) -> None:
        self._screen.help, self._screen.scroll = shown, 0
        self._screen.running = False

    def _scroll(self, lines: int) -> None:
        last = len(help_rows(self._full.size[0])) - 1
        self._screen.scroll = min(max(self._screen.scroll + lines, 0), last)

    def _run(self) -> None:
        self._screen.running = not self._screen.running

    def _go(self, step: int) -> None:
        screen = self._screen
        log = Log()
        for update in self._replay.go(step):
            log.hear(update, self._replay.position.table)
        screen.position, screen.step, screen.log = self._replay.position, self._replay.step, log
        screen.running = screen.running and screen.step < screen.last
