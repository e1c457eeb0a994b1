"""Finished games: kept whole, read again, looked at step by step."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from odin_cli.games import game_file
from odin_cli.games.game_file import BadGameFile
from odin_cli.games.replay import Replay
from odin_client.errors import ClientError
from odin_client.session.session import Session
from odin_contract.enums import Phase
from odin_contract.values import Options, TableView
from odin_engine import Card, deck
from tests.client.conftest import Connect
from tests.support.patience import PATIENCE
from tests.support.programs import Programs

GAME = Path(__file__).parent / "game.jsonl"
"""A game as version 1 of the format wrote it; readers of later versions have to read it."""


async def test_a_game_that_is_over_is_kept_whole_and_told_again(
    connect: Connect, tmp_path: Path
) -> None:
    session = await Session.open_table(await connect(), Options(seats=3, threshold=5))
    for level in ("greedy", "random", "greedy"):
        await session.add_bot(level)
    async with asyncio.timeout(PATIENCE):
        async for _update in session.follow():
            if session.table.phase is Phase.WAITING:
                await session.start()
            if session.table.phase is Phase.GAME_OVER:
                break
    game = session.table.game
    assert game is not None
    whole = await game_file.fetch(session.connection, session.table.table, game.game)
    path = game_file.write(whole, tmp_path, date(2026, 11, 30))
    assert path.name == f"2026-11-30-{session.table.table}-1.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600

    replay = Replay(game_file.read(path))
    replay.go(replay.last)
    again = replay.position.table
    assert again.phase is Phase.GAME_OVER
    assert again.game is not None
    assert replace(again.game, hands=()) == game


def test_every_step_shows_all_hands_and_no_card_twice() -> None:
    replay = Replay(game_file.read(GAME))
    for step in range(replay.last + 1):
        replay.go(step)
        game = replay.position.table.game
        if game is None or not game.deal:
            continue
        for player in game.players:
            assert len(replay.position.hands[player.seat]) == player.card_count
        held = [card for hand in replay.position.hands.values() for card in hand]
        there = [*held, *(game.centre.cards if game.centre else ()), *game.discarded]
        if replay.position.table.phase is Phase.PLAYING:
            assert len(there) == len(set(there))
            assert set(there) <= set(deck())


def test_going_back_shows_what_was_there() -> None:
    replay = Replay(game_file.read(GAME))
    seen: list[tuple[TableView, dict[int, tuple[Card, ...]]]] = []
    for step in range(replay.last + 1):
        replay.go(step)
        seen.append((replay.position.table.view, dict(replay.position.hands)))
    for step in range(replay.last, -1, -1):
        replay.go(step)
        assert (replay.position.table.view, replay.position.hands) == seen[step]
    replay.go(-5)
    assert replay.step == 0
    replay.go(10_000)
    assert replay.step == replay.last


def lines() -> list[str]:
    return GAME.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], "line 1"),
        (["no JSON"], "line 1"),
        (['{"odinTableGame": 3}'], "newer odin-table"),
        (['{"another": "document"}'], "line 1"),
        (["[]"], "line 1"),
        ([*lines()[:3], '{"seq": "many"}'], "line 4"),
        ([*lines()[:3], lines()[3][:40]], "line 4"),
    ],
)
def test_what_is_no_game_is_refused_with_the_line(
    tmp_path: Path, content: list[str], problem: str
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(content), encoding="utf-8")
    with pytest.raises(BadGameFile, match=problem):
        game_file.read(path)


def test_a_game_that_does_not_add_up_is_refused_with_the_step(tmp_path: Path) -> None:
    path = tmp_path / "changed.jsonl"
    changed = [
        line.replace('"seat": 1', '"seat": 5') if "cardsPlayed" in line else line
        for line in lines()
    ]
    path.write_text("\n".join(changed), encoding="utf-8")
    with pytest.raises(ClientError, match="does not add up at step"):
        Replay(game_file.read(path))


def test_what_a_later_version_adds_is_stepped_over(tmp_path: Path) -> None:
    path = tmp_path / "later.jsonl"
    later = [*lines()[:3], json.dumps({"seq": 8, "somethingNew": {"seat": 1}}), *lines()[3:]]
    path.write_text("\n".join(later), encoding="utf-8")
    assert Replay(game_file.read(path)).last == Replay(game_file.read(GAME)).last + 1


def test_a_game_is_told_in_sentences_where_there_is_no_terminal(programs: Programs) -> None:
    told = programs.run("replay", str(GAME))
    assert told.end() == 0
    assert told.out[-1] == "The game is over. Astrid wins with 0 points."
    missing = programs.run("replay", "K7QF")
    assert missing.end() == 1
    assert "There is no file and no finished game called K7QF." in missing.errors[0]
