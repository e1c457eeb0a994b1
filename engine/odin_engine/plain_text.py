"""Text that people wrote, in the form in which it may be shown to others. Pure.

It is not about the rules. It lies here because server and client may both import this package, and
have to agree on what can be seen of a name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_IGNORABLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's property Default_Ignorable_Code_Point; the ranges are the same since Unicode 5."""

_BLANKS: Final = "\u2800\U0001d159"
"""Drawn as nothing, although they are not spaces: a cell of Braille and a note without a head."""

_ZWNJ: Final = "\u200c"
_ZWJ: Final = "\u200d"
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_EMOJI_SELECTORS: Final = "\ufe0e\ufe0f"
_KEYCAP: Final = "\u20e3"
_MONGOLIAN: Final = re.compile("[\u1820-\u18aa]")
_IDEOGRAPH: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SKIN_TONE: Final = re.compile("[\U0001f3fb-\U0001f3ff]")
_JOINED_JAMO: Final = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
"""Vowels and finals of Korean, which take no column of their own."""

_VIRAMA: Final = 9
"""The combining class of the marks that make two letters of an Indic script one."""


def clean_text(text: str) -> str:
    r"""The text in one line, with single spaces, without what is not there to be seen.

    Out goes what Unicode calls default-ignorable, such as marks of direction and fillers, and what
    is a control, private or unassigned character; joiners and selectors stay where a script or an
    emoji needs them. Blanks of every kind are spaces. Empty when nothing takes a column.

    >>> clean_text(" Ann\u2800\ufe0f\n")
    'Ann'
    """
    text = unicodedata.normalize("NFC", text)
    kept: list[str] = []
    for at, char in enumerate(text):
        if char.isspace() or char in _BLANKS:
            kept.append(" ")
        elif _IGNORABLE.match(char):
            if _is_needed(char, "".join(kept[-4:]), text[at + 1 : at + 2]):
                kept.append(char)
        elif unicodedata.category(char)[0] not in "CZ":
            kept.append(char)
    clean = " ".join("".join(kept).split())
    return clean if any(map(_takes_a_column, clean)) else ""


def without_ignorable(text: str) -> str:
    """The text without anything default-ignorable, for comparing and not for showing."""
    return _IGNORABLE.sub("", text)


def _takes_a_column(char: str) -> bool:
    """Whether the character is seen without another one before it."""
    return unicodedata.category(char)[0] in "LNPS" and not (
        _IGNORABLE.match(char) or _JOINED_JAMO.match(char)
    )


def _is_needed(char: str, before: str, following: str) -> bool:
    """Whether an ignorable character changes how a script or an emoji is drawn there."""
    last = before[-1:]
    if not last:
        return False
    if char in (_ZWJ, _ZWNJ):
        joins_letters = _is_joining(before) and (char == _ZWJ or _is_joining(following))
        joins_emoji = char == _ZWJ and _is_emoji(before) and _is_emoji(following)
        return unicodedata.combining(last) == _VIRAMA or joins_letters or joins_emoji
    if char in _EMOJI_SELECTORS and (_is_emoji(last) or following == _KEYCAP):
        return True
    if _SELECTORS.match(char):
        return bool(_IDEOGRAPH.match(last))
    return "\u180b" <= char <= "\u180f" and bool(_MONGOLIAN.match(last))


def _is_joining(text: str) -> bool:
    """Whether it ends with a letter of a script whose letters join, as those of Persian do."""
    letters = [char for char in text if not unicodedata.combining(char)]
    return bool(letters) and unicodedata.bidirectional(letters[-1]) == "AL"


def _is_emoji(text: str) -> bool:
    """Whether it ends with a picture, in whichever form or colour of skin."""
    base = text.rstrip(_EMOJI_SELECTORS)[-1:]
    return bool(base) and (unicodedata.category(base) == "So" or bool(_SKIN_TONE.match(base)))
