"""The pictures of the README and of docs: made from the screens themselves.

What is drawn is what the client draws, from tables that tests use as well, so that a picture cannot
show what there is not. Text captures are what a terminal shows, character by character; the SVG is
the same in colour, without fonts of its own. `make captures` writes them all, and the blocks in the
README; a test tells when they are old.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Final

from odin_cli.games import game_file
from odin_cli.games.replay import Replay
from odin_cli.speech.languages import ENGLISH, use
from odin_cli.terminal.capabilities import Capabilities, Depth
from odin_cli.terminal.style import rules_of
from odin_cli.terminal.views.cells import Line, width
from odin_cli.terminal.views.lobby_view import LobbyScreen, render_lobby
from odin_cli.terminal.views.log import Log
from odin_cli.terminal.views.replay_view import ReplayScreen, render_replay
from odin_cli.terminal.views.screen import Screen
from odin_cli.terminal.views.view import render
from odin_client.table.updates import Update
from odin_contract.enums import Actor, Phase
from odin_contract.events import CardPickedUp, CardsPlayed, ChatSaid, Passed, SeatTaken
from odin_contract.values import ChatLine
from odin_engine import set_of
from tests.client.terminal import samples
from tests.client.terminal.test_lobby import FOUND
from tests.client.test_replay import GAME

ROOT = Path(__file__).resolve().parent.parent
FOLDER: Final = "docs/captures"

CAPABILITIES: Final = Capabilities(depth=Depth.TRUE)

CELL_WIDTH: Final = 9.0
CELL_HEIGHT: Final = 19
"""Of one cell of the SVG, in its own units."""

PAPER: Final = "#1e1e1e"
INK: Final = "#d4d4d4"


def _of_five(screen: Screen) -> Screen:
    """The sample as one moment of a game, without its longest name, which is there for tests."""
    table = screen.table
    assert table.game is not None, "the sample is a game"
    penalties = ((4, 0, 3), (0, 8, 5), (2, 0, 9), (6, 5, 0), (3, 2, 1))
    over = table.phase is Phase.BETWEEN_DEALS
    table.view = replace(
        table.view,
        options=replace(table.options, seats=5),
        seats=table.seats[:5],
        game=replace(
            table.game,
            players=tuple(
                replace(
                    player,
                    passed=player.seat in (0, 1, 4),
                    penalties=costs if over else costs[:2],
                    total=sum(costs if over else costs[:2]),
                )
                for player, costs in zip(table.game.players[:5], penalties, strict=True)
            ),
            remaining_hands=tuple(
                (seat, samples.cards(text))
                for seat, text in enumerate(
                    ("R4 V4 Y8", "O9 Y6 G2 B3 V1", "R9 R2 O5 Y4 Y3 G1 B7 V6 V2", "", "B1")
                )
            ),
        ),
    )
    screen.log = Log()
    for update in _round():
        screen.log.hear(update, table)
    return screen


def _round() -> Iterator[Update]:
    """What has happened until Zoe, in seat 2, has to answer 64."""
    now, chosen = samples.NOW, Actor.PERSON
    first, answer = set_of(samples.cards("R3")), set_of(samples.cards("G6 G4"))
    yield CardsPlayed(seq=1, time=now, seat=0, set=first, opening=True, card_count=9, actor=chosen)
    for seat in (1, 2):
        yield Passed(seq=2, time=now, seat=seat, actor=chosen)
    yield CardsPlayed(
        seq=4, time=now, seat=3, set=answer, opening=False, card_count=1, actor=chosen
    )
    yield CardPickedUp(
        seq=5, time=now, seat=3, card=first.cards[0], discarded=(), card_count=2, actor=chosen
    )
    for seat in (4, 0, 1):
        yield Passed(seq=6, time=now, seat=seat, actor=chosen)


def _waiting() -> Screen:
    screen = samples.waiting()
    screen.table.view = replace(
        screen.table.view,
        options=replace(screen.table.options, seats=5),
        seats=tuple(replace(s, seat=at) for at, s in enumerate(screen.table.seats[1:])),
        my_seat=1,
    )
    screen.log = Log()
    for seat in (0, 2):
        screen.log.hear(
            SeatTaken(seq=1, time=samples.NOW, seat=screen.table.seats[seat]), screen.table
        )
    screen.log.hear(ChatSaid(ChatLine(1, samples.NOW, "Chloé", 2, "salut !")), screen.table)
    return screen


def _replay() -> ReplayScreen:
    replay = Replay(game_file.read(GAME))
    screen = ReplayScreen(replay.position, step=7, last=replay.last)
    for update in replay.go(7):
        screen.log.hear(update, replay.position.table)
    screen.position = replay.position
    return screen


def _table(make: Callable[[], Screen], cols: int = 80, rows: int = 24) -> Callable[[], list[Line]]:
    return lambda: render(make(), cols, rows, CAPABILITIES)


def _in_french(draw: Callable[[], list[Line]]) -> Callable[[], list[Line]]:
    def drawn() -> list[Line]:
        use("fr")
        try:
            return draw()
        finally:
            use(ENGLISH)

    return drawn


SCREENS: Final[dict[str, Callable[[], list[Line]]]] = {
    "your-turn": _table(lambda: _of_five(samples.chosen())),
    "narrow": _table(lambda: _of_five(samples.chosen()), 40, 16),
    "french": _in_french(_table(lambda: _of_five(samples.chosen()))),
    "waiting-room": _table(_waiting),
    "which-card": _table(lambda: _of_five(samples.which_card())),
    "deal-over": _table(lambda: _of_five(samples.between_deals())),
    "reconnecting": _table(lambda: _of_five(samples.reconnecting())),
    "tables": lambda: render_lobby(LobbyScreen(FOUND, looking=False), 80, 24, CAPABILITIES),
    "replay": lambda: render_replay(_replay(), 80, 24, CAPABILITIES),
}
"""The screens that are captured as text, by the name of their file."""

PICTURES: Final = ("your-turn",)
"""Those that are drawn in colour as well."""


def as_text(lines: list[Line]) -> str:
    """The screen as a terminal without colours shows it."""
    return "".join("".join(span.text for span in one).rstrip() + "\n" for one in lines)


@dataclass(frozen=True)
class _Look:
    """How a span is drawn."""

    ink: str
    paper: str
    bold: bool
    dim: bool
    underlined: bool


def _look(style: str) -> _Look:
    rules = rules_of(Depth.TRUE)
    words = " ".join(rules[name] for name in style.split()).split()
    ink = next((w.removeprefix("fg:") for w in reversed(words) if w.startswith("fg:")), INK)
    paper = next((w.removeprefix("bg:") for w in reversed(words) if w.startswith("bg:")), PAPER)
    if "reverse" in words:
        ink, paper = paper, ink
    return _Look(ink, paper, "bold" in words, "dim" in words, "underline" in words)


def as_svg(lines: list[Line], title: str) -> str:
    """The screen in colour. Letters come from whatever monospaced font the viewer has."""
    cols = max(sum(width(span.text) for span in one) for one in lines)
    wide, high = cols * CELL_WIDTH + 20, len(lines) * CELL_HEIGHT + 20
    family = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
    size = f'viewBox="0 0 {wide:g} {high}" width="{wide:g}" height="{high}"'
    letters = f'font-family="{family}" font-size="15"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {letters}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>',
        *(part for row, one in enumerate(lines) for part in _row(one, 10 + row * CELL_HEIGHT)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _row(spans: Line, top: int) -> Iterator[str]:
    left = 10.0
    for span in spans:
        cells = width(span.text)
        look = _look(span.style)
        if look.paper != PAPER and cells:
            yield (
                f'<rect x="{left:g}" y="{top}" width="{cells * CELL_WIDTH:g}" '
                f'height="{CELL_HEIGHT}" fill="{look.paper}"/>'
            )
        for word in re.finditer(r"\S+(?: \S+)*", span.text):
            before = width(span.text[: word.start()])
            yield _text(word.group(), left + before * CELL_WIDTH, top, look)
        left += cells * CELL_WIDTH


def _text(text: str, left: float, top: int, look: _Look) -> str:
    how = "".join(
        (
            ' font-weight="bold"' if look.bold else "",
            ' opacity="0.6"' if look.dim else "",
            ' text-decoration="underline"' if look.underlined else "",
        )
    )
    return (
        f'<text x="{left:g}" y="{top + CELL_HEIGHT - 5}" fill="{look.ink}"{how} '
        f'textLength="{width(text) * CELL_WIDTH:g}" xml:space="preserve">{escape(text)}</text>'
    )


def files() -> dict[str, str]:
    """Every captured file by its path in the project, with what belongs into it."""
    drawn = {name: draw() for name, draw in SCREENS.items()}
    texts = {f"{FOLDER}/{name}.txt": as_text(lines) for name, lines in drawn.items()}
    title = "Odin at a table of five: a set is chosen and beats the centre"
    pictures = {f"{FOLDER}/{name}.svg": as_svg(drawn[name], title) for name in PICTURES}
    return texts | pictures


PAGES: Final = ("README.md", "docs/play.md")
"""Where captures are shown."""

_BLOCK: Final = re.compile(r"(<!-- capture: ([a-z-]+) -->\n\n?```\n).*?(```)", re.DOTALL)


def with_captures(page: str, captured: dict[str, str]) -> str:
    """A page with the captures in their blocks."""
    return _BLOCK.sub(
        lambda found: found[1] + captured[f"{FOLDER}/{found[2]}.txt"] + found[3], page
    )


def wanted(root: Path = ROOT) -> dict[Path, str]:
    """Every file that this tool writes, with what belongs into it now."""
    captured = files()
    pages = (root / name for name in PAGES)
    return {root / name: content for name, content in captured.items()} | {
        page: with_captures(page.read_text(encoding="utf-8"), captured) for page in pages
    }


def old_ones(root: Path = ROOT) -> list[str]:
    """What is not as it should be: files that differ, are missing, or belong to no screen."""
    whole = wanted(root)
    differ = [
        path
        for path, content in whole.items()
        if not path.exists() or path.read_text(encoding="utf-8") != content
    ]
    left_over = [path for path in (root / FOLDER).iterdir() if path not in whole]
    return sorted(str(path.relative_to(root)) for path in (*differ, *left_over))


def main() -> int:
    """Writes the captures, or says which are old; returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the pictures of README and docs.")
    parser.add_argument("--check", action="store_true", help="only say which are old")
    if parser.parse_args().check:
        old = old_ones()
        print(*old, sep="\n", end="\n" if old else "", file=sys.stderr)
        return 1 if old else 0
    (ROOT / FOLDER).mkdir(exist_ok=True)
    for path, content in wanted().items():
        path.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
