"""How a deal starts: when it is due, from what, in which batch, and for whom it waits."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from odin_engine import DealStarted
from odin_engine.fair_deal import ROUNDS
from odin_server.errors import Reason, Refusal
from odin_server.event_log import Conflict, MemoryLog, SqliteLog
from odin_server.settings import Limits
from odin_server.table import commands
from odin_server.table.dealing import Dealer, Drawing, Drawn
from odin_server.table.events import Batch, DecisionOpened, ReadyChanged
from odin_server.table.table import Done, Table
from odin_table.v1 import event_pb2, lobby_pb2, table_pb2
from tests.server.conftest import Meet, Serve
from tests.server.test_fair_deal import PATIENT, copied, give, history, play_deal, ready
from tests.server.test_first_log import log_of, table_in
from tests.server.test_limits import too_many
from tests.support.clocks import SetClock
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused, first_choice, payload, told_until

BOT = table_pb2.OCCUPANT_REMOTE_BOT
Pass: TypeAlias = Callable[[float], None]
"""Lets so many seconds pass."""
LONG = table_pb2.TableOptions(threshold=100)


@asynccontextmanager
async def held_up(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[asyncio.Event]:
    """Lets nothing be drawn in a thread until the end; the event says that something is due."""
    begun, may_go_on = asyncio.Event(), asyncio.Event()
    draw = Dealer.draw

    async def wait(dealer: Dealer, drawing: Drawing) -> Drawn:
        begun.set()
        await may_go_on.wait()
        return await draw(dealer, drawing)

    with monkeypatch.context() as patch:
        patch.setattr(Dealer, "draw", wait)
        yield begun
    may_go_on.set()


def waiting_commands(monkeypatch: pytest.MonkeyPatch) -> asyncio.Semaphore:
    """Can be acquired once for each command that comes to a table from now on."""
    come, submit = asyncio.Semaphore(0), Table.submit

    async def counted(table: Table, *given: Any) -> Done[Any]:
        come.release()
        return await submit(table, *given)

    monkeypatch.setattr(Table, "submit", counted)
    return come


async def two_seated(ann: Person, bob: Person, options: table_pb2.TableOptions = LONG) -> str:
    table = await ann.open_table(options)
    for person in (ann, bob):
        await person.sit(table)
    return table


def nonces_of(view: table_pb2.TableView) -> list[bytes]:
    return list(view.game.source.nonces)


async def test_a_deal_starts_in_a_batch_of_its_own_after_what_made_it_due(
    serve: Serve, meet: Meet
) -> None:
    log = MemoryLog()
    server = await serve(PATIENT, log=log)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await two_seated(ann, bob)
    await ready(ann, table, b"a")
    await ready(bob, table, b"b")
    *_, before, last = await log.read(table)
    kinds = [[type(record.event).__name__ for record in batch.records] for batch in (before, last)]
    assert kinds == [
        ["NonceGiven", "ReadyChanged"],
        ["GameStarted", "DealStarted", "DecisionOpened"],
    ]
    assert last.request is None


async def test_while_a_deal_is_drawn_its_nonces_are_closed(
    serve: Serve, meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await serve(PATIENT)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await two_seated(ann, bob)
    await ready(ann, table, b"a")
    source = (await ann.view(table)).source
    async with asyncio.timeout(PATIENCE):
        async with held_up(monkeypatch) as due:
            last = asyncio.create_task(ready(bob, table, b"b"))
            await due.wait()
            view = await ann.view(table)
            assert [seat.nonce for seat in view.seats[:2]] == [b"a", b"b"], (
                "told before it is drawn"
            )
            submitted = waiting_commands(monkeypatch)
            late = asyncio.create_task(give(ann, table, b"too late", source.commitment))
            unready = asyncio.create_task(ann.ready(table, False))
            for _ in (late, unready):
                await submitted.acquire()
            view = await ann.view(table)
            assert [(seat.nonce, seat.ready) for seat in view.seats[:2]] == [
                (b"a", True),
                (b"b", True),
            ], "both have come, and wait"
        await last
        for call in (late, unready):
            with pytest.raises(Refused) as refused:
                await call
            assert refused.value.reason == "ALREADY_STARTED"
    assert nonces_of(await ann.view(table)) == [b"a", b"b"]


async def test_a_deal_is_due_before_what_waits_already(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await two_seated(ann, bob)
    await ready(ann, table, b"a")
    (one,) = server.lobby.tables()
    holder_of_ann, holder_of_bob = one.state.holders[:2]
    nonce = commands.Nonce(b"too late", one.state.commitment)
    last, late = await asyncio.gather(
        one.submit(lambda draft: commands.set_ready(draft, holder_of_bob, ready=True)),
        one.submit(lambda draft: commands.give_nonce(draft, holder_of_ann, nonce)),
        return_exceptions=True,
    )
    assert not isinstance(last, BaseException)
    assert isinstance(late, Refusal)
    assert late.reason is Reason.ALREADY_STARTED
    assert nonces_of(await ann.view(table)) == [b"a", b""]


async def test_a_server_that_is_killed_while_a_deal_is_drawn_deals_it_after_its_start(
    serve: Serve, meet: Meet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await serve(PATIENT, log=SqliteLog(tmp_path / "tables.db"))
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await two_seated(ann, bob)
    await ready(ann, table, b"a")
    source = (await ann.view(table)).source
    async with asyncio.timeout(PATIENCE), held_up(monkeypatch) as due:
        last = asyncio.create_task(ready(bob, table, b"b"))
        await due.wait()
        after = copied(tmp_path)
        assert not last.done()
    await last
    log = SqliteLog(after / "tables.db")
    assert isinstance((await log.read(table))[-1].records[-1].event, ReadyChanged)
    second = await serve(PATIENT, log=log)
    # Nobody calls anything there, not even to watch: it is due.
    async with asyncio.timeout(PATIENCE):
        while True:
            if isinstance((await log.read(table))[-1].records[-1].event, DecisionOpened):
                break
            await asyncio.sleep(0.01)
    (dealt,) = await _deals(meet(second, "watcher"), table, 1)
    assert dealt.source.commitment == source.commitment
    assert list(dealt.source.nonces) == [b"a", b"b"]


class MovedOnce(MemoryLog):
    """A log in which another server wrote something just before a deal started."""

    conflicts = 0

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        starts = any(isinstance(record.event, DealStarted) for record in batch.records)
        if starts and not self.conflicts:
            self.conflicts += 1
            event = ReadyChanged(0, ready=True)
            moved = batch.records[0]._replace(event=event, seq=expected_seq + 1)
            await super().append(table, expected_seq, Batch((moved,)))
        await super().append(table, expected_seq, batch)


async def test_a_deal_whose_table_has_moved_on_is_drawn_again(serve: Serve, meet: Meet) -> None:
    log = MovedOnce()
    server = await serve(PATIENT, log=log)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await two_seated(ann, bob)
    await ready(ann, table, b"a")
    await ready(bob, table, b"b")
    told = await told_until(ann, table, "deal_started")
    assert log.conflicts == 1
    kinds = [payload(event) for event in told[-3:]]
    assert kinds == ["ready_changed", "game_started", "deal_started"]
    with pytest.raises(Conflict):
        await log.append(table, 3, Batch(()))


async def test_a_nonce_is_given_without_being_ready_and_replaced(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, bob, watcher = (meet(server, name) for name in ("Ann", "Bob", "watcher"))
    table = await two_seated(ann, bob)
    before = (await ann.view(table)).seq
    await give(ann, table, b"first")
    await give(ann, table, b"second")
    await give(ann, table, b"second")
    told = (await history(ann, table))[before:]
    assert [(e.nonce_given.seat, e.nonce_given.nonce) for e in told] == [
        (0, b"first"),
        (0, b"second"),
    ]
    view = await watcher.view(table)
    assert [(seat.nonce, seat.ready) for seat in view.seats[:2]] == [
        (b"second", False),
        (b"", False),
    ]
    await ann.start(table)
    assert nonces_of(await ann.view(table)) == [b"second", b""]
    with pytest.raises(Refused) as refused:
        await give(bob, table, b"late", view.source.commitment)
    assert refused.value.reason == "ALREADY_STARTED"
    await play_deal(table, ann, bob)
    with pytest.raises(Refused) as refused:
        await give(bob, table, b"late", view.source.commitment)
    assert refused.value.reason == "STALE_COMMITMENT"
    # The pause runs out, and whoever gave one adds to the deal all the same.
    await give(bob, table, b"in time")
    await ann.start(table)
    assert nonces_of(await ann.view(table)) == [b"", b"in time"]


@pytest.mark.parametrize(
    ("nonce", "commitment", "field"),
    [(b"", b"any", "nonce"), (bytes(33), b"any", "nonce"), (b"a", b"", "commitment")],
)
async def test_a_nonce_that_makes_no_sense(
    serve: Serve, meet: Meet, nonce: bytes, commitment: bytes, field: str
) -> None:
    ann = meet(await serve(PATIENT), "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    request = lobby_pb2.GiveNonceRequest(table=table, nonce=nonce, commitment=commitment)
    with pytest.raises(Refused) as refused:
        await ann.call(ann.lobby.GiveNonce, request)
    assert (refused.value.reason, refused.value.fields) == ("MALFORMED", [field])


async def test_who_may_give_a_nonce(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, bob, watcher = (meet(server, name) for name in ("Ann", "Bob", "watcher"))
    table = await two_seated(ann, bob)
    with pytest.raises(Refused) as refused:
        await give(watcher, table, b"w")
    assert refused.value.reason == "NOT_ALLOWED"
    await ann.start(table)
    await bob.leave(table)
    await play_deal(table, ann)
    with pytest.raises(Refused) as refused:
        await give(bob, table, b"b")
    assert refused.value.reason == "NOT_ALLOWED"
    await ann.call(ann.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=table))
    with pytest.raises(Refused) as refused:
        await give(ann, table, b"a", b"any")
    assert refused.value.reason == "GAME_OVER"


async def test_for_a_deal_of_the_first_form_no_nonce_is_given_that_way(
    serve: Serve, meet: Meet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Person, "_counted", itertools.count(1_000_000))
    server = await serve(PATIENT, log=log_of("second_log", tmp_path))
    ann = meet(server, "Ann")
    table = table_in("second_log", "BETWEEN_DEALS")
    with pytest.raises(Refused) as refused:
        await give(ann, table, b"a", (await ann.view(table)).commitment)
    assert refused.value.reason == "STALE_COMMITMENT"


async def test_a_seat_is_taken_with_a_nonce(serve: Serve, meet: Meet) -> None:
    server = await serve(PATIENT)
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table(table_pb2.TableOptions(seats=2))
    source = (await ann.view(table)).source
    await ann.sit(table, occupant=BOT, nonce=b"void", commitment=bytes(32))
    assert (await ann.view(table)).seats[0].nonce == b"", "the seat is taken all the same"
    # Whoever has a seat already may add one in the same way.
    await ann.sit(table, occupant=BOT, nonce=b"a", commitment=source.commitment)
    await bob.sit(table, occupant=BOT, nonce=b"b", commitment=source.commitment)
    source = (await ann.view(table)).game.source
    assert (list(source.nonces), source.rounds, source.key_rounds) == ([b"a", b"b"], ROUNDS, 1)


async def test_the_key_is_stretched_exactly_when_a_person_holds_a_seat(
    serve: Serve, meet: Meet
) -> None:
    """Also when a substitute plays there; and no more when a program has taken it over."""
    server = await serve(PATIENT)
    ann, bob, bot = (meet(server, name) for name in ("Ann", "Bob", "bot"))
    table = await ann.open_table(table_pb2.TableOptions(seats=2, threshold=100))
    await ann.sit(table, occupant=BOT)
    await bob.sit(table)
    rounds: list[int] = []

    async def next_deal() -> None:
        await ann.start(table)
        rounds.append((await ann.view(table)).game.source.key_rounds)

    await next_deal()
    await play_deal(table, ann, bob)
    await next_deal()
    await bob.leave(table)
    # With nobody who is not ready, deals follow each other by themselves from now on.
    await _play(ann, table, 3)
    rounds.append((await _deals(ann, table, 3))[-1].source.key_rounds)
    await bot.sit(table, occupant=BOT)
    await asyncio.gather(_play(ann, table, 4), _play(bot, table, 4))
    rounds.append((await _deals(ann, table, 4))[-1].source.key_rounds)
    assert rounds == [ROUNDS, ROUNDS, ROUNDS, 1]


async def _deals(person: Person, table: str, count: int) -> list[event_pb2.DealStarted]:
    """The deals so far, when there are so many."""
    async with asyncio.timeout(PATIENCE):
        while True:
            events = await history(person, table)
            deals = [e.deal_started for e in events if payload(e) == "deal_started"]
            if len(deals) >= count:
                return deals[:count]
            await asyncio.sleep(0.01)


async def _play(person: Person, table: str, deals: int) -> None:
    """Plays until so many deals have started."""
    async with asyncio.timeout(PATIENCE):
        while (view := await person.view(table)).game.deal < deals:
            if view.decision.HasField("choices"):
                await person.act(table, view.decision.id, first_choice(view.decision.choices))
            await asyncio.sleep(0)


# Tables of programs


async def two_bots(serve: Serve, meet: Meet, *, adding: bool) -> tuple[Pass, str, list[Person]]:
    """Two remote bots and a built-in one, whose first deal has just ended; time stands still."""
    time = SetClock()
    server = await serve(PATIENT, clock=time)
    host, *bots = (meet(server, name) for name in ("host", "Ann", "Bob"))
    table = await host.open_table(table_pb2.TableOptions(seats=3, threshold=100))
    source = (await host.view(table)).source
    nonce = {"nonce": b"1", "commitment": source.commitment} if adding else {}
    await host.add_bot(table)
    for bot in bots:
        await bot.sit(table, occupant=BOT, **nonce)
    await asyncio.gather(*(_until_over(bot, table) for bot in bots))
    return partial(time.let_pass, server=server), table, bots


async def _until_over(person: Person, table: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not (view := await person.view(table)).game.HasField("out_seat"):
            if view.game.deal > 1:
                return
            if view.decision.HasField("choices"):
                await person.act(table, view.decision.id, first_choice(view.decision.choices))
            await asyncio.sleep(0)


async def test_a_deal_of_programs_waits_for_those_that_gave_a_nonce_before(
    serve: Serve, meet: Meet
) -> None:
    let_pass, table, (ann, bob) = await two_bots(serve, meet, adding=True)
    await give(ann, table, b"2")
    let_pass(0.2)
    assert (await ann.view(table)).phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS
    await give(bob, table, b"2")
    view = await ann.view(table)
    assert (view.game.deal, nonces_of(view)) == (2, [b"", b"2", b"2"])


async def test_a_deal_of_programs_waits_for_a_quarter_of_a_second_and_no_longer(
    serve: Serve, meet: Meet
) -> None:
    let_pass, table, (ann, _) = await two_bots(serve, meet, adding=True)
    await give(ann, table, b"2")
    let_pass(commands.PROGRAM_WAIT / 1e6)
    (*_, started) = await _deals(ann, table, 2)
    assert list(started.source.nonces) == [b"", b"2", b""]


async def test_a_deal_of_programs_waits_for_none_that_never_gave_a_nonce(
    serve: Serve, meet: Meet
) -> None:
    _, table, (ann, _) = await two_bots(serve, meet, adding=False)
    assert len(await _deals(ann, table, 2)) == 2, "although the time stands still"


async def test_a_deal_costs_whoever_starts_it_quota(serve: Serve, meet: Meet) -> None:
    """Opening, starting and closing tables makes the server work: some tables, and no more."""
    limits = replace(Limits(), calls_per_second_per_credential=1.0, calls_for_a_deal=8)
    server = await serve(replace(PATIENT, limits=limits))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    await ann.add_bot(table)
    await ready(ann, table, b"a")
    assert (await meet(server, "Bob").view(table)).phase == table_pb2.TABLE_PHASE_PLAYING
    await too_many(ann.view(table), "calls_per_second_per_credential")
