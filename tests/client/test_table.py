"""Folding the stream gives exactly what a snapshot holds, at every number of a whole game."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta

import pytest

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_client.table.model import CHAT_KEPT, OutOfStepError, TableModel
from odin_client.table.updates import SnapshotTaken
from odin_contract import reading
from odin_contract.enums import Phase
from odin_contract.events import ChatSaid, Event, PresenceChanged
from odin_contract.values import (
    Action,
    Options,
    PlayCards,
    TableView,
)
from odin_server.main import Server
from odin_server.settings import Settings
from odin_server.table.commands import give_back_time
from odin_table.v1 import event_pb2, play_pb2, table_pb2
from tests.client.conftest import Connect, seated
from tests.support.clocks import SetClock
from tests.support.patience import PATIENCE


class Follower:
    """Follows a table and keeps what it knew after each number."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known: dict[int, TableView] = {}
        self._slow = TableModel()
        self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async for _ in self.session.follow(tap=self._see):
            pass

    def _see(self, item: play_pb2.WatchTableResponse) -> None:
        # One event at a time, so that the numbers within a batch are seen as well.
        for event in item.events.events:
            batch = event_pb2.EventBatch(events=[event])
            self._slow.apply(play_pb2.WatchTableResponse(events=batch))
            self.known[event.seq] = self._slow.view
        if item.HasField("snapshot"):
            self._slow.apply(item)
            self.known[self._slow.seq] = self._slow.view

    async def check_now(self) -> int:
        """Compares with what the server shows at this moment; gives the number."""
        connection = self.session.connection
        request = play_pb2.GetViewRequest(table=self.session.table.table, code=self.session.code)
        view = reading.view_of((await connection.call(connection.table.GetView, request)).view)
        async with asyncio.timeout(PATIENCE):
            while view.seq not in self.known:
                if self._task.done():
                    self._task.result()
                await asyncio.sleep(0.001)
        assert self.known[view.seq] == view
        return view.seq

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def lowest_play(table: TableModel) -> Action:
    """The first legal play, and in two of three cases its pick-up; sometimes a pass (R10)."""
    decision = table.decision
    assert decision is not None
    assert decision.default_action is not None
    if not decision.plays or (decision.may_pass and decision.id % 4 == 0):
        return decision.default_action
    play = decision.plays[0]
    names_it = decision.pick_ups and not play.goes_out and decision.id % 3
    return PlayCards(play.set.cards, decision.pick_ups[-1] if names_it else None)


async def play_on(followers: list[Follower], until: Phase) -> None:
    """Everybody plays, and everybody's model is compared after each act."""
    while True:
        seqs = [await follower.check_now() for follower in followers]
        tables = [follower.session.table for follower in followers]
        if any(table.phase is until for table in tables):
            return
        if len(set(seqs)) > 1:
            continue  # the next deal has just started
        for follower, table in zip(followers, tables, strict=True):
            if table.my_turn and table.seq == seqs[0]:
                await follower.session.act(lowest_play(table))
                break


async def test_folding_equals_the_snapshot_at_every_number_of_two_games(connect: Connect) -> None:
    sessions = await seated(connect, "Ann", "Bob", "Zoe", options=Options(seats=4, threshold=5))
    table = sessions[0].table.table
    followers = [Follower(session) for session in [*sessions, Session(await connect(), table)]]
    ann, bob, zoe, watcher = (follower.session for follower in followers)
    try:
        for session in (ann, bob, zoe):
            await session.ready()
            for follower in followers:
                await follower.check_now()
        await play_on(followers, Phase.GAME_OVER)
        assert ann.table.game is not None
        assert watcher.table.game is not None
        assert max(player.total for player in ann.table.game.players) >= 5
        await bob.rematch()
        await zoe.leave()
        for follower in followers:
            await follower.check_now()
        assert watcher.table.phase is Phase.WAITING
        # Who played is known as long as the game is, whoever sits there now.
        assert watcher.table.seats[2].free
        assert [player.name for player in watcher.table.game.players] == ["Ann", "Bob", "Zoe"]
        await ann.add_bot("greedy")
        await ann.remove_bot(2)
        await ann.ready()
        for follower in followers:
            await follower.check_now()
        await play_on(followers, Phase.GAME_OVER)
        assert bob.table.game is not None
        assert bob.table.game.game == 2
        await ann.leave()
        for follower in followers:
            await follower.check_now()
        assert bob.table.i_am_host
        await bob.close_table()
        for follower in followers:
            await follower.check_now()
        assert watcher.table.closed
    finally:
        for follower in followers:
            await follower.stop()


async def test_folding_equals_the_snapshot_while_a_substitute_plays(connect: Connect) -> None:
    sessions = await seated(connect, "Ann", "Bob", options=Options(seats=2, threshold=None))
    followers = [Follower(session) for session in sessions]
    ann, bob = sessions
    try:
        await ann.start()
        await bob.leave()
        for follower in followers:
            await follower.check_now()
        assert ann.table.seats[1].substituted
        await bob.take_seat("Bob")
        for follower in followers:
            await follower.check_now()
        await play_on(followers, Phase.GAME_OVER)
        assert not ann.table.seats[1].substituted
    finally:
        for follower in followers:
            await follower.stop()


async def test_folding_equals_the_snapshot_when_somebody_takes_the_seat_of_whoever_left(
    connect: Connect,
) -> None:
    options = Options(seats=2, threshold=None, private=True)
    (ann,) = await seated(connect, "Ann", options=options)
    bob = await Session.sit_down(await connect(), ann.table.table, name="Bob", code=ann.code)
    zoe = Session(await connect(), ann.table.table, code=ann.code)
    followers = [Follower(session) for session in (ann, bob, zoe)]
    try:
        await ann.start()
        await bob.leave()
        for follower in followers:
            await follower.check_now()
        assert ann.table.seats[1].abandoned
        await zoe.take_seat("Zoe")
        for follower in followers:
            await follower.check_now()
        assert bob.table.my_seat is None
        assert bob.table.hand == ()
        assert bob.table.code == ""
        assert len(zoe.table.hand) in range(1, 10)
        await play_on(followers, Phase.GAME_OVER)
        assert [seat.name for seat in bob.table.seats] == ["Ann", "Zoe"]
        assert bob.table.game is not None
        assert [player.name for player in bob.table.game.players] == ["Ann", "Zoe"]
    finally:
        for follower in followers:
            await follower.stop()


async def test_folding_equals_the_snapshot_under_a_clock() -> None:
    """Banks are charged, times run out, and time is given back."""
    time = SetClock()
    settings = Settings(port=0, deal_pause=3600, away_budget=36000, seed=7)
    server = Server(settings, clock=time)
    await server.start()
    address = Address("127.0.0.1", server.port)
    followers: list[Follower] = []

    async def connect() -> Connection:
        return await Connection.open(address, Credential.new())

    try:
        options = Options(seats=2, threshold=None, turn_time=10, bank=30)
        sessions = await seated(connect, "Ann", "Bob", options=options)
        table = sessions[0].table.table
        followers = [Follower(session) for session in [*sessions, Session(await connect(), table)]]
        await sessions[0].start()
        for step in range(30):
            seqs = [await follower.check_now() for follower in followers]
            if len(set(seqs)) > 1:
                continue
            turn = next((session for session in sessions if session.table.my_turn), None)
            if turn is None:
                break
            time.let_pass((3, 12, 0, 50, 10.5)[step % 5], server)
            if step % 3 == 0:
                found = await server.lobby.find(table, "", None)
                await found.submit(lambda d: give_back_time(d, 2_500_000))
            with contextlib.suppress(Refused):  # too late: the default action was taken
                await turn.act(lowest_play(turn.table))
        game = followers[-1].session.table.game
        assert game is not None
        banks = [player.bank for player in game.players]
        assert all(bank is not None and bank < timedelta(seconds=30) for bank in banks)
    finally:
        for follower in followers:
            await follower.stop()
            await follower.session.connection.close()
        await server.stop()


# Without a server


def item(*seqs: int) -> play_pb2.WatchTableResponse:
    events = [event_pb2.Event(seq=seq) for seq in seqs]
    return play_pb2.WatchTableResponse(events=event_pb2.EventBatch(events=events))


def test_events_that_are_known_already_are_skipped() -> None:
    table = TableModel()
    assert [type(update) for update in table.apply(item(1, 2))] == [Event, Event]
    assert [update.seq for update in table.apply(item(2, 3)) if isinstance(update, Event)] == [3]
    assert table.seq == 3


def test_a_hole_is_noticed() -> None:
    table = TableModel()
    table.apply(item(1))
    with pytest.raises(OutOfStepError):
        table.apply(item(3))


def test_an_item_of_a_later_version_is_stepped_over() -> None:
    later = play_pb2.WatchTableResponse.FromString(b"\xc2\x0c\x00")
    assert TableModel().apply(later) == []


def test_chat_lines_that_come_again_are_heard_once() -> None:
    table = TableModel()

    def say(*numbers: int) -> list[int]:
        lines = [event_pb2.ChatLine(number=n, name="Bob", text=f"{n}") for n in numbers]
        heard = table.apply(play_pb2.WatchTableResponse(chat=event_pb2.Chat(lines=lines)))
        return [update.line.number for update in heard if isinstance(update, ChatSaid)]

    assert say(1, 2) == [1, 2]
    assert say(1, 2, 3) == [3]
    assert say(*range(4, CHAT_KEPT + 50)) == [*range(4, CHAT_KEPT + 50)]
    assert len(table.chat) == CHAT_KEPT
    assert table.chat[-1].text == f"{CHAT_KEPT + 49}"


def test_who_went_away_and_is_there_again_is_said_once() -> None:
    table = TableModel()

    def told(*connected: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        notice = event_pb2.Presence()
        for seat, there in enumerate(connected):
            notice.seats.add(seat=seat, connected=there)
        (update,) = table.apply(play_pb2.WatchTableResponse(presence=notice))
        assert isinstance(update, PresenceChanged)
        return update.gone, update.back

    assert told(True) == ((), ())
    assert told(True, False) == ((), ()), "somebody sits down, and has no stream yet"
    assert told(True, True) == ((), ())
    assert told(False, True) == ((0,), ())
    assert told(False, False) == ((1,), ())
    assert told(False, False) == ((), ())
    assert told(True, False) == ((), (0,))
    assert told(True) == ((), ()), "seat 1 is free"
    assert told(True, True) == ((), ()), "somebody else sits there"


def test_a_snapshot_replaces_all_that_was_known() -> None:
    table = TableModel()
    table.apply(item(1, 2, 3))
    view = table_pb2.TableView(table="ABCD", log_id="x", seq=2)
    assert table.apply(play_pb2.WatchTableResponse(snapshot=view)) == [SnapshotTaken()]
    assert (table.table, table.seq, table.game) == ("ABCD", 2, None)
    assert table.view == reading.view_of(view)
