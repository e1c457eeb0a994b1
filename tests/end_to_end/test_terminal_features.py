"""What people do in a terminal, from the first key to the last, with real processes.

Every test here runs on a pseudo-terminal drawn by pyte (`make test`) and in a real tmux
(`make test-tmux`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.end_to_end.terminal_tables import (
    ODIN_TABLE,
    OpenTerminal,
    Server,
    in_shell,
    join,
    play_on,
    press_until,
    running_server,
)
from tests.support.terminals import PyteTerminal, Terminal, TmuxTerminal


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    with running_server(tmp_path) as running:
        yield running


@pytest.fixture(params=["pyte", pytest.param("tmux", marks=pytest.mark.tmux)])
def open_terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[OpenTerminal]:
    """Opens terminals of this kind; each belongs to a person with a home of their own."""
    with contextlib.ExitStack() as closing:
        opened = 0

        def opening(
            command: Sequence[str],
            *,
            cols: int = 80,
            rows: int = 24,
            more: Mapping[str, str] | None = None,
        ) -> Terminal:
            nonlocal opened
            opened += 1
            home = tmp_path / f"person-{opened}"
            home.mkdir()
            own = {"XDG_STATE_HOME": str(home), "XDG_DATA_HOME": str(home), **(more or {})}
            terminal: Terminal = (
                TmuxTerminal(command, cols, rows, own, home)
                if request.param == "tmux"
                else PyteTerminal(command, cols, rows, own)
            )
            closing.callback(terminal.close)
            return terminal

        yield opening


def test_a_person_plays_against_bots_to_the_end_of_a_game_and_once_more(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=4, bots=3, threshold=10)
    zoe = open_terminal(join(table, "Zoe"))
    zoe.wait_for("WAITING ROOM", "Zoe (you)", "not ready", "3 of 4 ready")
    zoe.press("space")
    zoe.wait_for("YOUR HAND 9", "CENTRE")
    screen = play_on(zoe, "GAME OVER")
    assert "left in hand" in screen
    assert " win" in screen or " share the victory" in screen
    press_until(zoe, "enter", "YOUR HAND 9")
    zoe.wait_for("YOUR HAND 9", "CENTRE")


def test_the_newer_of_two_terminals_plays_the_seat(
    server: Server, open_terminal: OpenTerminal, tmp_path: Path
) -> None:
    table = server.open_table(seats=2)
    same = {"ODIN_CREDENTIAL_FILE": str(tmp_path / "seats.json")}
    here = open_terminal(join(table, "Ann"), more=same)
    here.wait_for("Ann (you)")
    there = open_terminal(join(table, "Ann"), more=same)
    there.wait_for("Ann (you)")
    here.wait_for("You play this seat from elsewhere now.")
    there.press("space")
    there.wait_for("Ann (you)", "ready", "a game needs two players")
    bob = open_terminal(join(table, "Bob"))
    bob.wait_for("Bob (you)")
    there.wait_for("1 of 2 ready")
    assert "Bob" not in here.screen(), "it does not come back by itself"
    # And the other way round.
    again = open_terminal(join(table, "Ann"), more=same)
    again.wait_for("1 of 2 ready")
    there.wait_for("You play this seat from elsewhere now.")


def test_two_people_and_a_spectator_at_one_table(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=2)
    ann = open_terminal(join(table, "Ann"))
    ann.wait_for("Ann (you)", "a game needs two players")
    bob = open_terminal(join(table, "Bob"), cols=40, rows=16)
    bob.wait_for("Bob (you)")
    eve = open_terminal((*ODIN_TABLE, "watch", table), cols=120, rows=30)
    eve.wait_for("WAITING ROOM", "Ann", "Bob")

    ann.press("c")
    ann.wait_for("say:")
    ann.send("salut Bob!")
    ann.press("enter")
    for one in (ann, eve):
        one.wait_for("Ann: salut Bob!")

    ann.press("space")
    ann.wait_for("1 of 2 ready")
    bob.press("space")
    for one in (ann, bob):
        one.wait_for("HAND 9", "CENTRE empty")
    eve.wait_for("WATCHING", "CENTRE empty")
    assert "HAND" not in eve.screen()

    play_on(ann, "GAME OVER", bob)
    for one in (ann, bob, eve):
        one.wait_for("GAME OVER", " with ", "Deal 1 was checked")

    # Whoever asks for a rematch is ready for it, and nobody else loses the scores.
    press_until(ann, "enter", "1 of 2 ready")
    bob.wait_for("GAME OVER", "1 of 2 are ready")
    press_until(bob, "enter", "HAND 9")
    ann.wait_for("YOUR HAND 9")


def test_the_number_is_typed_and_the_reason_shown(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=2)
    people = [open_terminal(join(table, name)) for name in ("Ann", "Bob")]
    for one in people:
        one.wait_for("(you)")
        one.press("space")
    for one in people:
        one.wait_for("YOUR HAND 9")
    opener = next(one for one in people if "YOUR TURN" in one.screen())
    other = next(one for one in people if one is not opener)

    opener.press("tab")
    lowest = opener.wait_for("✓ opens")
    opener.press("escape")
    opener.wait_for("legal plays", without="✓")
    opener.press("p")
    opener.wait_for("may not pass")  # R5
    opener.press("a")
    opener.wait_for("✗ same colour or same number only", without="may not pass")  # R8
    opener.press("escape")  # and a Tab right after it would be a Shift-Tab
    opener.wait_for("legal plays", without="✗")
    opener.press("tab", "enter")
    number = _number_in(lowest)
    for one in people:
        one.wait_for(f"CENTRE {number} by")

    # In advance, on the other's turn: nothing is sent.
    opener.press("space")
    opener.wait_for("✓ kept for your turn")
    opener.press("enter")
    opener.wait_for("It is not your turn yet")

    # R10: passing although something can be played takes a second key.
    other.wait_for("YOUR TURN", "legal play")
    other.press("p")
    if "no legal play" not in other.screen():
        other.wait_for("PASS?")
        other.press("escape")
        other.wait_for("YOUR TURN", without="PASS?")
        other.press("p", "p")
    opener.wait_for("CENTRE empty", "YOUR TURN")  # R14
    assert "▲" in opener.screen()


def _number_in(screen: str) -> str:
    """The number in the preview."""
    preview = next(row for row in screen.split("\n") if "✓" in row)
    return preview.split()[0]


def test_help_rules_scores_and_log_leave_the_turn_in_sight(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=2)
    people = [open_terminal(join(table, name)) for name in ("Ann", "Bob")]
    for one in people:
        one.wait_for("(you)")
        one.press("space")
    for one in people:
        one.wait_for("YOUR HAND 9")
    opener = next(one for one in people if "YOUR TURN" in one.screen())
    for key, title in (("?", "HELP"), ("w", "SCORES"), ("l", "LOG")):
        opener.press(key)
        opener.wait_for(f"── {title}", "YOUR TURN")
        opener.press("1", "p", "a")  # nothing of the table moves below a page
        if title == "HELP":
            opener.press("tab")
            opener.wait_for("── RULES", "YOUR TURN")
        opener.press("escape")
        opener.wait_for("CENTRE empty", "YOUR HAND 9", "legal plays")


def test_resizing_again_and_again_draws_the_same_table(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=4, bots=3)
    zoe = open_terminal(join(table, "Zoe"))
    zoe.wait_for("Zoe (you)")
    zoe.press("space")
    zoe.wait_for("YOUR TURN", "YOUR HAND")
    zoe.press("tab")
    zoe.press("space")
    for cols, rows in ((40, 16), (200, 60), (60, 20), (80, 24)):
        zoe.resize(cols, rows)
        zoe.wait_until(partial(_fills, cols=cols, rows=rows), f"the table in {cols}x{rows}")
    for cols, rows in ((39, 24), (10, 3), (1, 1)):
        zoe.resize(cols, rows)
        zoe.wait_for("Odin needs 40"[: cols - 1], without="YOUR TURN")
    zoe.resize(80, 24)
    zoe.wait_for("YOUR TURN", "CENTRE")


def _fills(screen: str, cols: int, rows: int) -> bool:
    """Whether the table is drawn in this size: the keys in its last row, a heading as wide."""
    lines = screen.split("\n")
    headings = [line for line in lines if line.startswith("── YOUR HAND")]
    wide = cols if cols < 110 else cols - cols // 3
    return (
        "YOUR TURN" in screen
        and len(lines) == rows
        and "? help" in lines[-1]
        and any(len(heading.split("│")[0]) == wide for heading in headings)
    )


def test_quitting_keeps_the_seat_and_says_how_to_come_back(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=2)
    zoe = open_terminal(in_shell(join(table, "Zoe")))
    zoe.wait_for("Zoe (you)")
    zoe.press("c-c")
    screen = zoe.wait_for("You keep your seat", f"odin-table join {table}", "AFTER 130")
    # What was on the screen before is there again (pyte has no second screen).
    assert "BEFORE" in screen or isinstance(zoe, PyteTerminal)
    assert "WAITING ROOM" not in screen


def test_leaving_takes_two_keys_and_frees_the_seat(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=2)
    ann = open_terminal(in_shell(join(table, "Ann")))
    bob = open_terminal(join(table, "Bob"))
    ann.wait_for("Bob", "Ann (you)")
    bob.wait_for("Ann", "Bob (you)")
    ann.press("q")
    ann.wait_for("LEAVE?")
    ann.press("escape")
    ann.wait_for("of 2 ready", without="LEAVE?")
    ann.press("q", "q")
    screen = ann.wait_for("AFTER 0")
    assert "You keep your seat" not in screen
    bob.wait_for("-- free --")


def test_a_killed_server_leaves_the_board_the_choice_and_a_way_out(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=4, bots=3)
    zoe = open_terminal(in_shell(join(table, "Zoe")))
    zoe.wait_for("Zoe (you)")
    zoe.press("space")
    zoe.wait_for("YOUR TURN")
    zoe.press("tab")
    chosen = f" {_number_in(zoe.wait_for('✓'))} "
    server.kill()
    screen = zoe.wait_for("Connection lost", "seat kept", "r retry now")
    assert "YOUR HAND" in screen
    assert chosen in screen
    zoe.press("r")
    zoe.press("c-c")
    zoe.wait_for("You keep your seat", "AFTER 130")


def test_the_table_browser_leads_to_a_table_and_back(
    server: Server, open_terminal: OpenTerminal
) -> None:
    table = server.open_table(seats=3, bots=1)
    zoe = open_terminal(in_shell(ODIN_TABLE), more={"ODIN_DISCOVERY": "0"})
    zoe.wait_for("ODIN · tables", "? help")
    zoe.press("a")
    zoe.wait_for("address [code]:")
    zoe.send(table)
    zoe.press("enter")
    zoe.wait_for("WAITING ROOM", "(you)", "1 of 2 ready")
    zoe.press("q")
    zoe.wait_for("LEAVE?")
    zoe.press("q")
    zoe.wait_for("ODIN · tables", "? help", without="WAITING ROOM")
    zoe.press("a")
    zoe.wait_for("address [code]:")
    zoe.send("127.0.0.1:1")
    zoe.press("enter")
    zoe.wait_for("ODIN · tables", "No server answers at 127.0.0.1:1")
    zoe.press("q")
    zoe.wait_for("AFTER 0")


def test_a_server_that_was_killed_in_a_turn_comes_back_to_the_same_turn_and_choice(
    open_terminal: OpenTerminal, tmp_path: Path
) -> None:
    with running_server(tmp_path) as server:
        table = server.open_table(seats=4, bots=3)
        zoe = open_terminal(join(table, "Zoe"))
        zoe.wait_for("Zoe (you)")
        zoe.press("space")
        zoe.wait_for("YOUR TURN")
        zoe.press("tab")
        number = _number_in(zoe.wait_for("✓"))
        server.kill()
        zoe.wait_for("Connection lost", f" {number} ")
        # Played while nobody is there to take it: sent again until somebody is.
        if "CENTRE empty" not in zoe.screen():  # an opener takes nothing (R11)
            zoe.press("up")
            zoe.wait_for(f" {number} ", "✓", "↺take")
        zoe.press("enter")
        zoe.wait_for("SENDING")
        with running_server(tmp_path, server.address):
            zoe.wait_for("● ", without="Connection lost")
            zoe.press("l")  # the bots may have pushed it out of the log beside the players
            screen = zoe.wait_for("── LOG", f"You {number} (")
            assert screen.count(f"You {number} (") == 1
            zoe.press("escape")
            zoe.wait_for("Zoe (you)", without="── LOG")
            play_on(zoe, "GAME OVER")
