"""What the terminal can show, decided once at the start from its environment. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Depth(Enum):
    """How many colours are used."""

    MONOCHROME = "never"
    """None; bold, dim and reverse video stay."""
    ANSI_16 = "16"
    CUBE_256 = "256"
    TRUE = "24"


COLOUR_CHOICES: Final = ("always", "never", "16", "256", "24")
"""What `--color` takes."""

_TRUE_COLOUR_TERMS: Final = ("direct", "kitty", "alacritty", "ghostty", "wezterm", "foot")

_WITHOUT_COLOUR: Final = ("dumb", "unknown", "vt1", "vt2", "vt3", "vt4", "vt5")
"""Terminals of before there were colours; the `vt` are those of DEC."""

_WITHOUT_TITLE: Final = ("linux", "vt", "dumb", "unknown", "eterm")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may be sent to this terminal."""

    depth: Depth = Depth.CUBE_256
    ascii_only: bool = False
    """Whether nothing but ASCII may be drawn."""
    mouse: bool = True
    """Whether clicks are asked for at the start; F2 changes it."""
    title: bool = False
    """Whether the terminal has a window that can be named."""
    escape_seconds: float = 0.05
    """How long a lone Esc may still be the beginning of another key. Longer over SSH, where the
    bytes of one key may arrive apart."""


def capabilities(
    environment: Mapping[str, str],
    *,
    is_terminal: bool = True,
    encoding: str = "utf-8",
    colour: str | None = None,
    ascii_only: bool = False,
    mouse: bool = True,
) -> Capabilities:
    """What the environment says, unless an option (`colour`, `ascii_only`, `mouse`) says more."""
    speaks_unicode = encoding.lower().replace("-", "") == "utf8" and not _wants_c(environment)
    return Capabilities(
        depth=_depth(environment, is_terminal, colour),
        ascii_only=ascii_only
        or not speaks_unicode
        or environment.get("TERM") == "linux",  # the console's font lacks most of the glyphs
        mouse=mouse,
        title=is_terminal and not environment.get("TERM", "").startswith(_WITHOUT_TITLE),
        escape_seconds=0.1 if environment.get("SSH_CONNECTION") else 0.05,
    )


def _wants_c(environment: Mapping[str, str]) -> bool:
    """Whether somebody asked for the C locale, which promises ASCII only.

    Python itself hides that: it encodes in UTF-8 all the same, and where LANG is C it sets
    LC_CTYPE to C.UTF-8.
    """
    plain = ("C", "POSIX")
    if everything := environment.get("LC_ALL"):
        return everything in plain
    return environment.get("LANG") in plain and (
        environment.get("LC_CTYPE", "C") in ("", "C.UTF-8", *plain)
    )


def _depth(environment: Mapping[str, str], is_terminal: bool, colour: str | None) -> Depth:
    """In this order: the option, NO_COLOR, FORCE_COLOR, what the terminal seems to be.

    Of both variables an empty value says nothing, and any other value counts, "0" included.
    """
    if colour in ("never", "16", "256", "24"):
        return Depth(colour)
    if colour == "always":
        return _coloured(environment)
    if environment.get("NO_COLOR"):
        return Depth.MONOCHROME
    if environment.get("FORCE_COLOR"):
        return _coloured(environment)
    if not is_terminal or _is_colourless(environment.get("TERM", "")):
        return Depth.MONOCHROME
    return _coloured(environment)


def _is_colourless(term: str) -> bool:
    return not term or term.startswith(_WITHOUT_COLOUR) or term.endswith(("-m", "-mono"))


def _coloured(environment: Mapping[str, str]) -> Depth:
    """How many colours, when there are to be some.

    A wrong guess between 256 and 24 bit is invisible: the palette's colours are in both.
    """
    term = environment.get("TERM", "")
    if (
        environment.get("COLORTERM") in ("truecolor", "24bit")
        or environment.get("WT_SESSION")
        or any(name in term for name in _TRUE_COLOUR_TERMS)
    ):
        return Depth.TRUE
    if term == "linux" or term.endswith("-16color"):
        return Depth.ANSI_16
    return Depth.CUBE_256
