"""What of a text can be seen, and what is taken out."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from odin_engine.plain_text import clean_text, without_ignorable

INVISIBLE = (
    "\ufe0f\u034f\u180b\u3164\uffa0\u115f\u2800\u17b5\u200b\u200c\u200d\u202e\u2066\u00ad"
    "\u061c\u2060\ufeff\U000e0041\U000e0100\U0001d159\u3000\u00a0\u0007\u1161"
)


@pytest.mark.parametrize("char", INVISIBLE, ids=ascii)
def test_what_cannot_be_seen_is_nothing(char: str) -> None:
    assert clean_text(char) == clean_text(char * 3) == clean_text(f" {char} ") == ""
    if char != "\u1161":  # a vowel of Korean, which joins what is before it
        assert clean_text(f"Ann{char}") == clean_text(f"{char}Ann") == "Ann"
        assert clean_text(f"An{char}n") in ("Ann", "An n")


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cروم",  # Persian
        "क\u094d\u200dष",  # Hindi: half a letter
        "क्\u200cष",
        "ශ්\u200dරී",  # Sinhala
        "葛\U000e0100城",  # one of two ways to write a Japanese name
        "\u1820\u180b\u1821",  # Mongolian
        "👨\u200d👩\u200d👧",
        "🏳\ufe0f\u200d🌈",
        "👩🏽\u200d🚀",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "Chloé Ó Súilleabháin",
        "한글",
        "Zoë 2",
    ],
    ids=ascii,
)
def test_joiners_that_a_script_or_an_emoji_needs_are_kept(text: str) -> None:
    assert clean_text(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("A\u200cnn", "Ann"),
        ("Ann\u200d", "Ann"),
        ("\u200d👧", "👧"),
        ("👧\u200dAnn", "👧Ann"),
        ("a\n\tb\u2028c", "a b c"),
        ("e\u0301", "é"),
        ("\u0301", ""),
        ("\ud800a\udfff", "a"),
    ],
    ids=ascii,
)
def test_what_nothing_needs_is_taken_out(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_whatever_is_left_takes_a_column() -> None:
    for code in range(sys.maxunicode + 1):
        if clean_text(chr(code)):
            assert wcwidth(chr(code)) > 0, hex(code)


@given(st.text())
def test_a_clean_text_stays_as_it_is(text: str) -> None:
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert clean.isprintable() or without_ignorable(clean).isprintable()
