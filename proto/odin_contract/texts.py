"""Texts from the network, made harmless once for all interfaces.

Control and direction characters could otherwise retitle a terminal or imitate another name.
"""

from __future__ import annotations

from odin_engine.plain_text import clean_text


def clean(text: str, length: int) -> str:
    """The text in one line, without what cannot be seen (`plain_text`), at most so long."""
    return clean_text(text)[:length]
