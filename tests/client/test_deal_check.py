"""Each deal is checked by who sees it, and a server that cheats in any part of it is found out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from odin_client.bots import BotRunner, make_bot
from odin_client.check_sentence import check_sentence
from odin_client.errors import Refused
from odin_client.session import Session
from odin_client.table import TableModel
from odin_client.updates import DealChecked, DealEnded, DealFault, DealGap, RematchAsked
from odin_client.values import Action, Decision, Occupant, Options, Phase, PlayCards
from odin_engine.fair_deal import commitment
from odin_table.v1 import card_pb2, event_pb2, play_pb2
from tests.client.conftest import DEADLINE, Connect, seated

Item = play_pb2.WatchTableResponse


def first_choice(decision: Decision) -> Action:
    """The lowest legal play, with the first card taken; otherwise what happens when time is up."""
    assert decision.default_action is not None, "the decision is one's own"
    if not decision.plays:
        return decision.default_action
    play = decision.plays[0]
    takes = None if play.goes_out or not decision.pick_ups else decision.pick_ups[0]
    return PlayCards(play.set.cards, takes)


async def follow(
    session: Session, deals: int, items: list[Item] | None = None, *, ready: bool = True
) -> list[DealChecked]:
    """Plays the seat, or only watches, for so many deals; gives what the checks found."""
    found: list[DealChecked] = []
    decided = 0
    table = session.table
    async with (
        asyncio.timeout(DEADLINE),
        contextlib.aclosing(session.follow(tap=items.append if items is not None else None)) as up,
    ):
        async for update in up:
            if isinstance(update, DealChecked):
                found.append(update)
                if len(found) == deals:
                    return found
            if isinstance(update, DealEnded) and ready and table.phase is Phase.BETWEEN_DEALS:
                with contextlib.suppress(Refused):  # it has started already
                    await session.ready()
            if table.my_turn and table.decision and table.decision.id > decided:
                decided = table.decision.id
                await session.act(first_choice(table.decision))
    raise AssertionError("the stream ended")


async def known(session: Session) -> None:
    """Until the session knows what the table has committed to."""
    async with asyncio.timeout(DEADLINE), contextlib.aclosing(session.follow()) as updates:
        async for _ in updates:
            if session.table.commitment:
                return


LONG = Options(threshold=100, short_deck=True)


async def test_everybody_checks_every_deal_and_knows_what_went_into_it(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    watcher = Session(await connect(), zoe.table.table)
    watching = asyncio.create_task(follow(watcher, 2))
    await asyncio.gather(known(zoe), known(bob))
    await zoe.ready()
    await bob.ready()
    of_zoe, of_bob, of_watcher = await asyncio.gather(follow(zoe, 2), follow(bob, 2), watching)
    for found in (of_zoe, of_bob, of_watcher):
        assert [check.deal for check in found] == [1, 2]
        assert not any(check.faults for check in found)
        assert all(check.in_full for check in found)
        assert found[0].nonces == 2
    assert of_zoe[0].mine
    assert of_bob[0].mine
    assert not of_watcher[0].mine


async def test_whoever_comes_while_a_deal_is_played_checks_what_can_be_seen(
    connect: Connect,
) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    await asyncio.gather(known(zoe), known(bob))
    await zoe.ready()
    await bob.ready()
    late = Session(await connect(), zoe.table.table)
    items: list[Item] = []
    _, _, found = await asyncio.gather(follow(zoe, 1), follow(bob, 1), follow(late, 1, items))
    (check,) = found
    assert (check.faults, check.nonces, check.not_in_full) == ((), 2, 1)
    assert check.gaps[0] is DealGap.LATE
    said = "Deal 1 is NOT CHECKED IN FULL: you came when it had started"
    assert check_sentence(check).startswith(said)
    # Also then other cards than those that follow are noticed.
    assert faults_of(items, _other_secret) >= {DealFault.CARDS}


async def test_a_deal_that_is_broken_off_is_said_to_be_never_shown(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob")
    watcher = Session(await connect(), zoe.table.table)
    watching = asyncio.create_task(follow(watcher, 1))
    await asyncio.gather(known(zoe), known(bob))
    await zoe.start()
    await zoe.close_table()
    (found,) = await watching
    assert found.broken_off
    assert not found.faults
    assert check_sentence(found) == (
        "Deal 1 is NOT CHECKED IN FULL: it was broken off, so that the server's secret was never "
        "shown."
    )


async def test_a_bot_from_outside_adds_to_the_deal_that_a_person_starts(connect: Connect) -> None:
    (zoe,) = await seated(connect, "Zoe", options=LONG)
    bot = await Session.sit_down(
        await connect(), zoe.table.table, name="Bot", occupant=Occupant.REMOTE_BOT
    )
    runner = asyncio.create_task(BotRunner(bot, make_bot("greedy"), print).play())
    async with asyncio.timeout(DEADLINE), contextlib.aclosing(zoe.follow()) as updates:
        async for _ in updates:
            if len(zoe.table.seats) > 1 and zoe.table.seats[1].nonce:
                break
    await zoe.ready()
    (found,) = await follow(zoe, 1)
    assert (found.faults, found.nonces, found.mine) == ((), 2, True)
    runner.cancel()
    await asyncio.gather(runner, return_exceptions=True)


async def test_a_bot_that_comes_last_and_follows_late_has_seen_all_of_the_deal(
    connect: Connect,
) -> None:
    host = await Session.open_table(await connect(), Options(seats=3, threshold=None))
    running: list[asyncio.Task[None]] = []
    for name in ("One", "Two"):
        bot = await Session.sit_down(
            await connect(), host.table.table, name=name, occupant=Occupant.REMOTE_BOT
        )
        running.append(asyncio.create_task(BotRunner(bot, make_bot("greedy"), print).play()))
    last = await Session.sit_down(
        await connect(), host.table.table, name="Last", occupant=Occupant.REMOTE_BOT
    )
    async with asyncio.timeout(DEADLINE), contextlib.aclosing(host.follow()) as updates:
        async for _ in updates:
            if host.table.decision and host.table.decision.seat == last.table.my_seat:
                break
    await BotRunner(last, make_bot("greedy"), print).play()
    tally = last.table.check.tally
    assert (tally.in_full, tally.not_in_full, tally.faulty) == (1, 0, 0)
    await asyncio.gather(*running)


async def test_whoever_is_not_ready_after_all_misses_nothing(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    await asyncio.gather(known(zoe), known(bob))
    await bob.ready()
    await bob.ready(False)
    await zoe.start()
    (of_zoe,), (of_bob,) = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    assert of_zoe == DealChecked(1, nonces=1, mine=True), "who starts it adds to it"
    assert of_bob == DealChecked(1, nonces=1)


async def test_a_rematch_adds_a_nonce_to_the_game_that_follows(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=Options(threshold=None))
    await asyncio.gather(known(zoe), known(bob))
    await zoe.start()
    await asyncio.gather(follow(zoe, 1, ready=False), follow(bob, 1, ready=False))
    await known(zoe)
    await zoe.rematch()
    async with asyncio.timeout(DEADLINE), contextlib.aclosing(bob.follow()) as updates:
        async for update in updates:
            if isinstance(update, RematchAsked):
                break
    assert len(bob.table.seats[0].nonce) == 32
    await bob.ready()
    of_zoe, of_bob = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    for (found,) in (of_zoe, of_bob):
        assert (found.deal, found.faults, found.nonces, found.mine) == (1, (), 2, True)


async def test_whoever_adds_nothing_is_not_told_of_bytes_of_theirs(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    zoe.fresh_nonce = bytes  # as with `play --seed`
    await asyncio.gather(known(zoe), known(bob))
    await zoe.ready()
    await zoe.start()
    (found,), _ = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    assert (found.faults, found.nonces, found.mine) == ((), 0, False)
    assert check_sentence(found) == "Deal 1 was checked: it follows from the server's secret."


async def test_a_nonce_is_void_with_the_seat_that_was_left(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    await asyncio.gather(known(zoe), known(bob))
    await bob.ready()
    await bob.leave()
    await bob.take_seat("Bob")
    await zoe.start()
    _, (found,) = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    assert (found.faults, found.nonces, found.mine) == ((), 1, False), "Zoe's, who started it"


@pytest.mark.parametrize(
    ("checked", "said"),
    [
        (DealChecked(3), "it follows from the server's secret."),
        (DealChecked(3, nonces=1), "the server's secret and the bytes of 1 seat."),
        (DealChecked(3, nonces=1, mine=True), "the server's secret and your bytes."),
        (DealChecked(3, nonces=3, mine=True), "your bytes and those of 2 other seats."),
        (
            DealChecked(3, (DealFault.CARDS, DealFault.OPENER)),
            (
                "WARNING: deal 3 was not dealt as the server had promised: the cards are not those "
                "that follow, somebody else had to open. Do not trust this server."
            ),
        ),
    ],
)
def test_what_was_found_is_said_in_one_line(checked: DealChecked, said: str) -> None:
    assert check_sentence(checked).endswith(said)


# A server that cheats


def faults_of(items: list[Item], lie: Callable[[event_pb2.Event], None]) -> set[DealFault]:
    """What a client finds that is told this lie in some event."""
    table = TableModel()
    found: set[DealFault] = set()
    for item in items:
        told = Item.FromString(item.SerializeToString())
        for event in told.events.events:
            lie(event)
        for update in table.apply(told):
            if isinstance(update, DealChecked):
                found |= set(update.faults)
    return found


def _other_secret(event: event_pb2.Event) -> None:
    if event.HasField("deal_revealed"):
        event.deal_revealed.secret = bytes(32)


def _secret_and_commitment_at_the_start(event: event_pb2.Event) -> None:
    _other_secret(event)
    if event.HasField("deal_started"):
        event.deal_started.commitment = commitment(bytes(32))


def _half_a_secret(event: event_pb2.Event) -> None:
    if event.HasField("deal_revealed"):
        event.deal_revealed.secret = event.deal_revealed.secret[:16]


def _other_nonces(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.nonces[0] = b"chosen to suit the server"


def _too_few_nonces(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        del event.deal_started.nonces[0]


def _other_opener(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.opener = 1 - event.deal_started.opener


def _other_colours(event: event_pb2.Event) -> None:
    if event.HasField("game_started"):
        started = event.game_started
        others = [
            colour
            for colour in card_pb2.Colour.values()[1:]
            if colour not in started.removed_colours
        ]
        started.removed_colours[:] = others[:2]


def _other_hand(event: event_pb2.Event) -> None:
    if event.deal_started.HasField("hand"):
        cards = event.deal_started.hand.cards
        cards[0] = next(card for card in card_pb2.Card.values()[1:] if card not in cards)


def _other_leftovers(event: event_pb2.Event) -> None:
    for score in event.deal_ended.scores:
        if score.remaining:
            score.remaining[0] = card_pb2.Card.values()[score.remaining[0] % 54 + 1]


def _nothing_revealed(event: event_pb2.Event) -> None:
    if event.HasField("deal_revealed"):
        event.ClearField("deal_revealed")


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (_other_secret, DealFault.COMMITMENT),
        (_secret_and_commitment_at_the_start, DealFault.COMMITMENT),
        (_half_a_secret, DealFault.COMMITMENT),
        (_other_nonces, DealFault.NONCES),
        (_too_few_nonces, DealFault.NONCES),
        (_other_opener, DealFault.OPENER),
        (_other_colours, DealFault.COLOURS),
        (_other_hand, DealFault.CARDS),
        (_other_leftovers, DealFault.CARDS),
        (_nothing_revealed, DealFault.NEVER_REVEALED),
    ],
)
async def test_a_lie_is_found(
    connect: Connect, lie: Callable[[event_pb2.Event], None], fault: DealFault
) -> None:
    items = await _whole_deal(connect)
    assert not faults_of(items, lambda _: None)
    assert fault in faults_of(items, lie)


async def test_what_a_newer_server_tells_before_the_secret_changes_nothing(
    connect: Connect,
) -> None:
    items = await _whole_deal(connect)
    table = TableModel()
    found: list[DealChecked] = []
    more = 0
    for item in items:
        if item.HasField("events"):
            told = list(item.events.events)
            del item.events.events[:]
            for event in told:
                if event.HasField("deal_revealed"):
                    item.events.events.add(seq=event.seq + more)
                    more += 1
                event.seq += more
                item.events.events.append(event)
        found += [update for update in table.apply(item) if isinstance(update, DealChecked)]
    assert more
    assert [check.faults for check in found] == [()]


async def _whole_deal(connect: Connect) -> list[Item]:
    """What Zoe was told of a deal between two, from before it started."""
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    items: list[Item] = []
    playing = asyncio.create_task(follow(zoe, 1, items))
    await known(bob)
    async with asyncio.timeout(DEADLINE):
        while not zoe.table.commitment:  # noqa: ASYNC110 (the task above folds it)
            await asyncio.sleep(0.01)
    await zoe.ready()
    await bob.ready()
    await asyncio.gather(playing, follow(bob, 1))
    return items


async def test_a_nonce_that_was_given_has_to_be_used(connect: Connect) -> None:
    items = await _whole_deal(connect)
    table = TableModel()
    faults: set[DealFault] = set()
    for item in items:
        if any(event.HasField("deal_started") for event in item.events.events):
            with table.check.giving(table.commitment, b"what the server got") as taken:
                taken(0)
        for update in table.apply(item):
            if isinstance(update, DealChecked):
                faults |= set(update.faults)
                assert "your bytes are not in it" in check_sentence(update)
    assert faults == {DealFault.OWN_NONCE}
