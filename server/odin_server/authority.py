"""The role of a caller: what a call may do at a table follows from it."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class Role(Enum):
    """How a call arrived."""

    PLAYER = auto()
    """Over a port that anyone may reach."""
    OPERATOR = auto()
    """Over the operator's socket."""


class Authority(NamedTuple):
    """Who gives a command."""

    holder: bytes
    """The digest of the credential; empty for an operator without one."""
    role: Role = Role.PLAYER

    def may_host(self, host: bytes) -> bool:
        """Whether this is the host of a table, or an operator."""
        return self.role is Role.OPERATOR or self.holder == host
