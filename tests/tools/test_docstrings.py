"""A docstring below a constant is never part of the constant.

Within the parentheses of a long text Python joins the two, and people read both.
"""

from __future__ import annotations

import io
import re
import tokenize
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_BE_GLUED = re.compile(r'["\']\s*\n\s*"""')
SKIPPED = (tokenize.NL, tokenize.COMMENT)


def glued(source: str) -> list[int]:
    """The lines on which a docstring follows a text that it becomes part of."""
    if not MAY_BE_GLUED.search(source):
        return []
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in SKIPPED
    ]
    return [
        second.start[0]
        for first, second in pairwise(tokens)
        if first.type == second.type == tokenize.STRING and second.string.startswith('"""')
    ]


@pytest.mark.parametrize("root", ["engine", "server", "client", "bench", "tools", "tests"])
def test_no_docstring_is_part_of_a_text(root: str) -> None:
    sources = (path for path in (ROOT / root).rglob("*.py"))
    found = [f"{path}:{line}" for path in sources for line in glued(path.read_text())]
    assert not found


def test_one_that_is_gets_found() -> None:
    assert glued('X = (\n    "Put a backup in its place."\n    """What to do."""\n)\n') == [3]
    assert glued('X = (\n    "Put a backup in its place."\n)\n"""What to do."""\n') == []
