"""What the server is given from outside: time, randomness, a meter and its settings."""

from __future__ import annotations

import random
from typing import NamedTuple, Protocol

from odin_server.clock import Clock
from odin_server.settings import Settings


class Meter(Protocol):
    """Counts what happens at a server.

    By name: `calls`, `refusals`, `streams`, `commands`, `bot_failures`, `outages`.
    """

    def count(self, name: str) -> None:
        """One more of this. Must not wait, and must not raise."""
        ...


class NoMeter:
    """Counts nothing."""

    def count(self, name: str) -> None:
        """See `Meter`."""


class Randomness(NamedTuple):
    """Where randomness comes from; apart from each other, so that none tells of another."""

    deals: random.Random
    """Secrets that deals are drawn from."""
    names: random.Random
    """Handles, codes and log ids."""
    bots: random.Random
    """Seeds of the choices of bots."""


class Environment(NamedTuple):
    """Handed to everything that needs one of these."""

    clock: Clock
    rng: Randomness
    meter: Meter
    settings: Settings
