"""The clients of examples/ pass the conformance kit, and play with our own over lines that fail.

`make interop` runs this. A language whose tools this machine lacks is left out, and that is said;
on CI it is a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Final

import grpc.aio
import pytest
from google.protobuf import json_format

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_contract.values import Options
from odin_table.v1 import card_pb2, event_pb2, play_pb2, play_pb2_grpc
from tests.end_to_end.terminal_tables import ODIN_TABLE, running_server
from tests.interop.examples import EXAMPLES, ROOT, Example
from tests.interop.liar import Lie, lying
from tests.interop.line import Line
from tests.support.forms import nonce_in, revealed_in, source_of
from tests.support.need import need
from tests.support.processes import running

pytestmark = pytest.mark.interop

GAME_PATIENCE: Final = 150
"""Seconds for a game in which every line fails once; a silent one is noticed after 25."""

LIE: Final = 9
"""The exit code of a client that was lied to (docs/fair-deal.md)."""

NOT_IN_FULL: Final = 8
"""The exit code of a client that has not seen all of a deal (docs/fair-deal.md)."""

KIT: Final = (sys.executable, "-m", "odin_cli", "conformance")
KIT_PATIENCE: Final = 300
"""Seconds for all points of the kit; a stream that has fallen silent is given up after 25."""

MID_GAME: Final = 20
"""The decision of the game at which the lines fail."""


class Account:
    """What one client says that it saw: events by number, and the result."""

    def __init__(self) -> None:
        self.events: dict[int, event_pb2.Event] = {}

    def add(self, event: event_pb2.Event) -> None:
        assert event.seq not in self.events, "an event came twice"
        assert not self.events or event.seq - 1 in self.events, "an event is missing"
        self.events[event.seq] = event

    def take(self, item: play_pb2.WatchTableResponse) -> None:
        for event in item.events.events:
            self.add(event)

    def count(self, payload: str) -> int:
        return sum(event.WhichOneof("payload") == payload for event in self.events.values())

    def dealt(self) -> list[int]:
        """The deals that were seen from their start."""
        starts = [event.deal_started for event in self.events.values()]
        return [start.deal for start in starts if start.deal]

    def game(self, first: int = 0) -> list[str]:
        """The events up to the end of the game, from one of them on, as text."""
        last = next(seq for seq, event in self.events.items() if event.HasField("game_ended"))
        return [str(event) for seq, event in self.events.items() if first <= seq <= last]

    def result(self) -> str:
        """How the game ended, in the sentence that the examples print."""
        names = {
            taken.seat.seat: taken.seat.name
            for event in self.events.values()
            if (taken := event.seat_taken).HasField("seat")
        }
        deals = [event.deal_ended for event in self.events.values() if event.HasField("deal_ended")]
        ends = [event.game_ended for event in self.events.values() if event.HasField("game_ended")]
        winners = " and ".join(names[seat] for seat in ends[-1].winners)
        totals = ", ".join(f"{names[score.seat]} {score.total}" for score in deals[-1].scores)
        return f"{winners} won: {totals}."


def refuse_for_a_while(line: Line) -> None:
    line.refuse(2)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.language)
def test_it_is_built_from_the_contract_alone_and_its_own_tools_like_it(example: Example) -> None:
    need(*example.missing())
    example.carry_out(example.build)
    example.carry_out(example.check)


@pytest.mark.timeout(KIT_PATIENCE + 30)
async def test_all_pass_every_point_of_the_conformance_kit() -> None:
    async def check(example: Example) -> None:
        client = shlex.join(example.run)
        await run([*KIT, "--jobs", "4", "--client", client], example.folder)
        # As a bot it adds early to its deals, and as a person when it says that it is ready.
        await run([*KIT, "--point", "deal.*", "--client", client], example.folder)
        person = "{address} --table {table} --name {name} --ready --events " + os.devnull
        await run([*KIT, "--point", "deal.*", "--client", f"{client} {person}"], example.folder)

    # Side by side, since a client does little there but wait for a server that has fallen silent.
    async with asyncio.timeout(KIT_PATIENCE), asyncio.TaskGroup() as group:
        for example in EXAMPLES:
            if not example.missing():
                group.create_task(check(example))


@pytest.mark.timeout(KIT_PATIENCE + 30)
async def test_the_short_ones_pass_every_point_that_is_not_about_deals() -> None:
    async with asyncio.timeout(KIT_PATIENCE), asyncio.TaskGroup() as group:
        for example in EXAMPLES:
            if not example.missing():
                client = shlex.join(example.run_short)
                group.create_task(run([*KIT, "--jobs", "4", "--client", client], example.folder))


@pytest.mark.timeout(GAME_PATIENCE + 30)
@pytest.mark.parametrize(("short", "ends_with"), [(True, 0), (False, NOT_IN_FULL)])
async def test_all_play_a_game_and_have_their_seats_back_when_started_again(
    short: bool, ends_with: int, tmp_path: Path
) -> None:
    examples = [example for example in EXAMPLES if not example.missing()]
    witness = Witness()
    with running_server(tmp_path) as server:
        async with (
            asyncio.timeout(GAME_PATIENCE),
            connected(server.address) as host,
            asyncio.TaskGroup() as players,
        ):
            session = await Session.open_table(host, Options(seats=len(examples) + 1))
            await session.add_bot("greedy")
            table = session.table.table
            players.create_task(witness.watch(server.address, table))

            def command(example: Example) -> list[str]:
                kept = ["--credential", str(tmp_path / example.language)]
                options = ["--table", table, "--name", example.language, *kept]
                client = example.run_short if short else example.run
                return [*client, server.address, *options]

            async def play(example: Example) -> None:
                first = asyncio.create_task(run(command(example), example.folder))
                await witness.until(lambda account: account.count("decision_opened") >= MID_GAME)
                first.cancel()  # kills it
                await asyncio.gather(first, return_exceptions=True)
                await run(command(example), example.folder, ends_with=ends_with)

            for example in examples:
                players.create_task(play(example))

    assert witness.count("game_ended") == 1
    assert witness.count("seat_taken") == len(examples) + 1, "a seat was taken anew"
    for example in examples:
        assert (tmp_path / example.language).stat().st_mode & 0o777 == 0o600


@pytest.mark.timeout(GAME_PATIENCE + 30)
@pytest.mark.parametrize("options", [(), ("--ready",)], ids=["bot", "person"])
async def test_all_add_to_every_deal_though_one_starts_as_soon_as_they_sit(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    with running_server(tmp_path) as server:

        async def play(example: Example, host: Connection) -> None:
            session = await Session.open_table(host, Options(seats=2, threshold=15))
            await session.add_bot("greedy")
            table, witness = session.table.table, Witness()
            # Once all are ready, as bots always are, the last one to sit down starts the game.
            client = [*example.run, server.address, "--table", table, *options]
            async with asyncio.TaskGroup() as group:
                group.create_task(witness.watch(server.address, table))
                # When the other one has played before its stream begins, it has missed that.
                playing = run(
                    [*client, "--events", os.devnull], example.folder, ends_with=(0, NOT_IN_FULL)
                )
                group.create_task(playing)
            starts = [event.deal_started for event in witness.events.values()]
            added = [start.source.nonces[1] for start in starts if start.deal]
            assert all(added), f"{example.language} added nothing to {added.index(b'') + 1}"
            assert len({*added}) == len(added) > 1, f"{example.language} added the same again"

        async with (
            asyncio.timeout(GAME_PATIENCE),
            connected(server.address) as host,
            asyncio.TaskGroup() as group,
        ):
            for example in EXAMPLES:
                if not example.missing():
                    group.create_task(play(example, host))


async def test_all_list_the_tables_alike_and_say_alike_how_they_end(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        async with connected(server.address) as host:
            session = await Session.open_table(host, Options(seats=4))
            await session.add_bot("greedy")
            table = session.table.table
            for example in EXAMPLES:
                if example.missing():
                    continue
                client = [*example.run, server.address]
                listed = await run(client, example.folder)
                assert listed == f"{table}  waiting  1 of 4 seats  Astrid\n"
                refused = await run([*client, "--table", "ZZZZ"], example.folder, ends_with=1)
                assert "NotFound: There is no such table" in refused
                await run(example.run, example.folder, ends_with=2)
                await run([*client, "--level", "9"], example.folder, ends_with=2)


@pytest.mark.timeout(GAME_PATIENCE + 30)
@pytest.mark.parametrize(
    ("fail", "strategy"),
    [
        pytest.param(Line.lose_answer, "random", id="answers_are_lost"),
        pytest.param(refuse_for_a_while, "greedy", id="the_server_is_out_of_reach"),
        pytest.param(Line.fall_silent, "random", id="the_lines_fall_silent"),
    ],
)
async def test_all_see_the_same_game_although(
    fail: Callable[[Line], None], strategy: str, tmp_path: Path
) -> None:
    examples = [example for example in EXAMPLES if not example.missing()]
    seats = len(examples) + 1
    lines: list[Line] = []
    witness = Witness()
    spectator = Account()
    journals = [tmp_path / f"{example.language}.jsonl" for example in examples]
    seated: list[asyncio.Task[str]] = []

    with running_server(tmp_path) as server:
        async with (
            asyncio.timeout(GAME_PATIENCE),
            AsyncExitStack() as stack,
            asyncio.TaskGroup() as players,
        ):

            async def new_line() -> str:
                lines.append(await stack.enter_async_context(Line.to(server.address)))
                return lines[-1].address

            host = await stack.enter_async_context(connected(server.address))
            table = (await Session.open_table(host, Options(seats=seats))).table.table
            players.create_task(witness.watch(server.address, table))
            looks_on = asyncio.Event()
            players.create_task(look_on(await new_line(), table, spectator, looks_on))
            bot = ("bot", f"{table}@{await new_line()}", f"--strategy={strategy}", "--games=1")
            credentials = f"--credential-file={tmp_path / 'seats.json'}"
            players.create_task(run([*ODIN_TABLE, *bot, credentials], ROOT))
            for taken, (example, journal) in enumerate(zip(examples, journals, strict=True)):
                options = ["--table", table, "--name", example.language, "--events", str(journal)]
                if taken == seats - 2:
                    # As a person, for whose ready the game waits; hence the last one to sit down.
                    options.append("--ready")
                    await witness.until(lambda account: account.count("seat_taken") == seats - 1)
                    await looks_on.wait()
                client = [*example.run, await new_line(), *options]
                seated.append(players.create_task(run(client, example.folder)))
            await witness.until(lambda account: account.count("decision_opened") >= MID_GAME)
            for line in lines:
                fail(line)

    assert [line.failed > 0 and line.mended > 0 for line in lines] == [True] * len(lines)
    compare("the spectator", spectator, witness)
    for journal, player in zip(journals, seated, strict=True):
        account = told_by(journal)
        compare(journal.stem, account, witness)
        assert witness.result() in player.result(), f"{journal.stem} tells another result"
        for deal in account.dealt():
            assert f"deal {deal}: checked" in player.result(), f"{journal.stem} did not check it"


def lie_about_commitment(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        source_of(event.deal_started).commitment = bytes(32)


def leave_out_nonces(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        source_of(event.deal_started).nonces[:] = [b"", b""]


def lie_about_nonce_of_the_other(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        source_of(event.deal_started).nonces[0] = b"another"


def lie_about_nonce_that_was_given(event: event_pb2.Event) -> None:
    if given := nonce_in(event):
        given.nonce = b"another"


def lie_about_rounds(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.source.key_rounds = 7


def lie_about_opener(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.opener = 1 - event.deal_started.opener


def lie_about_colours(event: event_pb2.Event) -> None:
    colours = event.game_started.removed_colours
    if event.HasField("game_started"):
        colours[:] = [card_pb2.Colour.ValueType(colour % 6 + 1) for colour in colours]


def hide_colours(event: event_pb2.Event) -> None:
    if event.HasField("game_started"):
        event.game_started.ClearField("removed_colours")


def lie_about_our_hand(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        cards = event.deal_started.hand.cards
        cards[0] = card_pb2.Card.ValueType(cards[0] % 54 + 1)


def lie_about_a_card(event: event_pb2.Event) -> None:
    if event.HasField("deal_ended"):
        cards = max((score.remaining for score in event.deal_ended.scores), key=len)
        cards[0] = card_pb2.Card.ValueType(cards[0] % 54 + 1)


def lie_about_secret(event: event_pb2.Event) -> None:
    if revealed := revealed_in(event):
        revealed.secret = bytes(32)


def hide_secret(event: event_pb2.Event) -> None:
    if revealed_in(event):
        event.ClearField("stretched_deal_revealed")


@pytest.mark.timeout(GAME_PATIENCE + 30)
@pytest.mark.parametrize(
    ("lie", "found", "found_by_bot"),
    [
        (lie_about_commitment, "another commitment", "the secret is not the promised one"),
        (leave_out_nonces, "seat 1 gave another nonce", "your bytes are not in it"),
        (lie_about_nonce_of_the_other, "seat 0 gave another nonce", "other bytes went into it"),
        (lie_about_nonce_that_was_given, "seat 1 gave another nonce", "other bytes went into it"),
        (lie_about_rounds, "its key was stretched less", "its key was stretched less"),
        (lie_about_opener, "another seat had to open it", "somebody else had to open"),
        (lie_about_colours, "other colours had to leave", "other colours had to leave"),
        (hide_colours, "other colours had to leave", "other colours had to leave"),
        (lie_about_our_hand, "seat 1 had to get other cards", "the cards are not those"),
        (lie_about_a_card, "had to get other cards", "the cards are not those"),
        (lie_about_secret, "not what the server committed itself to", "not the promised one"),
        (hide_secret, "never revealed", "the secret was not shown"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_a_deal_is_found_that_does_not_follow_from_what_was_committed_to(
    lie: Lie, found: str, found_by_bot: str, tmp_path: Path
) -> None:
    with running_server(tmp_path) as server:
        async with (
            asyncio.timeout(GAME_PATIENCE),
            connected(server.address) as host,
            lying(server.address, lie) as liar,
        ):

            async def table() -> str:
                session = await Session.open_table(host, Options(seats=2, threshold=None))
                await session.add_bot("greedy")
                return session.table.table

            async def play(example: Example) -> str:
                options = ["--table", await table(), "--ready", "--events", os.devnull]
                return await run([*example.run, liar, *options], example.folder, ends_with=LIE)

            async def play_our_bot() -> str:
                session = await Session.open_table(host, Options(seats=2, threshold=None))
                await session.take_seat("Hanna")
                # A group, so that the bot does not wait for someone whose task has failed.
                async with asyncio.TaskGroup() as group:
                    playing = group.create_task(play_with(session))
                    bot = ["-m", "odin_cli", "bot", f"{session.table.table}@{liar}"]
                    said = await run([sys.executable, *bot], ROOT, ends_with=LIE)
                    playing.cancel()
                return said

            examples = [example for example in EXAMPLES if not example.missing()]
            by_bot, *by_examples = await asyncio.gather(play_our_bot(), *map(play, examples))
            for said in by_examples:
                assert found in said.splitlines()[-1], said
            assert found_by_bot in by_bot.splitlines()[-1], by_bot


async def play_with(session: Session) -> None:
    """Plays at a table of one deal, once somebody has added to it."""
    ready = False
    async with aclosing(session.follow()) as updates:
        async for _ in updates:
            table = session.table
            others = [seat for seat in table.seats if seat.seat != table.my_seat]
            # Once: the table may still seem to wait when the deal has started.
            if not ready and any(seat.nonce for seat in others):
                await session.ready()
                ready = True
            if table.my_turn and table.decision and table.decision.default_action:
                with contextlib.suppress(Refused):
                    await session.act(table.decision.default_action)


def compare(name: str, account: Account, witness: Account) -> None:
    """Fails unless both saw the same, from the account's first event on, which was in time."""
    first = min(account.events)
    decisions = [seq for seq, event in witness.events.items() if event.HasField("decision_opened")]
    assert first <= decisions[MID_GAME - 1], f"{name} came too late to be cut off"
    assert account.game() == witness.game(first), f"{name} saw another game"


class Witness(Account):
    """Sees a table from its first event on, over a line that does not fail."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Condition()

    async def watch(self, server: str, table: str) -> None:
        """Watches until the game has ended."""
        async with grpc.aio.insecure_channel(server) as channel:
            stub = play_pb2_grpc.PlayServiceStub(channel)
            async for item in stub.WatchTable(play_pb2.WatchTableRequest(table=table, after_seq=0)):
                async with self._news:
                    self.take(item)
                    self._news.notify_all()
                if self.count("game_ended"):
                    return

    async def until(self, seen: Callable[[Account], bool]) -> None:
        """Waits until it has seen something."""
        async with self._news:
            await self._news.wait_for(lambda: seen(self))


@asynccontextmanager
async def connected(server: str) -> AsyncGenerator[Connection]:
    connection = await Connection.open(Address.parse(server), Credential.new())
    try:
        yield connection
    finally:
        await connection.close()


async def look_on(server: str, table: str, account: Account, begun: asyncio.Event) -> None:
    """Follows a table with our own client, until the game has ended."""
    async with connected(server) as connection:
        updates = Session(connection, table).follow(tap=account.take)
        async with aclosing(updates):
            async for _ in updates:
                begun.set()
                if account.count("game_ended"):
                    return


async def run(command: Sequence[str], folder: Path, *, ends_with: int | tuple[int, ...] = 0) -> str:
    """Runs a client to its end, and gives what it said; it is killed when the test gives up."""
    async with running(*command, cwd=folder, stderr=asyncio.subprocess.STDOUT) as client:
        said, _ = await client.communicate()
    code = client.returncode
    expected = ends_with if isinstance(ends_with, tuple) else (ends_with,)
    assert code in expected, f"{command[0]} ended with {code}: {said.decode()}"
    return said.decode()


def told_by(journal: Path) -> Account:
    """The account that a client gives in lines of JSON, without what only its seat was told."""
    account = Account()
    for line in journal.read_text().splitlines():
        event = json_format.Parse(line, event_pb2.Event())
        if event.HasField("deal_started"):
            event.deal_started.ClearField("hand")
        elif event.HasField("decision_opened"):
            event.decision_opened.decision.ClearField("choices")
        account.add(event)
    return account
