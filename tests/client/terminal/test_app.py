"""The application in this process: real key bytes in, a drawn screen out, a real server behind it.

The deals are arranged, so that every question that the client asks comes up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from odin_cli.local.preferences import Preferences
from odin_cli.terminal.app import run
from odin_cli.terminal.capabilities import Capabilities, Depth
from odin_cli.terminal.takeover import ClickOutput
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_contract.enums import Phase
from odin_contract.values import Options, Pass, PlayCards
from odin_engine import DECK, Card, Colour
from odin_server.main import Server
from odin_server.settings import Settings
from tests.client.terminal.drawing import Drawn, Person
from tests.client.terminal.samples import cards
from tests.support.arranged import ArrangedDealer, order_of
from tests.support.patience import PATIENCE
from tests.support.terminals import UNKNOWN_SEQUENCES


class Client(Person):
    """A person at a client in this process."""

    def __init__(self, keys: PipeInput, screen: Drawn, session: Session, bob: Session) -> None:
        super().__init__(keys, screen)
        self.session: Final = session
        self.bob: Final = bob
        """Who sits beside this person, and does what the test says."""


async def table_of_two(server: Server, *, single_deal: bool = True) -> tuple[Session, Session]:
    """Zoe, whose screen it will be, and Bob, who does what the test says. Zoe opens."""
    address = Address("127.0.0.1", server.port)
    zoe = await Session.open_table(
        await Connection.open(address, Credential.new()),
        Options(seats=4, threshold=None if single_deal else 15, short_deck=False),
    )
    await zoe.take_seat("Zoe")
    bob = await Session.sit_down(
        await Connection.open(address, Credential.new()), zoe.table.table, name="Bob"
    )
    await zoe.ready()
    return zoe, bob


@asynccontextmanager
async def playing(
    mine: str = "",
    other: str = "",
    *,
    caps: Capabilities | None = None,
    preferences: Preferences | None = None,
    at_sorting: Callable[[str], None] | None = None,
    started: bool = True,
    single_deal: bool = True,
    scores_stay: float = 0.0,
    guided: bool = False,
    at_game_over: Callable[[], Awaitable[str]] | None = None,
) -> AsyncGenerator[tuple[Client, Callable[[Any], Any]]]:
    """A deal of two with these hands; gives Zoe's client, and what lets Bob act on his turn.

    Without hands the server deals as it does for everybody, which is what a client can check.

    Zoe is the host of four seats. Unless `started`, both wait and Zoe is ready.
    """
    arranged = ArrangedDealer(order_of(cards(mine), cards(other), deck=DECK)) if mine else None
    server = Server(Settings(port=0, bot_delay=0), dealer=arranged)
    await server.start()
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr("odin_cli.terminal.commands.SCORES_STAY", scores_stay)
    zoe, bob = await table_of_two(server, single_deal=single_deal)
    screen = Drawn(80, 24)

    async def bob_acts(action: PlayCards | Pass) -> None:
        async with asyncio.timeout(PATIENCE):
            async for _ in bob.follow():
                if bob.table.my_turn:
                    await bob.act(action)
                    return

    with create_pipe_input() as keys:
        client = asyncio.create_task(
            run(
                zoe,
                caps=caps or Capabilities(depth=Depth.TRUE, title=True),
                preferences=preferences or Preferences(pace=0),
                at_sorting=at_sorting,
                invitation="odin-table join HERE",
                rejoin="odin-table join HERE",
                guided=guided,
                at_game_over=at_game_over,
                terminal_input=keys,
                terminal_output=ClickOutput(
                    screen,
                    lambda: Size(rows=screen.drawn.lines, columns=screen.drawn.columns),
                ),
            )
        )
        person = Client(keys, screen, zoe, bob)
        try:
            await person.wait_for("WAITING ROOM", "1 of 2 ready")
            if started:
                await bob.ready()
                await person.wait_for("YOUR TURN")
            yield person, bob_acts
        finally:
            person.press("c-c")
            async with asyncio.timeout(PATIENCE):
                await client
            for session in (zoe, bob):
                await session.close()
            await server.stop()
            monkeypatch.undo()


MINE = "R4 O7 Y8 B9 B6 B1 V4 G1 G2"
OTHERS = "G6 G4 R1 R2 R3 O1 O2 O3 Y1"


async def test_typed_number_pick_up_and_all() -> None:
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        zoe.press("1", "enter")
        await zoe.wait_for("CENTRE 1 by you", "the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("G6 G4")))
        await zoe.wait_for("CENTRE 64 by Bob · respond with 2 or 3 cards", "YOUR TURN")
        # R9: an exact reason, and nothing is sent.
        zoe.press("4", "4")
        await zoe.wait_for(" 44 ", "✗ 44 does not beat 64")
        zoe.press("enter")
        await zoe.wait_for("Not sent: 44 does not beat 64.")
        zoe.press("escape")
        await zoe.wait_for("legal plays", without=" 44 ")
        # R11: several old cards, so Enter asks; Esc goes back, the number chooses.
        zoe.press("9", "6")
        await zoe.wait_for(" 96 ", "✓ beats 64")
        zoe.press("enter")
        await zoe.wait_for("TAKE WHICH CARD?", "6 = G6  4 = G4", "↺take")
        zoe.press("escape")
        await zoe.wait_for("YOUR TURN", without="TAKE WHICH")
        zoe.press("enter")
        await zoe.wait_for("TAKE WHICH CARD?")
        zoe.press("4")
        await zoe.wait_for("take G4")
        zoe.press("enter")
        await zoe.wait_for("CENTRE 96 by you", "You 96 (B9 B6) took G4", "YOUR HAND 7")
        assert Card.parse("G4") in zoe.session.table.hand


async def test_a_pick_up_that_the_server_asks_for_is_chosen_by_its_number() -> None:
    """R13: the play was sent without naming the card to take."""
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        zoe.press("1", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("G6 G4")))
        await zoe.wait_for("YOUR TURN")
        await zoe.session.act(PlayCards(cards("B9 B6")))
        await zoe.wait_for("TAKE ONE OF THE BEATEN CARDS", "TAKE WHICH CARD?", "G 6", "G 4")
        zoe.press("8")
        await zoe.wait_for("There is no 8 to take.")
        zoe.press("4", "enter")
        await zoe.wait_for("CENTRE 96 by you", "took G4")


async def test_the_host_seats_bots_and_starts() -> None:
    async with playing(MINE, OTHERS, started=False) as (zoe, _):
        await zoe.wait_for("-- free --", "b adds a bot here (greedy)")
        zoe.press("right")
        levels = zoe.session.connection.info.levels
        other = levels[(list(levels).index("greedy") + 1) % len(levels)]
        await zoe.wait_for(f"b adds a bot here ({other})")
        zoe.press("b")
        await zoe.wait_for("[bot]", f"ready ({other})")
        zoe.press("B")
        await zoe.wait_for("WAITING ROOM", without="[bot]")
        zoe.press("B")
        await zoe.wait_for("There is no bot here that you could remove.")
        zoe.press("enter")
        await zoe.wait_for("YOUR TURN", "CENTRE empty")


async def test_the_host_removes_a_person_by_name_or_seat_number() -> None:
    async with playing(MINE, OTHERS, started=False) as (zoe, _):
        zoe.press("b")
        await zoe.wait_for("[bot]")
        zoe.press("k", "C", "l", "e", "o", "enter")
        await zoe.wait_for("Nobody here is called Cleo.")
        zoe.press("k", "3", "enter")
        await zoe.wait_for("WAITING ROOM", without="[bot]")
        # Zoe is ready alone, so nothing starts.
        zoe.press("k", "b", "o", "b", "enter")
        await zoe.wait_for("Bob was removed.", "a game needs two players")


async def test_the_waiting_room_says_how_others_come_and_how_the_table_plays() -> None:
    async with playing(MINE, OTHERS, started=False) as (zoe, _):
        zoe.press("i")
        await zoe.wait_for("── INVITE", "odin-table join HERE", "▀", "Esc close")
        x, y = zoe.position_of("█")
        cell = zoe.output.drawn.buffer[y][x]
        assert (cell.fg, cell.bg) == ("ffffff", "000000")
        zoe.press("i", "o")
        await zoe.wait_for("── THIS TABLE", "54 cards", "a single deal", without="INVITE")
        zoe.press("escape")
        await zoe.wait_for("WAITING ROOM")


async def test_the_host_who_leaves_may_close_the_table() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        zoe.press("q")
        await zoe.wait_for("LEAVE?", "q keeps it, x closes it for Bob as well")
        zoe.press("x")
        await zoe.wait_until(lambda: "\x1b[?1049l" in zoe.output.written, "the old screen")


async def test_what_is_chosen_in_advance_survives_the_others_turns() -> None:
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        zoe.press("1", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        zoe.press("9", "6")
        await zoe.wait_for(" 96 ", "kept for your turn")
        zoe.press("enter")
        await zoe.wait_for("It is not your turn yet; your choice is kept.")
        await bob_acts(PlayCards(cards("G6 G4")))
        await zoe.wait_for("YOUR TURN", "96", "✓ beats 64", without="not your turn yet")


async def test_holding_back_a_hand_that_could_go_out_is_asked_about() -> None:
    """R6: the whole hand may go down at an opening; a single card is a choice."""
    mine = "B9 B8 B7 B6 B5 B4 B3 B2 B1"
    async with playing(mine, OTHERS) as (zoe, _):
        await zoe.wait_for("open with 1 card or all 9")
        zoe.press("9", "enter")
        await zoe.wait_for("REALLY?", "Your whole hand could go down")
        zoe.press("a")
        await zoe.wait_for("987654321", "✓ goes out", without="REALLY?")
        zoe.press("enter")
        await zoe.wait_for("GAME OVER", "You win with 0.", "Zoe (you)")
        assert zoe.session.table.phase is Phase.GAME_OVER
        # Arranged cards are not those that follow, and that is said aloud.
        await zoe.wait_for("WARNING: deal 1 was not dealt as promised. l says more.")
        zoe.press("l")
        await zoe.wait_for("deal 1 was not dealt as the server had promised")


async def test_a_deal_that_was_not_dealt_as_promised_is_told_with_the_result() -> None:
    """What is arranged here does not follow from the secret, as with a server that cheats."""
    mine = "B9 B8 B7 B6 B5 B4 B3 B2 B1"
    async with playing(mine, OTHERS) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("GAME OVER", "WARNING: deal 1 was not dealt as the server had promised")


async def test_a_hand_that_can_go_out_goes_by_itself_for_whoever_wants_that() -> None:
    mine = "B9 B8 B7 B6 B5 B4 B3 B2 B1"
    async with playing(mine, OTHERS, preferences=Preferences(auto_finish=True)) as (zoe, _):
        await zoe.wait_for("GAME OVER", "You win with 0.")
        zoe.press("l")
        await zoe.wait_for("Played for you: you go out.")


async def test_a_hand_without_a_legal_play_passes_by_itself_for_whoever_wants_that() -> None:
    weak = "R1 R2 O1 O3 Y2 Y4 G3 G5 B4"
    async with playing(
        weak, "G9 G8 R9 R8 R7 O9 O8 O7 Y1", preferences=Preferences(auto_pass=True)
    ) as (
        zoe,
        bob_acts,
    ):
        zoe.press("4", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("G9 G8")))
        await zoe.wait_for("no legal play · p passes")
        await zoe.wait_for("round over, Bob opens", "passed for you")  # R14


async def test_the_card_that_was_picked_up_stands_out_for_a_moment() -> None:
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        zoe.press("1", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("R3")))
        await zoe.wait_for("YOUR TURN")
        zoe.press("4", "enter")
        await zoe.wait_for("took R3")
        x, y = zoe.position_of("R 3")

        def stands_out() -> bool:
            return bool(zoe.output.drawn.buffer[y][x].underscore)

        await zoe.wait_until(stands_out, "the card to stand out")
        await zoe.wait_until(lambda: not stands_out(), "the card to be one of many")


async def test_the_window_says_which_table_and_whose_turn_and_gets_its_name_back() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        handle = zoe.session.table.table
        assert zoe.output.drawn.title == f"▶ Odin {handle} · Your turn!"
        zoe.press("1", "enter")
        await zoe.wait_until(
            lambda: zoe.output.drawn.title == f"Odin {handle}", "a title without a turn"
        )
        assert zoe.output.written.count("\x1b[22;2t") == 1
        zoe.press("c-c")
        await zoe.wait_until(lambda: "\x1b[23;2t" in zoe.output.written, "the old title")


async def test_the_hand_lies_as_it_was_sorted_last() -> None:
    sorted_by: list[str] = []
    async with playing(
        MINE, OTHERS, preferences=Preferences(sort="number"), at_sorting=sorted_by.append
    ) as (zoe, _):
        await zoe.wait_for("by number (s)")
        zoe.press("s")
        await zoe.wait_for("by colour (s)")
        zoe.press("s")
        await zoe.wait_for("by number (s)")
    assert sorted_by == ["colour", "number"]


async def test_the_bell_rings_once_for_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odin_cli.terminal.app._IDLE", 0.0)
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        assert zoe.output.bells == 1
        zoe.press("1", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("G6 G4")))
        await zoe.wait_for("YOUR TURN")
        assert zoe.output.bells == 2


async def test_the_bell_is_silent_for_whoever_types_and_whoever_wants_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        assert zoe.output.bells == 0
    monkeypatch.setattr("odin_cli.terminal.app._IDLE", 0.0)
    async with playing(MINE, OTHERS, preferences=Preferences(bell=False)) as (zoe, _):
        assert zoe.output.bells == 0


async def test_passing_with_a_playable_hand_takes_two_keys() -> None:
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        zoe.press("p")
        await zoe.wait_for("Whoever opens a round may not pass")  # R5
        zoe.press("1", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("R3")))
        await zoe.wait_for("YOUR TURN", "CENTRE 3 by Bob")
        zoe.press("p")
        await zoe.wait_for("PASS?")
        zoe.press("9")  # anything else takes the question back
        await zoe.wait_for("✓ beats 3", without="PASS?")
        zoe.press("p", "p")
        await zoe.wait_for("round over, Bob opens")  # R14


async def test_clicks_choose_cards_the_pick_up_and_the_keys() -> None:
    async with playing(MINE, OTHERS) as (zoe, bob_acts):
        zoe.press("1", "enter")
        await zoe.wait_for("the turn is Bob's, who is away")
        await bob_acts(PlayCards(cards("G6 G4")))
        await zoe.wait_for("YOUR TURN")
        zoe.click("B 9")
        await zoe.wait_for(" 9 ", "needs 2 or 3 cards")
        zoe.click("B 6")
        await zoe.wait_for("✓ beats 64")
        zoe.click("G 4")
        await zoe.wait_for("take G4")
        zoe.click("Enter")
        await zoe.wait_for("took G4")


async def test_a_click_on_what_lies_below_a_page_does_nothing() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        zoe.press("q")
        await zoe.wait_for("LEAVE?")
        zoe.click("B 9")
        zoe.press("escape")
        await zoe.wait_for("legal plays", without="LEAVE?")


async def test_every_card_has_the_colour_of_its_letter() -> None:
    async with playing("R5 O7 Y3 G1 B5 V6 R7 O8 Y9", OTHERS) as (zoe, _):
        expected = {
            Colour.RED: "ff0000",
            Colour.ORANGE: "ffaf00",
            Colour.YELLOW: "ffff87",
            Colour.GREEN: "00875f",
            Colour.BLUE: "5fafff",
            Colour.VIOLET: "d75faf",
        }
        for card in zoe.session.table.hand:
            x, y = zoe.position_of(f"{card.colour.value} {card.number}")
            cell = zoe.output.drawn.buffer[y][x]
            assert cell.bg == expected[card.colour]
            assert cell.fg in ("black", "000000")


async def test_without_colours_nothing_but_attributes_is_sent() -> None:
    async with playing(MINE, OTHERS, caps=Capabilities(depth=Depth.MONOCHROME)) as (zoe, _):
        zoe.press("1")
        await zoe.wait_for("✓ opens")
        cells = [cell for row in zoe.output.drawn.buffer.values() for cell in row.values()]
        assert {cell.bg for cell in cells} | {cell.fg for cell in cells} == {"default"}
        x, y = zoe.position_of("B 1") if "B1" in zoe.screen() else zoe.position_of("G 1")
        assert zoe.output.drawn.buffer[y][x].reverse


async def test_no_motion_of_the_mouse_is_asked_for() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        assert "\x1b[?1000h" in zoe.output.written
        assert "\x1b[?1003h" not in zoe.output.written
        zoe.press("m")
        await zoe.wait_for("The mouse is the terminal's")
        assert "\x1b[?1000l" in zoe.output.written


async def test_pasted_text_plays_nothing_and_has_no_lines_in_chat() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        zoe.press("\x1b[200~1\rppp\x1b[201~", "c")
        await zoe.wait_for("say:")
        zoe.press("\x1b[200~two\nlines\x1b[201~", "enter")
        await zoe.wait_for("Zoe: two lines", "9 legal plays", "CENTRE empty")


async def test_a_line_of_chat_that_is_too_long_is_counted_and_kept() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        zoe.press("c")
        await zoe.wait_for("say:")
        zoe.press("x" * 203)
        await zoe.wait_for("say: 203/200 too long")
        zoe.press("enter", "backspace", "backspace", "backspace")
        await zoe.wait_for("say: 200/200 x")
        zoe.press("enter")
        await zoe.wait_for("xxx", without="say:")


async def test_a_line_of_chat_that_does_not_get_through_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing(MINE, OTHERS) as (zoe, _):

        async def fails(text: str) -> None:
            raise Refused("RATE_LIMITED", "Too many lines.")

        monkeypatch.setattr(zoe.session, "chat", fails)
        zoe.press("c")
        await zoe.wait_for("say:")
        zoe.press("hello there", "enter")
        await zoe.wait_for("Too many lines.", "c brings your text back.")
        zoe.press("c")
        await zoe.wait_for("say: hello there")
        zoe.press("escape")


async def test_a_key_that_was_meant_to_play_does_not_take_the_scores_away() -> None:
    mine = "B9 B8 B7 B6 B5 B4 B3 B2 B1"
    async with playing(mine, OTHERS, single_deal=False, scores_stay=3600) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("DEAL 1 OVER", "0 of 2 ready")
        zoe.press("enter", "space", "w")
        await zoe.wait_for("SCORES")
        zoe.press("escape")
        await zoe.wait_for("DEAL 1 OVER", "0 of 2 ready")
        zoe.click("Enter")  # a click is meant
        await zoe.wait_for("1 of 2 ready")


async def test_the_last_play_of_a_round_stays_to_be_read_until_a_key_or_for_a_moment() -> None:
    async with playing(MINE, OTHERS, preferences=Preferences(pace=3600)) as (zoe, bob_acts):
        zoe.press("1", "enter")
        await zoe.wait_for("CENTRE 1 by you")
        await bob_acts(PlayCards(cards("G6 G4")))
        await zoe.wait_for("CENTRE 64 by Bob", "YOUR TURN")
        zoe.press("p", "p")
        await zoe.wait_for("round over, Bob opens", "CENTRE 64 by Bob", "│G 6│")  # R14
        zoe.press("s")
        await zoe.wait_for("CENTRE empty", without="│G 6│ │G 4│")


@pytest.mark.parametrize("pace", [0.3, 3600])
async def test_the_last_play_of_a_deal_is_drawn_before_the_scores(pace: float) -> None:
    mine = "B9 B8 B7 B6 B5 B4 B3 B2 B1"
    preferences = Preferences(pace=pace)
    async with playing(mine, OTHERS, preferences=preferences) as (zoe, _):
        zoe.press("a", "enter")
        await zoe.wait_for("CENTRE 987654321", "you went out with 987654321", without="GAME OVER")
        if pace > 1:
            zoe.press("enter")  # leads on to the scores, and asks for nothing yet
        await zoe.wait_for("GAME OVER", "Another game? Enter asks for a rematch.")


async def test_a_terminal_that_is_too_small_swallows_the_keys_of_the_game() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        zoe.output.drawn.resize(10, 30)
        zoe.press("c-l")
        await zoe.wait_for("Odin needs 40x16")
        before = len(zoe.output.written)
        zoe.press("1", "enter", "c-l")
        await zoe.wait_until(lambda: len(zoe.output.written) > before, "a fresh picture")
        zoe.output.drawn.resize(24, 80)
        zoe.press("c-l")
        await zoe.wait_for("CENTRE empty", "9 legal plays")


@pytest.mark.parametrize("keys", [("c-c",), ("q", "escape", "q", "q")])
async def test_the_terminal_is_given_back(keys: Sequence[str]) -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        for key in keys:
            zoe.press(key)
            if key == "escape":
                await zoe.wait_for("legal plays", without="LEAVE?")
        await zoe.wait_until(lambda: "\x1b[?1049l" in zoe.output.written, "the old screen")
        assert "\x1b[?1000l" in zoe.output.written


async def test_drawing_costs_little() -> None:
    """Moving the cursor sends a difference, not a screen."""
    async with playing(MINE, OTHERS) as (zoe, _):
        before = len(zoe.output.written)
        zoe.press("right", "tab")
        await zoe.wait_for("✓ opens")
        assert len(zoe.output.written) - before < 1500


async def test_what_a_terminal_sends_besides_keys_does_nothing() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        before = zoe.screen()
        zoe.press(*UNKNOWN_SEQUENCES, "?")
        await zoe.wait_for("── HELP")
        zoe.press(*UNKNOWN_SEQUENCES, "escape")
        await zoe.wait_until(lambda: zoe.screen() == before, "the table as it was")
        zoe.press("c", *UNKNOWN_SEQUENCES, "h", "i", "enter")
        await zoe.wait_for("Zoe: hi")


async def test_digits_of_other_keyboards_are_digits() -> None:
    async with playing(MINE, OTHERS) as (zoe, _):
        # A French keyboard without Shift, full width, Arabic, the numeric keypad.
        for four in ("'", "\N{FULLWIDTH DIGIT FOUR}", "٤", "\x1bOt"):
            zoe.press(four)
            await zoe.wait_for(" 4 ")
            zoe.press("escape")
            await zoe.wait_for("legal plays", without=" 4 ")
