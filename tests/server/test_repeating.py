"""The same request again gives the same answer again, and is done once."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import grpc
import pytest

from odin_server.event_log import MemoryLog
from odin_server.table.chat import Line
from odin_server.table.events import Batch, RequestKey
from odin_table.v1 import chat_pb2, history_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused, first_choice, play_until


async def twice(person: Person, method: Any, request: Any) -> tuple[Any, Any]:
    """The answers to a request and to its repetition, which says that it is one."""
    first = await person.call(method, request)
    again = await person.call(method, request)
    assert not first.replayed
    assert again.replayed
    again.replayed = False
    assert again == first
    return first, again


async def history_length(person: Person, table: str) -> int:
    request = history_pb2.GetHistoryRequest(table=table)
    return len((await person.call(person.history.GetHistory, request)).events)


async def test_every_changing_call_can_be_repeated(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    private = table_pb2.TableOptions(visibility=table_pb2.VISIBILITY_PRIVATE)
    opened, _ = await twice(
        ann, ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(request_id="1", options=private)
    )
    table, code = opened.table, opened.code
    lobby = lobby_pb2
    await twice(ann, ann.lobby.TakeSeat, lobby.TakeSeatRequest(table=table, name="Ann"))
    await twice(bob, bob.lobby.TakeSeat, lobby.TakeSeatRequest(code=code, name="Bob"))
    bot, _ = await twice(ann, ann.lobby.AddBot, lobby.AddBotRequest(table=table, level="random"))
    remove = lobby.RemoveBotRequest(table=table, seat=bot.seat)
    await twice(ann, ann.lobby.RemoveBot, remove)
    cleo = meet(server, "Cleo")
    sat = await cleo.call(cleo.lobby.TakeSeat, lobby.TakeSeatRequest(code=code, name="Cleo"))
    remove_seat = lobby.RemoveSeatRequest(table=table, seat=sat.seat)
    await twice(ann, ann.lobby.RemoveSeat, remove_seat)
    await twice(bob, bob.lobby.SetReady, lobby.SetReadyRequest(table=table, ready=True))
    await twice(ann, ann.lobby.StartGame, lobby.StartGameRequest(table=table))
    view = await ann.view(table)
    actor = (ann, bob)[view.decision.seat]
    decision = (await actor.view(table)).decision
    await twice(
        actor,
        actor.play.Act,
        play_pb2.ActRequest(
            table=table, decision_id=decision.id, action=first_choice(decision.choices)
        ),
    )
    await twice(bob, bob.lobby.LeaveSeat, lobby.LeaveSeatRequest(table=table))
    await twice(ann, ann.chat.SendChat, chat_pb2.SendChatRequest(table=table, text="bye"))
    await twice(ann, ann.lobby.CloseTable, lobby.CloseTableRequest(table=table))
    length = await history_length(ann, table)
    assert length == (await ann.view(table)).seq


async def test_leaving_a_private_table_can_be_repeated(serve: Serve, meet: Meet) -> None:
    """Whoever has left may not enter any more, and still gets the old answers."""
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    private = table_pb2.TableOptions(visibility=table_pb2.VISIBILITY_PRIVATE)
    opened = await ann.call(ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(options=private))
    sit = lobby_pb2.TakeSeatRequest(request_id="sit", code=opened.code, name="Bob")
    seat = await bob.call(bob.lobby.TakeSeat, sit)
    await twice(bob, bob.lobby.LeaveSeat, lobby_pb2.LeaveSeatRequest(table=opened.table))
    again = await bob.call(bob.lobby.TakeSeat, sit)
    assert (again.seat, again.seq, again.replayed) == (seat.seat, seat.seq, True)
    with pytest.raises(Refused) as caught:
        await bob.view(opened.table)
    assert caught.value.reason == "TABLE_NOT_FOUND"


async def test_a_rematch_can_be_repeated(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    await ann.sit(table)
    await ann.add_bot(table)
    await ann.ready(table)
    await play_until(ann, table)
    await twice(ann, ann.lobby.Rematch, lobby_pb2.RematchRequest(table=table, request_id="again"))


async def test_an_action_that_was_answered_late_is_not_done_twice(serve: Serve, meet: Meet) -> None:
    """A repetition long after the game has moved on still gets the first answer."""
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    await bob.sit(table)
    await ann.start(table)
    people = (ann, bob)
    decision = (await ann.view(table)).decision
    actor = people[decision.seat]
    choices = (await actor.view(table)).decision.choices
    request = play_pb2.ActRequest(
        request_id="early", table=table, decision_id=decision.id, action=first_choice(choices)
    )
    first = await actor.call(actor.play.Act, request)
    for _ in range(4):
        now = (await ann.view(table)).decision
        other = people[now.seat]
        choices = (await other.view(table)).decision.choices
        await other.act(table, now.id, first_choice(choices))
    before = await history_length(ann, table)
    again = await actor.call(actor.play.Act, request)
    assert (again.seq, again.replayed) == (first.seq, True)
    assert await history_length(ann, table) == before


async def test_a_request_id_with_other_content_is_refused(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    request = lobby_pb2.CreateTableRequest(request_id="one")
    table = (await ann.call(ann.lobby.CreateTable, request)).table
    others: list[tuple[Any, Any]] = [
        (
            ann.lobby.CreateTable,
            lobby_pb2.CreateTableRequest(request_id="one", options=table_pb2.TableOptions(seats=3)),
        ),
        (
            ann.lobby.TakeSeat,
            lobby_pb2.TakeSeatRequest(request_id="one", table=table, name="Ann"),
        ),
    ]
    for method, other in others:
        with pytest.raises(Refused) as caught:
            await ann.call(method, other)
        assert caught.value.reason == "REQUEST_ID_REUSED"
        assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    # Whoever may not do it at all is told that first, in the order of error.proto.
    await bob.call(bob.lobby.CreateTable, lobby_pb2.CreateTableRequest(request_id="two"))
    with pytest.raises(Refused) as caught:
        await bob.call(
            bob.lobby.StartGame, lobby_pb2.StartGameRequest(request_id="two", table=table)
        )
    assert caught.value.reason == "NOT_ALLOWED"
    # Unique per credential: somebody else may use the same id.
    assert (await bob.call(bob.lobby.CreateTable, request)).table != table


async def test_the_same_request_many_times_at_once_is_done_once(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    opening = lobby_pb2.CreateTableRequest(request_id="open")
    opened = await asyncio.gather(*(ann.call(ann.lobby.CreateTable, opening) for _ in range(10)))
    assert len({answer.table for answer in opened}) == 1
    assert [answer.replayed for answer in opened].count(False) == 1
    table = opened[0].table
    sit = lobby_pb2.TakeSeatRequest(request_id="sit", table=table, name="Ann")
    seated = await asyncio.gather(*(ann.call(ann.lobby.TakeSeat, sit) for _ in range(10)))
    assert {answer.seat for answer in seated} == {0}
    assert [answer.replayed for answer in seated].count(False) == 1
    assert await history_length(ann, table) == 3, "opened, committed to a deal, seat taken"
    listed = await ann.call(ann.lobby.ListTables, lobby_pb2.ListTablesRequest())
    assert [summary.table for summary in listed.tables] == [table]


async def test_what_can_be_done_only_once_is_not_refused_to_the_same_request_at_the_same_time(
    serve: Serve, meet: Meet
) -> None:
    """The second comes while the first is being done, and finds the decision answered."""
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    table = await ann.open_table()
    await ann.sit(table)
    await bob.sit(table)
    await ann.start(table)
    seat = (await ann.view(table)).decision.seat
    actor = (ann, bob)[seat]
    decision = (await actor.view(table)).decision
    act = play_pb2.ActRequest(
        request_id="act",
        table=table,
        decision_id=decision.id,
        action=first_choice(decision.choices),
    )
    closing = lobby_pb2.CloseTableRequest(request_id="close", table=table)
    for person, method, request in (
        (actor, actor.play.Act, act),
        (ann, ann.lobby.CloseTable, closing),
    ):
        answers = await asyncio.gather(*(person.call(method, request) for _ in range(10)))
        assert len({answer.seq for answer in answers}) == 1
        assert [answer.replayed for answer in answers].count(False) == 1


class _SlowLog(MemoryLog):
    """Keeps nothing before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.may = asyncio.Event()
        self.may.set()

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        self.asked.set()
        await self.may.wait()
        await super().append(table, expected_seq, batch)

    async def say(self, table: str, line: Line, request: RequestKey) -> int:
        self.asked.set()
        await self.may.wait()
        return await super().say(table, line, request)


async def test_what_a_caller_who_has_gone_asked_for_is_done_whole(serve: Serve, meet: Meet) -> None:
    log = _SlowLog()
    server = await serve(log=log)
    ann = meet(server, "Ann")
    table = await ann.open_table()
    requests: list[tuple[Any, Any]] = [
        (ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(request_id="open")),
        (ann.lobby.TakeSeat, lobby_pb2.TakeSeatRequest(request_id="sit", table=table, name="Ann")),
        (ann.chat.SendChat, chat_pb2.SendChatRequest(request_id="say", table=table, text="hello")),
    ]
    for method, request in requests:
        log.asked.clear()
        log.may.clear()
        call = method(request, metadata=ann.metadata)
        await asyncio.wait_for(log.asked.wait(), PATIENCE)
        call.cancel()
        calls = server._calls  # pyright: ignore[reportPrivateUsage] -- when it has heard of that
        async with asyncio.timeout(PATIENCE):
            while calls._under_way:  # noqa: ASYNC110  # pyright: ignore[reportPrivateUsage]
                await asyncio.sleep(0.01)
        log.may.set()
        assert (await ann.call(method, request)).replayed
    listed = await ann.call(ann.lobby.ListTables, lobby_pb2.ListTablesRequest())
    assert len(listed.tables) == 2, "the table that was opened is there for everybody"
    async with aclosing(ann.watch(table)) as items:
        chat = await anext(item.chat async for item in items if item.HasField("chat"))
    assert [line.text for line in chat.lines] == ["hello"]


async def test_chat_with_a_known_request_id_and_other_text_is_refused(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    say = chat_pb2.SendChatRequest(request_id="line", table=table, text="hello")
    await twice(ann, ann.chat.SendChat, say)
    say.text = "good bye"
    with pytest.raises(Refused) as caught:
        await ann.call(ann.chat.SendChat, say)
    assert caught.value.reason == "REQUEST_ID_REUSED"
