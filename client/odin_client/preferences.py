"""What a person wants everywhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """The settings of one person, with the defaults of whoever sets nothing."""

    bell: bool = True
    """Whether the terminal's bell rings when it is one's turn and one has not typed for a while."""
    sort: str = "colour"
    """How the hand is sorted at first."""
    auto_pass: bool = False
    """Whether to pass by itself when nothing can be played."""
    auto_finish: bool = False
    """Whether to go out by itself when that is possible."""
