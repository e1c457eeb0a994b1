"""`Credential`: the secret that holds a seat."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Credential:
    """32 random bytes as text; anyone who has them has the seat. Never printed."""

    secret: str = field(repr=False)

    @staticmethod
    def new() -> Credential:
        """A fresh one."""
        return Credential(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("="))
