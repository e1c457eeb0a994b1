"""Text from outside: names, titles, chat. Untrusted, so it is cleaned before it is kept."""

from __future__ import annotations

import unicodedata
from typing import Final

from odin_server.errors import malformed

MAX_NAME: Final = 24
MAX_CHAT: Final = 200
MAX_TITLE: Final = 40
MAX_REQUEST_ID: Final = 64


def cleaned(field: str, text: str, longest: int, *, may_be_empty: bool = False) -> str:
    """The text without control, format and private characters, with single spaces.

    Raises MALFORMED, naming the field, when it is longer than `longest` characters, or nothing is
    left of it.
    """
    if len(text) > 4 * longest:
        raise malformed(field, f"At most {longest} characters, please.")
    kept = "".join(
        " " if character.isspace() else character
        for character in unicodedata.normalize("NFC", text)
        # C: control, format (bidirectional marks among them), surrogates, private, unassigned.
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    clean = " ".join(kept.split())
    if len(clean) > longest:
        raise malformed(field, f"At most {longest} characters, please.")
    if not clean and not may_be_empty:
        raise malformed(field, "Nothing that can be shown was given.")
    return clean
