"""What `odin-table doctor` finds."""

from __future__ import annotations

import json

from tests.support.programs import Programs


def test_a_report_is_one_json_document_with_all_that_matters(programs: Programs) -> None:
    server = programs.serve("--announce")
    doctor = programs.run("doctor", server, "--json")
    assert doctor.end() == 0
    report = json.loads("\n".join(doctor.out))
    assert list(report) == ["program", "terminal", "files", "network"]
    assert report["terminal"]["stdout is a terminal"] is False
    assert report["terminal"]["colours"] == "never"
    assert report["files"]["settings are"] == "not there"
    assert report["network"]["own addresses"] == ["127.0.0.1"]
    assert report["network"][server].startswith("version")
    assert any(line.startswith(server) for line in report["network"]["servers"])


def test_a_server_that_does_not_answer_is_told_with_3(programs: Programs) -> None:
    doctor = programs.run("doctor", "127.0.0.1:1")
    assert doctor.end() == 3
    assert any("127.0.0.1:1: No server answers" in line for line in doctor.out)


def test_wrong_settings_are_part_of_the_report(programs: Programs) -> None:
    programs.set("belll = true\n")
    doctor = programs.run("doctor", "--json")
    assert doctor.end() == 0
    report = json.loads("\n".join(doctor.out))
    assert "there is no setting 'belll'" in report["files"]["settings are"]


def test_it_says_what_to_do(programs: Programs) -> None:
    doctor = programs.run("doctor")
    assert any("TERMINAL" in line for line in doctor.out)
    assert not any("\x1b" in line for line in doctor.out)
