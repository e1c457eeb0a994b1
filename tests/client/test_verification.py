"""Finished games are verified: every one is accepted, and nothing in a file can be changed."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from odin_cli.games import game_file
from odin_cli.games.chain import broken_line, chained
from odin_cli.games.game_file import BadGameFile, SavedGame
from odin_cli.games.replay import Replay
from odin_cli.games.verification import WrongLineError, verify
from odin_client.session.session import Session
from odin_client.table.updates import DealChecked
from odin_contract.enums import Phase
from odin_contract.values import Options
from odin_table.v1 import decision_pb2, event_pb2, table_pb2
from tests.client.conftest import Connect, seated
from tests.client.test_deal_check import follow, known
from tests.client.test_replay import GAME
from tests.support.patience import PATIENCE
from tests.support.programs import Programs

LEVELS = ("greedy", "random", "hard")


async def played(connect: Connect, options: Options, bots: int) -> SavedGame:
    """A game among bots, as its server tells it afterwards."""
    session = await Session.open_table(await connect(), options)
    for bot in range(bots):
        await session.add_bot(LEVELS[bot % 3])
    async with asyncio.timeout(PATIENCE):
        async for _ in session.follow():  # bots alone start when the table is full
            if session.table.phase is Phase.GAME_OVER:
                break
    return await game_file.fetch(session.connection, session.table.table, 1)


@pytest.mark.parametrize("bots", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("threshold", [None, 15])
async def test_every_finished_game_is_accepted(
    connect: Connect, tmp_path: Path, bots: int, threshold: int | None
) -> None:
    for short_deck in (True, False):
        options = Options(seats=bots, threshold=threshold, short_deck=short_deck)
        whole = await played(connect, options, bots)
        path = game_file.write(whole, tmp_path, whole.day)
        verified = verify(game_file.read(path))
        assert verified.uncommitted == 0
        assert verified.unknown == 0
        deals = [event for event in whole.events if event.HasField("deal_started")]
        assert verified.deals == len(deals)
        acts = [e.WhichOneof("payload") for e in whole.events]
        assert verified.actions >= acts.count("cards_played") + acts.count("passed")


async def people_played(connect: Connect) -> SavedGame:
    """The second game of two people and a bot, which one of the people leaves.

    No deal costs ten points, so there is a second one.
    """
    zoe = await Session.open_table(await connect(), Options(seats=3, threshold=10))
    await zoe.take_seat("Zoe")
    bob = await Session.sit_down(await connect(), zoe.table.table, name="Bob")
    await zoe.add_bot("random")
    for game in (1, 2):
        await asyncio.gather(known(zoe), known(bob))
        for session in (zoe, bob):
            await (session.ready() if game == 1 else session.rematch())
        if game == 2:
            await bob.leave()
        players = [zoe, bob] if game == 1 else [zoe]
        await asyncio.gather(*(_until_over(session, game) for session in players))
    return await game_file.fetch(zoe.connection, zoe.table.table, 2)


async def _until_over(session: Session, game: int) -> None:
    while not (session.table.game and session.table.game.game == game) or (
        session.table.phase is not Phase.GAME_OVER
    ):
        await follow(session, 1)


async def test_a_game_with_people_a_substitute_and_nonces_is_accepted(connect: Connect) -> None:
    whole = await people_played(connect)
    assert whole.game == 2
    assert len(whole.view.seats[0].nonce) == 32
    kinds = {event.WhichOneof("payload") for event in whole.events}
    assert {"substitute_seated", "ready_changed", "deal_committed"} <= kinds
    verified = verify(whole)
    assert verified.uncommitted == 0


async def test_a_game_in_which_somebody_takes_a_seat_over_is_accepted(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=Options(seats=3, threshold=10))
    await zoe.add_bot("random")
    await asyncio.gather(known(zoe), known(bob))
    for session in (zoe, bob):
        await session.ready()
    await bob.leave()
    cid = await Session.sit_down(await connect(), zoe.table.table, name="Cid")
    await asyncio.gather(_until_over(zoe, 1), _until_over(cid, 1))
    whole = await game_file.fetch(zoe.connection, zoe.table.table, 1)
    kinds = [event.WhichOneof("payload") for event in whole.events]
    assert kinds.index("substitute_seated") < kinds.index("seat_taken")
    assert verify(whole).uncommitted == 0


def test_a_game_of_the_first_format_is_accepted_and_nobody_was_committed_to_it() -> None:
    verified = verify(game_file.read(GAME))
    assert (verified.deals, verified.uncommitted) == (1, 1)


# Changed files

KEPT = Path(__file__).parent / "game-2.jsonl"
"""A game as version 2 of the format wrote it: two people, one of whom leaves, and a bot."""

KEPT_BY_2 = KEPT.with_name("game-deal-2.jsonl")
"""Another one like it, whose deal is by deal/2."""


@pytest.mark.parametrize("kept", [KEPT, KEPT_BY_2])
def test_a_kept_game_is_accepted(kept: Path) -> None:
    verified = verify(game_file.read(kept))
    assert (verified.deals, verified.uncommitted, verified.unknown) == (1, 0, 0)


def test_a_replay_says_that_the_deal_was_checked() -> None:
    replay = Replay(game_file.read(KEPT))
    checked = [update for update in replay.go(replay.last) if isinstance(update, DealChecked)]
    (deal,) = checked
    assert (deal.in_full, deal.nonces, deal.seats, deal.word) == (True, 2, 3, "442543")
    assert deal.weak, "a deal by deal/1"


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    data = KEPT.read_bytes()
    assert broken_line(data) is None
    for place, byte in enumerate(data):
        line = data.count(b"\n", 0, place) + 1 if place % 500 == 0 else None
        for other in (byte ^ 1, byte ^ 0x80, 0x0A if byte != 0x0A else 0x20):
            broken = broken_line(data[:place] + bytes([other]) + data[place + 1 :])
            assert broken is not None, (place, other)
            assert line is None or broken == line
    # Through the whole way of a file, for some of them: there it is told which line it was.
    path = tmp_path / "changed.jsonl"
    for place in [*range(120), *range(120, len(data), len(data) // 50)]:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(BadGameFile):
            game_file.read(path)


CHANGES: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: data[:-1],
    lambda data: data + b"\n",
    lambda data: data + b" ",
    lambda data: data[1:],
    lambda data: data + data,
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: b"".join(data.splitlines(keepends=True)[1:]),
    lambda data: data.replace(b'"odinTableGame": 2', b'"odinTableGame": 1'),
)


@pytest.mark.parametrize("change", CHANGES)
def test_bytes_that_are_put_in_or_left_out_are_found(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "changed.jsonl"
    path.write_bytes(change(KEPT.read_bytes()))
    with pytest.raises(BadGameFile):
        game_file.read(path)


def _objects(kept: Path = KEPT) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    for line in lines:
        del line["sha256"]
    return lines


def _found(lines: list[dict[str, Any]], path: Path) -> str:
    """What is wrong with a file of these lines, whose digests are all made anew; else nothing."""
    path.write_text("".join(chained(map(json.dumps, lines))))
    try:
        verify(game_file.read(path))
    except (WrongLineError, BadGameFile) as error:
        return str(error)
    return ""


Where = tuple[str | int, ...]


def _list(value: Any) -> list[Any]:
    return list(value)


def _parts(value: Any, where: Where = ()) -> Iterator[tuple[Where, Any]]:
    """Every value in a line, with the way to it; whole lists as well."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            yield from _parts(part, (*where, key))
        return
    yield where, value
    if isinstance(value, list):
        for place, part in enumerate(_list(value)):
            yield from _parts(part, (*where, place))


def _others(value: Any) -> list[Any]:
    """Other values for it, of the same kind."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1]
        case list():
            several = _list(value)
            return [several[1:], [several[0], *several], []]
        case str() if value.startswith("CARD_"):
            return ["CARD_R1" if value != "CARD_R1" else "CARD_V9"]
        case str() if re.match("[A-Z]+_", value):
            enum = next(enum for enum in ENUMS if value in enum.keys())  # noqa: SIM118 -- no dict
            return [name for name in enum.keys()[1:] if name != value]
        case str() if len(value) > 30:
            return [("A" if value[0] != "A" else "B") + value[1:], ""]
        case _:
            return [f"{value}x"]


ENUMS = (
    event_pb2.Actor,
    event_pb2.LeaveReason,
    table_pb2.Occupant,
    table_pb2.TablePhase,
    table_pb2.Visibility,
    decision_pb2.DecisionKind,
)

NOBODY_KNOWS = {
    "time",
    "name",
    "table",
    "logId",
    "host",
    "level",
    "occupant",
    "ready",
    "openToBots",
    "visibility",
    "phase",
    "singleDeal",
    "shortDeck",
    "reason",
    "game",
}
"""What does not follow from anything: words, times, and what had no effect in this game."""


@pytest.mark.parametrize(
    ("kept", "revealed"), [(KEPT, "dealRevealed"), (KEPT_BY_2, "stretchedDealRevealed")]
)
def test_every_changed_value_is_found_although_all_digests_are_made_anew(
    kept: Path, revealed: str, tmp_path: Path
) -> None:
    """Cards, seats, counts, penalties, winners, nonces, secrets, openers: whatever follows."""
    lines = _objects(kept)
    path = tmp_path / "changed.jsonl"
    assert not _found(lines, path)
    tried = Counter[tuple[str, ...]]()
    for number, line in enumerate(lines):
        for where, value in _parts(line):
            way = tuple(part for part in where if isinstance(part, str))
            if way[-1] in NOBODY_KNOWS or way[0] == "odinTableGame" or tried[way] >= 4:
                continue
            tried[way] += 1
            for other in _others(value):
                changed = copy.deepcopy(line)
                holder: Any = changed
                for part in where[:-1]:
                    holder = holder[part]
                holder[where[-1]] = other
                found = _found([*lines[:number], changed, *lines[number + 1 :]], path)
                assert found, (number, where, value, other)
    kinds = {way[0] for way in tried}
    assert {"dealStarted", revealed, "cardsPlayed", "dealEnded", "gameEnded"} <= kinds


def test_a_line_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b"[" * 100_000)
    with pytest.raises(BadGameFile, match="is not the file of a game"):
        game_file.read(path)


def test_a_table_of_more_seats_than_the_file_has_is_refused_at_once(tmp_path: Path) -> None:
    lines = _objects()
    lines[0]["view"]["options"]["seats"] = 2**31 - 1
    assert _found(lines, tmp_path / "changed.jsonl") == "there is no such card, colour or seat"


def test_a_line_that_is_missing_or_there_twice_is_found(tmp_path: Path) -> None:
    lines = _objects()
    path = tmp_path / "changed.jsonl"
    for number in range(1, len(lines)):
        for changed in (
            lines[:number] + lines[number + 1 :],
            lines[: number + 1] + lines[number:],
        ):
            renumbered = copy.deepcopy(changed)
            for place, line in enumerate(renumbered[1:]):
                line["seq"] = lines[1]["seq"] + place
                if "decisionOpened" in line:
                    line["decisionOpened"]["decision"]["id"] = line["seq"]
            assert _found(renumbered, path)
            assert number % 10 or _found(changed, path)


# The command


def test_the_command_says_what_it_found_and_its_code_is_one_when_anything_is_wrong(
    programs: Programs, tmp_path: Path
) -> None:
    good = programs.run("verify", str(KEPT))
    assert good.end() == 0
    assert good.out[:3] == [
        f"{KEPT} adds up: 1 deal, 34 actions, won by Zoe.",
        "  Seats that added bytes: 2 of 3 in 1 deal.",
        "  Words of the deals, to compare with others: 442543.",
    ]
    assert good.out[3].startswith("  1 deal had a key that was hardly stretched")
    assert len(good.out) == 4
    old = programs.run("verify", str(KEPT), str(GAME))
    assert old.end() == 10
    assert old.out[4].startswith(f"{GAME} adds up: 1 deal")
    assert old.out[5].startswith("  It is not sealed: it has no digests, so a changed name")
    assert old.out[6:] == ["  1 deal was not committed to: how its cards were chosen is not known."]
    # As somebody would who changes a name and takes the digests away.
    bare = [{key: part for key, part in line.items() if key != "sha256"} for line in _objects()]
    bare[0]["odinTableGame"] = 1
    stripped = tmp_path / "stripped.jsonl"
    text = "".join(f"{json.dumps(line)}\n" for line in bare)
    stripped.write_text(text.replace('"Zoe"', '"Eve"'))
    unsealed = programs.run("verify", str(stripped))
    assert unsealed.end() == 10
    assert "It is not sealed" in unsealed.out[1]
    changed = tmp_path / "changed.jsonl"
    changed.write_bytes(KEPT.read_bytes().replace(b'"Zoe"', b'"Eve"'))
    lines = _objects()
    played = next(number for number, line in enumerate(lines) if "cardsPlayed" in line)
    lines[played]["cardsPlayed"]["value"] += 1
    forged = tmp_path / "forged.jsonl"
    forged.write_text("".join(chained(map(json.dumps, lines))))
    bad = programs.run("verify", str(changed), str(KEPT), str(forged))
    assert bad.end() == 1
    assert len(bad.out) == 4, "the good one is told all the same"
    assert bad.errors[0].startswith(
        f"odin-table: {changed} was changed: line 1 is not as it was written."
    )
    assert bad.errors[1] == (
        f"odin-table: {forged} does not add up: line {played + 1}: CardsPlayed.value does not "
        "follow from what happened before."
    )
    nothing = programs.run("verify")
    assert nothing.end() == 1
    assert "No finished game was found." in nothing.errors[0]
