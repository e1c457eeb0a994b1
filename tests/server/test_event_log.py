"""What every event log has to do, on each of them; and that records survive being written."""

from __future__ import annotations

import asyncio
import random
from collections import namedtuple
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from odin_contract.enums import (
    Actor,
    CloseReason,
    LeaveReason,
    Occupant,
)
from odin_contract.values import Options as TableOptions
from odin_engine import (
    NEW,
    Colour,
    Command,
    DecisionKind,
    Event,
    GameStarted,
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
from odin_server.event_log import Conflict, EventLog, MemoryLog, SqliteLog, Stored, codec
from odin_server.event_log.codec import UnreadableRecords, decode, encode
from odin_server.event_log.stores import open_log, url_of
from odin_server.table.chat import Line
from odin_server.table.events import (
    Batch,
    BotFailed,
    DeadlineMoved,
    DealCommitted,
    DealRevealed,
    DecisionOpened,
    HostChanged,
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
)

ANN, BOB = b"a" * 32, b"b" * 32
NOW = 1_700_000_000_000_000


@pytest.fixture(params=["memory", "sqlite"])
async def log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[EventLog]:
    log = MemoryLog() if request.param == "memory" else SqliteLog(tmp_path / "tables.db")
    yield log
    await log.close()


def record(seq: int, event: TableEvent | Event | None = None) -> Record:
    return Record(seq, NOW + seq, event or SeatResumed(seq))


def opening(request: RequestKey | None = None, code: str = "", title: str = "") -> Batch:
    """The first batch of a table."""
    options = TableOptions(private=bool(code), title=title)
    return Batch((record(1, TableOpened(options, ANN, code, "f0")),), request)


def batch(first: int, count: int = 1, request: RequestKey | None = None) -> Batch:
    """A batch of small events whose first number is `first`."""
    return Batch(tuple(map(record, range(first, first + count))), request)


def line(text: str, name: str = "Ann") -> Line:
    return Line(0, NOW, name, 2, text)


async def opened(log: EventLog, *handles: str) -> None:
    for handle in handles:
        await log.append(handle, 0, opening())


async def ended(log: EventLog, handle: str, at: int, *, played: bool = True) -> None:
    """A table that has ended, with a name and a line of chat."""
    await log.append(handle, 0, opening(RequestKey(ANN, f"open {handle}", b""), title="cosy"))
    taken = SeatTaken(0, "Ann", Occupant.PERSON, "", ANN)
    started = GameStarted(Options(2), (Colour.RED, Colour.BLUE), 0) if played else None
    closed = Record(4, at, TableClosed(CloseReason.HOST))
    await log.append(handle, 1, Batch((record(2, taken), record(3, started), closed)))
    await log.say(handle, line("hello"), RequestKey(ANN, f"say {handle}", b""))


async def test_a_url_names_a_log(tmp_path: Path) -> None:
    path = tmp_path / "tables of mine.db"
    kinds: dict[str, type[object]] = {url_of(None): MemoryLog, url_of(path): SqliteLog}
    for url, kind in kinds.items():
        log = open_log(url)
        assert isinstance(log, kind)
        await log.close()
    assert path.exists()
    with pytest.raises(ValueError, match="postgres"):
        open_log("postgres://tables")


async def test_what_was_appended_is_read_again_in_order(log: EventLog) -> None:
    await opened(log, "A", "B")
    await log.append("A", 1, batch(2, 2))
    await log.append("A", 3, batch(4))
    assert await log.read("A") == [opening(), batch(2, 2), batch(4)]
    assert await log.read("A", after_seq=3) == [batch(4)]
    assert await log.read("A", after_seq=2) == [batch(2, 2), batch(4)]
    assert await log.read("A", after_seq=4) == []
    assert await log.read("missing") == []


async def test_a_batch_that_expects_another_head_is_refused_whole(log: EventLog) -> None:
    await opened(log, "A")
    for expected in (0, 2):
        with pytest.raises(Conflict):
            await log.append("A", expected, batch(expected + 1, 2))
    with pytest.raises(Conflict):
        await log.append("A", 0, opening())
    assert await log.read("A") == [opening()]


async def test_a_request_is_found_by_credential_and_id_and_is_kept_once(log: EventLog) -> None:
    key = RequestKey(ANN, "one", b"content")
    await log.append("A", 0, opening(key))
    assert await log.find(ANN, "one") == Stored("A", key, 1, opening().records)
    assert await log.find(BOB, "one") is None
    assert await log.find(ANN, "two") is None
    with pytest.raises(Conflict):
        await log.append("A", 1, batch(2, request=RequestKey(ANN, "one", b"other")))
    with pytest.raises(Conflict):
        await log.append("B", 0, opening(key))
    with pytest.raises(Conflict):
        await log.append("A", 1, Batch((), key))
    with pytest.raises(Conflict):
        await log.say("A", line("hello"), key)
    assert await log.read("A") == [opening(key)]
    assert await log.lines("A", 9) == []
    await log.append("B", 0, opening(RequestKey(BOB, "one", b"content")))


async def test_a_request_that_had_nothing_to_do_stays_so(log: EventLog) -> None:
    await opened(log, "A")
    key = RequestKey(ANN, "one", b"content")
    with pytest.raises(Conflict):
        await log.append("A", 9, Batch((), key))
    await log.append("A", 1, Batch((), key, result=3))
    await log.append("A", 1, batch(2))
    assert await log.find(ANN, "one") == Stored("A", key, 1, result=3)
    assert await log.read("A") == [opening(), batch(2)]
    with pytest.raises(Conflict):
        await log.append("A", 2, batch(3, request=key))


async def test_lines_of_chat_are_numbered_and_kept_once(log: EventLog) -> None:
    await opened(log, "A", "B")
    keys = [RequestKey(ANN, str(number), b"content") for number in range(1, 4)]
    for number, key in enumerate(keys, start=1):
        assert await log.say("A", line(f"line {number}"), key) == number
    assert await log.say("B", line("elsewhere"), RequestKey(BOB, "1", b"")) == 1
    for again in (keys[0], keys[0]._replace(content=b"other")):
        with pytest.raises(Conflict):
            await log.say("A", line("again"), again)
    with pytest.raises(Conflict):
        await log.append("A", 1, batch(2, request=keys[0]))
    with pytest.raises(Conflict):
        await log.say("missing", line("hello"), RequestKey(BOB, "2", b""))
    assert await log.find(ANN, "2") == Stored("A", keys[1], 1, line=2)
    assert await log.lines("A", 2) == [Line(n, NOW, "Ann", 2, f"line {n}") for n in (2, 3)]
    assert await log.lines("missing", 2) == []


async def test_tables_are_listed_in_the_order_in_which_they_were_opened(log: EventLog) -> None:
    await opened(log, "C")
    await ended(log, "B", NOW)
    await log.append("A", 0, opening(code="CODE1234"))
    await log.append("D", 0, opening(code="CODE5678"))
    await log.append("D", 1, Batch((record(2, TableClosed(CloseReason.EMPTY)),)))
    await ended(log, "E", NOW)
    entries = {entry.handle: entry for entry in await log.open_tables()}
    assert list(entries) == ["C", "A"]
    assert entries["A"] == await log.entry("A")
    assert (entries["A"].host, entries["A"].code, entries["C"].code) == (ANN, "CODE1234", "")
    assert await log.entry("missing") is None
    every = await log.ended_tables(before=100, most=9, private=True)
    assert [entry.handle for entry in every] == ["E", "D", "B"]
    newest_first = await log.ended_tables(before=100, most=9, private=False)
    assert [entry.handle for entry in newest_first] == ["E", "B"]
    assert await log.ended_tables(before=100, most=1, private=False) == newest_first[:1]
    assert await log.ended_tables(newest_first[0].number, 9, private=False) == newest_first[1:]


async def test_tables_that_ended_long_ago_are_forgotten_with_all_that_belongs_to_them(
    log: EventLog,
) -> None:
    for place, handle in enumerate("ABCD"):
        await ended(log, handle, at=NOW + place)
    await opened(log, "open")
    await log.append("A", 4, Batch((), RequestKey(ANN, "nothing", b"")))
    assert await log.forget_ended(before=NOW + 3, most=2, unplayed=False) == ["A", "B"]
    assert await log.forget_ended(before=NOW + 3, most=2, unplayed=False) == ["C"]
    assert await log.forget_ended(before=NOW + 3, most=2, unplayed=False) == []
    assert await log.read("A") == []
    assert await log.lines("A", 9) == []
    assert await log.entry("A") is None
    for request_id in ("open A", "say A", "nothing"):
        assert await log.find(ANN, request_id) is None
    assert [entry.handle for entry in await log.open_tables()] == ["open"]
    # Its handle and its ids are free again.
    await ended(log, "A", at=NOW)
    assert len(await log.read("D")) == 2


async def test_tables_at_which_no_game_was_started_can_be_forgotten_before_others(
    log: EventLog,
) -> None:
    await ended(log, "A", at=NOW)
    await ended(log, "B", at=NOW, played=False)
    await opened(log, "C")
    assert await log.forget_ended(before=NOW + 1, most=9, unplayed=True) == ["B"]
    assert await log.read("A")


async def test_names_and_chat_can_be_removed_and_the_game_stays(log: EventLog) -> None:
    for place, handle in enumerate("AB"):
        await ended(log, handle, at=NOW + place)
    before = await log.read("A")
    assert await log.forget_names(before=NOW + 1, most=9) == ["A"]
    assert await log.forget_names(before=NOW + 1, most=9) == []
    after = await log.read("A")
    assert await log.lines("A", 9) == []
    table_opened, seat_taken = after[0].records[0].event, after[1].records[0].event
    assert isinstance(table_opened, TableOpened)
    assert isinstance(seat_taken, SeatTaken)
    assert (table_opened.options.title, seat_taken.name) == ("", "Player 1")
    assert [record.seq for batch in after for record in batch.records] == [
        record.seq for batch in before for record in batch.records
    ]
    kept = (await log.read("B"))[1].records[0].event
    assert isinstance(kept, SeatTaken)
    assert kept.name == "Ann"
    assert await log.lines("B", 9)


async def test_the_last_beat_is_known(log: EventLog) -> None:
    assert await log.last_beat() is None
    for now in (NOW, NOW + 5):
        await log.beat(now)
    assert await log.last_beat() == NOW + 5


async def test_many_at_once_lose_nothing_and_mix_nothing_up(log: EventLog) -> None:
    handles = [f"T{number}" for number in range(40)]

    async def fill(handle: str) -> None:
        await log.append(handle, 0, opening())
        for seq in range(2, 12):
            await log.append(
                handle, seq - 1, batch(seq, request=RequestKey(ANN, f"{handle} {seq}", b""))
            )
            with pytest.raises(Conflict):
                await log.append(handle, seq - 1, batch(seq))

    await asyncio.gather(*map(fill, handles))
    for handle in handles:
        records = [record for batch in await log.read(handle) for record in batch.records]
        assert [record.seq for record in records] == list(range(1, 12))


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
        DealCommitted(bytes(range(32))),
        DealRevealed(),
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
    assert len(kinds) == 22, "every kind of event is among them"


def test_the_order_of_stored_fields_does_not_follow_from_that_of_the_classes() -> None:
    """Of stand-ins whose fields are the other way round the same is written."""
    for event in [*table_events(), *game_events(3, seed=7)]:
        form = codec.EVENTS[codec.TAG_OF[type(event)]]
        names = [*reversed(type(event)._fields)]
        turned: Any = namedtuple("Turned", names)(*[*event][::-1])  # noqa: PYI024 # pyright: ignore[reportUntypedNamedTuple]
        assert form.write(turned) == form.write(event)
        assert form.read(form.write(event)) == event
    taken = SeatTaken(1, "Ann", Occupant.REMOTE_BOT, "", b"\x0a")
    assert (
        encode([record(2, taken)])
        == b'[1,[2,1700000000000002,null,null,"seat_taken",1,"Ann",2,"","0a"]]'
    )


def test_fields_that_came_later_have_their_defaults_in_older_records() -> None:
    old = b'[1,[1,2,null,null,"ready_changed",3,true],[2,2,null,null,"rematch_asked",1]]'
    assert [record.event for record in decode(old)] == [ReadyChanged(3, True), RematchAsked(1)]


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
        b'[1,[1,2,0,null,"passed",0]]',
        b'[1,[1,2,null,null,"seat_left",0,0]]',
        b'[1,[1,2,null,null,"passed",0,1]]',
        b'[1,[1,2,null,null,"passed"]]',
    ],
)
def test_bytes_that_are_no_records_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableRecords):
        decode(data)
