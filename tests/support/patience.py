"""How long tests wait for anything: long enough for a loaded machine, and no test waits it out."""

from __future__ import annotations

from typing import Final

PATIENCE: Final = 60.0
"""Seconds."""
