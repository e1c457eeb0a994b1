"""However a client ends, the terminal is given back as a shell wants it, and the seat is kept."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.end_to_end.terminal_tables import ODIN_TABLE, Server, join, running_server
from tests.support.terminals import PyteTerminal


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def zoe(server: Server, tmp_path: Path) -> Generator[PyteTerminal]:
    """A client that waits at a table."""
    command = join(server.open_table(seats=2), "Zoe")
    terminal = PyteTerminal(
        command, 80, 24, {"XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    )
    try:
        terminal.wait_for("WAITING ROOM", "Zoe (you)")
        yield terminal
    finally:
        terminal.close()


@pytest.mark.parametrize(
    ("number", "code"),
    [(None, 130), (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "SIGINT", "SIGTERM", "SIGHUP"],
)
def test_a_signal_gives_the_terminal_back(zoe: PyteTerminal, number: int | None, code: int) -> None:
    if number is None:
        zoe.press("c-c")
    else:
        zoe.signal(number)
    assert zoe.wait_for_end() == code
    assert zoe.modes() == (True, True)
    output = zoe.output
    # The old screen, the cursor, the mouse, pasting: switched on once and off after that.
    for on, off in ((b"?1049h", b"?1049l"), (b"?25l", b"?25h"), (b"?1000h", b"?1000l")):
        assert 0 < output.index(on) < output.rindex(off)
        assert output.rindex(on) < output.rindex(off)
    assert output.rindex(b"?2004h") < output.rindex(b"?2004l")
    after = output[output.rindex(b"?1049l") :].decode()
    assert "You keep your seat. Come back with: odin-table join" in after
    assert "Traceback" not in after


def test_closing_the_window_ends_the_client(zoe: PyteTerminal) -> None:
    zoe.hang_up()
    assert zoe.process.wait(30) == 129


def test_whoever_comes_back_has_the_same_seat(server: Server, tmp_path: Path) -> None:
    table = server.open_table(seats=3)
    more = {"XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    for _ in range(2):
        zoe = PyteTerminal(join(table, "Zoe"), 80, 24, more)
        try:
            screen = zoe.wait_for("WAITING ROOM", "1  Zoe (you)")
            assert "2  -- free --" in screen
            zoe.press("c-c")
            assert zoe.wait_for_end() == 130
        finally:
            zoe.close()


def test_a_game_of_ones_own_ends_without_a_trace(tmp_path: Path) -> None:
    alone = (*ODIN_TABLE, "play", "--name", "Zoe", "--bots", "1", "--pace", "0")
    zoe = PyteTerminal(
        alone, 80, 24, {"XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    )
    try:
        zoe.wait_for("YOUR TURN", "Zoe (you)")
        zoe.press("q")
        zoe.wait_for("LEAVE?", "The table ends with you")
        zoe.press("q")
        assert zoe.wait_for_end() == 0
        assert "Come back" not in zoe.output.decode()
    finally:
        zoe.close()


@pytest.mark.parametrize(
    ("more", "sent", "never"),
    [
        ({}, b"38;5;", b"48;2;"),
        ({"COLORTERM": "truecolor"}, b"48;2;", b"48;5;"),
        ({"NO_COLOR": "1"}, b"\x1b[0;7m", b"48;5;"),
    ],
    ids=["256", "24 bit", "NO_COLOR"],
)
def test_the_environment_decides_on_colours(
    tmp_path: Path, more: dict[str, str], sent: bytes, never: bytes
) -> None:
    alone = (*ODIN_TABLE, "play", "--name", "Zoe", "--bots", "1", "--pace", "0")
    zoe = PyteTerminal(
        alone, 80, 24, {"XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), **more}
    )
    try:
        zoe.wait_for("YOUR TURN", "YOUR HAND")
        assert sent in zoe.output
        assert never not in zoe.output
    finally:
        zoe.press("c-c")
        zoe.wait_for_end()
        zoe.close()


def test_what_goes_wrong_is_said_after_the_terminal_was_given_back(
    server: Server, tmp_path: Path
) -> None:
    """A refusal comes up in a task of the screen; it ends the screen, and is told below it."""
    command = (*ODIN_TABLE, "watch", f"ZZZZ@{server.address}")
    terminal = PyteTerminal(command, 80, 24, {"XDG_STATE_HOME": str(tmp_path)})
    try:
        assert terminal.wait_for_end() == 4
        output = terminal.output
        assert output.rindex(b"?1049l") < output.index(b"odin-table: ")
        assert b"?1000l" in output
        assert b"?25h" in output
        assert b"Traceback" not in output
        assert terminal.modes() == (True, True)
    finally:
        terminal.close()


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_the_table_back(
    server: Server, tmp_path: Path
) -> None:
    shell = ("bash", "--norc", "--noprofile", "-i")
    terminal = PyteTerminal(shell, 80, 24, {"XDG_STATE_HOME": str(tmp_path), "PS1": "shell> "})
    try:
        terminal.wait_for("shell>")
        terminal.send(shlex.join(join(server.open_table(seats=2), "Zoe")) + "\r")
        terminal.wait_for("WAITING ROOM", "Zoe (you)")
        terminal.press("c-z")
        terminal.wait_for("Stopped", "shell>", without="WAITING ROOM")
        terminal.send("echo still $((40 + 2)) here\r")
        terminal.wait_for("still 42 here")
        terminal.send("fg\r")
        terminal.wait_for("WAITING ROOM", "Zoe (you)", without="Stopped")
        terminal.press("space")
        terminal.wait_for("Zoe (you)", "ready")
        terminal.press("c-c")
        terminal.wait_for("You keep your seat", "shell>")
    finally:
        terminal.close()


def test_a_window_that_is_dragged_is_drawn_a_few_times_and_not_sixty(zoe: PyteTerminal) -> None:
    before = len(zoe.output)
    for step in range(60):
        zoe.resize(80 + step % 7, 24 + step % 3)
    zoe.resize(100, 30)
    zoe.wait_until(lambda screen: "? help" in screen.split("\n")[29], "the last size")
    # A picture of this room is about 2 kB.
    assert len(zoe.output) - before < 60_000
