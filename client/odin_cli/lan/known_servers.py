"""The servers that one has been at, the last one first: a few addresses, and nothing secret.

To remember is a comfort: a file that cannot be read holds nothing, one that cannot be written is
left alone.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Final

from odin_cli.local.state_folder import private_folder, replace_file, state_folder
from odin_client.connection.address import Address, BadAddress

MOST: Final = 5
"""How many are remembered."""


class KnownServers:
    """One file: `{"servers": ["192.168.1.20", "odin.example:7712"]}`."""

    def __init__(self, path: Path | None = None) -> None:
        """Touches nothing yet."""
        self.path: Final = path or state_folder() / "servers.json"

    def all(self) -> list[Address]:
        """The addresses, without handles."""
        try:
            content: Any = json.loads(self.path.read_text(encoding="utf-8"))
            return [Address.parse(str(text)).at("") for text in content["servers"]][:MOST]
        except (OSError, ValueError, KeyError, TypeError, BadAddress):
            return []

    def remember(self, address: Address) -> None:
        """Puts a server first."""
        server = address.at("")
        known = [server, *(other for other in self.all() if other != server)][:MOST]
        content = json.dumps({"servers": [str(other) for other in known]}, indent=1)
        with contextlib.suppress(OSError):
            private_folder(self.path.parent)
            replace_file(self.path, f"{content}\n")
