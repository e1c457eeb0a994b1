"""Which names read alike, as Unicode measures it (UTS 39): by their skeletons.

`confusables.txt` is Unicode's table in a short form, made by tools/confusables.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from odin_engine.plain_text import without_ignorable

_MARKS: Final = ("you", "host", "vous", "hôte")
"""What clients say in the place of a name, or behind one in brackets."""
_MARKS_IN_BRACKETS: Final = ("bot", *_MARKS)

_FILE: Final = Path(__file__).with_name("confusables.txt")


def read_alike(one: str, other: str) -> bool:
    """Whether one name can be taken for the other.

    Case, width, blanks and what cannot be seen make no difference, nor does a character that looks
    like another: l and I, m and rn, a Latin letter and a Cyrillic one.
    """
    return not skeletons(one).isdisjoint(skeletons(other))


def reads_like_a_mark(name: str) -> bool:
    """Whether the name reads like what clients write at a seat themselves, such as `Ann (you)`."""
    for skeleton in skeletons(name):
        *before, behind = "".join(map(_plain_bracket, skeleton)).split("(")
        word = behind.rstrip(")")
        if any(word in skeletons(mark) for mark in (_MARKS_IN_BRACKETS if before else _MARKS)):
            return True
    return False


def _plain_bracket(char: str) -> str:
    return {"Ps": "(", "Pe": ")"}.get(unicodedata.category(char), char)


@lru_cache(maxsize=1024)
def skeletons(name: str) -> frozenset[str]:
    """How the name reads as it is written, and with its case folded: `Ian` is like lan and IAN."""
    written = unicodedata.normalize("NFKC", name)
    return frozenset(map(_skeleton, (written, unicodedata.normalize("NFKC", written.casefold()))))


def _skeleton(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", without_ignorable(text))
    mapped = "".join(_prototypes().get(char, char) for char in decomposed)
    return "".join(unicodedata.normalize("NFD", without_ignorable(mapped)).casefold().split())


@cache
def _prototypes() -> Mapping[str, str]:
    """What stands for each character that is like another one."""
    lines = _FILE.read_text(encoding="ascii").splitlines()
    pairs = (line.split("=") for line in lines if not line.startswith("#"))
    return {char: _text(prototype) for prototype, characters in pairs for char in _text(characters)}


def _text(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split())
