"""What is remembered of how somebody likes their screen, because they changed it by a key.

A setting (`preferences`) is what one starts with; what was chosen last comes before it.
"""

from __future__ import annotations

import contextlib

from odin_cli.local.preferences import CHOICES
from odin_cli.local.state_folder import private_folder, replace_file, state_folder


def remembered_sort() -> str | None:
    """The order in which the hand lay last; None when nobody has changed it yet."""
    try:
        sort = (state_folder() / "sort").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return sort if sort in CHOICES["sort"] else None


def remember_sort(sort: str) -> None:
    """Keeps the order of the hand for the next time, where that is possible."""
    with contextlib.suppress(OSError):
        private_folder(state_folder())
        replace_file(state_folder() / "sort", f"{sort}\n")
