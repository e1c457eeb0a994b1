"""The table browser: fits every terminal, and what is chosen there is a command."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from odin_cli.commands import host as host_command
from odin_cli.commands.host import HostOptions
from odin_cli.local.preferences import Preferences
from odin_cli.terminal import lobby_app
from odin_cli.terminal.lobby_app import Choice, Join, Open, Play, Watch
from odin_cli.terminal.new_table import NewTable, Place
from odin_cli.terminal.style import rules_of
from odin_cli.terminal.takeover import ClickOutput
from odin_cli.terminal.views.lobby_view import Listed, LobbyScreen, Served, render_lobby
from odin_client.connection.address import Address
from odin_contract.enums import Occupant, Phase
from odin_contract.values import Options, Seat, TableSummary
from tests.client.terminal.drawing import Drawn, Person
from tests.client.terminal.test_view import ASCII, SIZES, UNICODE, misfit, text_of
from tests.support.terminals import UNKNOWN_SEQUENCES

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def table(
    handle: str, names: str, *, seats: int = 4, title: str = "", deal: int = 0, to: int | None = 15
) -> Listed:
    taken = [Seat(at, Occupant.PERSON, name) for at, name in enumerate(names.split())]
    free = [Seat(at) for at in range(len(taken), seats)]
    phase = Phase.PLAYING if deal else Phase.WAITING
    options = Options(seats=seats, threshold=to, title=title)
    summary = TableSummary(handle, options, phase, (*taken, *free), deal, NOW)
    return Listed(Address("192.168.1.31", 7711, handle), summary, "skald", 0.012)


FOUND = [
    table("M2ZD", "Ann Bob Zoe Dagný", title="Valhalla speed", deal=2, to=None),
    table("K7QF", "Björn Ástríðr", title="Longship"),
    table("T4WX", "Kim", seats=2),
]


def form() -> LobbyScreen:
    return LobbyScreen(FOUND, new=NewTable())


def long_form() -> LobbyScreen:
    place = Place(Address("server.with.a.long.name.example", 7712), "a name")
    options = Options(5, None, title="A title of forty characters, just about.", turn_time=45)
    new = NewTable((Place(), place), place, options, bots=3, level="hard")
    return LobbyScreen(FOUND, new=new)


SCREENS: dict[str, Callable[[], LobbyScreen]] = {
    "tables": lambda: LobbyScreen(FOUND, looking=False),
    "long-title": lambda: LobbyScreen(
        [table("Q2MH", "Kim", title="An unusually long title of a table")]
    ),
    "many": lambda: LobbyScreen(
        [replace(FOUND[1], address=FOUND[1].address.at(f"T{at:03}")) for at in range(80)], cursor=60
    ),
    "looking": LobbyScreen,
    "nothing": lambda: LobbyScreen(looking=False, notice="No server answers at 192.168.1.20:7711."),
    "filtered": lambda: LobbyScreen(FOUND, wanted="zoe"),
    "filtered-away": lambda: LobbyScreen(FOUND, wanted="xyz"),
    "form": form,
    "long-form": long_form,
    "help": lambda: LobbyScreen(FOUND, help=True),
}


@pytest.mark.parametrize("name", SCREENS)
def test_every_picture_fits_every_terminal(name: str, language: str) -> None:
    for (cols, rows), caps in itertools.product(SIZES, (UNICODE, ASCII)):
        lines = render_lobby(SCREENS[name](), cols, rows, caps)
        assert misfit(lines, cols, rows, caps) == "", (language, cols, rows, caps)
        known = rules_of(caps.depth).keys()
        assert {name for one in lines for span in one for name in span.style.split()} <= known


def test_tables_with_a_free_seat_come_first_and_the_cursor_is_never_lost() -> None:
    shown = [one.table.table for one in LobbyScreen(FOUND).shown]
    assert shown == ["K7QF", "T4WX", "M2ZD"]
    many = text_of(render_lobby(SCREENS["many"](), 80, 24, UNICODE))
    assert "▶ K7QF" in many


def test_what_matters_is_there_in_forty_columns() -> None:
    text = text_of(render_lobby(SCREENS["tables"](), 40, 16, UNICODE))
    for wanted in ("K7QF", "2/4", "waiting", "M2ZD", "deal 2", "Enter join", "? help"):
        assert wanted in text


@dataclass
class Network:
    """What is found at each look."""

    looks: list[Sequence[Listed | Served]] = field(default_factory=list[Sequence[Listed | Served]])
    asked: int = 0

    async def look(self) -> AsyncGenerator[Listed | Served]:
        found = self.looks[min(self.asked, len(self.looks) - 1)]
        self.asked += 1
        for one in found:
            yield one


CLOSED = ("--no-bots", "--private")


@asynccontextmanager
async def browsing(
    *looks: Sequence[Listed | Served], notice: str = "", nameless: Join | Open | None = None
) -> AsyncGenerator[tuple[Person, asyncio.Task[Choice | int]]]:
    screen = Drawn(80, 24)
    network = Network(list(looks))
    with create_pipe_input() as keys:
        running = asyncio.create_task(
            lobby_app.run(
                network.look,
                caps=UNICODE,
                notice=notice,
                nameless=nameless,
                terminal_input=keys,
                terminal_output=ClickOutput(screen, lambda: Size(rows=24, columns=80)),
            )
        )
        person = Person(keys, screen)
        try:
            await person.wait_for("ODIN · tables")
            yield person, running
        finally:
            person.press("c-c")
            await running


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (("enter",), Join(Address.parse("K7QF@192.168.1.31"))),
        (("down", "enter"), Join(Address.parse("T4WX@192.168.1.31"))),
        (("j", "j", "k", "enter"), Join(Address.parse("T4WX@192.168.1.31"))),
        (("down", "down", "down", "w"), Watch(Address.parse("M2ZD@192.168.1.31"))),
        (("p",), Play()),
        (("a", "k7qf@host:7712 ABCD2345\r"), Join(Address.parse("K7QF@host:7712"), "ABCD2345")),
        (("/", "kim\r", "enter"), Join(Address.parse("T4WX@192.168.1.31"))),
        (("n", "enter"), ("host", "--at", "192.168.1.31")),
        (("n", "right", "enter"), ("host",)),
        (("down", "n", "right", "right", "enter"), ("host", "--at", "192.168.1.31")),
        (
            ("n", "down", "right", "Long ship\r", "down", "left", "down", "right", "enter"),
            ("host", "--at", "192.168.1.31", "--title", "Long ship", "--seats", "5", "--to", "20"),
        ),
        (
            ("n", "up", "right", "up", "right", "up", "right", "up", "right", "enter"),
            ("host", "--at", "192.168.1.31", "--bots", "1", "--level", "hard", *CLOSED),
        ),
        (
            ("n", *["down"] * 4, "right", "down", "left", "enter"),
            ("host", "--at", "192.168.1.31", "--full-deck", "--turn-time", "45", "--bank", "600"),
        ),
        (("q",), 0),
        (("c-c",), 130),
    ],
)
async def test_keys_make_a_choice(
    keys: Sequence[str], chosen: Choice | tuple[str, ...] | int
) -> None:
    async with browsing(FOUND) as (person, running):
        await person.wait_for("K7QF", "T4WX", "M2ZD")
        person.press(*keys)
        choice = await asyncio.wait_for(running, 30)
        assert (choice.new.command if isinstance(choice, Open) else choice) == chosen


def test_the_command_that_is_shown_opens_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[HostOptions, Options]] = []

    async def host(asked: HostOptions, options: Options) -> int:
        opened.append((asked, options))
        return 0

    monkeypatch.setattr(host_command, "host", host)
    places = (Place(), Place(Address("skald", 7712)))
    new = NewTable(places, options=Options(title="Long ship"), bots=2)
    for _field in range(10):
        new = new.changed(-1).moved(1)
        for one in (new, NewTable(places)):
            done = CliRunner().invoke(host_command.command, one.command[1:], obj=Preferences())
            assert done.exit_code == 0, done.output
            asked, options = opened.pop()
            assert options == one.options
            assert (asked.at, asked.bots, asked.level) == (one.place.server, one.bots, one.level)
    assert new.bots == 1
    assert new.level != NewTable().level
    assert not any(
        getattr(new.options, name) == getattr(Options(), name) for name in Options.__slots__
    )


async def test_a_new_table_is_opened_on_a_server_of_this_machine_without_tables() -> None:
    """A new server could not listen there."""
    here = Served(Address("127.0.0.1", 7711), "skald")
    async with browsing([here]) as (person, running):
        await person.wait_for("No table was found on this network.")
        person.press("n")
        await person.wait_for("NEW TABLE", "← skald (127.0.0.1) →")
        person.press("enter")
        choice = await asyncio.wait_for(running, 30)
        assert isinstance(choice, Open)
        assert choice.new.command == ("host", "--at", "127.0.0.1")


async def test_a_click_goes_to_a_table_and_a_second_one_joins_it() -> None:
    async with browsing(FOUND) as (person, running):
        await person.wait_for("T4WX", "M2ZD")
        person.click("T4WX")
        await person.wait_for("▶ T4WX", "T4WX@192.168.1.31")
        person.click("T4WX")
        assert await asyncio.wait_for(running, 30) == Join(Address.parse("T4WX@192.168.1.31"))


async def test_a_full_table_and_a_bad_address_are_told_and_nothing_is_lost() -> None:
    async with browsing(FOUND, notice="No server answers.") as (person, _):
        await person.wait_for("No server answers.", "M2ZD")
        person.press("down", "down", "enter")
        await person.wait_for("No seat is free there; w watches it.", "▶ M2ZD")
        person.press("a", "@nowhere\r")
        await person.wait_for("is no address")
        person.press("/", "xyz\r")
        await person.wait_for("No table is like that.")
        person.press("escape")
        await person.wait_for("K7QF", "M2ZD")


async def test_a_game_that_is_played_is_not_called_full_and_one_that_is_over_has_room() -> None:
    playing = table("Q1", "Ann Bob", deal=2)
    over = replace(table("Z9", "Kim Lee"), table=replace(playing.table, phase=Phase.GAME_OVER))
    over = replace(over, address=over.address.at("Z9"))
    async with browsing([playing]) as (person, _):
        await person.wait_for("Q1", "2/4")
        person.press("enter")
        await person.wait_for("A game is being played there; w watches it.")
    async with browsing([over]) as (person, running):
        await person.wait_for("2/4")
        person.press("enter")
        assert await asyncio.wait_for(running, 30) == Join(over.address)


async def test_whose_name_is_taken_is_asked_for_another_one() -> None:
    refused = Join(Address.parse("K7QF@192.168.1.31"), "ABCD2345")
    async with browsing(FOUND, notice="Ann is taken.", nameless=refused) as (person, running):
        await person.wait_for("another name:", "Ann is taken.")
        person.press("Anna", "enter")
        assert await asyncio.wait_for(running, 30) == replace(refused, name="Anna")


async def test_looking_again_finds_new_tables_drops_old_ones_and_keeps_the_place() -> None:
    async with browsing(FOUND[1:], [FOUND[2], table("ZZZZ", "New")]) as (person, _):
        await person.wait_for("K7QF", "T4WX")
        person.press("down")
        await person.wait_for("▶ T4WX")
        person.press("r")
        await person.wait_for("ZZZZ", "▶ T4WX", without="K7QF")


async def test_help_has_the_keys_and_the_rules() -> None:
    async with browsing(FOUND) as (person, _):
        person.press("?")
        await person.wait_for("── HELP", "look again", "HOW TO PLAY")
        person.press("down", "down")
        await person.wait_for("── HELP", "Opening a round. The centre", without="look again")
        person.press("escape")
        await person.wait_for("K7QF")


async def test_what_a_terminal_sends_besides_keys_does_nothing() -> None:
    async with browsing(FOUND) as (person, _):
        await person.wait_for("K7QF", "M2ZD")
        person.press(*UNKNOWN_SEQUENCES, "down")
        await person.wait_for("▶ T4WX")
        person.press("/", *UNKNOWN_SEQUENCES, "m2\r")
        await person.wait_for("M2ZD", without="K7QF")
