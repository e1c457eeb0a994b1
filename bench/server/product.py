"""The real server as the load needs it: on any free port, all rules on, its limits out of the way.

All tables and all callers of the load come from one address, which in earnest would be refused.
"""

import sys

from odin_server.main import run
from odin_server.settings import Limits, Settings

NO_LIMIT = 1_000_000

SETTINGS = Settings(
    port=0,
    limits=Limits(
        tables=NO_LIMIT,
        tables_per_credential=NO_LIMIT,
        tables_per_address=NO_LIMIT,
        seats_per_credential=NO_LIMIT,
        seats_per_address=NO_LIMIT,
        streams_per_credential=NO_LIMIT,
        streams_per_address=NO_LIMIT,
        calls_per_second_per_credential=NO_LIMIT,
        calls_per_second_per_address=NO_LIMIT,
    ),
)

if __name__ == "__main__":
    sys.exit(run(SETTINGS))
