"""The limits that both sides state; lengths are in characters, times in seconds.

Imports nothing, so that the program can state them before it has loaded the rules.
"""

from __future__ import annotations

from typing import Final

NAME_LENGTH: Final = 24
"""Of a name; no level, handle or code is longer."""
CHAT_LENGTH: Final = 200
"""Of a chat message."""
TITLE_LENGTH: Final = 40
"""Of the title of a table."""
TEXT_LENGTH: Final = 400
"""Of texts that the contract gives no length, such as the problem of a bot: clients cut there."""
REQUEST_ID_LENGTH: Final = 64

SEATS: Final = range(2, 7)
"""Of a table (R3)."""
THRESHOLDS: Final = range(5, 101, 5)
"""The totals that may end a game (R16)."""
DEFAULT_THRESHOLD: Final = 15
TURN_TIMES: Final = range(5, 601)
"""What a clock may give each decision."""
BANKS: Final = range(3601)
"""What a clock may give each seat besides, for the whole game."""

TABLES_PER_PAGE: Final = 100
"""At most, in an answer of ListTables."""
EVENTS_PER_PAGE: Final = 1000
"""At most, in an answer of GetHistory."""
