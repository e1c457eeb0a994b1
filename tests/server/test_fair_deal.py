"""A deal that anybody can check: committed to, dealt from secret and nonces, and shown afterwards.

What the server says is worked out again here from nothing but what everybody is told
(docs/fair-deal.md).
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
import shutil
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from odin_engine import Colour
from odin_engine.fair_deal import ROUNDS, commitment, draw_deal, draw_first
from odin_server.event_log import SqliteLog
from odin_table.v1 import event_pb2, history_pb2, lobby_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import (
    Person,
    Refused,
    first_choice,
    payload,
    play_until,
    told_until,
)

PATIENT = replace(QUICK, deal_pause=3600)
HAND = 9


async def ready(person: Person, table: str, nonce: bytes, **fields: Any) -> None:
    """Says that the person is ready, with a nonce for the open commitment."""
    fields.setdefault("commitment", (await person.view(table)).source.commitment)
    request = lobby_pb2.SetReadyRequest(table=table, ready=True, nonce=nonce, **fields)
    await person.call(person.lobby.SetReady, request)


async def give(person: Person, table: str, nonce: bytes, commitment: bytes = b"") -> None:
    """Gives a nonce for the open commitment, ready or not."""
    commitment = commitment or (await person.view(table)).source.commitment
    request = lobby_pb2.GiveNonceRequest(table=table, nonce=nonce, commitment=commitment)
    await person.call(person.lobby.GiveNonce, request)


async def history(person: Person, table: str) -> list[event_pb2.Event]:
    request = history_pb2.GetHistoryRequest(table=table, page_size=1000)
    return list((await person.call(person.history.GetHistory, request)).events)


async def play_deal(table: str, *people: Person) -> table_pb2.TableView:
    """Lets these play until the deal is over, while bots play by themselves; gives what is seen."""
    async with asyncio.timeout(PATIENCE):
        while True:
            views = [await person.view(table) for person in people]
            if views[0].phase != table_pb2.TABLE_PHASE_PLAYING:
                return views[0]
            for person, view in zip(people, views, strict=True):
                if view.decision.HasField("choices"):
                    await person.act(table, view.decision.id, first_choice(view.decision.choices))
                    break


def check(events: list[event_pb2.Event], *, people: bool = True) -> int:
    """Works out every deal in the history of a game that is over; gives how many there were."""
    count = 0
    promises = [e.deal_committed.source for e in events if payload(e) == "deal_committed"]
    game = event_pb2.GameStarted()
    for number, event in enumerate(events):
        if payload(event) == "game_started":
            game = event.game_started
        if payload(event) != "deal_started":
            continue
        deal, source = event.deal_started, event.deal_started.source
        assert (source.commitment, source.rounds) == (promises[count].commitment, ROUNDS)
        assert source.key_rounds == (ROUNDS if people else 1)
        assert (deal.commitment, list(deal.nonces)) == (b"", []), "that is for deal/1"
        revealed = next(
            e.stretched_deal_revealed
            for e in events[number:]
            if payload(e) == "stretched_deal_revealed"
        )
        assert revealed.deal == deal.deal
        assert commitment(revealed.secret, source.rounds) == source.commitment
        colours = list(Colour)
        removed = [colours[number - 1] for number in game.removed_colours]
        secret, nonces, rounds = revealed.secret, source.nonces, source.key_rounds
        if deal.deal == 1:
            short = len(game.seats) == 2
            first, order = draw_first(secret, nonces, short_deck=short, rounds=rounds)
            assert deal.opener == game.seats[first.first_opener]
            assert list(first.removed) == removed
        else:
            order = draw_deal(secret, nonces, deal_number=deal.deal, removed=removed, rounds=rounds)
        for player, hand in enumerate(deal.hands):
            dealt = order[player * HAND : (player + 1) * HAND]
            assert [card.index + 1 for card in sorted(dealt)] == list(hand.cards)
        undealt = order[len(deal.hands) * HAND :]
        assert sorted(card.index + 1 for card in undealt) == sorted(deal.undealt)
        count += 1
    return count


async def test_every_deal_follows_from_the_secret_and_the_nonces(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table(table_pb2.TableOptions(threshold=5))
    for person in (ann, bob):
        await person.sit(table)
    await ready(ann, table, b"from Ann")
    assert [seat.nonce for seat in (await bob.view(table)).seats[:2]] == [b"from Ann", b""]
    await ready(bob, table, b"")
    given = [[b"from Ann", b""]]
    while (await play_deal(table, ann, bob)).phase != table_pb2.TABLE_PHASE_GAME_OVER:
        nonces = [random.Random(len(given) + number).randbytes(32) for number in range(2)]
        given.append(nonces)
        for person, nonce in zip((ann, bob), nonces, strict=True):
            await ready(person, table, nonce)
    events = await history(ann, table)
    assert check(events) == len(given)
    dealt = [list(e.deal_started.source.nonces) for e in events if payload(e) == "deal_started"]
    assert dealt == given


async def test_each_commitment_is_there_before_the_first_nonce_and_one_at_a_time(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=5))
    opened = await history(ann, table)
    assert [payload(event) for event in opened] == ["table_opened", "deal_committed"]
    committed = opened[1].deal_committed
    assert (committed.game, committed.deal) == (1, 1)
    view = await ann.view(table)
    assert (committed.source, b"") == (view.source, view.commitment), "the old field is for deal/1"
    assert (len(committed.source.commitment), committed.commitment) == (32, b"")
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.add_bot(table)
    await ready(ann, table, b"mine")
    await play_until(ann, table)
    events = await history(ann, table)
    kinds = [payload(event) for event in events]
    order = [kind for kind in kinds if "deal_" in kind or kind == "game_ended"]
    deals = kinds.count("deal_started")
    one = ["deal_committed", "deal_started", "deal_ended", "stretched_deal_revealed"]
    assert order == one * deals + ["game_ended", "deal_committed"]
    last = events[-1].deal_committed
    assert (last.game, last.deal) == (2, 1)
    between = [e.deal_committed for e in events if payload(e) == "deal_committed"]
    assert [(c.game, c.deal) for c in between[:-1]] == [(1, deal + 1) for deal in range(deals)]
    assert check(events) == deals

    # A rematch brings a nonce for the game that follows.
    request = lobby_pb2.RematchRequest(
        table=table, nonce=b"again", commitment=last.source.commitment
    )
    await ann.call(ann.lobby.Rematch, request)
    started = [e for e in await history(ann, table) if payload(e) == "deal_started"][-1]
    assert list(started.deal_started.source.nonces) == [b"again", b"", b""]
    assert started.deal_started.source.commitment == last.source.commitment


async def test_another_nonce_replaces_the_first_and_a_bot_from_outside_may_give_one(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(PATIENT)
    ann, bob, bot = (meet(server, name) for name in ("Ann", "Bob", "Bot"))
    table = await ann.open_table()
    for person in (ann, bob):
        await person.sit(table)
    await bot.sit(table, occupant=table_pb2.OCCUPANT_REMOTE_BOT)
    before = (await ann.view(table)).seq
    await ready(ann, table, b"first")
    await ready(ann, table, b"second")
    await ready(ann, table, b"")  # says nothing new, and takes nothing back
    await ready(ann, table, b"second")
    await ready(bot, table, b"beep")
    told = (await history(ann, table))[before:]
    given = [e.nonce_given for e in told if payload(e) == "nonce_given"]
    assert [(g.seat, g.nonce) for g in given] == [(0, b"first"), (0, b"second"), (2, b"beep")]
    said = [e.ready_changed for e in told if payload(e) == "ready_changed"]
    assert [(r.seat, r.ready, r.nonce) for r in said] == [(0, True, b"")]
    await bob.ready(table)
    view = await ann.view(table)
    assert view.phase == table_pb2.TABLE_PHASE_PLAYING
    assert list(view.game.source.nonces) == [b"second", b"", b"beep"]
    assert view.game.source.key_rounds == ROUNDS
    assert (view.game.commitment, list(view.game.nonces)) == (b"", []), "they are for deal/1"
    assert not view.HasField("source"), "none is open while a deal is played"
    assert view.game.secret == b""
    assert {seat.nonce for seat in view.seats} == {b""}


async def test_a_nonce_is_void_with_the_seat_and_not_with_being_ready(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(PATIENT)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    for person in (ann, bob):
        await person.sit(table)
    await ready(ann, table, b"first")
    await ann.ready(table, False)
    await ready(bob, table, b"void")
    assert [seat.nonce for seat in (await ann.view(table)).seats[:2]] == [b"first", b"void"]
    await bob.leave(table)
    await bob.sit(table)
    await ann.start(table)
    view = await play_deal(table, ann, bob)
    assert list(view.game.source.nonces) == [b"first", b""]
    await ready(bob, table, b"second")
    await bob.leave(table)
    assert (await ann.view(table)).seats[1].nonce == b"", "a substitute plays now, and adds nothing"
    await ready(ann, table, b"third")
    view = await ann.view(table)
    assert (view.game.deal, list(view.game.source.nonces)) == (2, [b"third", b""])


async def test_whoever_says_ready_takes_their_seat_back_first(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, bob, cid = (meet(server, name) for name in ("Ann", "Bob", "Cid"))
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    for person in (ann, bob, cid):
        await person.sit(table)
    await ann.start(table)
    await play_deal(table, ann, bob, cid)
    await bob.leave(table)
    before = await ann.view(table)
    await ready(bob, table, b"back again")
    told = (await history(ann, table))[before.seq :]
    assert [payload(event) for event in told] == ["seat_resumed", "nonce_given", "ready_changed"]
    seat = (await ann.view(table)).seats[1]
    assert (seat.ready, seat.substituted, seat.nonce) == (True, False, b"back again")


async def test_a_nonce_for_the_deal_before_is_refused_and_changes_nothing(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(PATIENT)
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    await ann.sit(table)
    await ann.add_bot(table)
    old = (await ann.view(table)).source.commitment
    await ann.ready(table)
    before = await play_deal(table, ann)
    for nonce in (b"mine", b""):
        with pytest.raises(Refused) as refused:
            await ready(ann, table, nonce, commitment=old)
        assert refused.value.reason == "STALE_COMMITMENT"
        assert refused.value.facts == {
            "commitment": before.source.commitment.hex(),
            "game": "1",
            "deal": "2",
        }
    assert await ann.view(table) == before


async def test_nothing_is_revealed_of_a_deal_that_is_broken_off(serve: Serve, meet: Meet) -> None:
    server = await serve(chance=random.Random(1))
    secret = random.Random(1).randbytes(32)
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    assert (await ann.view(table)).game.source.commitment == commitment(secret, ROUNDS)
    await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
    events = await history(ann, table)
    assert payload(events[-1]) == "table_closed"
    assert all(secret not in event.SerializeToString() for event in events)
    assert secret not in (await ann.view(table)).SerializeToString()


async def test_a_deal_that_is_broken_off_opens_no_hand(
    serve: Serve, meet: Meet, tmp_path: Path
) -> None:
    """Neither to strangers nor to a seat, live or after a restart. The deal before it is open."""
    file = tmp_path / "tables.db"
    server = await serve(PATIENT, log=SqliteLog(file))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    await play_until(ann, table, "deal_ended")
    await ann.ready(table)
    own = (await ann.view(table)).game.hand.cards
    assert not any(e.deal_started.hands for e in await history(ann, table)), "the game goes on"
    await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
    for _ in ("live", "after a restart"):
        for person in (ann, meet(server, "a stranger")):
            deals = [e.deal_started for e in await history(person, table) if e.deal_started.deal]
            assert [(len(deal.hands), len(deal.undealt)) for deal in deals] == [(2, 18), (0, 0)]
            assert deals[1].hand.cards == (own if person is ann else [])
            assert not (await person.view(table)).game.remaining_hands
        await server.stop()
        server = await serve(log=SqliteLog(file))
        ann = meet(server, "Ann")


async def test_a_server_that_was_killed_still_knows_what_it_committed_to(
    serve: Serve, meet: Meet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file as it is on the disk at that moment is all that the next server has."""
    caplog.set_level(logging.DEBUG)
    secret = random.Random(4).randbytes(32)
    server = await serve(PATIENT, log=SqliteLog(tmp_path / "tables.db"), chance=random.Random(4))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    await ann.sit(table)
    await ann.add_bot(table)
    promised = (await ann.view(table)).source
    after = copied(tmp_path)

    second = await serve(PATIENT, log=SqliteLog(after / "tables.db"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        # The ids of that time are in the log.
        monkeypatch.setattr(Person, "_counted", itertools.count(1_000_000))
        ann = meet(second, "Ann")
        assert (await ann.view(table)).source == promised
        assert promised.commitment == commitment(secret, ROUNDS)
        await ready(ann, table, b"mine")
        await play_until(ann, table)
    assert (await ann.view(table)).game.secret == secret
    assert check(await history(ann, table)) == 1
    assert secret.hex() not in caplog.text
    assert str(secret) not in caplog.text


def copied(folder: Path) -> Path:
    after = folder / "after"
    after.mkdir()
    for file in folder.glob("tables.db*"):
        shutil.copy(file, after)
    return after


async def test_a_stream_tells_the_secret_right_after_the_deal(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, watcher = meet(server, "Ann"), meet(server, "watcher")
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    shown = "stretched_deal_revealed"
    _, told = await asyncio.gather(play_until(ann, table, shown), told_until(watcher, table, shown))
    assert payload(told[-2]) == "deal_ended"
    view = await watcher.view(table)
    assert view.game.secret == told[-1].stretched_deal_revealed.secret
    assert commitment(view.game.secret, ROUNDS) == view.game.source.commitment
    async with aclosing(watcher.watch(table)) as items:
        assert (await anext(items)).snapshot.game.secret == view.game.secret
