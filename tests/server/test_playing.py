"""Games from the first seat to the winners, over a real port."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from odin_table.v1 import event_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.people import Person, payload, play_until


@pytest.mark.parametrize("count", [2, 3, 6])
async def test_people_play_a_game_to_its_end(serve: Serve, meet: Meet, count: int) -> None:
    server = await serve()
    people = [meet(server, f"person {number}") for number in range(count)]
    table = await people[0].open_table()
    for person in people:
        await person.sit(table)
    await people[0].start(table)
    seen = await asyncio.gather(*(play_until(person, table) for person in people))
    assert len({len(events) for events in seen}) == 1
    for events in seen:
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
    ends = {events[-1].SerializeToString() for events in seen}
    assert len(ends) == 1
    totals = {score.seat: score.total for score in seen[0][-3].deal_ended.scores}
    lowest = min(totals.values())
    assert list(seen[0][-1].game_ended.winners) == [s for s, t in totals.items() if t == lowest]
    assert max(totals.values()) >= 15  # R16


async def test_two_players_play_without_two_colours_that_all_are_told(
    serve: Serve, meet: Meet
) -> None:
    """R2: the colours are announced before the first deal, and no card of them is played."""
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    await bob.sit(table)
    await ann.start(table)
    events, _ = await asyncio.gather(play_until(ann, table), play_until(bob, table))
    started = next(e.game_started for e in events if payload(e) == "game_started")
    assert len(set(started.removed_colours)) == 2
    dealt = {
        (card - 1) // 9 + 1
        for event in events
        for card in [*event.deal_started.hand.cards, *event.cards_played.cards]
    }
    assert not dealt & set(started.removed_colours)


async def test_a_single_deal_and_a_full_deck_for_two(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    options = table_pb2.TableOptions(seats=2, single_deal=True, short_deck=False)
    table = await ann.open_table(options)
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    events = await play_until(ann, table)
    kinds = [payload(event) for event in events]
    assert kinds.count("deal_started") == 1
    assert kinds[-3:] == ["deal_ended", "stretched_deal_revealed", "game_ended"]
    assert not next(e for e in events if payload(e) == "game_started").game_started.removed_colours
    assert not events[-3].deal_ended.HasField("next_deal_time")


async def test_one_act_is_one_message(serve: Serve, meet: Meet) -> None:
    """All events of an act come together: nobody sees a play without what follows from it."""
    server = await serve()
    ann, bob, cleo = (meet(server, name) for name in ("Ann", "Bob", "Cleo"))
    table = await ann.open_table()
    for person in (ann, bob, cleo):
        await person.sit(table)
    messages: list[list[event_pb2.Event]] = []

    async def watch() -> None:
        watcher = meet(server, "watcher")
        async with aclosing(watcher.watch(table)) as items:
            async for item in items:
                if item.WhichOneof("item") == "snapshot":
                    watching.set()
                if item.events.events:
                    messages.append(list(item.events.events))
                    if any(payload(event) == "game_ended" for event in item.events.events):
                        return

    watching = asyncio.Event()
    task = asyncio.create_task(watch())
    await watching.wait()
    await ann.start(table)
    await asyncio.gather(*(play_until(person, table) for person in (ann, bob, cleo)))
    await task
    for events in messages:
        # What somebody has to do next is the last thing in a message, unless nobody has to.
        assert payload(events[-1]) in ("decision_opened", "deal_committed")


async def test_the_view_after_a_game_shows_what_the_events_told(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.add_bot(table, "random")
    await ann.ready(table)
    events = await play_until(ann, table)
    view = await ann.view(table)
    assert view.phase == table_pb2.TABLE_PHASE_GAME_OVER
    assert view.seq == events[-1].seq + 1, "the next game's first deal is committed to"
    assert list(view.game.winners) == list(events[-1].game_ended.winners)
    scores = [e.deal_ended.scores for e in events if payload(e) == "deal_ended"]
    for player in view.game.players:
        penalties = [s.penalty for deal in scores for s in deal if s.seat == player.seat]
        assert list(player.penalties) == penalties
    assert not view.HasField("decision")


async def test_a_rematch_is_another_game_with_the_same_seats(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    for person in (ann, bob):
        await person.sit(table)
    await ann.add_bot(table)
    await ann.start(table)
    await asyncio.gather(play_until(ann, table), play_until(bob, table))

    await bob.call(bob.lobby.Rematch, lobby_pb2.RematchRequest(table=table))
    waiting = await ann.view(table)
    assert waiting.phase == table_pb2.TABLE_PHASE_WAITING
    assert [seat.ready for seat in waiting.seats[:3]] == [False, True, True]
    await ann.call(ann.lobby.Rematch, lobby_pb2.RematchRequest(table=table))

    async def second_game(person: Person) -> int:
        log_id = waiting.log_id
        events = await play_until(person, table, after_seq=waiting.seq, log_id=log_id)
        return next(e.game_started.game for e in events if payload(e) == "game_started")

    assert set(await asyncio.gather(second_game(ann), second_game(bob))) == {2}


async def test_the_next_deal_starts_when_all_are_ready_and_otherwise_after_the_pause(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(replace(QUICK, deal_pause=3600))
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(threshold=100))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    events = await play_until(ann, table, last="deal_ended")
    view = await ann.view(table)
    assert view.phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS
    assert view.next_deal_time == events[-1].deal_ended.next_deal_time
    assert [seat.ready for seat in view.seats[:2]] == [False, True]
    await ann.ready(table)
    assert (await ann.view(table)).phase == table_pb2.TABLE_PHASE_PLAYING

    quick = await serve()
    ben = meet(quick, "Ben")
    other = await ben.open_table(table_pb2.TableOptions(threshold=100))
    await ben.sit(other)
    await ben.add_bot(other)
    await ben.ready(other)
    seen = await play_until(ben, other, last="stretched_deal_revealed")
    async with aclosing(
        ben.events(other, after_seq=seen[-1].seq, log_id=(await ben.view(other)).log_id)
    ) as events_after:
        assert payload(await anext(events_after)) == "deal_committed"
        assert payload(await anext(events_after)) == "deal_started"


async def test_reading_a_view_changes_nothing(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    first = await ann.view(table)
    assert await ann.view(table) == first
    request = play_pb2.GetViewRequest(table=table.lower())
    assert (await ann.call(ann.play.GetView, request)).view == first
