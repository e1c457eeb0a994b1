"""Lines of styled text, measured in terminal cells: what every view is made of.

A line is a tuple of spans; a span is text with a meaning (see `style`) and perhaps what a click on
it does. Nothing here knows of the game.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from wcwidth import wcwidth

# Each glyph of the interface with its stand-in of the same width.
_STAND_INS: Final = str.maketrans(
    {
        "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+",
        "▮": "#", "▶": ">", "▲": "^", "★": "*", "●": "*", "○": "o", "·": "-", "…": "~",
        "✓": "v", "✗": "!", "↺": "<", "←": "<", "→": ">", "↑": "^", "↓": "v", "’": "'",
        "œ": "o", "Œ": "O", "█": "#", "▀": "#", "▄": "#",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Click:
    """What a click does: a command by name, and what it is about."""

    command: str
    argument: object = None


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one meaning."""

    text: str
    style: str = ""
    """Names of meanings, separated by spaces."""
    click: Click | None = None


Line: TypeAlias = tuple[Span, ...]

BLANK: Final[Line] = ()

_EMOJI_JOINED: Final = re.compile(
    "([\u00a9\u00ae\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])[\u200d\ufe0e\ufe0f]+"
)

_NO_BREAK: Final = "\N{NO-BREAK SPACE}"


def line(*parts: Span | str) -> Line:
    """A line of these parts; plain text has no meaning of its own."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts if part)


def width(text: str) -> int:
    """How many cells the text takes. What has no agreed width counts as nothing."""
    return sum(max(wcwidth(char), 0) for char in text)


def line_width(spans: Line) -> int:
    """How many cells the line takes."""
    return sum(width(span.text) for span in spans)


def clip(text: str, cells: int) -> str:
    """The text in at most so many cells; what is cut off leaves an ellipsis."""
    if width(text) <= cells:
        return text
    return _head(text, cells - 1) + "…" if cells > 0 else ""


def pad(text: str, cells: int) -> str:
    """The text in exactly so many cells."""
    clipped = clip(text, cells)
    return clipped + " " * (cells - width(clipped))


def fit(spans: Line, cells: int) -> Line:
    """The line in at most so many cells."""
    if line_width(spans) <= cells:
        return spans
    fitted: list[Span] = []
    left = cells
    for span in spans:
        taken = width(span.text)
        if taken < left:
            fitted.append(span)
            left -= taken
            continue
        # This span reaches the end, and something follows or it is too long itself.
        fitted.append(replace(span, text=_head(span.text, left - 1) + "…" if left > 0 else ""))
        break
    return tuple(fitted)


def stretch(left: Line, right: Line, cells: int) -> Line:
    """One line with a left and a right end; the right end goes first when there is no room."""
    gap = cells - line_width(left) - line_width(right)
    if gap < 1:
        return fit(left, cells)
    return (*left, Span(" " * gap, left[-1].style if left else ""), *right)


def styled(spans: Line, style: str) -> Line:
    """The line with one more meaning on each span."""
    return tuple(replace(span, style=f"{span.style} {style}".strip()) for span in spans)


def beside(
    left: Sequence[Line], right: Sequence[Line], left_cells: int, between: str = " "
) -> list[Line]:
    """Two columns, the left one of so many cells. As high as the higher one."""
    rows = max(len(left), len(right))
    joined: list[Line] = []
    for row in range(rows):
        first = fit(left[row], left_cells) if row < len(left) else BLANK
        gap = Span(" " * (left_cells - line_width(first)))
        second = right[row] if row < len(right) else BLANK
        joined.append((*first, gap, Span(between, "rule"), *second))
    return joined


def wrap(text: str, cells: int) -> list[str]:
    """The text in lines of at most so many cells, broken at plain spaces where possible."""
    lines: list[str] = []
    current = ""
    for word in filter(None, text.split(" ")):
        longer = f"{current} {word}" if current else word
        if width(longer) <= cells:
            current = longer
            continue
        if current:
            lines.append(current)
        rest = word
        while width(rest) > cells > 0:
            head = _head(rest, cells) or rest[:1]
            lines.append(head)
            rest = rest[len(head) :]
        current = rest
    return [*lines, current] if current else lines


def with_plain_blanks(lines: Iterable[Line]) -> list[Line]:
    """The same picture; a blank that held two words of a text together has done its duty."""
    return [
        tuple(
            replace(span, text=span.text.replace(_NO_BREAK, " "))
            if _NO_BREAK in span.text
            else span
            for span in one
        )
        for one in lines
    ]


def with_plain_emoji(text: str) -> str:
    """The text with each emoji by itself, as terminals do not agree how wide joined ones are."""
    return _EMOJI_JOINED.sub(r"\1", text)


def in_ascii(lines: Iterable[Line]) -> list[Line]:
    """The same picture, cell by cell, in ASCII only."""
    return [
        tuple(
            replace(span, text=_ascii(span.text)) if not span.text.isascii() else span
            for span in one
        )
        for one in lines
    ]


def _ascii(text: str) -> str:
    return "".join(_ascii_char(char) for char in text.translate(_STAND_INS))


def _ascii_char(char: str) -> str:
    cells = max(wcwidth(char), 0)
    base = unicodedata.normalize("NFKD", char)[:1]
    return base if base.isascii() and cells == 1 else "?" * cells


def _head(text: str, cells: int) -> str:
    """As much of the beginning as has room in so many cells."""
    taken = 0
    for at, char in enumerate(text):
        taken += max(wcwidth(char), 0)
        if taken > cells:
            return text[:at]
    return text
