"""A newcomer is told at every point of the first deal what to do, in a line that fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from odin_client.languages import ENGLISH, LANGUAGES, use
from odin_client.terminal.cells import width
from odin_client.terminal.guide import tip
from odin_client.terminal.screen import Screen
from tests.client.terminal import samples


def in_first_deal(make: Callable[[], Screen]) -> Screen:
    screen = make()
    assert screen.table.game is not None
    screen.table.game = replace(screen.table.game, deal=1)
    return screen


def without_plays() -> Screen:
    return samples.playing(hand="R1 O2", centre="B9 B8")


MOMENTS: dict[str, tuple[Callable[[], Screen], str]] = {
    "opening": (samples.opening, "You open: put one card down."),
    "responding": (samples.your_turn, "Beat the centre"),
    "nothing to play": (without_plays, "p passes"),
    "a good choice": (samples.chosen, "then you choose one of the beaten cards"),
    "a bad choice": (samples.chosen_badly, "This cannot be played"),
    "which card": (samples.which_card, "One beaten card joins your hand"),
    "the server asks": (samples.picking_up, "One beaten card joins your hand"),
    "others": (samples.others_turn, "The others play"),
    "deal over": (samples.between_deals, "costs a point"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_moment_of_the_first_deal_has_its_line(moment: str) -> None:
    make, said = MOMENTS[moment]
    assert said in tip(in_first_deal(make))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("moment", MOMENTS)
def test_the_line_has_room_in_eighty_columns(moment: str, language: str) -> None:
    use(language)
    try:
        assert 0 < width(tip(in_first_deal(MOMENTS[moment][0]))) <= 78
    finally:
        use(ENGLISH)


def test_later_deals_and_spectators_are_told_nothing() -> None:
    assert tip(samples.your_turn()) == ""
    assert tip(in_first_deal(samples.watching)) == ""
    assert tip(samples.waiting()) == ""
