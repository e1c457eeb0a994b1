"""What may go wrong only sometimes is tried often by `make bots`: each test marked `often`.

Such a test uses the fixture `each_time`, which repeats it as a whole, or repeats what it is about
itself, so many TIMES.
"""

from __future__ import annotations

import os
from typing import Final

TIMES: Final = int(os.environ.get("ODIN_TIMES", "1"))
"""Once in `make test`."""
