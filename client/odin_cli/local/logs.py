"""What a command writes down while it runs: a file for whoever looks for the cause of something.

A client and a server have a file each, which is started anew, with two old ones kept, when it is
full. No credential, no code of a table and no card is ever written there: what is logged names
tables, calls and refusals. All the same only their owner may read them.
"""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from odin_cli.local.state_folder import private_folder, private_opener, state_folder

OURS: Final = ("odin_cli", "odin_client", "odin_server")
"""Whose details `-v` shows; of other packages only warnings."""

_SIZE: Final = 512 * 1024
"""Bytes until a file is started anew."""

_KEPT: Final = 2


class _PrivateFile(logging.handlers.RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        descriptor = private_opener(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


def client_log() -> Path:
    """Where a client writes."""
    return state_folder() / "odin-table.log"


def server_log() -> Path:
    """Where a server writes."""
    return state_folder() / "server.log"


def begin(path: Path, *, verbose: bool, talks: bool) -> None:
    """Writes down from now on what happens; `verbose` more of it, and on stderr as well.

    `talks`: warnings go to stderr in any case, as those of a server shall. A file that cannot be
    written is done without.
    """
    handlers: list[logging.Handler] = []
    with contextlib.suppress(OSError):
        private_folder(path.parent)
        if path.parent == state_folder():
            # Earlier versions let everybody read them.
            for written in path.parent.glob(f"{path.name}*"):
                written.chmod(0o600)
        file = _PrivateFile(
            path, maxBytes=_SIZE, backupCount=_KEPT, encoding="utf-8", errors="replace", delay=True
        )
        file.setFormatter(
            logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
        )
        handlers.append(file)
    if talks or verbose:
        said = logging.StreamHandler(sys.stderr)
        said.setLevel(logging.DEBUG if verbose else logging.WARNING)
        handlers.append(said)
    logging.basicConfig(level=logging.WARNING, handlers=handlers or [logging.NullHandler()])
    # A disk that is full is no reason to write into the middle of a screen.
    logging.raiseExceptions = False
    for name in OURS:
        logging.getLogger(name).setLevel(logging.DEBUG if verbose else logging.INFO)
