"""What a key has changed is there at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from odin_cli.local.remembered import remember_sort, remembered_sort


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "odin-table"


def test_the_order_of_the_hand_is_remembered() -> None:
    assert remembered_sort() is None
    remember_sort("number")
    assert remembered_sort() == "number"
    remember_sort("colour")
    assert remembered_sort() == "colour"


def test_what_makes_no_sense_is_as_if_nothing_was_remembered(state: Path) -> None:
    state.mkdir(parents=True)
    for content in (b"size", b"\xff\xfe", b""):
        (state / "sort").write_bytes(content)
        assert remembered_sort() is None


def test_a_place_that_cannot_be_written_is_no_reason_to_stop(state: Path) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("a file where the folder would be")
    remember_sort("number")
    assert remembered_sort() is None
