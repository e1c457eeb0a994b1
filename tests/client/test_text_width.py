"""Prose is broken between words at the width of a terminal; a pipe gets whole lines."""

from __future__ import annotations

import io
import shutil
from os import terminal_size

import pytest

from odin_cli.speech.rules_text import rules_text
from odin_cli.speech.text_width import broken, text_width

PROSE = "Astrid passed (you may, too, with `pass`, whenever you respond). The round is over."


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[40, 60, 200])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    width: int = request.param

    def size(*_: object) -> terminal_size:
        return terminal_size((width, 24))

    monkeypatch.setattr(shutil, "get_terminal_size", size)
    return width


def test_no_word_is_broken_at_any_width(columns: int) -> None:
    rows = broken(PROSE, Tty()).split("\n")
    assert max(map(len, rows)) <= columns
    assert " ".join(rows) == PROSE
    assert broken(PROSE, io.StringIO()) == PROSE


def test_examples_and_empty_lines_keep_their_form(columns: int) -> None:
    text = f"{PROSE}\n\n  odin-table join K7QF@192.168.1.20 --name 'a very long name'\n"
    assert broken(text, Tty()).endswith(text[len(PROSE) :])


def test_the_rules_are_as_wide_as_the_terminal_but_never_too_wide_to_read(columns: int) -> None:
    rows = rules_text(text_width(Tty())).split("\n")
    assert max(map(len, rows)) <= min(columns, 98)
    assert text_width(io.StringIO()) == 98
