"""A server of one's own and tables at it, for clients in terminals."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_contract.values import Options
from tests.support.programs import Program, programs_in
from tests.support.terminals import Terminal

ODIN_TABLE: Final = (sys.executable, "-m", "tests.end_to_end.without_nonces")

TURNS: Final = 400
"""More things to decide than any game here has."""

OpenTerminal: TypeAlias = Callable[..., Terminal]


@dataclass
class Server:
    """A server process."""

    program: Program
    address: str

    def kill(self) -> None:
        """As a crash: without a word."""
        self.program.stop()

    def open_table(self, *, seats: int, bots: int = 0, threshold: int | None = None) -> str:
        """Opens a table with bots; gives what `join` takes. Its host is nobody who sits there."""

        async def opening() -> str:
            connection = await Connection.open(Address.parse(self.address), Credential.new())
            options = Options(
                seats=seats,
                threshold=threshold,
                short_deck=True,
                private=False,
                open_to_bots=True,
                title="",
            )
            try:
                session = await Session.open_table(connection, options)
                for _ in range(bots):
                    await session.add_bot("greedy")
                return str(session.address)
            finally:
                await connection.close()

        return asyncio.run(opening())


@contextmanager
def running_server(
    folder: Path, listen: str = "127.0.0.1:0", *, seed: int = 48
) -> Generator[Server]:
    """A server with bots that do not dawdle; it is gone at the end.

    It deals the same cards each time: a hand without a legal play would be another story.
    """
    with programs_in(folder) as programs:
        options = (f"--listen={listen}", "--set=bot_delay=0", f"--seed={seed}")
        program = programs.start("serve", *options)
        # It says where: HOST:PORT is the last word of the line.
        yield Server(program, program.line_with("serves on").split()[-1])


def join(table: str, name: str) -> Sequence[str]:
    """The command that sits somebody down."""
    return (*ODIN_TABLE, "join", table, "--name", name)


def in_shell(command: Sequence[str]) -> Sequence[str]:
    """The command as somebody types it in a shell: what was there before comes back after it.

    The shell stays, since tmux moves the screen up by a line when the program of a pane ends.
    """
    return ("sh", "-c", 'echo BEFORE; "$@"; echo AFTER $?; exec cat', "sh", *command)


def play_on(terminal: Terminal, end: str, *others: Terminal) -> str:
    """Plays what is legal at all of these terminals until a text is on the first one's screen.

    Each key waits until it has changed something, and is pressed again when it has not: one that
    was pressed too early is not taken. When something else has changed meanwhile, the key does no
    harm: all of them are refused or mean the same again.
    """
    everybody = (terminal, *others)
    for _ in range(TURNS):
        for one in everybody:
            screen = one.screen()
            if one is terminal and end in screen:
                return screen
            if key := _next_key(screen):
                one.press(key)
                one.wait_for_change(screen, seconds=1)
        if not any(_next_key(one.screen()) for one in everybody) and end not in terminal.screen():
            terminal.wait_for_change(terminal.screen(), seconds=0.25)
    raise AssertionError(f"waited for {end!r} in vain, saw:\n{terminal.screen()}")


def press_until(terminal: Terminal, key: str, text: str) -> None:
    """Presses a key until a text is there: one that is pressed too early is not taken."""
    for _ in range(TURNS):
        if text in (screen := terminal.screen()):
            return
        terminal.press(key)
        terminal.wait_for_change(screen, seconds=0.25)
    raise AssertionError(f"waited for {text!r} in vain, saw:\n{terminal.screen()}")


def _next_key(screen: str) -> str | None:
    if "SENDING" in screen:
        return None
    for sign, key in (
        ("TAKE WHICH CARD?", "enter"),
        ("PASS?", "p"),
        ("REALLY?", "enter"),
        ("next deal", "enter"),
    ):
        if sign in screen:
            return key
    if "YOUR TURN" not in screen:
        return None
    if "✓" in screen:
        return "enter"
    return "p" if "no legal play" in screen else "tab"
