"""Commands of several people and programs at one server, as processes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from odin_contract.values import Options
from tests.client.test_commands import play_lowest, server_of
from tests.support.programs import Program, Programs, gone, open_table

TWO = Options(seats=2, threshold=None)
OVER = "The game is over."


def taken_seats(programs: Programs, server: str) -> list[str]:
    """The names at the tables of a server, as `ls --json` says."""
    listed = json.loads("\n".join(programs.run("ls", server, "--json").out))
    return [seat["name"] for table in listed["tables"] for seat in table["seats"] if seat["name"]]


def kept_server(host: Program) -> int:
    """The process that a host has left behind."""
    kept = re.search(r"kill (\d+)", host.error_with("The table is kept"))
    assert kept is not None
    return int(kept[1])


def test_two_people_play_at_a_table_and_a_third_watches(programs: Programs) -> None:
    table = open_table(programs.serve(), TWO)
    watcher = programs.start("watch", table)
    watcher.end_input()
    ann = programs.start("join", table, "--name", "Ann")
    bob = programs.start("join", table, "--name", "Bob", person="bob")
    for player in (ann, bob):
        player.line_with("waits")
    ann.type("say welcome")
    bob.line_with("Ann says: welcome")
    for player in (ann, bob):
        player.type("ready")
    with ThreadPoolExecutor() as both:
        list(both.map(play_lowest, (ann, bob), (OVER, OVER)))
    watcher.line_with(OVER)
    assert not any("Hand, " in line or "Your turn" in line for line in watcher.out)
    ann.type("leave")
    assert ann.end() == 0
    bob.line_with("Ann left.")
    bob.end_input()
    assert bob.end() == 0
    assert bob.error_with(f"You keep your seat. Come back with: odin-table join {table} --name Bob")


def test_a_name_gets_its_seat_again_and_another_name_another_one(programs: Programs) -> None:
    server = programs.serve()
    table = open_table(server, Options(seats=3))
    for name in ("Ann", "ann", "Bob"):
        assert programs.run("join", table, "--name", name).end() == 0
    assert taken_seats(programs, server) == ["Ann", "Bob"]
    # Somebody else's machine has another credential.
    stranger = programs.start("join", table, "--name", "ANN", person="stranger")
    assert stranger.end() == 4
    assert stranger.error_with("--name")


def test_a_program_does_not_notice_that_its_stream_is_renewed(programs: Programs) -> None:
    quick = ("heartbeat=0.05", "stream_life_least=0.1", "stream_life_most=0.2")
    server = programs.serve(*(word for change in quick for word in ("--set", change)))
    table = open_table(server, TWO)
    watcher = programs.start("watch", table, "--ui", "json")
    for _ in range(5):
        watcher.line_with('"presence"')  # the first that each new stream brings
    ann = programs.start("join", table, "--name", "Ann")
    watcher.line_with('"seatTaken"')
    ann.line_with("waits")
    told = [json.loads(line) for line in watcher.out]
    assert sum("snapshot" in item["watchTable"] for item in told) == 1
    assert not any("streamEnd" in item["watchTable"] for item in told)


@pytest.mark.parametrize(("older", "newer"), [("line", "json"), ("json", "line")])
def test_the_newer_of_two_clients_plays_the_seat_and_the_older_one_ends(
    programs: Programs, older: str, newer: str
) -> None:
    table = open_table(programs.serve(), TWO)
    elsewhere = {"line": "played from elsewhere", "json": "STREAM_END_REASON_SUPERSEDED"}
    there = {"line": "waits", "json": '"snapshot"'}
    first = programs.start("join", table, "--name", "Ann", "--ui", older)
    first.line_with(there[older])
    second = programs.start("join", table, "--name", "Ann", "--ui", newer)
    second.line_with(there[newer])
    first.line_with(elsewhere[older])
    assert first.end() == 0, "it does not come back by itself"
    bob = programs.start("join", table, "--name", "Bob", person="bob")
    bob.line_with("waits")
    bob.type("say welcome")
    second.line_with("welcome")
    # And the other way round.
    third = programs.start("join", table, "--name", "Ann", "--ui", older)
    third.line_with(there[older])
    second.line_with(elsewhere[newer])
    assert second.end() == 0


def test_the_seat_of_whoever_left_a_game_is_offered_to_join(programs: Programs) -> None:
    server = programs.serve()
    table = open_table(server, TWO)
    ann = programs.start("join", table, "--name", "Ann")
    bob = programs.start("join", table, "--name", "Bob", person="bob")
    for player in (ann, bob):
        player.line_with("waits")
        player.type("ready")
    bob.line_with("Deal 1 starts")
    assert programs.run("ls", server).line_with("deal 1").startswith("watch ")
    bob.type("leave")
    assert bob.end() == 0
    ann.line_with("Bob left; a substitute (greedy) plays on.")
    assert programs.run("ls", server).line_with("deal 1").startswith("join ")
    zoe = programs.start("join", server, "--name", "Zoe", person="zoe")
    zoe.line_with("Centre: ")
    ann.line_with("Zoe plays on for Bob.")
    assert sorted(taken_seats(programs, server)) == ["Ann", "Zoe"]


def test_without_a_handle_the_only_table_is_joined(programs: Programs) -> None:
    server = programs.serve()
    nothing = programs.run("join", server)
    assert nothing.end() == 1
    assert nothing.error_with("There is no table")
    first = open_table(server, TWO)
    assert programs.run("join", server, "--name", "Ann").end() == 0
    assert taken_seats(programs, server) == ["Ann"]
    second = open_table(server, TWO)
    many = programs.start("join", server, "--name", "Bob", person="bob")
    assert many.end() == 1
    assert many.error_with(f"odin-table join {first}")
    assert many.error_with(f"odin-table join {second}")
    # Whoever sits already comes back there.
    back = programs.run("join", server, "--name", "Ann")
    assert back.end() == 0
    assert back.error_with(f"odin-table join {first}")
    watching = programs.run("watch", server)
    assert watching.end() == 1
    assert watching.error_with(f"odin-table watch {second}")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("join", "NOPE@{server}"), 4, "odin-table ls"),
        (("join", "{server}", "--code", "AAAAAAAA"), 4, "odin-table ls"),
        (("watch", "NOPE@{server}"), 4, "odin-table ls"),
    ],
)
def test_what_a_server_refuses_ends_with_4(
    programs: Programs, arguments: tuple[str, ...], code: int, said: str
) -> None:
    server = programs.serve()
    refused = programs.run(*(argument.format(server=server) for argument in arguments))
    assert refused.end() == code
    assert refused.error_with(said)


def test_a_full_table_can_be_watched(programs: Programs) -> None:
    table = open_table(programs.serve(), TWO)
    for name in ("Ann", "Bob"):
        assert programs.run("join", table, "--name", name).end() == 0
    third = programs.run("join", table, "--name", "Zoe")
    assert third.end() == 4
    assert third.error_with("odin-table watch")


def test_a_credential_that_is_spoilt_ends_with_5(programs: Programs, tmp_path: Path) -> None:
    table = open_table(programs.serve(), TWO)
    file = tmp_path / "mine.json"
    assert programs.run("join", table, "--credential-file", str(file)).end() == 0
    content = re.sub(r'": "[^"]+"', '": "spoilt"', file.read_text())
    file.write_text(content)
    spoilt = programs.run("join", table, "--credential-file", str(file))
    assert spoilt.end() == 5
    assert spoilt.error_with("credential")


# host


def test_a_host_who_goes_leaves_the_table_and_can_come_back(programs: Programs) -> None:
    clock = ("--turn-time", "45", "--bank", "600")
    where = ("--listen", "127.0.0.1:0")
    host = programs.start("host", *where, *clock, "--bots", "1", "--name", "Ann")
    assert "45 seconds a turn and a bank of 10 minutes" in host.line_with("waits")
    host.end_input()
    assert host.end() == 0
    server = kept_server(host)
    try:
        command = host.error_with("Come back with: ").partition("odin-table ")[2]
        back = programs.start(*command.split())
        assert "Ann" not in back.line_with("waits")  # it is "you"
        back.type("start\nlegal")
        back.line_with("Game 1 starts")
        back.type("quit")
        assert back.end() == 0
        address = command.split()[1].partition("@")[2]
        assert taken_seats(programs, address)[0] == "Ann"
        assert "45 s + 600 s" in programs.run("ls", address).line_with("deal 1")
    finally:
        os.kill(server, signal.SIGTERM)
    assert gone(server)


@pytest.mark.parametrize(("answer", "keeps"), [("close", False), ("keep", True)])
def test_a_host_at_a_terminal_is_asked_whether_to_close_the_table(
    tmp_path: Path, answer: str, keeps: bool
) -> None:
    ours, theirs = pty.openpty()
    arguments = ("host", "--ui", "line", "--listen", "127.0.0.1:0", "--name", "Ann")
    host = subprocess.Popen(
        [sys.executable, "-m", "odin_cli", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
    )
    os.close(theirs)
    seen = ""
    for wanted, typed in (("> ", "quit"), ("[close/keep]", answer)):
        while wanted not in seen:
            seen += os.read(ours, 4096).decode()
        os.write(ours, f"{typed}\n".encode())
    _, errors = host.communicate(timeout=40)
    os.close(ours)
    assert host.returncode == 0
    said = "The table is kept for some minutes, since nobody else is there: process"
    assert (said in errors) is keeps
    assert "\x1b" not in seen + errors
    if kept := re.search(r"kill (\d+)", errors):
        os.kill(int(kept[1]), signal.SIGTERM)
        assert gone(int(kept[1]))


def test_a_private_table_is_entered_with_its_code(programs: Programs) -> None:
    host = programs.start("host", "--listen", "127.0.0.1:0", "--private", "--name", "Ann")
    # The server listens on loopback alone, so that is the address to invite to.
    invitation = re.search(
        r"join (\w+)@127\.0\.0\.1:(\d+) --code (\w{8})", host.error_with("--code")
    )
    assert invitation is not None
    handle, port, code = invitation.groups()
    try:
        server = f"127.0.0.1:{port}"
        assert taken_seats(programs, server) == []
        assert programs.run("join", f"{handle}@{server}", "--name", "Bob").end() == 4
        guest = programs.start("join", server, "--code", code.lower(), "--name", "Bob")
        host.line_with("Bob sat down.")
        guest.end_input()
        assert guest.end() == 0
    finally:
        host.end_input()
        os.kill(kept_server(host), signal.SIGTERM)
    assert host.end() == 0


def test_a_second_host_is_offered_what_is_there(programs: Programs) -> None:
    server = programs.serve()
    table = open_table(server, TWO)
    host = programs.run("host", "--listen", server)
    assert host.end() == 1
    assert host.errors[0] == f"odin-table: A server runs on this machine already, at {server}."
    for command in (f"odin-table join {table} ", f"odin-table host --at {server} "):
        assert host.error_with(command)
    assert host.error_with("--listen 0.0.0.0:")


def test_a_port_that_another_program_has_is_said_by_a_host(programs: Programs) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        host = programs.run("host", "--listen", f"127.0.0.1:{port}")
    assert host.end() == 1
    assert host.errors[0] == f"odin-table: Another program listens at 127.0.0.1:{port}."
    assert host.error_with(f"--listen 127.0.0.1:{port + 1}")


@pytest.mark.parametrize("answer", ["new", "table", ""])
def test_a_second_host_at_a_terminal_chooses(
    programs: Programs, tmp_path: Path, answer: str
) -> None:
    server = programs.serve()
    table = open_table(server, Options(seats=3)).partition("@")[0]
    ours, theirs = pty.openpty()
    host = subprocess.Popen(
        [sys.executable, "-m", "odin_cli", "host", "--ui", "line", "--listen", server],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "ODIN_NAME": "Ann"},
    )
    os.close(theirs)
    seen = ""
    typed = [("for neither:", table.lower() if answer == "table" else answer)]
    typed += [("> ", "quit")] if answer else []
    typed += [("[close/keep]", "keep")] if answer == "new" else []
    for wanted, text in typed:
        while wanted not in seen:
            seen += os.read(ours, 4096).decode()
        assert answer or "> " not in seen
        os.write(ours, f"{text}\n".encode())
    errors = host.communicate(timeout=40)[1].decode()
    os.close(ours)
    assert host.returncode == 0
    assert "The table is kept" not in errors, "the server is not this host's"
    at = programs.run("ls", server)
    assert len(at.out) == (3 if answer == "new" else 2)
    assert ("Ann" in taken_seats(programs, server)) is bool(answer)


def test_closing_a_table_leaves_the_others_and_the_last_one_ends_the_server(
    programs: Programs,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        server = f"127.0.0.1:{free.getsockname()[1]}"
    first = programs.start("host", "--listen", server, "--ui", "json", "--name", "Ann")
    assert first.next_json("watchTable")["snapshot"]["youAreHost"]
    second = programs.start("host", "--at", server, "--name", "Bob", person="bob")
    second.line_with("waits")
    first.type('{"closeTable": {}}')
    assert first.end() == 0
    kept = re.search(r"Process (\d+) serves other tables.*kill (\d+)", "\n".join(first.errors))
    assert kept is not None
    second.type("say still here")
    second.line_with("still here")
    second.end_input()
    assert second.end() == 0
    third = programs.start("host", "--at", server, "--ui", "json", "--name", "Bob", person="bob")
    handle = third.next_json("watchTable")["snapshot"]["table"]
    third.type('{"closeTable": {}}')
    assert third.end() == 0
    for table in json.loads("\n".join(programs.run("ls", server, "--json").out))["tables"]:
        assert table["table"] != handle
        back = programs.start("join", f"{table['table']}@{server}", "--name", "Bob", person="bob")
        back.line_with("waits")
        back.type("leave")
        assert back.end() == 0
    os.kill(int(kept[1]), signal.SIGTERM)
    assert gone(int(kept[1]))


def test_a_host_whose_server_has_ended_says_how_to_go_on(programs: Programs) -> None:
    host = programs.start("host", "--listen", "127.0.0.1:0", "--name", "Ann")
    host.line_with("waits")
    os.kill(server_of(host), signal.SIGKILL)
    assert host.end() == 3
    assert host.error_with("The server was killed (signal 9).")
    assert host.error_with("odin-table serve --listen 127.0.0.1:0")


def test_a_host_may_keep_programs_away(programs: Programs) -> None:
    server = programs.serve()
    wanted = ("--no-bots", "--full-deck", "--bots", "1")
    host = programs.start("host", "--at", server, *wanted, "--ui", "json")
    view = host.next_json("watchTable")["snapshot"]
    assert view["options"]["openToBots"] is False
    assert view["options"]["shortDeck"] is False
    assert [seat.get("occupant") for seat in view["seats"]][1] == "OCCUPANT_BUILT_IN_BOT"
    bot = programs.run("bot", f"{view['table']}@{server}")
    assert bot.end() == 4
    level = programs.run("host", "--at", server, "--bots", "1", "--level", "nightmare")
    assert level.end() == 2
    assert level.error_with("there is no level 'nightmare'; it is random, greedy or hard.")


def test_options_of_a_server_make_no_sense_at_another_one(programs: Programs) -> None:
    for option in (("--store", "memory"), ("--listen", "127.0.0.1:0")):
        host = programs.run("host", "--at", "127.0.0.1:9", *option)
        assert host.end() == 2
        assert host.error_with(f"--at and {option[0]} exclude each other")


# bot


def test_two_bots_play_a_game_and_go(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from odin_client.bots import Bot\n"
        "class Mine(Bot):\n"
        "    def choose(self, view):\n"
        "        raise ValueError('not today')\n"
    )
    table = open_table(programs.serve(), TWO)
    own = ("bot", table, "--strategy", "mine:Mine", "--name", "Mine")
    mine = programs.start("--lang", "fr", *own, cwd=tmp_path)
    other = programs.start("bot", table, "--strategy", "greedy", "--seed", "1")
    assert (mine.end(), other.end()) == (0, 0)
    # Its worker speaks English, and what it says is told in French.
    assert mine.error_with("Mine a levé ValueError: not today")
    assert mine.error_with("l’action par défaut est prise")
    assert other.errors == []


def test_bots_that_take_any_seat_end_after_their_games(programs: Programs) -> None:
    server = programs.serve()
    bots = [programs.start("bot", "--any", server, "--games", "1") for _ in range(2)]
    open_table(server, TWO)
    assert [bot.end() for bot in bots] == [0, 0]


def test_bots_that_take_any_seat_come_back_after_a_crash(programs: Programs) -> None:
    def wait_for_a_game() -> None:
        watcher = programs.start("watch", open_table(server, TWO))
        watcher.end_input()
        watcher.line_with(OVER)

    server = programs.serve()
    bots = [
        programs.start("bot", "--any", server, "--strategy", strategy)
        for strategy in ("greedy", "random")
    ]
    wait_for_a_game()
    programs.kill_server(server)
    for bot in bots:
        bot.error_with("has lost the server and tries again")
    programs.serve("--listen", server)
    wait_for_a_game()


# JSON


def test_a_mistake_in_json_is_answered_and_reading_goes_on(programs: Programs) -> None:
    game = programs.start("play", "--ui", "json", "--bots", "1", "--pace", "0")
    snapshot = game.next_json("watchTable")["snapshot"]
    assert snapshot["phase"] == "TABLE_PHASE_WAITING", "shown before its first deal"
    for line in ("{", "[]", '"act"', "{}", '{"act": {}, "x": {}}', '{"fly": {}}', '{"act": 3}'):
        game.type(line)
        assert game.next_json("error")["reason"] == "MALFORMED"
    game.type('{"act": {"decisionId": "many"}}')
    error = game.next_json("error")
    assert (error["call"], error["reason"]) == ("act", "MALFORMED")
    game.type('{"act": {"action": {"playCards": {"cards": ["CARD_O1", "CARD_R10"]}}}}')
    error = game.next_json("error")
    assert (error["call"], error["reason"]) == ("act", "MALFORMED")
    assert error["message"].startswith('action.play_cards.cards[1]: "CARD_R10" is not a Card')
    game.type('{"setReady": {"ready": true, "newer": {}, "nonce": "?"}}')
    assert game.next_json("error")["message"] == "nonce: It is text in base64."
    game.type('{"act": {"decisionId": 1, "action": {"passTurn": {}}, "requestId": "mine"}}')
    refused = json.loads(game.next_line(lambda line: "error" in line))
    assert refused["error"]["reason"] == "STALE_DECISION"
    assert refused["error"]["code"] == "ABORTED"
    assert refused["error"]["metadata"]["decision_id"]
    assert refused["requestId"] == "mine"
    game.type('{"sendChat": {"text": "\\u001b[31mhello"}}')
    assert game.next_json("sendChat")["number"] == 1
    game.type('{"getHistory": {"pageSize": 2}}')
    assert len(game.next_json("getHistory")["events"]) == 2
    game.end_input()
    assert game.end() == 0
    assert not any("\x1b" in line for line in game.out)


def test_a_table_is_watched_in_json(programs: Programs) -> None:
    table = open_table(programs.serve(), TWO)
    watcher = programs.start("watch", table, "--ui", "json")
    assert watcher.next_json("watchTable")["snapshot"]["table"] == table.partition("@")[0]
    programs.run("join", table, "--name", "Ann")
    watcher.line_with("seatTaken")
