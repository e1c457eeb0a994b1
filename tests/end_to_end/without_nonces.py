"""`odin-table`, but clients add nothing to a deal: a server with a seed deals the same cards then."""

from __future__ import annotations

import sys

from odin_client import session
from odin_client.commands.main import main

if __name__ == "__main__":
    session.random_nonce = bytes
    sys.exit(main())
