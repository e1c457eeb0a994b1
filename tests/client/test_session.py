"""Following and acting, also over a line that breaks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta

import pytest

from odin_cli.speech.complaints import complaint
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection, new_request_id
from odin_client.connection.credential import Credential
from odin_client.errors import CredentialRefused, Refused, Unreachable
from odin_client.session import following
from odin_client.session.session import Session
from odin_client.table.model import TableModel
from odin_client.table.updates import LinkChanged, SnapshotTaken, Update
from odin_contract.enums import Occupant, Phase, StreamEndReason
from odin_contract.events import ChatSaid, Event, PresenceChanged, StreamEnded
from odin_contract.values import Options, Pass, PlayCards
from odin_engine import Card
from odin_server.main import Server
from odin_server.settings import Settings
from odin_table.v1 import lobby_pb2
from tests.client.conftest import Connect, seated
from tests.support.cut_line import CutLine
from tests.support.patience import PATIENCE


class Watching:
    """Follows a session in a task of its own and keeps what it reports."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.updates: list[Update] = []
        self._news = asyncio.Condition()
        self.task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async for update in self.session.follow():
            async with self._news:
                self.updates.append(update)
                self._news.notify_all()

    async def until(self, condition: Callable[[TableModel], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: condition(self.session.table))

    async def until_seen(self, wanted: Callable[[Update], bool]) -> Update:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: any(map(wanted, self.updates)))
        return next(filter(wanted, self.updates))

    def seqs(self) -> list[int]:
        return [update.seq for update in self.updates if isinstance(update, Event)]


@pytest.fixture
async def watching() -> AsyncGenerator[Callable[[Session], Watching]]:
    """Starts following; ends it after the test."""
    started: list[Watching] = []

    def start(session: Session) -> Watching:
        started.append(Watching(session))
        return started[-1]

    yield start
    for one in started:
        one.task.cancel()
    await asyncio.gather(*(one.task for one in started), return_exceptions=True)


def offline(update: Update) -> bool:
    return isinstance(update, LinkChanged) and not update.online


def online(update: Update) -> bool:
    return isinstance(update, LinkChanged) and update.online


Follow = Callable[[Session], Watching]


async def test_a_seat_sees_its_hand_and_a_watcher_does_not(
    connect: Connect, watching: Follow
) -> None:
    ann, bob = await seated(connect, "Ann", "Bob")
    looking_on = watching(Session(await connect(), ann.table.table))
    playing = watching(ann)
    await bob.ready()
    await ann.ready()
    for one in (looking_on, playing):
        await one.until(lambda table: table.phase is Phase.PLAYING)
    assert len(ann.table.hand) == 9
    assert ann.table.my_seat == 0
    assert looking_on.session.table.hand == ()
    assert looking_on.session.table.my_seat is None
    assert not looking_on.session.table.my_turn


async def test_a_stream_resumes_without_a_hole_after_the_line_broke(
    connect: Connect, watching: Follow, line: CutLine
) -> None:
    (ann,) = await seated(connect, "Ann")
    over_there = await Connection.open(line.address, Credential.new())
    far = watching(await Session.sit_down(over_there, ann.table.table, name="Far"))
    await far.until(lambda table: bool(table.presence))
    await line.cut()
    lost = await far.until_seen(offline)
    assert isinstance(lost, LinkChanged)
    assert lost.kept_until is not None
    left = lost.kept_until - far.session.server_now()
    assert timedelta(seconds=60) < left <= timedelta(seconds=121), "two minutes, as it is usual"
    await ann.add_bot()
    await ann.chat("are you there?")
    await line.mend()
    far.session.retry_now()
    await far.until_seen(online)
    await far.until_seen(lambda update: isinstance(update, ChatSaid))
    await ann.start()
    await far.until(lambda table: table.phase is Phase.PLAYING)
    # One snapshot at the start, and each event once from there on.
    assert [type(update) for update in far.updates].count(SnapshotTaken) == 1
    assert far.seqs() == list(range(far.seqs()[0], far.session.table.seq + 1))
    assert far.session.link.online
    await over_there.close()


async def test_a_silent_line_counts_as_broken(
    connect: Connect,
    watching: Follow,
    line: CutLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "SILENCE", 0.5)
    (ann,) = await seated(connect, "Ann")
    over_there = await Connection.open(line.address, Credential.new())
    far = watching(Session(over_there, ann.table.table))
    await far.until(lambda table: bool(table.log_id))
    line.hold_answers()
    problem = await far.until_seen(offline)
    assert isinstance(problem, LinkChanged)
    assert "silent" in problem.problem
    await over_there.close()


async def test_a_call_whose_answer_was_lost_is_repeated_and_done_once(
    connect: Connect, watching: Follow, line: CutLine
) -> None:
    (ann,) = await seated(connect, "Ann", options=Options(seats=2))
    over_there = await Connection.open(line.address, Credential.new())
    far = await Session.sit_down(over_there, ann.table.table, name="Far")
    near = watching(ann)
    await near.until(lambda table: len(table.taken_seats) == 2)
    line.hold_answers()
    saying = asyncio.create_task(far.chat("hello"))
    # It was done, though nobody told the client; then the line breaks, and the client repeats it.
    await near.until(lambda table: len(table.chat) == 1)
    await line.cut()
    await line.mend()
    await asyncio.wait_for(saying, PATIENCE)
    await ann.chat("now")
    await near.until(lambda table: table.chat[-1].text == "now")
    assert [line.text for line in ann.table.chat] == ["hello", "now"]
    await over_there.close()


async def test_a_call_is_given_up_when_the_patience_is_over(line: CutLine) -> None:
    connection = await Connection.open(line.address, Credential.new())
    await line.cut()
    with pytest.raises(Unreachable, match=f"No server answers at {line.address.server}"):
        await connection.call(
            connection.lobby.CreateTable,
            lobby_pb2.CreateTableRequest(request_id=new_request_id()),
            patience=1,
        )
    await connection.close()


async def test_following_is_given_up_when_the_patience_is_over(
    connect: Connect, line: CutLine
) -> None:
    (ann,) = await seated(connect, "Ann")
    connection = await Connection.open(line.address, Credential.new())
    await line.cut()
    with pytest.raises(Unreachable):
        async for _ in Session(connection, ann.table.table).follow(patience=0.5):
            pass
    await connection.close()


async def test_refusals_are_typed_and_carry_their_facts(connect: Connect, watching: Follow) -> None:
    ann, bob = await seated(connect, "Ann", "Bob", options=Options(seats=2))
    both = [watching(ann), watching(bob)]
    await ann.start()
    for one in both:
        await one.until(lambda table: table.decision is not None)
    mine, other = (ann, bob) if ann.table.my_turn else (bob, ann)
    with pytest.raises(Refused) as refusal:
        await mine.act(Pass())
    assert refusal.value.reason == "ILLEGAL_ACTION"
    assert refusal.value.facts["rule"] == "R5"
    assert refusal.value.call == "Act"
    assert refusal.value.code == "FAILED_PRECONDITION"
    with pytest.raises(Refused, match=r".+") as refusal:
        await other.act(PlayCards((Card.parse("R1"),)))
    assert refusal.value.reason == "NOT_YOUR_TURN"
    with pytest.raises(Refused) as refusal:
        await mine.act(Pass(), decision_id=1)
    assert refusal.value.reason == "STALE_DECISION"


async def test_a_credential_that_is_none_is_refused_for_good(address: Address) -> None:
    with pytest.raises(CredentialRefused) as refused:
        await Connection.open(address, Credential("short"))
    assert "file of credentials" in complaint(refused.value)


async def test_a_table_that_is_not_there_ends_following(connect: Connect) -> None:
    with pytest.raises(Refused) as refusal:
        async for _ in Session(await connect(), "NOPE").follow():
            pass
    assert refusal.value.reason == "TABLE_NOT_FOUND"


async def test_the_end_of_the_table_ends_following(connect: Connect, watching: Follow) -> None:
    (ann,) = await seated(connect, "Ann")
    far = watching(Session(await connect(), ann.table.table))
    await far.until(lambda table: bool(table.log_id))
    await ann.close_table()
    await asyncio.wait_for(far.task, PATIENCE)
    assert far.session.table.closed
    last = far.updates[-1]
    assert isinstance(last, StreamEnded)
    assert last.reason is StreamEndReason.TABLE_CLOSED


async def test_a_seat_that_is_followed_from_elsewhere_is_not_fought_over(
    connect: Connect, address: Address, watching: Follow
) -> None:
    credential = Credential.new()
    first, second = [await Connection.open(address, credential) for _ in range(2)]
    ann = await Session.open_table(first)
    await ann.take_seat("Ann")
    here = watching(ann)
    await here.until(lambda table: bool(table.log_id))
    there = watching(Session(second, ann.table.table))
    await asyncio.wait_for(here.task, PATIENCE)
    last = here.updates[-1]
    assert isinstance(last, StreamEnded)
    assert last.reason is StreamEndReason.SUPERSEDED
    await there.until(lambda table: table.my_seat == 0)
    assert not there.task.done()
    await first.close()
    await second.close()


async def test_nobody_notices_that_streams_are_renewed(watching: Follow) -> None:
    settings = Settings(
        port=0, bot_delay=0.05, seed=7, heartbeat=0.05, stream_life_least=0.1, stream_life_most=0.2
    )
    server = Server(settings)
    await server.start()
    address = Address("127.0.0.1", server.port)

    async def connect() -> Connection:
        return await Connection.open(address, Credential.new())

    sessions: list[Session] = []
    try:
        sessions += await seated(connect, "Ann", "Bob", options=Options(seats=4))
        ann, bob = sessions
        one = watching(ann)
        await one.until(lambda table: bool(table.log_id))
        other = watching(bob)
        for _ in range(2):
            await ann.add_bot("greedy")
        await ann.start()
        async with asyncio.timeout(PATIENCE):
            while min(_renewals(one), _renewals(other)) < 4 or ann.table.seq < 40:
                for session in sessions:
                    if session.table.my_turn and session.table.decision:
                        with contextlib.suppress(Refused):
                            assert session.table.decision.default_action is not None
                            await session.act(session.table.decision.default_action)
                await asyncio.sleep(0.01)
        for seen in (one, other):
            assert not any(isinstance(update, LinkChanged) for update in seen.updates)
            assert seen.seqs() == list(range(seen.seqs()[0], seen.seqs()[-1] + 1))
            assert sum(isinstance(update, SnapshotTaken) for update in seen.updates) == 1
        told = [update for update in one.updates if isinstance(update, PresenceChanged)]
        came = next(i for i, update in enumerate(told) if all(s.connected for s in update.seats))
        assert all(seat.connected for update in told[came:] for seat in update.seats)
    finally:
        for session in sessions:
            await session.close()
        await server.stop()


def _renewals(watching: Watching) -> int:
    return sum(
        isinstance(update, StreamEnded) and update.reason is StreamEndReason.RENEW
        for update in watching.updates
    )


async def test_closing_ends_following(connect: Connect, watching: Follow) -> None:
    (ann,) = await seated(connect, "Ann")
    here = watching(ann)
    await here.until(lambda table: bool(table.log_id))
    await ann.close()
    await asyncio.wait_for(here.task, PATIENCE)


async def test_a_session_that_was_closed_before_follows_nothing(connect: Connect) -> None:
    (ann,) = await seated(connect, "Ann")
    await ann.close()
    assert [update async for update in ann.follow()] == []


async def test_a_watcher_who_sits_down_sees_the_table_from_the_seat(
    connect: Connect, watching: Follow
) -> None:
    (ann,) = await seated(connect, "Ann", options=Options(seats=2))
    bob = Session(await connect(), ann.table.table)
    looking = watching(bob)
    await looking.until(lambda table: bool(table.log_id))
    assert await bob.take_seat("Bob") == 1
    await ann.start()
    await looking.until(lambda table: len(table.hand) == 9)
    assert bob.table.my_seat == 1


async def test_a_private_table_is_entered_with_its_code(connect: Connect, watching: Follow) -> None:
    ann = await Session.open_table(await connect(), Options(private=True))
    assert len(ann.code) == 8
    with pytest.raises(Refused):
        await Session.sit_down(await connect(), ann.table.table, name="Bob")
    bob = await Session.sit_down(await connect(), "", name="Bob", code=ann.code.lower())
    assert bob.table.table == ann.table.table
    looking = watching(Session(await connect(), ann.table.table, code=ann.code))
    await looking.until(lambda table: any(seat.name == "Bob" for seat in table.seats))


async def test_a_program_says_that_it_is_one(connect: Connect, watching: Follow) -> None:
    ann = await Session.open_table(await connect(), Options(open_to_bots=False))
    with pytest.raises(Refused) as refusal:
        await Session.sit_down(
            await connect(), ann.table.table, name="Robot", occupant=Occupant.REMOTE_BOT
        )
    assert refusal.value.reason == "NOT_ALLOWED"


async def test_a_server_that_stops_says_when_to_come_back(
    watching: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(Settings(port=0, drain_retry_after=0.1))
    await server.start()
    connection = await Connection.open(Address("127.0.0.1", server.port), Credential.new())
    ann = await Session.open_table(connection)
    here = watching(ann)
    await here.until(lambda table: bool(table.log_id))
    await server.stop()
    problem = await here.until_seen(offline)
    assert isinstance(problem, LinkChanged)
    assert "restart" in problem.problem
    await connection.close()
