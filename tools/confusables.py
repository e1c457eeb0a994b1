"""Makes server/odin_server/confusables.txt: which characters read like which others (UTS 39).

usage: python tools/confusables.py TABLES_RS

Unicode's confusables.txt is to be had as part of the Rust crate `unicode-security`, which the
compiler of Rust uses for its own warnings: `cargo vendor`, then src/tables.rs. What never comes
before the server's comparison, because NFKC changes it, is left out.
"""

import re
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).resolve().parent.parent / "server" / "odin_server" / "confusables.txt"

HEAD: Final = """\
# Characters that read like others, by the confusables table of Unicode {version} (UTS 39).
# Written by tools/confusables.py; not to be edited. A line is a prototype, an equals sign, and the
# characters that are taken for it, all in hex.
#
# Copyright 1991-present Unicode, Inc. From the data files of Unicode, under the licence in
# LICENSE-UNICODE beside this file (Unicode-3.0).
"""


def table_of(source: str) -> str:
    """The file, made of the tables of the crate."""
    version = re.search(r"UNICODE_VERSION.*?= \((\d+), (\d+), (\d+)\)", source)
    module = re.search(r"mod confusable_detection \{(.*?)\n\}", source, re.DOTALL)
    if version is None or module is None:
        raise SystemExit("These are not the tables of unicode-security.")
    like: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for char, prototype in re.findall(r"\('\\u\{(\w+)\}',\s*&\[(.*?)\]\)", module[1], re.DOTALL):
        code = int(char, 16)
        if unicodedata.is_normalized("NFKC", chr(code)):
            like[tuple(int(part, 16) for part in re.findall(r"\{(\w+)\}", prototype))].append(code)
    lines = [f"{_hex(prototype)}={_hex(chars)}\n" for prototype, chars in sorted(like.items())]
    return HEAD.format(version=".".join(version.groups())) + "".join(lines)


def _hex(codes: list[int] | tuple[int, ...]) -> str:
    return " ".join(f"{code:X}" for code in codes)


if __name__ == "__main__":
    TABLE.write_text(table_of(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="ascii")
