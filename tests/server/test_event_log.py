"""What every event log has to do, on each of them; and that records survive being written."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator

import pytest

from odin_engine import (
    NEW,
    Colour,
    Command,
    DecisionKind,
    Event,
    Options,
    Phase,
    StartDeal,
    StartGame,
    State,
    decide,
    decision_of,
    deck,
    evolve,
    view_for,
)
from odin_engine.strategies import Random
from odin_server.event_log import Conflict, EventLog, MemoryLog
from odin_server.event_log.codec import UnreadableRecords, decode, encode
from odin_server.events import (
    Actor,
    Batch,
    BotFailed,
    CloseReason,
    DeadlineMoved,
    DecisionOpened,
    HostChanged,
    LeaveReason,
    Occupant,
    ReadyChanged,
    Record,
    RematchAsked,
    RequestKey,
    SeatLeft,
    SeatResumed,
    SeatTaken,
    SubstituteSeated,
    TableClosed,
    TableEvent,
    TableOpened,
    TableOptions,
)

ANN, BOB = b"a" * 32, b"b" * 32


@pytest.fixture(params=["memory"])
async def log(request: pytest.FixtureRequest) -> AsyncGenerator[EventLog]:
    assert request.param == "memory"
    log = MemoryLog()
    yield log
    await log.close()


def batch(first: int, *seats: int, request: RequestKey | None = None) -> Batch:
    """A batch of small events whose first number is `first`."""
    records = [
        Record(first + place, 1_700_000_000_000_000, SeatResumed(seat))
        for place, seat in enumerate(seats)
    ]
    return Batch(tuple(records), request)


async def test_what_was_appended_is_read_again_in_order(log: EventLog) -> None:
    await log.append("A", 0, batch(1, 0, 1))
    await log.append("A", 2, batch(3, 2))
    await log.append("B", 0, batch(1, 5))
    assert await log.read("A") == [batch(1, 0, 1), batch(3, 2)]
    assert await log.read("A", after_seq=2) == [batch(3, 2)]
    assert await log.read("A", after_seq=3) == []
    assert await log.read("missing") == []
    assert await log.heads() == {"A": 3, "B": 1}


async def test_a_batch_that_expects_another_head_is_refused_whole(log: EventLog) -> None:
    await log.append("A", 0, batch(1, 0))
    for expected in (0, 2):
        with pytest.raises(Conflict):
            await log.append("A", expected, batch(expected + 1, 9))
    assert await log.read("A") == [batch(1, 0)]


async def test_a_request_is_found_by_credential_and_id_and_is_kept_once(log: EventLog) -> None:
    first = batch(1, 0, request=RequestKey(ANN, "one", b"content"))
    await log.append("A", 0, first)
    found = await log.find(ANN, "one")
    assert found
    assert (found.table, found.batch) == ("A", first)
    assert await log.find(BOB, "one") is None
    assert await log.find(ANN, "two") is None
    with pytest.raises(Conflict):
        await log.append("A", 1, batch(2, 1, request=RequestKey(ANN, "one", b"other")))
    with pytest.raises(Conflict):
        await log.append("B", 0, batch(1, 1, request=RequestKey(ANN, "one", b"content")))
    assert await log.heads() == {"A": 1}
    await log.append("B", 0, batch(1, 1, request=RequestKey(BOB, "one", b"content")))


async def test_a_table_that_is_forgotten_is_gone_with_its_requests(log: EventLog) -> None:
    await log.append("A", 0, batch(1, 0, request=RequestKey(ANN, "one", b"content")))
    await log.append("B", 0, batch(1, 1))
    await log.forget("A")
    await log.forget("missing")
    assert await log.heads() == {"B": 1}
    assert await log.find(ANN, "one") is None
    await log.append("A", 0, batch(1, 0, request=RequestKey(ANN, "one", b"content")))


def table_events() -> list[TableEvent]:
    """One of each, with every kind of value."""
    return [
        TableOpened(
            TableOptions(4, None, False, True, False, "Ærlig – spil", 45, 600),
            ANN,
            "CODE1234",
            "f0",
        ),
        TableOpened(TableOptions(), BOB, "", "f1"),
        SeatTaken(0, "Zoë", Occupant.PERSON, "", ANN),
        SeatTaken(1, "Ivar", Occupant.BUILT_IN_BOT, "greedy", b""),
        SeatLeft(3, LeaveReason.AWAY),
        HostChanged(2),
        HostChanged(None),
        ReadyChanged(0, True),
        SubstituteSeated(1, LeaveReason.LEFT, "greedy"),
        SeatResumed(1),
        RematchAsked(5),
        TableClosed(CloseReason.EMPTY),
        *(DecisionOpened(1, kind) for kind in DecisionKind),
        DeadlineMoved(1_500_000),
        BotFailed(4, "too slow"),
    ]


def game_events(players: int, seed: int) -> list[Event]:
    """Every event of a random game."""
    rng = random.Random(seed)
    events: list[Event] = []
    state = NEW

    def do(state: State, command: Command) -> State:
        for event in decide(state, command):
            events.append(event)
            state = evolve(state, event)
        return state

    removed = (Colour.ORANGE, Colour.VIOLET) if players == 2 else ()
    state = do(state, StartGame(Options(players, threshold=5), removed, 1))
    while state.phase is not Phase.GAME_OVER:
        cards = deck(removed)
        state = do(state, StartDeal(tuple(rng.sample(cards, len(cards)))))
        while decision := decision_of(state):
            state = do(state, Random().choose(view_for(state, decision.seat), rng))
    return events


@pytest.mark.parametrize("players", [2, 3, 6])
def test_every_event_survives_being_written_and_read(players: int) -> None:
    events = [*table_events(), *game_events(players, seed=players)]
    records = tuple(
        Record(
            seq,
            1_700_000_000_000_000 + seq,
            event,
            None if seq % 3 else Actor(seq % 4 + 1),
            None if seq % 2 else seq * 1_000_000,
        )
        for seq, event in enumerate(events, start=1)
    )
    again = decode(encode(records))
    assert again == records
    assert [type(record.event) for record in again] == [type(event) for event in events]
    kinds = {type(event) for event in events}
    assert len(kinds) == 20, "every kind of event is among them"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[2]",
        b"[1,[1]]",
        b'[1,[1,2,null,null,"unknown"]]',
        b"\xff\x00",
        b'["1"]',
        b'[1,[1,2,null,null,"cards_played",0,"R7 B3",true]]',
        b'[1,[1,2,9,null,"passed",0]]',
    ],
)
def test_bytes_that_are_no_records_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableRecords):
        decode(data)
