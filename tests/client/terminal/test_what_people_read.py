"""What a screen says is true, complete and about the moment: found by people who tried it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from odin_cli.play.hand_order import by_colour, by_number
from odin_cli.play.selection import Selection
from odin_cli.speech.rules_text import rules_text
from odin_cli.terminal.keys import bindings
from odin_cli.terminal.views.pages import help_rows
from odin_cli.terminal.views.replay_view import bindings as replay_bindings
from odin_cli.terminal.views.screen import Page, Screen
from odin_cli.terminal.views.view import render
from odin_contract.values import SeatPresence
from odin_engine import Colour
from tests.client.terminal import samples
from tests.client.terminal.samples import cards
from tests.client.terminal.test_replay_view import at
from tests.client.terminal.test_view import UNICODE, drawn, text_of


def picture(here: Screen, cols: int = 80, rows: int = 24) -> str:
    return text_of(render(here, cols, rows, UNICODE))


@pytest.mark.parametrize(("cols", "rows"), [(40, 16), (80, 24)])
def test_the_keys_that_lead_away_are_below_the_scores_and_the_waiting_room(
    cols: int, rows: int
) -> None:
    for name in ("game-over", "between-deals"):
        assert "q leave" in drawn(name, cols, rows)
    if cols == 80:
        assert "w scores" in drawn("game-over", cols, rows)
        assert "o options" in drawn("waiting", cols, rows)
        assert "q leave" in drawn("waiting", cols, rows)


def test_invitation_and_options_are_there_during_a_game_too() -> None:
    for name in ("your-turn", "between-deals"):
        keys = {key for binding in bindings(samples.SCREENS[name]()) for key in binding.keys}
        assert {"i", "o"} <= keys


def test_the_help_of_the_waiting_room_and_of_the_replay_has_their_own_keys() -> None:
    room = "\n".join(help_rows(samples.waiting(), 80))
    for text in ("b B", "← →", "i o", "Space", "Enter", "k "):
        assert text in room
    assert "961" not in room
    replay = at(7)
    assert any("?" in binding.keys for binding in replay_bindings(replay))


def test_whose_turn_it_is_and_who_is_away_do_not_contradict_each_other() -> None:
    here = samples.others_turn()
    assert "fox is thinking " in picture(here).replace("\n", " \n")
    here.table.presence[4] = SeatPresence(
        4, connected=False, kept_until=samples.NOW + timedelta(seconds=118)
    )
    text = picture(here)
    assert "the turn is fox's, who is away" in text
    assert "is thinking" not in text


def test_a_choice_in_advance_does_not_open_while_somebody_else_does() -> None:
    here = samples.playing(centre="", turn=4)
    here.selection = Selection(cards("R4"))
    assert "kept for your turn" in picture(here)
    assert "opens" not in picture(here).split("YOUR HAND")[1]


def test_equal_numbers_are_told_apart_by_their_letters_which_choose() -> None:
    here = samples.playing(centre="O9 Y9")
    here.selection = Selection(cards("R4"), pick_up=cards("O9")[0])
    here.question = samples.which_card().question
    assert "TAKE WHICH CARD?   O = O9  Y = Y9" in picture(here)
    chosen = {b.argument for b in bindings(here) if b.command == "type_pick_up_colour"}
    assert chosen == set(Colour)


def test_a_kept_choice_does_not_hide_that_nothing_can_be_played() -> None:
    here = samples.playing(hand="R1 O2", centre="B9 B8")
    here.selection = Selection(cards("R1"))
    assert "no legal play · p passes" in picture(here)


def test_title_watchers_and_colours_that_are_out_are_told() -> None:
    here = samples.waiting()
    here.table.view = replace(
        here.table.view, options=replace(here.table.options, title="Longship")
    )
    assert "WAITING ROOM · Longship" in picture(here)
    here = samples.your_turn()
    here.table.view = replace(
        here.table.view, options=replace(here.table.options, title="Longship")
    )
    here.table.watchers = 2
    assert "Longship" in picture(here, 120)
    assert "2 watching" in picture(here)
    assert here.table.game is not None
    here.table.view = replace(
        here.table.view, game=replace(here.table.game, removed=(Colour.RED, Colour.BLUE))
    )
    assert "without R B" in picture(here)
    here.page = Page.OPTIONS
    assert re.search(r"Not in this game +red and blue", picture(here))


def test_one_legal_play_is_not_walked() -> None:
    here = samples.playing(hand="B9 R1", centre="B8")
    assert "1 legal play · Tab takes it" in picture(here)


def test_a_hand_lies_in_one_order_everywhere() -> None:
    hand = cards("B1 R4 B9 V4 B6")
    assert by_colour(hand) == cards("R4 B9 B6 B1 V4")
    assert by_number(hand) == cards("B9 B6 R4 V4 B1")


def test_the_rules_for_players_have_no_numbers_unless_asked_for() -> None:
    assert "(R" not in rules_text()
    assert "so R7 is the red seven" in rules_text()
    assert "(R7, R8, R9)" in rules_text(numbers=True)
