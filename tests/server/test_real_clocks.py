"""A server process whose system clock is set (libfaketime), or that is stopped or killed twice."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import grpc.aio
import pytest
from google.protobuf.duration_pb2 import Duration

from odin_table.v1 import event_pb2, table_pb2
from tests.support.need import need
from tests.support.patience import PATIENCE
from tests.support.people import Person, first_choice, payload
from tests.support.programs import Program

pytestmark = pytest.mark.slow

TURN = 6
"""Seconds that each turn has."""


class Process:
    """A server of its own, and the time of its machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self._offset = folder / "offset"
        self.set_time(0)
        self._program: Program | None = None

    def set_time(self, seconds: int) -> None:
        """Sets its system clock: by how much it is ahead of the real one."""
        self._offset.write_text(f"{seconds:+d}\n")

    def start(self) -> None:
        libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        need(*([] if libraries else ["libfaketime (package faketime)"]))
        arguments = ("serve", "--listen", f"127.0.0.1:{self.port}")
        self._program = Program(
            "odin_cli",
            (*arguments, "--store", f"sqlite:{self.folder / 'tables.db'}"),
            self.folder,
            LD_PRELOAD=str(libraries[0]),
            FAKETIME_TIMESTAMP_FILE=str(self._offset),
            FAKETIME_NO_CACHE="1",
            # Setting the time of a machine leaves this one alone.
            FAKETIME_DONT_FAKE_MONOTONIC="1",
        )
        self.port = int(self._program.line_with("serves on").rpartition(":")[2])

    def signal(self, number: signal.Signals) -> None:
        assert self._program is not None
        self._program.process.send_signal(number)

    def kill(self) -> None:
        """As a crash."""
        if self._program is not None:
            self._program.stop()
            self._program = None


@pytest.fixture
def process(tmp_path: Path) -> Generator[Process]:
    process = Process(tmp_path)
    process.start()
    yield process
    process.kill()


@asynccontextmanager
async def people(process: Process) -> AsyncGenerator[tuple[Person, Person]]:
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{process.port}", options=options) as channel:
        await asyncio.wait_for(channel.channel_ready(), PATIENCE)
        yield Person(channel, "Ann"), Person(channel, "Bob")


async def game_of(ann: Person, bob: Person) -> str:
    options = table_pb2.TableOptions(threshold=100, clock=table_pb2.Clock())
    options.clock.per_turn.CopyFrom(Duration(seconds=TURN))
    table = await ann.open_table(options)
    for person in (ann, bob):
        await person.sit(table)
    await ann.start(table)
    return table


async def act(table: str, *persons: Person) -> None:
    """Whoever has to decide does; between deals all are ready for the next."""
    for person in persons:
        view = await person.view(table)
        if view.phase == table_pb2.TABLE_PHASE_BETWEEN_DEALS:
            await person.ready(table)
        elif view.decision.HasField("choices"):
            await person.act(table, view.decision.id, first_choice(view.decision.choices))
            return


async def times(table: str, person: Person) -> list[int]:
    last, seen = (await person.view(table)).seq, list[int]()
    async with aclosing(person.events(table)) as events:
        async for event in events:
            seen.append(event.time.ToMicroseconds())
            if event.seq == last:
                break
    return seen


@pytest.mark.parametrize("step", [60, -3600])
async def test_setting_the_system_clock_costs_nobody_a_turn(process: Process, step: int) -> None:
    async with people(process) as (ann, bob):
        table = await game_of(ann, bob)
        process.set_time(step)
        for _ in range(25):
            await act(table, ann, bob)
            await asyncio.sleep(0.1)
        started = time.monotonic()
        async with aclosing(ann.events(table)) as events:
            async for event in events:
                played = event.cards_played.actor or event.passed.actor
                if played == event_pb2.ACTOR_CLOCK:
                    break
        assert TURN - 1 < time.monotonic() - started < TURN + PATIENCE
        seen = await times(table, ann)
        assert seen == sorted(seen)


@pytest.mark.parametrize("seconds", [4, 9])
async def test_a_process_that_was_stopped_costs_nobody_a_turn(
    process: Process, seconds: int
) -> None:
    async with people(process) as (ann, bob):
        table = await game_of(ann, bob)
        decision = (await ann.view(table)).decision
        await asyncio.sleep(TURN - 2)
        process.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        process.signal(signal.SIGCONT)
        await act(table, ann, bob)
        view = await ann.view(table)
        assert view.decision.id > decision.id
        async with aclosing(ann.events(table)) as events:
            async for event in events:
                if payload(event) == "cards_played":
                    assert event.cards_played.actor == event_pb2.ACTOR_PERSON
                    break


async def test_two_outages_with_a_short_life_between_are_given_back(process: Process) -> None:
    async with people(process) as (ann, bob):
        table = await game_of(ann, bob)
        before = (await ann.view(table)).decision
    process.kill()
    for _ in range(2):
        await asyncio.sleep(TURN)
        process.start()
        process.kill()
    await asyncio.sleep(TURN)
    process.start()
    async with people(process) as (ann, bob):
        view = await ann.view(table)
        assert view.decision.id == before.id
        await act(table, ann, bob)
        assert (await ann.view(table)).decision.id > before.id
