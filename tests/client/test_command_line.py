"""Options as fields: what a command is handed, and that nothing else carries them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from odin_cli.command_line import argument, command_with, group, option
from odin_cli.local.preferences import Preferences
from odin_cli.main import run
from odin_cli.options import Sitting


@dataclass(frozen=True)
class Inner:
    place: str = option("--place", default=lambda: "centre")


@dataclass(frozen=True)
class Typed:
    words: tuple[str, ...] = argument(nargs=-1)
    inner: Inner = group(Inner)
    all: tuple[int, ...] = option("--one", type=int, multiple=True, help="A number.")
    loud: bool = option("--loud", is_flag=True)


def handed(kind: type[Any], *arguments: str, settings: Preferences | None = None) -> Any:
    """What a command with these options is handed."""
    got: list[Any] = []

    @command_with(kind, "First.", "Second.")
    def command(asked: Any) -> int:
        got.append(asked)
        return 0

    done = CliRunner().invoke(command, arguments, obj=settings, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return got[0] if got else done.output


def test_a_command_is_handed_what_was_typed_groups_included() -> None:
    typed = handed(Typed, "a", "--one", "1", "--place", "hand", "b", "--one", "2", "--loud")
    assert typed == Typed(("a", "b"), Inner("hand"), (1, 2), True)


def test_what_is_made_without_a_command_line_has_the_same_defaults() -> None:
    assert handed(Typed) == Typed()


def test_help_has_the_paragraphs_and_the_options_in_their_order() -> None:
    lines = handed(Typed, "--help").splitlines()
    starts = [line.split()[0] for line in lines if line.strip()]
    assert starts == [
        "Usage:",
        "First.",
        "Second.",
        "Options:",
        "--place",
        "--one",
        "--loud",
        "--help",
    ]


@pytest.mark.parametrize("ascii_only", [False, True])
def test_ascii_is_what_was_typed_or_else_the_setting(ascii_only: bool) -> None:
    settings = Preferences(ascii=ascii_only, name="Zoe")
    assert handed(Sitting, settings=settings).ascii is ascii_only
    assert handed(Sitting, "--ascii", settings=settings).ascii


def test_no_option_travels_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRPC_VERBOSITY", "NONE")  # gRPC cannot be told in another way
    before = {name: text for name, text in os.environ.items() if name != "LANGUAGE"}
    log = tmp_path / "log"
    nowhere = str(tmp_path / "game.jsonl")
    options = ("--debug", "--log-file", str(log), "--ascii", "--color", "16", "--ui", "line")
    assert run(["replay", nowhere, *options]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert run(["replay", nowhere, "--log-file", str(log)]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert {name: text for name, text in os.environ.items() if name != "LANGUAGE"} == before
