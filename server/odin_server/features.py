"""What this server can do beyond the first version of the contract.

GetServerInfo lists these names, so that a client knows before it calls. A name is never taken away,
and each stands in the contract beside the part that it announces.
"""

from __future__ import annotations

from typing import Final

FEATURES: Final[tuple[str, ...]] = ("player_names", "remove_seat", "deal_2", "give_nonce")
