"""Lines of styled text, measured in cells."""

from __future__ import annotations

import pytest

from odin_cli.terminal.views.cells import (
    Span,
    beside,
    clip,
    fit,
    in_ascii,
    line,
    line_width,
    pad,
    stretch,
    width,
    with_plain_emoji,
    wrap,
)


def text_of(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


@pytest.mark.parametrize(
    ("text", "cells"), [("Zoe", 3), ("Chloé", 5), ("日本", 4), ("e\u0301", 1), ("", 0)]
)
def test_width_counts_cells_and_not_characters(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "clipped"),
    [
        ("Zoe", 3, "Zoe"),
        ("Zoe", 2, "Z…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("Zoe", 0, ""),
    ],
)
def test_what_is_too_long_ends_in_an_ellipsis(text: str, cells: int, clipped: str) -> None:
    assert clip(text, cells) == clipped


def test_padding_gives_exactly_the_cells() -> None:
    for text in ("", "Zoe", "日本語", "much too long"):
        assert width(pad(text, 8)) == 8


def test_a_line_is_cut_across_its_spans() -> None:
    spans = line("12", Span("345", "news"), "678")
    assert text_of(fit(spans, 8)) == "12345678"
    for cells in range(8):
        cut = text_of(fit(spans, cells))
        assert width(cut) <= cells
        assert cut == ("12345678"[: cells - 1] + "…" if cells else "")


def test_the_right_end_leaves_first() -> None:
    assert text_of(stretch(line("left"), line("right"), 12)) == "left   right"
    assert text_of(stretch(line("left"), line("right"), 9)) == "left"


def test_two_columns_are_as_high_as_the_higher_one() -> None:
    rows = beside([line("a")], [line("b"), line("c")], 3, "|")
    assert [text_of(row) for row in rows] == ["a  |b", "   |c"]


def test_wrapping_breaks_at_spaces_and_long_words_where_it_must() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("abcdefgh ij", 3) == ["abc", "def", "gh", "ij"]
    assert wrap("日本", 1) == ["日", "本"]
    assert wrap("", 5) == []


def test_ascii_has_the_same_width_cell_by_cell() -> None:
    picture = [line("╭───╮ ▶ Chloé 日本 ✓ …")]
    (ascii_line,) = in_ascii(picture)
    assert text_of(ascii_line) == "+---+ > Chloe ???? v ~"
    assert line_width(ascii_line) == line_width(picture[0])


def test_emoji_stand_alone_and_letters_stay_joined() -> None:
    assert with_plain_emoji("👨\u200d👩\u200d👧 ❤\ufe0f") == "👨👩👧 ❤"
    persian = "\u0645\u06cc\u200c\u0631\u0648\u0645"
    assert with_plain_emoji(persian) == persian
