"""What a command writes down while it runs: a file for whoever looks for the cause of something.

A client and a server have a file each, which is started anew, with two old ones kept, when it is
full. No credential, no code of a table and no card is ever written there: what is logged names
tables, calls and refusals.
"""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import sys
from pathlib import Path
from typing import Final

from odin_client.state_folder import state_folder

OURS: Final = ("odin_client", "odin_server")
"""Whose details `-v` shows; of other packages only warnings."""

_SIZE: Final = 512 * 1024
"""Bytes until a file is started anew."""

_KEPT: Final = 2


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
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = logging.handlers.RotatingFileHandler(
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
