"""The file of settings as commands meet it."""

from __future__ import annotations

import json

from odin_contract.values import Options
from tests.support.programs import Programs, open_table


def seated_names(programs: Programs, server: str) -> list[str]:
    """Who sits at the tables of a server."""
    tables = json.loads("\n".join(programs.run("ls", server, "--json").out))["tables"]
    return [seat["name"] for table in tables for seat in table["seats"] if seat["name"]]


def test_a_setting_is_used_and_an_option_counts_more(programs: Programs) -> None:
    programs.set('name = "Zoe"\nui = "json"\n')
    server = programs.serve()
    table = open_table(server, Options(seats=3))
    first = programs.start("join", table)
    assert first.next_json("watchTable")["snapshot"]["table"] == table.partition("@")[0]
    first.end_input()
    assert first.end() == 0
    second = programs.start("join", table, "--name", "Ann", "--ui", "line")
    second.line_with(f"Table {table.partition('@')[0]} waits")
    second.end_input()
    assert second.end() == 0
    assert seated_names(programs, server) == ["Zoe", "Ann"]


def test_discovery_can_be_switched_off_for_good(programs: Programs) -> None:
    port = programs.serve("--announce").rpartition(":")[2]
    assert f"127.0.0.1:{port}" in "\n".join(programs.run("ls", "--json").out)
    programs.set("discovery = false\n")
    assert f"127.0.0.1:{port}" not in "\n".join(programs.run("ls", "--json").out)


def test_a_wrong_setting_stops_what_needs_settings_with_2(programs: Programs) -> None:
    file = programs.set("belll = true\n")
    started = [programs.start(command, "127.0.0.1:1") for command in ("join", "watch")]
    for program in started:
        assert program.end() == 2
        assert program.error_with(f"{file}: there is no setting 'belll'")
        assert program.error_with("There are: name, lang")
    for arguments in (("--version",), ("--help",), ("join", "--help"), ("rules",)):
        assert programs.run(*arguments).end() == 0


def test_the_language_is_a_setting_too(programs: Programs) -> None:
    programs.set('lang = "fr"\n')
    assert "Commandes" in "\n".join(programs.run("--help").out)
    assert "Commands" in "\n".join(programs.run("--lang", "en", "--help").out)
