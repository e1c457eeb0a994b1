"""Each deal is checked by who sees it, and a server that cheats in any part of it is found out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from odin_cli.speech.check_sentence import check_notice, check_sentence
from odin_client.bots import BotRunner, make_bot
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, DealFault, DealGap
from odin_contract.enums import Occupant, Phase
from odin_contract.events import DealEnded, RematchAsked
from odin_contract.values import (
    Action,
    Decision,
    Options,
    PlayCards,
)
from odin_engine.fair_deal import ROUNDS, commitment, word
from odin_server.table import draft
from odin_server.table.commands import games
from odin_table.v1 import card_pb2, event_pb2, play_pb2
from tests.client.conftest import Connect, seated
from tests.support.forms import revealed_in
from tests.support.patience import PATIENCE

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
        asyncio.timeout(PATIENCE),
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
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(session.follow()) as updates:
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
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(zoe.follow()) as updates:
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
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(host.follow()) as updates:
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
    for found in (of_zoe, of_bob):
        # By deal/2 a nonce is the seat's, ready or not.
        assert (found.in_full, found.nonces, found.seats, found.mine) == (True, 2, 2, True)
    assert of_zoe.word == of_bob.word != ""


async def test_a_rematch_adds_a_nonce_to_the_game_that_follows(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=Options(threshold=None))
    await asyncio.gather(known(zoe), known(bob))
    await zoe.start()
    await asyncio.gather(follow(zoe, 1, ready=False), follow(bob, 1, ready=False))
    await known(zoe)
    await zoe.rematch()
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(bob.follow()) as updates:
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
    zoe.fresh_nonce = bob.fresh_nonce = bytes  # as with `play --seed`
    await asyncio.gather(known(zoe), known(bob))
    await zoe.ready()
    await zoe.start()
    (found,), _ = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    assert (found.faults, found.nonces, found.mine) == ((), 0, False)
    assert check_sentence(found) == (
        f"Deal 1 was checked, word {found.word}: it follows from the server's secret, and none of "
        "2 seats added bytes."
    )


async def test_whoever_has_said_nothing_adds_to_the_deal_all_the_same(connect: Connect) -> None:
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)

    async def both_gave(session: Session) -> None:
        async with asyncio.timeout(PATIENCE), contextlib.aclosing(session.follow()) as updates:
            async for _ in updates:
                if all(seat.nonce for seat in session.table.taken_seats):
                    return

    await asyncio.gather(both_gave(zoe), both_gave(bob))
    assert not any(seat.ready for seat in zoe.table.taken_seats)
    early = [seat.nonce for seat in zoe.table.taken_seats]
    await bob.ready()
    await zoe.start()
    (of_zoe,), (of_bob,) = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    for found in (of_zoe, of_bob):
        assert (found.in_full, found.nonces, found.mine) == (True, 2, True)
    assert zoe.table.game is not None
    nonces = zoe.table.game.nonces
    assert nonces[0] == early[0]
    assert nonces[1] != early[1], "who got ready gave another one, which the server learned late"
    assert of_zoe.word == word(zoe.table.game.commitment, (0, 1), nonces)


@pytest.mark.parametrize("server", [PATIENCE], indirect=True, ids=["long pause"])
async def test_programs_add_to_every_deal_also_where_they_play_alone(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They are waited for until they have added; how long at most is another test's.
    monkeypatch.setattr(games, "PROGRAM_WAIT", 30_000_000)
    host = await Session.open_table(await connect(), Options(seats=3, threshold=100))
    await host.add_bot()
    watching = asyncio.create_task(follow(host, 3))
    runners: list[asyncio.Task[None]] = []
    for name in ("Cid", "Dot"):
        session = await Session.sit_down(
            await connect(), host.table.table, name=name, occupant=Occupant.REMOTE_BOT
        )
        bot = BotRunner(session, make_bot("greedy"), print)
        runners.append(asyncio.create_task(bot.play()))
    found = await watching
    assert [(check.faults, check.nonces, check.seats) for check in found] == [((), 2, 3)] * 3
    assert not any(check.weak for check in found)
    for runner in runners:
        runner.cancel()
    await asyncio.gather(*runners, return_exceptions=True)


async def test_a_key_that_is_hardly_stretched_is_said(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "ROUNDS", 1000)
    zoe, bob = await seated(connect, "Zoe", "Bob", options=LONG)
    await asyncio.gather(known(zoe), known(bob))
    await bob.ready()
    await zoe.start()
    (of_zoe,), _ = await asyncio.gather(follow(zoe, 1), follow(bob, 1))
    assert (of_zoe.in_full, of_zoe.weak) == (True, True)
    assert check_notice(of_zoe) == "Deal 1 was checked, with a weak key. l says more."


async def test_a_key_with_too_many_rounds_is_not_computed_and_that_is_said(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = await _whole_deal(connect)
    (secret,) = (r.secret for i in items for e in i.events.events if (r := revealed_in(e)))

    def many(event: event_pb2.Event) -> None:
        for told in (event.deal_committed, event.deal_started):
            if told.source.rounds and told.deal == 1:
                told.source.rounds = 2_000_000
                told.source.commitment = commitment(secret, 2_000_000)
        if event.HasField("deal_started"):
            event.deal_started.source.key_rounds = 2_000_000

    monkeypatch.setattr("hashlib.pbkdf2_hmac", None)
    table = TableModel()
    found: list[DealChecked] = []
    for item in items:
        if item.snapshot.source.rounds:
            source = item.snapshot.source
            source.rounds, source.commitment = 2_000_000, commitment(secret, 2_000_000)
        for event in item.events.events:
            many(event)
        found += [update for update in table.apply(item) if isinstance(update, DealChecked)]
    assert [(check.faults, check.gaps) for check in found] == [((), (DealGap.TOO_MANY_ROUNDS,))]


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
        (DealChecked(3, seats=2), "the server's secret, and none of 2 seats added bytes."),
        (DealChecked(3, nonces=1, seats=2), "the server's secret and the bytes of 1 of 2 seats."),
        (
            DealChecked(3, nonces=3, seats=4, mine=True, word="K7QF2M"),
            (
                "Deal 3 was checked, word K7QF2M: it follows from the server's secret and the "
                "bytes of 3 of 4 seats, yours among them."
            ),
        ),
        (
            DealChecked(3, nonces=2, seats=2, weak=True),
            "But its key was hardly stretched: a server could have searched for this deck.",
        ),
        (
            DealChecked(3, gaps=(DealGap.TOO_MANY_ROUNDS,)),
            "Deal 3 is NOT CHECKED IN FULL: its key has more rounds than are computed.",
        ),
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


def test_the_quiet_line_has_the_word_and_says_how_many_seats_added_bytes() -> None:
    checked = DealChecked(3, nonces=2, seats=4, word="K7QF2M")
    said = "Deal 3 was checked: bytes of 2 of 4 seats, word K7QF2M."
    assert check_notice(checked) == said


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
    if revealed := revealed_in(event):
        revealed.secret = bytes(32)


def _secret_and_commitment_at_the_start(event: event_pb2.Event) -> None:
    _other_secret(event)
    if event.HasField("deal_started"):
        event.deal_started.source.commitment = commitment(bytes(32), ROUNDS)


def _half_a_secret(event: event_pb2.Event) -> None:
    if revealed := revealed_in(event):
        revealed.secret = revealed.secret[:16]


def _other_nonces(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.source.nonces[0] = b"chosen to suit the server"


def _too_few_nonces(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        del event.deal_started.source.nonces[0]


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
    if revealed_in(event):
        event.ClearField("stretched_deal_revealed")


def _one_round(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.source.key_rounds = 1


def _fewer_rounds(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.source.rounds = event.deal_started.source.key_rounds = 1000


def _fewer_rounds_from_the_start(event: event_pb2.Event) -> None:
    _fewer_rounds(event)
    if event.HasField("deal_committed"):
        event.deal_committed.source.rounds = 1000


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
        (_one_round, DealFault.ROUNDS),
        (_fewer_rounds, DealFault.COMMITMENT),
        (_fewer_rounds_from_the_start, DealFault.COMMITMENT),
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
                if revealed_in(event):
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
    async with asyncio.timeout(PATIENCE):
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
