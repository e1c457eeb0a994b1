"""What the meanings look like: the only place with colours in it.

The views name meanings ("card-red", "chosen", "your-turn"). Colour never carries anything alone:
each card shows its letter, what is chosen is also raised or in brackets, whose turn it is also has
a mark. Apart from the cards, only attributes and the terminal's own colours are used, so that dark
and light backgrounds are both fine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from odin_cli.terminal.capabilities import Depth
from odin_engine import Colour

# Exact colours of the 256-colour cube (196, 214, 228, 29, 75, 169), so that both depths show the
# same. Chosen by simulation: any two differ for every kind of colour-blindness, and black text on
# each has a contrast of at least 4.6.
_CUBE: Final = {
    Colour.RED: "#ff0000",
    Colour.ORANGE: "#ffaf00",
    Colour.YELLOW: "#ffff87",
    Colour.GREEN: "#00875f",
    Colour.BLUE: "#5fafff",
    Colour.VIOLET: "#d75faf",
}

# Not left to automatic mapping, which makes green and blue the same cyan.
_ANSI: Final = {
    Colour.RED: "ansired",
    Colour.ORANGE: "ansiyellow",
    Colour.YELLOW: "ansibrightyellow",
    Colour.GREEN: "ansigreen",
    Colour.BLUE: "ansibrightcyan",
    Colour.VIOLET: "ansibrightmagenta",
}

_ATTRIBUTES: Final = {
    "title": "reverse",
    "banner": "bold reverse",
    "rule": "",
    "mine": "bold",
    "turn": "bold",
    "away": "dim",
    "quiet": "dim",
    "number": "bold reverse",
    "your-turn": "bold reverse",
    "hurry": "bold",
    "question": "bold reverse",
    "key": "reverse",
    "good": "bold",
    "bad": "bold",
    "news": "bold",
    "take": "bold",
    "fresh": "bold underline",
    "winner": "bold",
    "overlay": "",
}


def card_style(colour: Colour) -> str:
    """The meaning of the face of a card of this colour."""
    return f"card-{colour.name.lower()}"


def rules_of(depth: Depth) -> Mapping[str, str]:
    """How each meaning is drawn at this depth, in prompt_toolkit's style language."""
    monochrome = depth is Depth.MONOCHROME
    palette = _ANSI if depth is Depth.ANSI_16 else _CUBE
    cards = {
        card_style(colour): "" if monochrome else f"bg:{shade} fg:{_black(depth)}"
        for colour, shade in palette.items()
    }
    return {
        **_ATTRIBUTES,
        **cards,
        "chosen": "bold reverse" if monochrome else "bold",
        "unusable": "dim",
        # Bright on dark, also where the terminal is dark on bright: cameras want it so.
        "picture": "" if monochrome else f"bg:{_black(depth)} fg:{_white(depth)}",
    }


def _white(depth: Depth) -> str:
    return "ansiwhite" if depth is Depth.ANSI_16 else "#ffffff"


def _black(depth: Depth) -> str:
    return "ansiblack" if depth is Depth.ANSI_16 else "#000000"
