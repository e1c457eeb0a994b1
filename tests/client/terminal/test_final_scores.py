"""The scores of a finished game stay until each person leaves them, with the names of the game."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest

from odin_cli.speech.sentences import sentence
from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.views.view import render
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.session.session import Session
from odin_client.table.updates import DealChecked
from odin_contract.values import Seat
from tests.client.terminal import samples
from tests.client.terminal.test_app import OTHERS, playing
from tests.client.terminal.test_view import UNICODE, drawn, text_of

WHOLE_HAND = "B9 B8 B7 B6 B5 B4 B3 B2 B1"


async def test_nobody_takes_the_scores_away_from_whoever_reads_them() -> None:
    async with playing(WHOLE_HAND, OTHERS) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER", "You win with 0.", " 1. ★ Zoe (you)", " 2.   Bob")
        await zoe.bob.look()  # he does not follow
        await zoe.bob.rematch()
        await zoe.wait_for("GAME OVER", "Another game: 1 of 2 are ready", "Esc waiting room")
        zoe.press("escape")
        await zoe.wait_for("WAITING ROOM", "1 of 2 ready", without="GAME OVER")
        zoe.press("w")
        await zoe.wait_for("SCORES", " 1. ★ Zoe (you)")


async def test_enter_at_the_scores_asks_for_the_next_game_whoever_asked_first() -> None:
    async with playing(WHOLE_HAND, OTHERS) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER")
        await zoe.bob.look()  # he does not follow
        await zoe.bob.rematch()
        await zoe.wait_for("Another game: 1 of 2 are ready")
        zoe.press("enter")
        await zoe.wait_for("YOUR TURN", "CENTRE empty")
        zoe.press("w")
        await zoe.wait_for("SCORES OF THE LAST GAME", " 1. ★ Zoe (you)", " 2.   Bob")


async def test_a_table_that_is_closed_keeps_its_scores() -> None:
    async with playing(WHOLE_HAND, OTHERS) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER")
        await Session(zoe.session.connection, zoe.session.table.table).close_table()
        await zoe.wait_for("TABLE CLOSED", "you closed it.", "You win with 0.", " 2.   Bob")


async def test_who_closed_a_table_is_named() -> None:
    async with playing(WHOLE_HAND, OTHERS) as (zoe, _):
        bob = zoe.bob
        await bob.look()
        await Session(zoe.session.connection, zoe.session.table.table).close_table()
        async with contextlib.aclosing(bob.follow()) as updates:
            told = [sentence(update, bob.table) async for update in updates]
        assert "The table has ended: Zoe closed it." in told


async def test_the_result_and_where_it_was_kept_are_told_again_after_quitting(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def keep() -> str:
        return "Kept. See it again with: odin-table replay K7QF"

    async with playing(WHOLE_HAND, OTHERS, at_game_over=keep) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER", await keep())
    out = capsys.readouterr().out
    assert "You win with 0 points." in out
    assert await keep() in out


async def test_the_guide_ends_with_the_first_game() -> None:
    async with playing(WHOLE_HAND, OTHERS, guided=True) as (zoe, _):
        await zoe.wait_for("YOUR TURN", "put one card down")
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER")
        await zoe.bob.look()  # he does not follow
        await zoe.bob.rematch()
        await zoe.wait_for("Another game: 1 of 2 are ready")
        zoe.press("enter")
        begun = "The next game has started"
        await zoe.wait_for("YOUR TURN", "CENTRE empty", begun)
        zoe.press("s")  # any key takes this away, and then the line is the guide's
        await zoe.wait_for("YOUR TURN", "CENTRE empty", without=begun)
        assert "put one card down" not in zoe.screen()


async def test_who_sat_down_after_a_game_has_not_played_it() -> None:
    async with playing(WHOLE_HAND, OTHERS) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER")
        await zoe.bob.leave()
        address = Address("127.0.0.1", zoe.session.address.port)
        cleo = await Session.sit_down(
            await Connection.open(address, Credential.new()), zoe.session.table.table, name="Cleo"
        )
        await cleo.look()
        assert cleo.table.my_seat == 1
        assert not cleo.table.played_by_me(1)
        assert cleo.table.player_name(1) == "Bob"
        await cleo.close()
        assert " 2.   Bob" in zoe.screen()


@pytest.mark.parametrize(("cols", "rows"), [(40, 16), (80, 24), (120, 40)])
def test_the_winner_is_marked_and_named_and_everyone_has_a_rank(cols: int, rows: int) -> None:
    picture = drawn("rematch-asked", cols, rows)
    assert "Ann wins with 2." in picture
    assert "seat 1" not in picture
    for rank, mark, name in ((1, "★", "Ann"), (3, "▶", "Zoe (you)"), (5, " ", "fox [bot]")):
        assert f" {rank}. {mark} {name}" in picture
    assert "Your rank: 3 of 6." in picture
    assert " 1. * Ann" in drawn("rematch-asked", cols, rows, Capabilities(ascii_only=True))


def test_equal_totals_share_a_rank() -> None:
    game = samples.game_over().table.game
    assert game is not None
    totals = (4, 2, 4, 2, 9, 4)
    players = tuple(replace(one, total=totals[one.seat]) for one in game.players)
    ranks = [(rank, one.seat) for rank, one in replace(game, players=players).standings]
    assert ranks == [(1, 1), (1, 3), (3, 0), (3, 2), (3, 5), (6, 4)]


def test_without_names_of_the_game_those_at_the_seats_are_used() -> None:
    """An old server does not say them."""
    here = samples.rematch_asked()
    assert here.table.game is not None
    players = (replace(one, name="") for one in here.table.game.players)
    here.table.view = replace(
        here.table.view, game=replace(here.table.game, players=tuple(players))
    )
    picture = text_of(render(here, 80, 24, UNICODE))
    assert "seat 1 wins with 2." in picture
    assert " 2.   Bob" in picture
    here.table.view = replace(here.table.view, seats=(Seat(0, name="Eve"), *here.table.seats[1:]))
    assert "Eve wins with 2." in text_of(render(here, 80, 24, UNICODE))


@pytest.mark.parametrize(("cols", "rows", "is_said"), [(40, 16, False), (40, 30, True)])
def test_how_to_see_a_game_again_is_said_whole_or_when_leaving(
    cols: int, rows: int, is_said: bool
) -> None:
    here = samples.game_over()
    here.saved = "Kept. See it again with: odin-table replay K7QF"
    here.checked = DealChecked(3, nonces=3, seats=5, mine=True, word="K7QF2M")
    shown = " ".join(text_of(render(here, cols, rows, UNICODE)).split())
    assert (here.saved in shown) == is_said
    assert ("Kept" in shown) == is_said
    assert "Deal 3 was checked, word K7QF2M: it follows from" in shown


def test_the_heading_of_the_players_is_whole_above_short_names() -> None:
    here = samples.game_over()
    assert here.table.game is not None
    players = (replace(one, name="Al") for one in here.table.game.players if one.seat != 2)
    here.table.view = replace(
        here.table.view,
        game=replace(here.table.game, players=tuple(players)),
        my_seat=None,
    )
    heading = text_of(render(here, 80, 24, UNICODE)).splitlines()[3]
    assert heading.split()[:2] == ["player", "D1"]
