"""What somebody gets who is to come to a table: the line to type, and that line as a picture.

Both always work, whether or not the table can be found on the network.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from odin_client.connection.address import Address

_QUIET: Final = 2
"""Modules of empty border. Four are asked for; cameras find a code in two, and rows are scarce."""

_HALVES: Final = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}
"""Two modules above each other, as they are bright or not, in one character."""


def join_command(table: Address, code: str = "") -> str:
    """What to type to sit down at this table."""
    with_code = f" --code {code}" if code else ""
    return f"odin-table join {table.typed}{with_code}"


def join_commands(table: Address, hosts: Iterable[str], code: str = "") -> list[str]:
    """The same for each of several hosts under which the table's server can be reached."""
    return [join_command(Address(host, table.port, table.handle), code) for host in hosts]


def qr_lines(text: str, *, ascii_only: bool = False) -> list[str]:
    """A text as a QR code in half blocks, bright where a printed one is white; nothing in ASCII.

    Lines of equal width, drawn for a dark background: on a bright one let them have colours of
    their own. The usual line to join a table takes 17 lines of 33 columns,
    one with a long address and a code 19 of 37.
    """
    if ascii_only:
        return []
    import segno  # noqa: PLC0415 -- hardly anybody looks at one

    code = segno.make_qr(text, error="L", boost_error=False)
    bright = [[not dark for dark in row] for row in code.matrix_iter(border=_QUIET)]
    return _in_halves(bright)


def _in_halves(rows: Sequence[Sequence[bool]]) -> list[str]:
    nothing = [False] * len(rows[0])
    pairs = itertools.zip_longest(rows[::2], rows[1::2], fillvalue=nothing)
    return ["".join(_HALVES[half] for half in zip(*pair, strict=True)) for pair in pairs]
