"""Where this program keeps its files, and how a file there is replaced as a whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import platformdirs

_NO_HOME: Final = Path("/nonexistent")
"""The home of who has none, as Debian calls it: nothing is there, and nothing can be written."""


def state_folder() -> Path:
    """For what is remembered, whether or not it is there; `$XDG_STATE_HOME/odin-table` on Linux."""
    return _folder(platformdirs.user_state_path)


def config_folder() -> Path:
    """For settings; `$XDG_CONFIG_HOME/odin-table` on Linux."""
    return _folder(platformdirs.user_config_path)


def data_folder() -> Path:
    """For tables and games; `$XDG_DATA_HOME/odin-table` on Linux."""
    return _folder(platformdirs.user_data_path)


def _folder(of_system: Callable[..., Path]) -> Path:
    """A folder of this program. Without HOME and an entry in passwd there is no home to have it."""
    with contextlib.suppress(RuntimeError):
        folder = of_system("odin-table", appauthor=False)
        if folder.is_absolute():
            return folder
    return _NO_HOME / "odin-table"


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
