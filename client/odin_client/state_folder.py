"""Where this program keeps what it remembers, and how a file there is replaced as a whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import platformdirs


def state_folder() -> Path:
    """The folder, whether or not it is there; `$XDG_STATE_HOME/odin-table` on Linux."""
    return platformdirs.user_state_path("odin-table", appauthor=False)


def private_folder(path: Path) -> None:
    """Makes a folder, unless it is there, that only its owner may enter. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """An opener for `open`: a file that it makes may be read by its owner only."""
    return os.open(path, flags, 0o600)


def replace_file(path: Path, text: str) -> None:
    """Writes a file of which there is always the old or the new content, never half of one.

    Only its owner may read it. Raises OSError.
    """
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(beside).unlink()
        raise
