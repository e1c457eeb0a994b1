"""`odin-table`, but it adds nothing to a deal: a server with a seed deals the same cards then."""

from __future__ import annotations

from odin_cli.main import main
from odin_client.session import session

if __name__ == "__main__":
    session.random_nonce = bytes
    main()
