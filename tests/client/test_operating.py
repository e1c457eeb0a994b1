"""What the operator of a server does with the tables that it keeps."""

from __future__ import annotations

import stat
import time
from pathlib import Path

from odin_contract.values import Options
from tests.support.patience import PATIENCE
from tests.support.programs import Programs, open_table


def test_a_backup_takes_the_place_of_the_file(programs: Programs, tmp_path: Path) -> None:
    file, copy = tmp_path / "tables.db", tmp_path / "copy.db"
    server = programs.serve("--store", f"sqlite:{file}")
    table = open_table(server)
    assert programs.run("backup", str(copy), "--store", f"sqlite:{file}").end() == 0
    later = open_table(server)
    again = programs.run("backup", str(copy), "--store", f"sqlite:{file}")
    assert again.end() == 4
    assert again.error_with("copy.db is there already")
    programs.kill_server(server)
    other = programs.serve("--store", f"sqlite:{copy}")
    listed = programs.run("ls", other)
    handles = [line.split()[1].split("@")[0] for line in listed.out[1:]]
    assert handles == [table.split("@")[0]]
    assert later.split("@")[0] not in handles


def test_a_server_is_found_in_a_folder_of_any_name(programs: Programs, tmp_path: Path) -> None:
    """Also of a long one, and by a link to its file."""
    folder = tmp_path / ("ゲーム 100%20?#" * 6)
    link, copy = tmp_path / "linked.db", tmp_path / "copy.db"
    link.symlink_to(folder / "tables.db")
    server = programs.serve("--store", f"sqlite:{folder / 'tables.db'}")
    for file, to in ((folder / "tables.db", copy), (link, tmp_path / "again.db")):
        assert programs.run("backup", str(to), "--store", f"sqlite:{file}").end() == 0
    programs.kill_server(server)
    programs.serve("--store", f"sqlite:{copy}")


def test_only_the_owner_may_read_the_tables_and_give_orders(
    programs: Programs, tmp_path: Path
) -> None:
    file = tmp_path / "tables.db"
    programs.serve("--store", f"sqlite:{file}")
    for path in tmp_path.glob("tables.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_backup_without_a_server_says_so(programs: Programs, tmp_path: Path) -> None:
    copy = str(tmp_path / "copy.db")
    missing = programs.run("backup", copy, "--store", f"sqlite:{tmp_path / 'tables.db'}")
    assert missing.end() == 1
    assert missing.error_with("No server uses")
    memory = programs.run("backup", copy, "--store", "memory")
    assert memory.end() == 1
    assert memory.error_with("nothing to give")
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_at_a_server_that_was_killed_says_so(programs: Programs, tmp_path: Path) -> None:
    file = tmp_path / "tables.db"
    server = programs.serve("--store", f"sqlite:{file}")
    programs.kill_server(server)
    killed = programs.run("backup", str(tmp_path / "copy.db"), "--store", f"sqlite:{file}")
    assert killed.end() == 3


def test_the_finished_games_of_ended_tables_are_exported_with_the_names_of_then(
    programs: Programs, tmp_path: Path
) -> None:
    store, folder = f"sqlite:{tmp_path / 'tables.db'}", tmp_path / "games"
    server = programs.serve("--store", store, "--set", "empty_after=5")
    table = open_table(server, Options(seats=2, threshold=None))
    bots = [programs.start("bot", table, "--name", name) for name in ("Ann", "Bob")]
    assert [bot.end() for bot in bots] == [0, 0]
    end = time.monotonic() + PATIENCE
    while not list(folder.glob("*.jsonl")):
        assert time.monotonic() < end, "its table has not ended"
        exported = programs.run("export", str(folder), "--store", store)
        assert exported.end() == 0
    (file,) = folder.glob(f"*-{table.split('@')[0]}-1.jsonl")
    told = programs.run("replay", str(file))
    assert told.end() == 0
    assert any("Ann" in line and "Bob" in line for line in told.out)
