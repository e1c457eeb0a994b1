"""`odin-table conformance --client`, as a process that runs clients as processes."""

from __future__ import annotations

import re
import signal
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from odin_conformance.deal_points import DEAL_POINTS
from odin_conformance.points import POINTS
from odin_conformance.program import filled_in, words_of
from tests.support.in_process import Finished
from tests.support.patience import PATIENCE
from tests.support.programs import Programs, gone

PAGE: Final = (Path(__file__).parents[3] / "docs" / "conformance.md").read_text("utf-8")
ALL: Final = (*POINTS, *DEAL_POINTS)
BARE: Final = f"{sys.executable} -m tests.client.conformance.bare_client"
BOT: Final = f"{sys.executable} -m odin_cli bot {{table}}@{{address}}"


def check(programs: Programs, client: str, *options: str, points: tuple[str, ...] = ()) -> Finished:
    named = [word for point in points for word in ("--point", point)]
    return programs.run("conformance", "--client", client, *named, *options)


def test_our_own_bot_passes_every_point(programs: Programs) -> None:
    """With its own patience, which is 25 s for a stream that has fallen silent."""
    words = ("--client", BOT, "--checks-deals", "--jobs", "4", "--patience", "120")
    kit = programs.start("conformance", *words)
    assert kit.process.wait(150) == 0, kit.out
    assert kit.end() == 0
    assert [line for line in kit.out if not line.startswith(" ")] == [
        *(f"{point.name}: passed" for point in ALL),
        f"{len(ALL)} passed, 0 failed",
    ]
    assert kit.errors == []


@pytest.mark.parametrize(
    ("sample", "mistake", "points"),
    [
        ("passed", "", ("snapshot-first", "resume")),
        ("failed", "STUMBLES_OVER_AN_EVENT", ("unknown-event",)),
    ],
)
def test_it_says_what_was_expected_and_what_came_as_the_page_about_it_shows(
    programs: Programs, sample: str, mistake: str, points: tuple[str, ...]
) -> None:
    client = f"{BARE} --mistake {mistake}" if mistake else BARE
    kit = check(programs, client, points=points)
    assert kit.end() == bool(mistake)
    shown = PAGE.partition(f"<!-- sample: {sample} -->")[2].split("```")[1]
    assert kit.out == shown.strip("\n").splitlines()


def test_the_page_about_it_has_every_point() -> None:
    rows = re.findall(r"^\| `([a-z0-9.-]+)` \| .* \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(point.name, point.expected) for point in ALL]


def test_a_client_that_hangs_is_ended_with_all_that_it_has_started(
    programs: Programs, tmp_path: Path
) -> None:
    script = tmp_path / "hangs.sh"
    script.write_text(f"trap '' TERM\nsleep 600 &\necho $! > {tmp_path}/pid\nwait\n")
    kit = check(programs, f"sh {script} {{port}}", "--patience", "2", points=("resume",))
    assert kit.end() == 1
    assert "  expected  TakeSeat" in kit.out
    assert "  came      nothing for 2 s" in kit.out
    assert "  calls     none" in kit.out
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_client_that_is_ended_by_a_signal_is_told_so(programs: Programs) -> None:
    kit = check(programs, "sh -c 'kill -9 $$' {port}", points=("superseded",))
    assert kit.end() == 1
    assert "  came      its end by signal 9" in kit.out


def test_a_client_without_a_credential_is_found(programs: Programs, tmp_path: Path) -> None:
    client = tmp_path / "nobody.py"
    client.write_text(
        "import sys, grpc\n"
        "from odin_table.v1 import lobby_pb2, lobby_pb2_grpc\n"
        "lobby = lobby_pb2_grpc.LobbyServiceStub(grpc.insecure_channel(sys.argv[1]))\n"
        "lobby.TakeSeat(lobby_pb2.TakeSeatRequest(request_id='1', table='K7QF', name='Ann'))\n"
    )
    kit = check(programs, f"{sys.executable} {client} {{address}}", points=("resume",))
    assert kit.end() == 1
    assert "  calls     TakeSeat without a credential" in kit.out
    assert any("BAD_CREDENTIAL" in line for line in kit.out)


def test_a_client_that_says_much_is_not_held_up(programs: Programs) -> None:
    client = "sh -c 'head -c 1000000 /dev/zero >&2; echo done >&2; exit 3' {port}"
    kit = check(programs, client, points=("resume",))
    assert kit.end() == 1
    assert "  came      its end with exit code 3" in kit.out
    assert kit.out[-2].endswith("done")
    assert sum(map(len, kit.out)) < 10_000


def test_whoever_stops_the_kit_stops_the_client(programs: Programs, tmp_path: Path) -> None:
    script = tmp_path / "hangs.sh"
    script.write_text(
        f"echo $$ > {tmp_path}/written\nmv {tmp_path}/written {tmp_path}/pid\nsleep 600\n"
    )
    words = ("--client", f"sh {script} {{port}}", "--point", "resume")
    kit = programs.start("conformance", *words)
    end = time.monotonic() + PATIENCE
    while not (tmp_path / "pid").exists() and time.monotonic() < end:
        time.sleep(0.05)
    kit.process.send_signal(signal.SIGINT)
    assert kit.end() == 130
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name a client with --client, or files with rule vectors."),
        (("--client", "x", "vectors.jsonl"), "Either --client or files: they are two checks."),
        (("--client", "x", "--point", "moon"), "There is no point moon. See --list."),
        (("--client", "'x"), "No closing quotation"),
        (("--client", " "), "the command is empty"),
    ],
)
def test_a_wrong_command_line_is_said_to_be_one(
    programs: Programs, arguments: tuple[str, ...], said: str
) -> None:
    kit = programs.run("conformance", *arguments)
    assert kit.end() == 2
    assert kit.error_with(said)


def test_a_program_that_there_is_not_is_said_once(programs: Programs) -> None:
    kit = check(programs, "./not-there")
    assert kit.end() == 1
    assert kit.errors == [
        "odin-table: ./not-there cannot be started: No such file or directory.",
        "Is the path right, seen from this folder?",
    ]


def test_the_points_are_listed(programs: Programs) -> None:
    kit = programs.run("conformance", "--list")
    assert kit.end() == 0
    assert [line.split("  ")[0] for line in kit.out] == [point.name for point in ALL]


def test_the_points_about_deals_are_for_clients_that_say_that_they_check_them(
    programs: Programs,
) -> None:
    kit = check(programs, BARE, "--patience", "2", points=("deal.s*",))
    assert kit.end() == 1
    assert [line for line in kit.out if not line.startswith(" ")] == [
        "deal.set-back: FAILED",
        "deal.snapshot: FAILED",
        "0 passed, 2 failed",
    ]
    assert kit.out[1:3] == [
        "  expected  GiveNonce or SetReady with a nonce for the open commitment",
        "  came      nothing for 2 s",
    ]


def test_placeholders_are_filled_in_and_added_when_there_are_none() -> None:
    assert filled_in(words_of("./client {address} -t {table} -n '{name} 2'"), "127.0.0.1:80") == [
        *("./client", "127.0.0.1:80", "-t", "K7QF", "-n", "Tested 2"),
    ]
    assert filled_in(words_of("./client {host} {port} '{other}'"), "127.0.0.1:80") == [
        *("./client", "127.0.0.1", "80", "{other}"),
    ]
    assert filled_in(words_of("node 'main program.js'"), "127.0.0.1:80") == [
        *("node", "main program.js", "127.0.0.1:80", "--table", "K7QF", "--name", "Tested"),
    ]
