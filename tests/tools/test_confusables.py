"""The table of characters that read alike is made of the tables of a Rust crate."""

from __future__ import annotations

import confusables
import pytest

TABLES = r"""
pub const UNICODE_VERSION: (u64, u64, u64) = (18, 0, 0);
pub mod confusable_detection {
    const CONFUSABLES: &'static [(char, &'static [char])] = &[
        ('\u{31}',  &['\u{6c}']), ('\u{49}',  &['\u{6c}']), ('\u{6d}',  &['\u{72}',
         '\u{6e}']), ('\u{ff21}',  &['\u{41}']),
    ];
}
pub mod other {
    const CONFUSABLES: &'static [char] = &[ '\u{41}' ];
}
"""


def test_a_line_is_a_prototype_and_the_characters_like_it() -> None:
    lines = confusables.table_of(TABLES).splitlines()
    # The last one of the source, a full-width A, is an A already when names are compared.
    assert [line for line in lines if line[0] != "#"] == ["6C=31 49", "72 6E=6D"]
    assert "Unicode 18.0.0" in lines[0]


def test_the_committed_table_is_of_this_form() -> None:
    head, *_rest = confusables.TABLE.read_text(encoding="ascii").splitlines()
    assert head == confusables.table_of(TABLES).splitlines()[0]


def test_something_else_is_no_table() -> None:
    with pytest.raises(SystemExit, match="not the tables"):
        confusables.table_of("fn main() {}")
