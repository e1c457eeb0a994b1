"""Wrong input of every kind gets a typed refusal, and changes nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Iterable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from odin_engine import IllegalAction
from odin_server.edge import calls
from odin_server.errors import Reason
from odin_server.event_log import MemoryLog, StoreUnavailable
from odin_server.table.events import Batch
from odin_table.v1 import (
    card_pb2,
    chat_pb2,
    decision_pb2,
    error_pb2,
    history_pb2,
    lobby_pb2,
    play_pb2,
    table_pb2,
)
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import (
    Person,
    Refused,
    bearer,
    first_choice,
    payload,
    play_until,
)

PASS = decision_pb2.Action(pass_turn=decision_pb2.PassTurn())
ERRORS = Path(__file__).parents[2] / "proto/odin_table/v1/error.proto"


def play(*cards: int, pick_up: int = 0) -> decision_pb2.Action:
    """A play of these cards, by their numbers in the contract."""
    message = decision_pb2.PlayCards()
    message.ParseFromString(
        # Also numbers that are no card: a client in another language can send them.
        b"".join(b"\x08" + bytes([card]) for card in cards)
        + (b"\x10" + bytes([pick_up]) if pick_up else b"")
    )
    return decision_pb2.Action(play_cards=message)


async def refused(call: Awaitable[Any], reason: str, code: grpc.StatusCode) -> Refused:
    with pytest.raises(Refused) as caught:
        await call
    assert (caught.value.reason, caught.value.code) == (reason, code), caught.value
    assert caught.value.message, "a refusal says what happened"
    return caught.value


class Opening:
    """A table of two at the first decision: who has to act, who waits, and what may be played."""

    def __init__(self, table: str, turn: Person, waits: Person, view: table_pb2.TableView) -> None:
        self.table = table
        self.turn = turn
        self.waits = waits
        self.view = view
        self.decision = view.decision
        self.hand = list(view.game.hand.cards)


async def opening(serve: Serve, meet: Meet, **given: Any) -> Opening:
    server = await serve(**given)
    people = [meet(server, "Ann"), meet(server, "Bob")]
    table = await people[0].open_table()
    for person in people:
        await person.sit(table)
    await people[0].start(table)
    seat = (await people[0].view(table)).decision.seat
    turn = people[seat]
    return Opening(table, turn, people[1 - seat], await turn.view(table))


async def unchanged(at: Opening) -> None:
    assert await at.turn.view(at.table) == at.view


class TestIllegalActions:
    """Each names the rule and the facts, and the table is as it was."""

    async def illegal(
        self, at: Opening, action: decision_pb2.Action, rule: str, refusal: str
    ) -> dict[str, str]:
        call = at.turn.act(at.table, at.decision.id, action)
        error = await refused(call, "ILLEGAL_ACTION", grpc.StatusCode.FAILED_PRECONDITION)
        assert (error.facts["rule"], error.facts["refusal"]) == (rule, refusal)
        await unchanged(at)
        return error.facts

    async def test_at_an_opening(self, serve: Serve, meet: Meet) -> None:
        at = await opening(serve, meet)
        others = [card for card in range(1, 55) if card not in at.hand]
        two = at.hand[:2]
        await self.illegal(at, PASS, "R5", "OPENER_MAY_NOT_PASS")
        await self.illegal(at, play(), "R7", "NO_CARDS")
        await self.illegal(at, play(others[0]), "R7", "CARDS_NOT_HELD")
        await self.illegal(at, play(two[0], two[0]), "R1", "SAME_CARD_TWICE")
        facts = await self.illegal(at, play(*two), "R6", "PARTIAL_HAND_OPENING")
        assert facts["needed_counts"] == "1"
        await self.illegal(at, play(two[0], pick_up=others[0]), "R11", "NOTHING_TO_PICK_UP")
        pick_up = decision_pb2.Action(pick_up=decision_pb2.PickUp(card=card_pb2.CARD_R7))
        await self.illegal(at, pick_up, "R11", "NOTHING_TO_PICK_UP")

    async def test_over_a_centre(self, serve: Serve, meet: Meet) -> None:
        at = await opening(serve, meet)
        number = {card: (card - 1) % 9 + 1 for card in range(1, 55)}
        highest = max(at.hand, key=lambda card: number[card])
        await at.turn.act(at.table, at.decision.id, play(highest))
        at = Opening(at.table, at.waits, at.turn, await at.waits.view(at.table))
        lowest = min(at.hand, key=lambda card: number[card])
        facts = await self.illegal(at, play(lowest), "R9", "VALUE_TOO_LOW")
        assert facts["value"] == str(number[lowest])
        assert facts["value_to_beat"] == str(number[highest])
        assert facts["needed_counts"] == "1,2"
        strangers = next(
            [a, b]
            for a in at.hand
            for b in at.hand
            if number[a] != number[b] and (a - 1) // 9 != (b - 1) // 9
        )
        await self.illegal(at, play(*strangers), "R8", "NOT_A_SET")
        largest = max(by_colour(at.hand), key=len)
        assert len(largest) >= 3, "with this seed somebody holds three cards of one colour"
        facts = await self.illegal(at, play(*largest), "R7", "TOO_MANY_CARDS")
        assert facts["count"] == str(len(largest))

    async def test_a_pick_up_that_is_not_there_and_anything_else_while_one_is_due(
        self, serve: Serve, meet: Meet
    ) -> None:
        at = await opening(serve, meet)
        while True:
            view = await at.turn.view(at.table)
            at = Opening(at.table, at.turn, at.waits, view)
            if at.decision.seat != view.your_seat:
                at = Opening(at.table, at.waits, at.turn, await at.waits.view(at.table))
            choices = at.decision.choices
            plays = [p for p in choices.plays if not p.goes_out and len(choices.pick_ups) > 1]
            if plays:
                break
            most = max(choices.plays, key=lambda p: (len(p.cards), p.value), default=None)
            action = play(*most.cards) if most else choices.default_action
            await at.turn.act(at.table, at.decision.id, action)
        own = plays[0].cards
        await self.illegal(at, play(*own, pick_up=own[0]), "R11", "NOT_IN_BEATEN_SET")
        await at.turn.act(at.table, at.decision.id, play(*own))
        view = await at.turn.view(at.table)
        assert view.decision.kind == decision_pb2.DECISION_KIND_PICK_UP  # R13
        assert view.decision.seat == view.your_seat
        at = Opening(at.table, at.turn, at.waits, view)
        await self.illegal(at, PASS, "R13", "PICK_UP_PENDING")
        await self.illegal(at, play(at.hand[0]), "R13", "PICK_UP_PENDING")
        wrong = decision_pb2.Action(pick_up=decision_pb2.PickUp(card=own[0]))
        await self.illegal(at, wrong, "R11", "NOT_IN_BEATEN_SET")
        await at.turn.act(at.table, at.decision.id, at.decision.choices.default_action)

    async def test_too_few_cards(self, serve: Serve, meet: Meet) -> None:
        at = await opening(serve, meet)
        while True:
            view = await at.turn.view(at.table)
            at = Opening(at.table, at.turn, at.waits, view)
            if at.decision.seat != view.your_seat:
                at = Opening(at.table, at.waits, at.turn, await at.waits.view(at.table))
            if len(at.view.game.centre) > 1:
                break
            choices = at.decision.choices
            most = max(choices.plays, key=lambda p: (len(p.cards), p.value), default=None)
            action = play(*most.cards) if most else choices.default_action
            await at.turn.act(at.table, at.decision.id, action)
        facts = await self.illegal(at, play(at.hand[0]), "R7", "TOO_FEW_CARDS")
        assert facts["needed_counts"] == "2,3"


def by_colour(hand: Iterable[int]) -> list[list[int]]:
    return [[card for card in hand if (card - 1) // 9 == colour] for colour in range(6)]


async def test_somebody_elses_turn_and_a_stale_decision(serve: Serve, meet: Meet) -> None:
    at = await opening(serve, meet)
    call = at.waits.act(at.table, at.decision.id, PASS)
    error = await refused(call, "NOT_YOUR_TURN", grpc.StatusCode.FAILED_PRECONDITION)
    assert error.facts["seat"] == str(at.decision.seat)
    call = at.turn.act(at.table, at.decision.id - 1, play(at.hand[0]))
    error = await refused(call, "STALE_DECISION", grpc.StatusCode.ABORTED)
    assert error.facts["decision_id"] == str(at.decision.id)
    await unchanged(at)


async def test_a_nonce_for_another_deal_and_nonces_that_make_no_sense(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)

    async def ready(ready: bool = True, **fields: Any) -> None:
        request = lobby_pb2.SetReadyRequest(table=table, ready=ready, **fields)
        await ann.call(ann.lobby.SetReady, request)

    other = bytes(32)
    await refused(ready(nonce=b"n", commitment=other), "STALE_COMMITMENT", grpc.StatusCode.ABORTED)
    again = lobby_pb2.RematchRequest(table=table, nonce=b"n", commitment=other)
    call = ann.call(ann.lobby.Rematch, again)
    await refused(call, "STALE_COMMITMENT", grpc.StatusCode.ABORTED)
    for field, call in (
        ("nonce", ready(nonce=bytes(33), commitment=other)),
        ("commitment", ready(nonce=b"n")),
        ("nonce", ready(ready=False, nonce=b"n", commitment=other)),
    ):
        error = await refused(call, "MALFORMED", grpc.StatusCode.INVALID_ARGUMENT)
        assert error.fields == [field]
    assert not (await ann.view(table)).seats[0].ready


async def test_a_game_that_is_over_and_one_that_has_not_started(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table(table_pb2.TableOptions(single_deal=True))
    await ann.sit(table)
    precondition = grpc.StatusCode.FAILED_PRECONDITION
    await refused(ann.act(table, 1, PASS), "NOT_STARTED", precondition)
    error = await refused(ann.start(table), "NOT_STARTED", precondition)
    assert error.facts["phase"] == "WAITING"
    await ann.add_bot(table)
    await ann.ready(table)
    await refused(ann.start(table), "ALREADY_STARTED", precondition)
    await refused(ann.ready(table), "ALREADY_STARTED", precondition)
    bob = meet(server, "Bob")
    await refused(bob.sit(table), "ALREADY_STARTED", precondition)
    await refused(bob.act(table, 1, PASS), "NOT_ALLOWED", grpc.StatusCode.PERMISSION_DENIED)
    await play_until(ann, table)
    await refused(ann.act(table, 1, PASS), "GAME_OVER", precondition)
    await refused(ann.ready(table), "GAME_OVER", precondition)
    await refused(ann.add_bot(table), "GAME_OVER", precondition)


async def test_seats_names_and_options_that_cannot_be_had(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob, cleo = (meet(server, name) for name in ("Ann", "Bob", "Cleo"))
    table = await ann.open_table(table_pb2.TableOptions(seats=2, open_to_bots=False))
    await ann.sit(table)
    exists, invalid = grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.INVALID_ARGUMENT
    await refused(bob.sit(table, seat=0), "SEAT_TAKEN", exists)
    error = await refused(bob.sit(table, seat=7), "INVALID_OPTION", invalid)
    assert error.fields == ["seat"]
    same = lobby_pb2.TakeSeatRequest(table=table, name="aNN")
    await refused(bob.call(bob.lobby.TakeSeat, same), "NAME_TAKEN", exists)
    denied = grpc.StatusCode.PERMISSION_DENIED
    bot = bob.sit(table, occupant=table_pb2.OCCUPANT_REMOTE_BOT)
    await refused(bot, "NOT_ALLOWED", denied)
    await bob.sit(table)
    await refused(cleo.sit(table), "TABLE_FULL", grpc.StatusCode.FAILED_PRECONDITION)
    await refused(bob.start(table), "NOT_ALLOWED", denied)
    await refused(cleo.ready(table), "NOT_ALLOWED", denied)
    await refused(cleo.leave(table), "NOT_ALLOWED", denied)
    say = chat_pb2.SendChatRequest(table=table, text="hello")
    await refused(cleo.call(cleo.chat.SendChat, say), "NOT_ALLOWED", denied)
    other = await ann.open_table()
    await ann.sit(other)
    await refused(ann.add_bot(other, "clairvoyant"), "INVALID_OPTION", invalid)
    remove = lobby_pb2.RemoveBotRequest(table=other, seat=0)
    await refused(ann.call(ann.lobby.RemoveBot, remove), "INVALID_OPTION", invalid)
    for options in (
        table_pb2.TableOptions(seats=1),
        table_pb2.TableOptions(seats=7),
        table_pb2.TableOptions(threshold=12),
        table_pb2.TableOptions(threshold=105),
        table_pb2.TableOptions(single_deal=False),
    ):
        await refused(ann.open_table(options), "INVALID_OPTION", invalid)


async def test_tables_that_are_not_there(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann, bob = meet(server, "Ann"), meet(server, "Bob")
    private = table_pb2.TableOptions(visibility=table_pb2.VISIBILITY_PRIVATE)
    created = await ann.call(ann.lobby.CreateTable, lobby_pb2.CreateTableRequest(options=private))
    assert len(created.code) == 8
    missing = await refused(bob.sit("0000"), "TABLE_NOT_FOUND", grpc.StatusCode.NOT_FOUND)
    hidden = await refused(bob.sit(created.table), "TABLE_NOT_FOUND", grpc.StatusCode.NOT_FOUND)
    assert missing.message == hidden.message, "nobody learns that a private table is there"
    for request in (
        (bob.play.GetView, play_pb2.GetViewRequest(table=created.table)),
        (bob.history.GetHistory, history_pb2.GetHistoryRequest(table=created.table)),
        (bob.play.Act, play_pb2.ActRequest(table=created.table, action=PASS)),
        (bob.chat.SendChat, chat_pb2.SendChatRequest(table=created.table, text="x")),
        (bob.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=created.table)),
    ):
        await refused(bob.call(*request), "TABLE_NOT_FOUND", grpc.StatusCode.NOT_FOUND)
    listed = await bob.call(bob.lobby.ListTables, lobby_pb2.ListTablesRequest())
    assert not listed.tables
    spelled = f"{created.code[:4].lower()}-{created.code[4:]}"
    enter = lobby_pb2.TakeSeatRequest(code=spelled, name="Bob")
    assert (await bob.call(bob.lobby.TakeSeat, enter)).table == created.table
    assert (await bob.view(created.table)).code == created.code


async def test_credentials_that_are_none(serve: Serve, meet: Meet) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    unauthenticated = grpc.StatusCode.UNAUTHENTICATED
    for text in (
        "",
        "Bearer",
        "Bearer x",
        f"Basic {'A' * 43}",
        bearer(bytes(31)),
        bearer(bytes(33)),
    ):
        ann.metadata = (("authorization", text),)
        await refused(ann.open_table(), "BAD_CREDENTIAL", unauthenticated)
    ann.metadata = ()
    await refused(ann.open_table(), "BAD_CREDENTIAL", unauthenticated)
    info = await ann.call(ann.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest())
    assert list(info.levels)[:2] == ["random", "greedy"]


async def test_a_client_that_is_too_old(
    serve: Serve, meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    ann.metadata += (("odin-table-revision", "1"),)
    await ann.open_table()
    monkeypatch.setattr(calls, "OLDEST_REVISION", 2)
    error = await refused(ann.open_table(), "CLIENT_TOO_OLD", grpc.StatusCode.FAILED_PRECONDITION)
    assert error.facts["needed_revision"] == "2"


async def test_requests_that_no_client_should_send(serve: Serve, meet: Meet) -> None:
    at = await opening(serve, meet)
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    person, table = at.turn, at.table

    async def malformed(call: Awaitable[Any], field: str) -> None:
        error = await refused(call, "MALFORMED", invalid)
        assert error.fields == [field]
        await unchanged(at)

    act = at.turn.act
    await malformed(act(table, at.decision.id, play(55)), "action.play_cards.cards")
    await malformed(act(table, at.decision.id, play(0)), "action.play_cards.cards")
    strange = play(at.hand[0], pick_up=99)
    await malformed(act(table, at.decision.id, strange), "action.play_cards.pick_up")
    nothing = decision_pb2.Action(pick_up=decision_pb2.PickUp())
    await malformed(act(table, at.decision.id, nothing), "action.pick_up.card")
    await malformed(act(table, at.decision.id, decision_pb2.Action()), "action")
    await malformed(act(table, at.decision.id, PASS, request_id="x" * 65), "request_id")
    await malformed(person.view(""), "table")
    bare = person.play.Act(play_pb2.ActRequest(table=table, action=PASS), metadata=person.metadata)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await bare
    assert Refused(caught.value).fields == ["request_id"]
    for text in ("", " \t ", "\x1b\x07", "x" * 201):
        say = chat_pb2.SendChatRequest(table=table, text=text)
        await malformed(person.call(person.chat.SendChat, say), "text")
    unknown_phase = lobby_pb2.ListTablesRequest.FromString(b"\x18\x4d")
    for request, field in (
        (lobby_pb2.ListTablesRequest(page_size=-1), "page_size"),
        (lobby_pb2.ListTablesRequest(page_token="x"), "page_token"),
        (unknown_phase, "phase"),
    ):
        await malformed(person.call(person.lobby.ListTables, request), field)
    before = history_pb2.GetHistoryRequest(table=table, after_seq=-1)
    await malformed(person.call(person.history.GetHistory, before), "after_seq")
    long_name = lobby_pb2.TakeSeatRequest(table=table, name="n" * 25)
    stranger = meet_again(person)
    error = await refused(stranger.call(stranger.lobby.TakeSeat, long_name), "MALFORMED", invalid)
    assert error.fields == ["name"]


def meet_again(person: Person) -> Person:
    return Person(person.channel, "stranger")


async def test_bytes_that_do_not_decode_tell_nothing_of_the_server(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    for method in ("LobbyService/CreateTable", "PlayService/Act", "PlayService/WatchTable"):
        streams = method.endswith("WatchTable")
        make: Any = ann.channel.unary_stream if streams else ann.channel.unary_unary
        call = make(f"/odin_table.v1.{method}")(b"\xff\xff\xff", metadata=ann.metadata)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await (call.read() if streams else call)
        error = Refused(caught.value)
        assert (error.reason, error.fields) == ("MALFORMED", ["message"])
        assert "Traceback" not in error.message
        assert "Error parsing" not in error.message


async def test_a_message_that_is_too_large_is_refused_and_the_connection_stays_usable(
    serve: Serve, meet: Meet
) -> None:
    server = await serve()
    ann = meet(server, "Ann")
    table = await ann.open_table()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await ann.chat.SendChat(
            chat_pb2.SendChatRequest(request_id="big", table=table, text="x" * 5_000_000),
            metadata=ann.metadata,
            timeout=PATIENCE,
        )
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    await ann.sit(table)


class BrokenLog(MemoryLog):
    """A real log, of which every append fails in a given way while it is told to."""

    error: Exception | None = None

    async def append(self, table: str, expected_seq: int, batch: Batch) -> None:
        if self.error:
            raise self.error
        await super().append(table, expected_seq, batch)

    async def beat(self, now: int) -> None:
        if self.error:
            raise self.error
        await super().beat(now)


async def test_a_fault_of_the_server_says_nothing_but_its_number(serve: Serve, meet: Meet) -> None:
    log = BrokenLog()
    at = await opening(serve, meet, log=log)
    log.error = RuntimeError("a secret of the server")
    call = at.turn.act(at.table, at.decision.id, play(at.hand[0]), request_id="again")
    error = await refused(call, "INTERNAL", grpc.StatusCode.INTERNAL)
    assert error.facts["incident"] in error.message
    assert "secret" not in error.message
    await unchanged(at)
    log.error = None
    answer = await at.turn.act(at.table, at.decision.id, play(at.hand[0]), request_id="again")
    assert not answer.replayed


async def test_while_the_log_cannot_be_written_nothing_changes_and_then_it_goes_on(
    serve: Serve, meet: Meet
) -> None:
    log = BrokenLog()
    at = await opening(serve, meet, log=log)
    log.error = StoreUnavailable()

    async def act() -> play_pb2.ActResponse:
        return await at.turn.act(at.table, at.decision.id, play(at.hand[0]), request_id="again")

    for _ in range(2):
        error = await refused(act(), "STORE_UNAVAILABLE", grpc.StatusCode.UNAVAILABLE)
        assert error.retry_after
    await unchanged(at)
    log.error = None
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                answer = await act()
            except Refused:
                await asyncio.sleep(0.05)
            else:
                assert not answer.replayed
                return


async def test_a_server_that_stops_refuses_and_says_when_to_come_back(
    serve: Serve, meet: Meet
) -> None:
    server = await serve(replace(QUICK, drain_retry_after=7.0))
    ann = meet(server, "Ann")
    table = await ann.open_table()
    await ann.sit(table)
    async with aclosing(ann.watch(table)) as items:
        assert (await anext(items)).WhichOneof("item") == "snapshot"
        server._calls.draining = True  # pyright: ignore[reportPrivateUsage] -- the moment between
        error = await refused(ann.ready(table), "SERVER_DRAINING", grpc.StatusCode.UNAVAILABLE)
    assert error.retry_after == 7.0


def test_the_reasons_are_those_of_the_contract() -> None:
    in_contract = {
        name.removeprefix("ERROR_REASON_"): number
        for name, number in error_pb2.ErrorReason.items()
        if number
    }
    assert {reason.name: reason.value[0] for reason in Reason} == in_contract


def test_every_reason_is_produced_by_a_test_of_this_folder() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert not {reason.name for reason in Reason if f'"{reason.name}"' not in tests}


async def test_acting_for_the_same_decision_at_the_same_time_is_done_once(
    serve: Serve, meet: Meet
) -> None:
    at = await opening(serve, meet)
    calls_at_once = [
        at.turn.act(at.table, at.decision.id, first_choice(at.decision.choices)) for _ in range(8)
    ]
    results = await asyncio.gather(*calls_at_once, return_exceptions=True)
    done = [result for result in results if not isinstance(result, BaseException)]
    assert len(done) == 1
    assert {r.reason for r in results if isinstance(r, Refused)} == {"STALE_DECISION"}
    view = await at.waits.view(at.table)
    events = await at.turn.call(
        at.turn.history.GetHistory, history_pb2.GetHistoryRequest(table=at.table)
    )
    assert [payload(e) for e in events.events].count("cards_played") == 1
    assert view.seq == events.events[-1].seq


def test_the_contract_names_every_way_to_break_the_rules() -> None:
    """But those that are reasons of their own, or that no caller can come to."""
    elsewhere = {
        "GAME_IS_OVER",
        "NOT_YOUR_TURN",
        "GAME_NOT_STARTED",
        "ALREADY_STARTED",
        "DEAL_IS_RUNNING",
        "DEAL_NOT_RUNNING",
    }
    kinds = {vars(kind)["refusal"] for kind in IllegalAction.__subclasses__()}
    comment = ERRORS.read_text().partition("refusal is one of")[2].partition(";")[0]
    assert set(re.findall(r"[A-Z_]{4,}", comment)) == kinds - elsewhere
