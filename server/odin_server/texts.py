"""Text from outside: names, titles, chat. Untrusted, so it is cleaned before it is kept."""

from __future__ import annotations

from odin_engine.plain_text import clean_text
from odin_server.errors import malformed


def cleaned(field: str, text: str, longest: int, *, may_be_empty: bool = False) -> str:
    """The text in one line, without what cannot be seen (`plain_text`).

    Raises MALFORMED, naming the field, when it is longer than `longest` characters, or nothing of
    it can be seen.
    """
    if len(text) > 4 * longest:
        raise malformed(field, f"At most {longest} characters, please.")
    clean = clean_text(text)
    if len(clean) > longest:
        raise malformed(field, f"At most {longest} characters, please.")
    if not clean and not may_be_empty:
        raise malformed(field, f"A {field} needs at least one character that can be seen.")
    return clean
