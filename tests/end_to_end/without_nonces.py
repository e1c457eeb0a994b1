"""`odin-table`, but it adds nothing to a deal: a server with a seed deals the same cards then."""

from __future__ import annotations

from odin_client import session
from odin_client.commands.main import main

if __name__ == "__main__":
    session.random_nonce = bytes
    main()
