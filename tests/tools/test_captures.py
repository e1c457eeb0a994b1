"""The pictures that the README shows are those that the client draws now."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import captures

from odin_cli.terminal.style import card_style, rules_of
from odin_engine import Colour


def test_every_capture_is_current() -> None:
    assert captures.old_ones() == [], "these are old: run `make captures`"


def test_the_readme_shows_captures_and_a_picture() -> None:
    readme = (captures.ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/captures/your-turn.svg)" in readme
    assert captures.files()["docs/captures/your-turn.txt"] in readme


def test_the_picture_is_whole_svg_in_the_colours_of_the_cards_and_needs_nothing_else() -> None:
    svg = captures.files()["docs/captures/your-turn.svg"]
    root = ET.fromstring(svg)
    fills = {element.get("fill") for element in root.iter()}
    for colour in (Colour.RED, Colour.ORANGE, Colour.YELLOW, Colour.GREEN, Colour.BLUE):
        background = rules_of(captures.CAPABILITIES.depth)[card_style(colour)].split()[0]
        assert background.removeprefix("bg:") in fills
    text = "".join(root.itertext())
    assert "YOUR TURN" in text
    assert "beats 64" in text
    for outside in ("href", "url(", "@import", "font-face", "<script"):
        assert outside not in svg


def test_what_has_changed_is_named() -> None:
    readme = "<!-- capture: narrow -->\n\n```\nold\n```\n"
    drawn = captures.with_captures(readme, captures.files())
    assert "old" not in drawn
    assert "── HAND" in drawn or "HAND 7" in drawn
