"""Whether the write-ahead log (WAL) of a file has all of its end, as far as its bytes can tell.

SQLite takes the WAL up to its last whole commit and is silent about what follows. The format is
that of https://sqlite.org/fileformat2.html#walformat: a header, then frames of one page each. Both
parts of a frame's salt are those of the header. After a checkpoint SQLite starts over at the front
with another salt in both parts: frames with an older one behind the end are nothing to worry about.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

_HEADER: Final = struct.Struct(">8I")
"""Magic number, version, page size, count of checkpoints, salt (2), checksum (2)."""
_FRAME: Final = struct.Struct(">6I")
"""Page number, pages after a commit (else 0), salt (2), checksum (2). The page follows."""
_MAGIC: Final = 0x377F0682
_MASK: Final = 0xFFFFFFFF

Sum = tuple[int, int]


class WalEnd(NamedTuple):
    """What follows the last whole commit of a WAL."""

    begins: bool
    """Whether there is a sound header, and room for a frame behind it."""
    size: int
    """Bytes of the WAL; 0 for a missing one."""
    is_damaged: bool = False
    """Whether frames of this WAL follow that are cut short or not as they were written."""


def wal_of(path: Path) -> Path:
    """The WAL of this file."""
    return path.with_name(f"{path.name}-wal")


def end_of_wal(wal: Path, frames: int) -> WalEnd:
    """Looks at what follows the first `frames` frames, which SQLite found to be whole.

    Frames of a transaction that was never committed may follow: nobody was told of it.
    """
    if not wal.exists():
        return WalEnd(begins=False, size=0)
    size = wal.stat().st_size
    with wal.open("rb") as file:
        data = file.read(_HEADER.size)
        if len(data) < _HEADER.size:
            return WalEnd(begins=False, size=size)
        magic, _version, page_size, _checkpoints, *salt, sum_1, sum_2 = _HEADER.unpack(data)
        order = ">" if magic & 1 else "<"
        header_sum = _summed(data[:24], (0, 0), order)
        if magic & ~1 != _MAGIC or header_sum != (sum_1, sum_2):
            return WalEnd(begins=False, size=size)
        length = _FRAME.size + page_size
        before = header_sum
        if frames:
            file.seek(_HEADER.size + (frames - 1) * length)
            before = _FRAME.unpack(file.read(_FRAME.size))[4:]
            file.seek(_HEADER.size + frames * length)
        return WalEnd(
            begins=size > _HEADER.size,
            size=size,
            is_damaged=_is_damaged(file, length, (salt[0], salt[1]), before, order),
        )


def _is_damaged(file: BinaryIO, length: int, salt: Sum, before: Sum, order: str) -> bool:
    """Whether frames with this salt follow that do not continue from the checksum `before`."""
    is_over = False
    while frame := file.read(length):
        if len(frame) == _FRAME.size and not is_over:
            # A header alone at the very end: SQLite writes the page after it, and was killed.
            return False
        if len(frame) < _FRAME.size:
            # Cut short; behind older frames it is what is left of one of them.
            return not is_over
        _page, _commit, salt_1, salt_2, sum_1, sum_2 = _FRAME.unpack_from(frame)
        if salt_1 != salt[0] and salt_2 != salt[1]:
            is_over = True
            continue
        before = _summed(frame[:8], before, order)
        before = _summed(frame[_FRAME.size :], before, order) if len(frame) == length else (-1, -1)
        if is_over or (salt_1, salt_2) != salt or before != (sum_1, sum_2):
            return True
    return False


def _summed(data: bytes, before: Sum, order: str) -> Sum:
    """The checksum of SQLite, continued over these bytes."""
    sum_1, sum_2 = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        sum_1 = (sum_1 + first + sum_2) & _MASK
        sum_2 = (sum_2 + second + sum_1) & _MASK
    return sum_1, sum_2
