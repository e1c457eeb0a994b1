"""Lines of JSON that hold together: each carries a digest of itself and of all before it.

A line is a JSON object whose first key is `sha256`. Its value is, in lower-case hex,

    SHA256(digest before || all bytes of the line after the closing quote of this digest)

where the digest before is the 32 bytes of the previous line's, for the first line the ASCII text
`odin-table/game/2` and a newline. The newline at the end is part of the line. So a file with any
byte changed, left out or put in is not the one that was written; whoever writes all digests anew
can only be told by what the lines say.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final

_START: Final = b"odin-table/game/2\n"
OPENING: Final = b'{"sha256":"'
"""How each line begins."""
_LINE: Final = re.compile(re.escape(OPENING) + rb'([0-9a-f]{64})"(,.*)', re.DOTALL)


def chained(objects: Iterable[str]) -> Iterator[str]:
    """Lines for these JSON objects, none of them empty, each with its digest and its newline."""
    digest = _START
    for text in objects:
        rest = f",{text[1:]}\n"
        digest = hashlib.sha256(digest + rest.encode()).digest()
        yield f'{OPENING.decode()}{digest.hex()}"{rest}'


def broken_line(data: bytes) -> int | None:
    """The first line that is not as it was written, from 1; None when all of them are."""
    digest = _START
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        parts = _LINE.fullmatch(line)
        if parts is None:
            return number
        digest = hashlib.sha256(digest + parts[2] + b"\n").digest()
        if digest.hex().encode() != parts[1]:
            return number
    # What comes after the last newline has to be nothing.
    return len(lines) if lines[-1] or len(lines) == 1 else None
