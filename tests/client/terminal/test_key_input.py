"""Whatever a terminal sends: keys are keys, known sequences are one key, all else is nothing."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from odin_cli.terminal.key_input import SequenceParser
from tests.support.terminals import UNKNOWN_SEQUENCES


def keys_of(*chunks: str, flushed: bool = True) -> list[str]:
    """What is pressed by these bytes, which come one after the other."""
    pressed: list[KeyPress] = []
    parser = SequenceParser(pressed.append)
    for chunk in chunks:
        parser.feed(chunk)
    if flushed:
        parser.flush()
    return [press.key.value if isinstance(press.key, Keys) else press.key for press in pressed]


@pytest.mark.parametrize("sequence", UNKNOWN_SEQUENCES, ids=ascii)
def test_an_unknown_sequence_is_stepped_over_whole(sequence: str) -> None:
    assert keys_of("a", sequence, "b") == ["a", "b"]
    assert keys_of("a", *sequence, "b") == ["a", "b"], "also when each byte comes alone"


@pytest.mark.parametrize(
    ("sequence", "key"),
    [
        *((f"\x1bO{'pqrstuvwxy'[digit]}", str(digit)) for digit in range(10)),
        ("\x1bOM", "c-m"),
        ("\x1b[A", "up"),
        ("\x1bOA", "up"),
        ("\x9bA", "up"),
        ("\x1b[[A", "f1"),
        ("\x1bOP", "f1"),
        ("\x1b[5~", "pageup"),
        ("\x1b[Z", "s-tab"),
        ("\x1b\t", "s-tab"),
        ("\x1b[<0;3;4M", "<vt100-mouse-event>"),
        ("\x1b[M !!", "<vt100-mouse-event>"),
        ("\x1b[200~words\x1b[201~", "<bracketed-paste>"),
        ("é", "é"),
    ],
    ids=ascii,
)
def test_what_is_known_is_one_key(sequence: str, key: str) -> None:
    assert keys_of("a", sequence, "b") == ["a", key, "b"]
    assert keys_of("a", *sequence, "b") == ["a", key, "b"]


def test_escape_alone_is_a_key_once_nothing_follows() -> None:
    assert keys_of("\x1b", flushed=False) == []
    assert keys_of("\x1b") == ["escape"]
    assert keys_of("\x1b\x1b") == ["escape", "escape"]
    assert keys_of("\x1bp") == ["escape", "p"], "Alt with a key, or both pressed at once"
    assert keys_of("\x1b[") == ["escape", "["]
    assert keys_of("\x1b\x1b[A") == ["escape", "up"]


@pytest.mark.parametrize(
    "begun", ["\x1b[31", "\x1b[", "\x1bO", "\x1b]0;title", "\x1bP1", "\x1b[<1;2", "\x1b[M!"]
)
def test_a_sequence_that_is_broken_off_takes_no_key_with_it(begun: str) -> None:
    assert keys_of(begun, "\x03") == ["c-c"]
    assert keys_of(begun, "\r") == ["c-m"]
    assert keys_of(begun, "\x1b[A") == ["up"]
    assert keys_of(begun, "\x1b", "\x1b")[-1] == "escape"


def test_the_rest_of_a_sequence_may_come_late() -> None:
    for first, rest in (("\x1b[3", "1m"), ("\x1b]0;ti", "tle\x07"), ("\x1bO1;", "5q")):
        pressed: list[KeyPress] = []
        parser = SequenceParser(pressed.append)
        for part in (first, rest, "p"):
            parser.feed(part)
            parser.flush()
        assert [press.key for press in pressed] == ["p"]


def test_a_paste_has_only_text() -> None:
    pressed: list[KeyPress] = []
    SequenceParser(pressed.append).feed("\x1b[200~a\udcffb\x1b[201~")
    assert [press.data for press in pressed] == ["ab"]


def test_a_paste_without_an_end_leaves_the_key_that_quits() -> None:
    assert keys_of("\x1b[200~words", "\x03") == ["<bracketed-paste>", "c-c"]


def test_no_sequence_that_could_be_made_up_gives_a_key_or_an_error() -> None:
    """2,000 made-up sequences of each kind, in pieces as a slow line would cut them."""
    rng = random.Random(20261130)

    def some(characters: str, most: int) -> str:
        return "".join(rng.choices(characters, k=rng.randint(0, most)))

    text = "".join(map(chr, range(0x20, 0x7F)))
    ends = ("\x07", "\x1b\\")
    kinds: dict[str, Callable[[], str]] = {
        # No known one begins with `>`, or with SS3 and a number.
        "CSI": lambda: "\x1b[>" + some("0123456789:;<=>?", 9) + some(' !"#$%&/', 2) + "q",
        "SS3": lambda: "\x1bO0" + some("0123456789;", 3) + rng.choice("abcdeghijkqtz"),
        "OSC": lambda: "\x1b]" + some(text, 40) + rng.choice(ends),
        "DCS": lambda: "\x1bP" + some(text, 40) + rng.choice(ends),
        "mouse": lambda: "\x1b[M" + rng.choice("}~") + rng.choice(text) * 2,
    }
    for kind, made in kinds.items():
        for _ in range(2_000):
            sequence = made()
            cut = rng.randint(0, len(sequence))
            assert keys_of(sequence[:cut], sequence[cut:]) == [], (kind, sequence)
