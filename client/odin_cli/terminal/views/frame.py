"""What every full screen has: a size that is enough, a title, headings, the line of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from odin_cli.speech.languages import _
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.keys import Binding
from odin_cli.terminal.views.cells import (
    Click,
    Line,
    Span,
    clip,
    fit,
    in_ascii,
    line,
    stretch,
    width,
    with_plain_blanks,
)

MIN_COLS: Final = 40
MIN_ROWS: Final = 16
"""Below this there is no room for a hand of nine cards, the centre, six players and the keys."""

_MOST: Final = 500
"""Sizes beyond this are a terminal's mistake."""


def fits(cols: int, rows: int) -> bool:
    """Whether there is room at all."""
    return cols >= MIN_COLS and rows >= MIN_ROWS


def framed(
    whole: Callable[[int, int], list[Line]],
    cols: int,
    rows: int,
    caps: Capabilities,
    hint: str = "",
) -> list[Line]:
    """The whole picture, or a notice with this hint where there is no room for it.

    Never more than `rows` lines of `cols` cells, whatever `whole` makes of them.
    """
    cols, rows = min(max(cols, 1), _MOST), min(max(rows, 1), _MOST)
    lines = whole(cols, rows) if fits(cols, rows) else _too_small(cols, rows, hint)
    lines = with_plain_blanks(fit(one, cols) for one in lines[:rows])
    return in_ascii(lines) if caps.ascii_only else lines


def _too_small(cols: int, rows: int, hint: str) -> list[Line]:
    told = [
        _("Odin needs {cols}x{rows},").format(cols=MIN_COLS, rows=MIN_ROWS),
        _("this is {cols}x{rows}.").format(cols=cols, rows=rows),
        _("Make it larger."),
        hint,
        _("Ctrl-C quits."),
    ]
    return [line(text) for text in told]


def title_bar(left: str, right: str, cols: int) -> Line:
    """The first line of a screen."""
    bar = stretch(line(Span(left, "title")), line(Span(right, "title")), cols)
    return (*bar, Span(" " * (cols - sum(width(span.text) for span in bar)), "title"))


def section(title: str, cols: int) -> Line:
    """The heading of a part of the screen."""
    head = clip(f"── {title} ", cols)
    return line(Span(head + "─" * (cols - width(head)), "rule"))


def key_line(bindings: Iterable[Binding], cols: int) -> Line:
    """The keys that do something now; the last one, help, stays when others have no room."""
    shown = [binding for binding in bindings if binding.label]
    while len(shown) > 2 and width(" " + "  ".join(map(_key_text, shown))) > cols:
        del shown[-2]
    spans: list[Span | str] = []
    for binding in shown:
        click = Click(binding.command, binding.argument) if binding.keys else None
        spans += [
            "  " if spans else " ",
            Span(binding.shown, "key", click),
            Span(f" {binding.label}", "", click),
        ]
    return line(*spans)


def _key_text(binding: Binding) -> str:
    return f"{binding.shown} {binding.label}"
