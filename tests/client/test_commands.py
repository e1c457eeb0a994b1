"""The commands of `odin-table`, as processes: what they do, print, and end with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from odin_cli.main import COMMANDS, run
from tests.support.patience import PATIENCE
from tests.support.programs import Program, Programs, gone, open_table


def play_default(program: Program, until: str = "gameEnded") -> None:
    """A program in JSON mode that knows no rules: it takes what it would get anyway."""
    while True:
        line = json.loads(program.next_line(lambda line: "watchTable" in line))
        item = line["watchTable"]
        decision = item.get("snapshot", {}).get("decision")
        for event in item.get("events", {}).get("events", []):
            if until in event:
                return
            decision = event.get("decisionOpened", {}).get("decision")
        if decision and "choices" in decision:
            action = decision["choices"]["defaultAction"]
            program.type(json.dumps({"act": {"decisionId": decision["id"], "action": action}}))


def play_lowest(program: Program, until: str) -> None:
    """A pipe in line mode: lists what is legal, and does the first of it."""
    while True:
        line = program.next_line(lambda line: line.startswith("Your turn") or until in line)
        if until in line:
            return
        program.type("legal")
        first = program.next_line(lambda line: bool(re.match(r"\d+: |take |pass$", line)))
        if not first[0].isdigit():
            program.type(first)
            continue
        # Then either the pick-ups come, when there are several, or `pass`, or the next sentence.
        program.type("help")
        rest = program.next_line(lambda line: line.startswith(("and with it: take", "hand  ")))
        take = re.search(r"take [A-Z]\d", rest)
        play, _, goes_out = first.partition(": ")[2].partition(",")
        program.type(f"play {play} {take[0] if take and not goes_out else ''}")


# Without a server


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("rules",), ("play", "--help"), ("completion", "bash")],
)
def test_what_needs_no_server_loads_neither_grpc_nor_prompt_toolkit(
    arguments: tuple[str, ...],
) -> None:
    program = (
        "import sys; from odin_cli.main import run\n"
        f"code = run({list(arguments)!r})\n"
        "print(code, sorted({'grpc', 'prompt_toolkit', 'google'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_every_command_has_help(programs: Programs) -> None:
    for name, help_ in {name: programs.start(name, "--help") for name in COMMANDS}.items():
        assert help_.end() == 0
        assert help_.out[0].startswith(f"Usage: odin-table {name}")


def test_the_rules_are_printed(programs: Programs) -> None:
    rules, numbered = programs.run("rules"), programs.run("rules", "--numbers")
    assert (rules.end(), numbered.end()) == (0, 0)
    assert all(f"R{number}" in "\n".join(numbered.out) for number in range(1, 17))
    assert not re.search(r"\(R\d", "\n".join(rules.out)), "players need no numbers"


def test_wrong_usage_ends_with_2_and_says_why(programs: Programs) -> None:
    started = [
        programs.start(*arguments)
        for arguments in (
            ("nonsense",),
            ("play", "--bots", "9"),
            ("play", "--level", "nightmare"),
            ("host", "--level", "nightmare"),
            ("host", "--at", "not an address"),
            ("host", "--at", "127.0.0.1", "--listen", "127.0.0.1:0"),
            ("play", "--to", "7"),
            ("play", "--to", "10", "--single-deal"),
            ("join", "--code", "ABCDEFGH"),
            ("join", "not an address"),
            ("play", "--ui", "gui"),
            ("host", "--seats", "2", "--bots", "2"),
            ("serve", "--listen", "127.0.0.1:x"),
            ("serve", "--http", "port"),
            ("serve", "--http", "70000"),
            ("serve", "--page", "."),
            ("serve", "--http", "0", "--allow-origin", "http://host/"),
            ("serve", "--http", "0", "--page", "no-such-folder"),
            ("serve", "--set", "nothing=1"),
            ("serve", "--set", "heartbeat=11"),
            ("bot", "--strategy", "greedy"),
            ("bot", "127.0.0.1", "--strategy", "nobody"),
            ("bot", "127.0.0.1", "--any", "127.0.0.1"),
            ("conformance",),
        )
    ]
    for program in started:
        assert program.end() == 2, program.process.args
        assert program.errors
        assert not any("Traceback" in line for line in program.errors)


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("http://host/", "Browsers say http://host."),
        ("https://Example.org:443", "Browsers say https://example.org."),
        ("https://bücher.example", "Browsers say https://xn--bcher-kva.example."),
        ("http://host/page?a=b", "Browsers say http://host."),
        ("host:8080", "is not an origin"),
        ("localhost", "is not an origin"),
        ("http://", "is not an origin"),
        ("http://host:port", "is not an origin"),
    ],
)
def test_an_origin_that_no_browser_says_is_refused_at_the_start(
    origin: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would be taken, and match no page."""
    assert run(["serve", "--http", "0", "--allow-origin", origin, "--settings"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "origin", ["*", "null", "https://example.org", "http://[::1]:8080", "chrome-extension://abc"]
)
def test_an_origin_that_a_browser_says_is_taken(origin: str) -> None:
    assert run(["serve", "--http", "0", "--allow-origin", origin, "--settings"]) == 0


def test_a_server_that_cannot_be_reached_ends_with_3(programs: Programs) -> None:
    started = {
        programs.start(*arguments): said
        for arguments, said in (
            (("ls", "127.0.0.1:1"), "No server answers at 127.0.0.1:1"),
            (("join", "127.0.0.1:1"), "No server answers at 127.0.0.1:1"),
            (("watch", "K7QF@127.0.0.1:1"), "No server answers"),
            (("bot", "127.0.0.1:1"), "No server answers"),
            (("bot", "--any", "127.0.0.1:1"), "No server answers"),
            (("join", "nowhere.invalid"), "No machine is called nowhere.invalid"),
        )
    }
    for program, said in started.items():
        assert program.end() == 3, program.process.args
        assert program.error_with(said)
        assert not any("Traceback" in line for line in program.errors)


# serve


def test_a_server_stops_in_order_when_it_is_told_to(programs: Programs) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        server = programs.start("serve", "--listen", "127.0.0.1:0")
        server.line_with("odin-table serves on 127.0.0.1:")
        server.process.send_signal(number)
        assert server.end() == 0
        assert server.errors == []


def test_a_server_serves_http_where_it_listens_and_says_where(programs: Programs) -> None:
    server = programs.start("serve", "--listen", "127.0.0.1:0", "--http", "0")
    server.line_with("odin-table serves on 127.0.0.1:")
    address = server.line_with("over HTTP on").split()[-1]
    assert address.startswith("http://127.0.0.1:")
    request = urllib.request.Request(
        f"{address}odin_table.v1.LobbyService/GetServerInfo",
        data=b"{}",
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert json.load(answer)["revision"] == 1
    server.process.send_signal(signal.SIGTERM)
    assert server.end() == 0
    assert server.errors == []


def test_serving_http_without_the_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "connectrpc", None)  # as if it were not there
    assert run(["serve", "--http", "0"]) == 1
    assert "pip install 'odin-table[web]'" in capsys.readouterr().err


def test_a_server_can_end_with_its_last_table(programs: Programs) -> None:
    server = programs.start(
        "serve", "--listen", "127.0.0.1:0", "--until-empty", "--set", "empty_after=0.2"
    )
    address = server.line_with("serves on").split()[-1]
    open_table(address)  # and nobody sits down
    assert server.end() == 0


def test_a_port_that_is_taken_is_said(programs: Programs) -> None:
    address = programs.serve()
    second = programs.run("serve", "--listen", address, "--store", "memory")
    assert second.end() == 1
    assert second.error_with(address)


def test_a_file_of_tables_that_is_in_use_is_said(programs: Programs, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'shared.db'}"
    programs.serve("--store", store)
    second = programs.run("serve", "--listen", "127.0.0.1:0", "--store", store)
    assert second.end() == 1
    said = second.error_with("shared.db is used by another server")
    assert "`odin-table join 127.0.0.1:PORT`" in said  # which port is not known, and seldom 7711


@pytest.mark.parametrize("store", ["sqlite:", "tables.db", "postgres:tables"])
def test_a_store_that_there_is_not_is_said(programs: Programs, store: str) -> None:
    wrong = programs.run("serve", "--store", store)
    assert wrong.end() == 2
    assert wrong.error_with("say sqlite:PATH, or memory")


def test_the_settings_are_listed_with_their_defaults(programs: Programs) -> None:
    listed = programs.run("serve", "--settings", "--set", "bot_delay=0.25")
    assert listed.end() == 0
    assert "bot_delay=0.25" in listed.out
    assert "message_bytes=65536" in listed.out


# play


def test_a_pipe_plays_a_game_against_bots(programs: Programs) -> None:
    game = programs.start("play", "--single-deal", "--pace", "0", "--level", "random")
    play_lowest(game, "The game is over.")
    game.end_input()
    assert game.end() == 0
    assert not any("\x1b" in line for line in game.out + game.errors)
    checked = "the bytes of 1 of 4 seats, yours among them."
    assert any(checked in line for line in game.out)


def test_a_program_plays_a_game_in_json_and_then_another(programs: Programs) -> None:
    game = programs.start("play", "--ui", "json", "--bots", "1", "--single-deal", "--pace", "0")
    play_default(game)
    game.type('{"rematch": {}}')
    play_default(game)
    game.end_input()
    assert game.end() == 0
    assert game.errors == []
    told = [json.loads(line) for line in game.out]
    checked = [line["dealChecked"] for line in told if "dealChecked" in line]
    assert [(check["deal"], check["ok"], check["faults"]) for check in checked] == [
        (1, True, []),
        (1, True, []),
    ]


def test_commands_in_a_pipe_wait_for_the_own_turn(programs: Programs) -> None:
    game = programs.start("play", "--pace", "0", "--seed", "3")
    game.type("legal\nhand\nnonsense\nplay 1 2 3\nscores\ntable\nhelp\nrules\nsort\nsay hello")
    game.end_input()
    assert game.end() == 0
    text = "\n".join(game.out)
    assert re.search(r"^(pass|\d+: )", text, re.MULTILINE)
    assert "Hand, " in text
    assert "No deal is over yet" in text
    assert "Be the first to get rid of your cards" in text
    assert game.error_with("unknown command")
    assert game.error_with("is no card")


def test_the_same_seed_deals_the_same_hand(programs: Programs) -> None:
    def hand(*arguments: str) -> str:
        game = programs.start("play", "--bots", "1", "--pace", "0", *arguments)
        game.type("legal\nhand")
        game.end_input()
        assert game.end() == 0
        return next(line for line in game.out if line.startswith("Hand, "))

    assert hand("--seed", "5") == hand("--seed", "5")
    assert len({hand(), hand(), hand()}) > 1


def server_of(game: Program) -> int:
    """The process of the server that a client has started."""
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(game.process.pid)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(children.stdout.split()[0])


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_the_server_of_a_game_alone_ends_with_its_client(
    programs: Programs, number: signal.Signals, code: int
) -> None:
    game = programs.start("play", "--pace", "0")
    game.line_with("Your turn")
    server = server_of(game)
    game.process.send_signal(number)
    assert game.end() == code
    assert gone(server)
    assert not any("Traceback" in line for line in game.errors)


def test_the_help_says_where_a_program_finds_its_first_decision(programs: Programs) -> None:
    said = " ".join(" ".join(programs.run("play", "--help").out).split())
    assert "A decision that is open already stands in the snapshot (snapshot.decision)" in said


@pytest.mark.parametrize("ui", ["line", "json"])
def test_a_game_alone_ends_when_its_server_has(programs: Programs, ui: str) -> None:
    game = programs.start("play", "--pace", "0", "--ui", ui)
    game.line_with("Your turn" if ui == "line" else "watchTable")
    os.kill(server_of(game), signal.SIGKILL)
    assert game.end() == 3
    assert game.error_with("The server was killed (signal 9).")
    assert game.error_with("`odin-table play` starts another one")


def test_two_players_may_have_the_full_deck(programs: Programs) -> None:
    for options, removed in (((), 2), (("--full-deck",), 0)):
        game = programs.start("play", "--ui", "json", "--bots", "1", *options)
        started: list[Any] = []
        while not started:
            events = game.next_json("watchTable").get("events", {}).get("events", ())
            started = [event["gameStarted"] for event in events if "gameStarted" in event]
        assert len(started[0].get("removedColours", [])) == removed
        game.end_input()
        assert game.end() == 0


def test_line_mode_says_how_much_time_is_left(programs: Programs) -> None:
    game = programs.start("play", "--ui", "line", "--pace", "0", "--turn-time", "11")
    game.line_with("Your turn.")
    game.line_with("11 seconds left.")
    game.line_with("10 seconds left.")
    game.type("quit")
    assert game.end() == 0


def test_line_mode_says_that_time_was_up(programs: Programs) -> None:
    game = programs.start("play", "--ui", "line", "--pace", "0", "--turn-time", "5")
    game.line_with("Your turn.")
    game.line_with("5 seconds left.")
    game.line_with("Time was up: ")
    game.type("quit")
    assert game.end() == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--turn-time", "4"), "4 is not in the range 5<=x<=600"),
        (("--turn-time", "soon"), "'soon' is not a valid integer"),
        (("--turn-time", "30", "--bank", "3601"), "3601 is not in the range 0<=x<=3600"),
        (("--bank", "60"), "add --turn-time SECONDS"),
    ],
)
@pytest.mark.parametrize("command", ["play", "host"])
def test_a_clock_that_there_is_not_is_said(
    programs: Programs, command: str, arguments: tuple[str, ...], problem: str
) -> None:
    wrong = programs.run(command, *arguments)
    assert wrong.end() == 2
    assert wrong.error_with(problem)


# ls, join, watch


def test_tables_are_listed(programs: Programs) -> None:
    server = programs.serve()
    empty = programs.run("ls", server)
    assert empty.end() == 0
    assert empty.out == []
    assert empty.error_with("no public table")
    assert json.loads("\n".join(programs.run("ls", server, "--json").out))["tables"] == []


# conformance


def test_rule_vectors_are_run_and_a_mistake_is_found(programs: Programs, tmp_path: Path) -> None:
    right = {
        "id": "p1",
        "hand": ["B2", "R4"],
        "centre": [],
        "may_pass": False,
        "plays": [["B2"], ["R4"]],
        "values": {"B2": 2, "R4": 4},
        "goes_out": [],
    }
    wrong = {**right, "id": "p2", "may_pass": True}
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(json.dumps(right) + "\n")
    bad.write_text(json.dumps(right) + "\n" + json.dumps(wrong) + "\n")
    passes = programs.run("conformance", str(good))
    assert passes.end() == 0
    assert passes.out == ["1 passed, 0 failed"]
    fails = programs.run("conformance", str(good), str(bad))
    assert fails.end() == 1
    assert "p2" in fails.out[0]
    assert "may_pass" in fails.out[0]
    assert fails.out[-1] == "2 passed, 1 failed"
