"""What is written down while a command runs, and what never is."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from odin_contract.values import Options
from tests.support.programs import Programs, open_table


def test_whole_games_are_logged_without_credentials_and_cards(
    programs: Programs, tmp_path: Path
) -> None:
    server_log, client_log = tmp_path / "server", tmp_path / "client"
    server = programs.serve("-v", "--log-file", str(server_log))
    table = open_table(server, Options(seats=2, threshold=None))
    credentials = tmp_path / "seats.json"
    bots = [
        programs.start(
            *("bot", table, "--name", name, "-v", "--log-file", str(client_log)),
            *("--credential-file", str(credentials)),
        )
        for name in ("Ann", "Bob")
    ]
    assert [bot.end() for bot in bots] == [0, 0]
    handle = table.partition("@")[0]
    assert f"table {handle} opened" in server_log.read_text()
    assert f"table '{handle}': in seat 1" in client_log.read_text()
    written = server_log.read_text() + client_log.read_text()
    (seats,) = json.loads(credentials.read_text())["seats"].values()
    assert len(seats) == 2
    assert not any(secret in written for secret in seats.values())
    assert not re.search(r"\b[ROYGBV][1-9]\b|CARD_|Card\(", written)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_whatever_a_command_writes_is_its_owners_alone(programs: Programs, tmp_path: Path) -> None:
    """Also logs of earlier versions, which everybody could read, and those that are put aside."""
    ours = tmp_path / "state" / "odin-table"
    ours.mkdir(parents=True, mode=0o700)
    (ours / "server.log").touch(mode=0o644)
    os.truncate(ours / "server.log", 1024 * 1024)
    folder, store = tmp_path / "new" / "folder", tmp_path / "tables" / "tables.db"
    server = programs.serve("--store", f"sqlite:{store}")
    assert programs.run_apart("ls", server, "-v").end() == 0
    assert programs.run_apart("ls", server, "-v", "--log-file", str(folder / "log")).end() == 0
    logs = [ours / name for name in ("odin-table.log", "server.log", "server.log.1")]
    for path in (*logs, ours, folder / "log", folder, store, store.parent):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_verbose_is_told_on_stderr_too_and_goes_anywhere_in_the_line(programs: Programs) -> None:
    server = programs.serve()
    for arguments in (("-v", "ls", server), ("ls", "-v", server), ("ls", server, "--verbose")):
        ls = programs.run_apart(*arguments)
        assert ls.end() == 0
        assert ls.error_with("connected to")
        assert not any("connected" in line for line in ls.out)
    assert programs.run_apart("ls", server).errors == [f"There is no public table at {server}."]


def test_a_log_that_cannot_be_written_stops_nothing(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ls = programs.run_apart("ls", programs.serve(), "--log-file", str(tmp_path / "file" / "log"))
    assert ls.end() == 0
    assert not any("Traceback" in line for line in ls.errors)


def test_where_an_error_came_from_is_shown_when_it_is_asked_for(programs: Programs) -> None:
    ls = programs.run_apart("ls", "127.0.0.1:1", "--debug")
    assert ls.end() == 3
    assert ls.error_with("Traceback")


_WRITES_MUCH = """
import logging, pathlib, sys
from odin_cli.local import logs
logs._SIZE = 1000
logs.begin(pathlib.Path(sys.argv[1]), verbose=False, talks=False)
for number in range(100):
    logging.getLogger("odin_client.test").info("line %d, which takes its room", number)
"""


def test_a_full_log_is_started_anew_and_two_old_ones_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log"
    subprocess.run([sys.executable, "-c", _WRITES_MUCH, str(path)], check=True)
    assert sorted(file.name for file in path.parent.iterdir()) == ["log", "log.1", "log.2"]
    assert "line 99" in path.read_text() + (path.parent / "log.1").read_text()
    assert all(file.stat().st_size <= 1000 for file in path.parent.iterdir())
