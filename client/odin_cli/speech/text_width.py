"""Lines of text for a terminal: broken at its width, between words. A pipe gets them whole."""

from __future__ import annotations

import shutil
from typing import Final, TextIO

from odin_cli.terminal.views.cells import wrap

_READABLE: Final = 98
"""Columns. Longer lines of prose are hard to read, however wide the terminal is."""


def text_width(stream: TextIO) -> int:
    """How many columns a line of prose may have where this stream writes to."""
    columns = shutil.get_terminal_size().columns if stream.isatty() else _READABLE
    return min(columns, _READABLE)


def broken(text: str, stream: TextIO) -> str:
    """The text with its lines broken for the stream: only at a terminal, and only where too long.

    A line that begins with blanks is an example to copy, or a list: it keeps its form.
    """
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    lines = (
        [line] if line.startswith(" ") else wrap(line, width) or [""] for line in text.split("\n")
    )
    return "\n".join(row for rows in lines for row in rows)
