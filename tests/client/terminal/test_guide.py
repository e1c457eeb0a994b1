"""A newcomer is told at every point of the first deal what to do, in a line that fits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from odin_cli.speech.languages import ENGLISH, LANGUAGES, use
from odin_cli.terminal.views.cells import width
from odin_cli.terminal.views.guide import tip
from odin_cli.terminal.views.screen import Screen
from odin_client.session.session import Session
from odin_contract.enums import Phase
from tests.client.terminal import samples
from tests.client.terminal.test_app import playing


def in_first_deal(make: Callable[[], Screen]) -> Screen:
    screen = make()
    assert screen.table.game is not None
    screen.table.view = replace(screen.table.view, game=replace(screen.table.game, deal=1))
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


async def test_the_line_at_the_end_of_a_deal_is_not_covered_by_the_result_of_its_check() -> None:
    async with playing(started=False, single_deal=False, guided=True) as (zoe, _):
        await zoe.bob.ready()
        bob = asyncio.create_task(_plays_by_default(zoe.bob))
        table, acted = zoe.session.table, 0

        def goes_on() -> bool:
            to_act = table.decision is not None and table.my_turn and table.decision.id > acted
            return to_act or table.phase is Phase.BETWEEN_DEALS

        while table.phase is not Phase.BETWEEN_DEALS:
            await zoe.wait_until(goes_on, "the turn")
            acted = await _act_by_default(zoe.session, acted)
        await bob
        # What the check has found is below the scores; the line of the guide is the guide's.
        await zoe.wait_for("DEAL 1 OVER", "Deal 1 was checked", "Each card that was left costs a")


async def _plays_by_default(session: Session) -> None:
    acted = 0
    async for _update in session.follow():
        if session.table.phase is Phase.BETWEEN_DEALS:
            return
        acted = await _act_by_default(session, acted)


async def _act_by_default(session: Session, acted: int) -> int:
    """Opens with the lowest card, else passes; once for each decision after the one given."""
    decision = session.table.decision
    if decision is None or not session.table.my_turn or decision.id <= acted:
        return acted
    assert decision.default_action is not None, "one's own decision comes with one"
    await session.act(decision.default_action, decision_id=decision.id)
    return decision.id
