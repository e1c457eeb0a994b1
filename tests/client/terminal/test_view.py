"""The picture: fits every terminal, shows what matters, and looks as it did."""

from __future__ import annotations

import itertools
import os
from datetime import timedelta
from pathlib import Path

import pytest

from odin_cli.speech.languages import ENGLISH, use
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.style import rules_of
from odin_cli.terminal.views.cells import BLANK, Click, Line, line, line_width
from odin_cli.terminal.views.view import render
from tests.client.terminal import samples

SNAPSHOTS = Path(__file__).parent / "snapshots"
UNICODE = Capabilities()
ASCII = Capabilities(ascii_only=True)
SIZES = [
    *((1, 1), (0, 0), (39, 24), (40, 15), (40, 16), (41, 17), (56, 20), (60, 24), (72, 20)),
    *((80, 16), (80, 24), (100, 30), (110, 24), (120, 40), (200, 60), (65535, 65535)),
]


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(span.text for span in one).rstrip() for one in lines) + "\n"


def drawn(name: str, cols: int = 80, rows: int = 24, caps: Capabilities = UNICODE) -> str:
    return text_of(render(samples.SCREENS[name](), cols, rows, caps))


def misfit(lines: list[Line], cols: int, rows: int, caps: Capabilities) -> str:
    """What is wrong with a picture; empty when nothing is."""
    text = text_of(lines)
    if len(lines) > max(rows, 1):
        return f"{len(lines)} rows"
    if (widest := max(map(line_width, lines))) > max(cols, 1):
        return f"{widest} columns"
    if caps is ASCII and not text.isascii():
        return "not ASCII"
    return "a control sequence" if "\x1b" in text else ""


@pytest.mark.parametrize("name", samples.SCREENS)
def test_every_picture_fits_every_terminal_in_every_language(name: str, language: str) -> None:
    for (cols, rows), caps in itertools.product(SIZES, (UNICODE, ASCII)):
        lines = render(samples.SCREENS[name](), cols, rows, caps)
        assert misfit(lines, cols, rows, caps) == "", (language, cols, rows, caps)


@pytest.mark.parametrize(
    ("last_rows", "said"),
    [
        ((BLANK, BLANK), "25 rows"),
        ((line(" " * 81),), "81 columns"),
        ((line("é"),), "not ASCII"),
        ((line("\x1b[1m"),), "a control sequence"),
    ],
)
def test_a_picture_that_does_not_fit_is_found(last_rows: tuple[Line, ...], said: str) -> None:
    lines = render(samples.SCREENS["your-turn"](), 80, 24, ASCII)
    assert misfit(lines, 80, 24, ASCII) == ""
    assert misfit([*lines[:-1], *last_rows], 80, 24, ASCII) == said


@pytest.mark.parametrize(("cols", "rows"), [(80, 24), (40, 16)])
@pytest.mark.parametrize("name", samples.SCREENS)
def test_every_picture_looks_as_it_did(name: str, cols: int, rows: int) -> None:
    """Set ODIN_REWRITE_SNAPSHOTS=1 to take new ones, and commit what you can explain."""
    stored = SNAPSHOTS / f"{name}-{cols}x{rows}.txt"
    picture = drawn(name, cols, rows)
    if os.environ.get("ODIN_REWRITE_SNAPSHOTS"):
        stored.write_text(picture, encoding="utf-8")
    assert picture == stored.read_text(encoding="utf-8")


def test_there_is_no_snapshot_of_a_screen_that_is_gone() -> None:
    wanted = {f"{name}-{size}.txt" for name in samples.SCREENS for size in ("80x24", "40x16")}
    assert {path.name for path in SNAPSHOTS.iterdir()} == wanted


@pytest.mark.parametrize(("cols", "rows"), [(40, 16), (60, 24), (80, 24), (200, 60)])
@pytest.mark.parametrize("name", ["between-deals", "game-over"])
def test_after_a_deal_it_says_that_it_was_checked(name: str, cols: int, rows: int) -> None:
    assert "Deal 3 was checked" in drawn(name, cols, rows)
    here = samples.SCREENS[name]()
    here.checked = None  # a deal that nobody was committed to
    assert "was checked" not in text_of(render(here, cols, rows, UNICODE))


@pytest.mark.parametrize("caps", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize(("cols", "rows"), [(40, 16), (60, 24), (80, 24), (200, 60)])
def test_what_matters_never_leaves(cols: int, rows: int, caps: Capabilities) -> None:
    """Six players, both letters and numbers of all cards, the preview, the turn, the keys."""
    text = drawn("chosen", cols, rows, caps)
    assert sum(name[:3] in text for name in ("Ann", "Bob", "Zoe", "Chlo", "fox", "Dagn")) == 6
    flat = text.replace("R 4", "R4").replace("B 9", "B9").replace("G 6", "G6").replace("V 4", "V4")
    for card in ("R4", "B9", "V4", "G6"):
        assert card in flat
    assert " 961 " in text
    assert "beats 64" in text
    assert "take G4" in text
    assert "YOUR TURN" in text
    assert "? help" in text


def test_a_clock_is_a_time_and_a_bar_which_is_bold_when_little_is_left() -> None:
    for name, time, bold in (("on-the-clock", "1:38", False), ("hurrying", "0:10", True)):
        lines = render(samples.SCREENS[name](), 80, 24, UNICODE)
        turn = next(one for one in lines if any(time in span.text for span in one))
        (bar,) = (span for span in turn if span.text and set(span.text) == {"▮"})
        assert len(bar.text) == (12 if not bold else 2)
        assert ("hurry" in bar.style) is bold


def test_when_the_time_is_over_for_which_a_seat_was_kept_it_is_still_ones_own() -> None:
    here = samples.reconnecting()
    assert "seat kept 1:47" in text_of(render(here, 80, 24, UNICODE))
    assert here.counts_down
    here.now += timedelta(seconds=200)
    assert "you keep your seat" in text_of(render(here, 80, 24, UNICODE))
    assert not here.counts_down


def test_the_turn_stays_in_sight_below_every_page() -> None:
    for page in ("help", "rules", "scores", "log"):
        for cols, rows in ((40, 16), (80, 24)):
            assert "YOUR TURN" in drawn(page, cols, rows)


def test_a_terminal_that_is_too_small_says_so_and_that_it_is_ones_turn() -> None:
    text = drawn("your-turn", 39, 24)
    assert "Odin needs 40x16" in text
    assert "Your turn!" in text


def test_every_card_and_key_can_be_clicked_where_it_is_drawn() -> None:
    for cols, rows in ((80, 24), (40, 16)):
        lines = render(samples.your_turn(), cols, rows, UNICODE)
        clicks = {span.click for one in lines for span in one if span.click}
        for card in samples.cards("R4 O7 Y8 B9 B6 B1 V4"):
            assert Click("click_card", card) in clicks
        for card in samples.cards("G6 G4"):
            assert Click("choose_pick_up", card) in clicks
        assert Click("play") in clicks


def test_only_meanings_that_have_a_style_are_used() -> None:
    known = rules_of(UNICODE.depth).keys()
    for make in samples.SCREENS.values():
        for cols, rows in ((80, 24), (40, 16), (120, 40)):
            for one in render(make(), cols, rows, UNICODE):
                for span in one:
                    assert set(span.style.split()) <= known


def test_drawing_changes_nothing() -> None:
    for make in samples.SCREENS.values():
        here = make()
        render(here, 80, 24, UNICODE)
        assert here == make()


@pytest.mark.parametrize("name", ["chosen", "waiting", "game-over", "help"])
def test_the_screens_are_french_where_french_is_spoken(name: str) -> None:
    use("fr")
    try:
        picture = drawn(name)
    finally:
        use(ENGLISH)
    said = {
        # The letters of colours are the same in every language (R1).
        "chosen": ("│G 6│", "VOTRE MAIN 7", "bat 64  reprend G4", "À VOUS", "? aide"),
        "waiting": ("SALLE D’ATTENTE", "pas prêt", "Entrée lancer"),
        "game-over": ("PARTIE FINIE", "reste en main", "gagne avec"),
        "help": ("AIDE", "Échap"),
    }
    for text in said[name]:
        assert text in picture
    assert "\N{NO-BREAK SPACE}" not in picture
