"""Texts from outside: made harmless once for all interfaces, and handles as people type them.

Control and direction characters could otherwise retitle a terminal or imitate another name.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from odin_engine.plain_text import clean_text

_CONFUSED: Final = str.maketrans({"O": "0", "I": "1", "L": "1", " ": None, "-": None})


def clean(text: str, length: int) -> str:
    """The text in one line, without what cannot be seen (`plain_text`), at most so long."""
    return clean_text(text)[:length]


def handle_as_kept(text: str) -> str:
    """A handle or code as it may have been typed, in the form that servers give.

    That is Crockford's base 32, which leaves out letters that are easy to confuse:

    >>> handle_as_kept("o6-aq")
    '06AQ'
    """
    return unicodedata.normalize("NFKC", text).upper().translate(_CONFUSED)
