"""What people read, in one place: plain sentences, with colours written out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from odin_cli.speech import sentences, words
from odin_client.table.model import TableModel
from odin_client.table.updates import LinkChanged, SnapshotTaken, Update
from odin_contract import events
from odin_contract.enums import (
    Actor,
    CloseReason,
    LeaveReason,
    Occupant,
    Phase,
    StreamEndReason,
)
from odin_contract.events import DealScore
from odin_contract.values import (
    ChatLine,
    Decision,
    Game,
    LegalPlay,
    Options,
    Player,
    Seat,
    SeatPresence,
    TableView,
)
from odin_engine import Card, Colour, DecisionKind, set_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


def at(**event: Any) -> dict[str, Any]:
    return {"seq": 9, "time": NOW, **event}


TABLE = TableModel(
    TableView(
        table="K7QF",
        options=Options(seats=3),
        phase=Phase.PLAYING,
        seats=(
            Seat(0, Occupant.PERSON, "Zoe", host=True),
            Seat(1, Occupant.PERSON, "Bob", ready=True),
            Seat(2, Occupant.BUILT_IN_BOT, "Freya", level="hard", ready=True),
        ),
        my_seat=0,
        game=Game(
            game=1,
            deal=2,
            players=(
                Player(0, 2, total=3, penalties=(3,)),
                Player(1, 9, passed=True, total=0, penalties=(0,)),
                Player(2, 1, total=7, penalties=(7,)),
            ),
            centre=set_of(cards("G6 G4")),
            centre_seat=1,
            hand=cards("R4 B1"),
        ),
        decision=Decision(12, 0, DecisionKind.RESPOND, may_pass=True),
    ),
    presence={
        1: SeatPresence(
            1, connected=False, away_since=NOW, kept_until=NOW + timedelta(seconds=120)
        ),
    },
)


def but(**parts: Any) -> TableModel:
    """The same table, but for these parts of its view."""
    return replace(TABLE, view=replace(TABLE.view, **parts))


def test_what_a_substitute_that_failed_did_not_choose_is_no_lack_of_time() -> None:
    zoe, bob, freya = TABLE.seats
    played = but(seats=(zoe, replace(bob, substituted=True), freya))
    passed = events.Passed(**at(seat=1), actor=Actor.CLOCK)
    assert sentences.sentence(passed, played) == "By default: Bob passed."


@pytest.mark.parametrize(
    ("update", "sentence"),
    [
        (
            events.CardsPlayed(
                **at(seat=0, set=set_of(cards("B9 B6 B1")), opening=False, card_count=4),
                actor=Actor.PERSON,
            ),
            "You played 961: blue 9, blue 6 and blue 1.",
        ),
        (
            events.CardsPlayed(
                **at(seat=1, set=set_of(cards("R7")), opening=True, card_count=8),
                actor=Actor.PERSON,
            ),
            "Bob opened with red 7.",
        ),
        (
            events.CardsPlayed(
                **at(seat=2, set=set_of(cards("R7 V7")), opening=False, card_count=0),
                actor=Actor.BOT,
            ),
            "Freya played 77: red 7 and violet 7, and went out.",
        ),
        (
            events.CardPickedUp(
                **at(seat=0, card=cards("G4")[0], discarded=cards("G6"), card_count=5),
                actor=Actor.PERSON,
            ),
            "You took green 4; green 6 was discarded.",
        ),
        (
            events.CardPickedUp(
                **at(seat=1, card=cards("G4")[0], discarded=cards("G6 G5"), card_count=5),
                actor=Actor.CLOCK,
            ),
            "Time was up: Bob took green 4; green 6 and green 5 were discarded.",
        ),
        (
            events.Passed(**at(seat=0), actor=Actor.SUBSTITUTE),
            "Your substitute passed.",
        ),
        (events.Passed(**at(seat=1), actor=Actor.PERSON), "Bob passed."),
        (events.Passed(**at(seat=0), actor=Actor.CLOCK), "Time was up: You passed."),
        (events.Passed(**at(seat=2), actor=Actor.CLOCK), "By default: Freya passed."),
        (
            events.DeadlineMoved(**at(deadline=NOW, given_back=timedelta(seconds=12.4))),
            "Nobody could act for 12 seconds; that time is given back.",
        ),
        (
            events.RoundEnded(**at(opener=0, discarded=cards("G6"))),
            "The round is over. You open the next one.",
        ),
        (
            events.DealStarted(**at(deal=3, opener=1, hand=None)),
            "Deal 3 starts: nine cards each. Bob opens.",
        ),
        (
            events.DealEnded(
                **at(deal=2, out_seat=2),
                scores=(
                    DealScore(0, cards("R4 B1"), 2, 5),
                    DealScore(1, cards("V9"), 1, 1),
                    DealScore(2, (), 0, 7),
                ),
                next_deal_time=None,
            ),
            (
                "Deal 2 is over. Freya went out. Penalties: you 2 (red 4 and blue 1), total 5; "
                "Bob 1 (violet 9), total 1; Freya 0, total 7."
            ),
        ),
        (events.GameEnded(**at(winners=(0,))), "The game is over. You win with 3 points."),
        (
            events.GameEnded(**at(winners=(0, 1))),
            "The game is over. Victory is shared with 3 points by you and Bob.",
        ),
        (
            events.GameStarted(
                **at(game=1, seats=(0, 1), removed=(Colour.RED, Colour.BLUE)),
            ),
            "Game 1 starts, to 15 points, without red and blue: you and Bob.",
        ),
        (events.SeatTaken(**at(seat=TABLE.seats[2])), "Freya sat down (bot, hard)."),
        (
            events.SeatTaken(**at(seat=TABLE.seats[1]), instead_of="Astrid"),
            "Bob plays on for Astrid.",
        ),
        (events.SeatLeft(**at(seat=1, reason=LeaveReason.LEFT, name="Bob")), "Bob left."),
        (events.HostChanged(**at(seat=0)), "You are the host now."),
        (events.ReadyChanged(**at(seat=1, ready=False)), "Bob is no longer ready."),
        (
            events.SubstituteSeated(**at(seat=1, reason=LeaveReason.AWAY, level="greedy")),
            "Bob stayed away; a substitute (greedy) plays on.",
        ),
        (events.SeatResumed(**at(seat=1)), "Bob is back."),
        (events.RematchAsked(**at(seat=0)), "You want another game."),
        (
            events.BotFailed(**at(seat=2, problem="it was too slow")),
            "The bot Freya failed: it was too slow.",
        ),
        (
            events.TableClosed(**at(reason=CloseReason.HOST)),
            "The table has ended: its host closed it.",
        ),
        (
            events.TableClosed(**at(reason=CloseReason.HOST, by="Bob")),
            "The table has ended: Bob closed it.",
        ),
        (events.TableOpened(**at(options=Options())), "The table was opened."),
        (
            events.ChatSaid(ChatLine(1, NOW, "Bob", 1, "hello")),
            "Bob says: hello",
        ),
        (
            LinkChanged(online=False, problem="no answer", attempt=2, retry_in=0.6),
            "Connection lost (no answer). Your seat is kept; attempt 2 in 1 s.",
        ),
        (LinkChanged(online=True), "Connected again."),
        (
            events.StreamEnded(StreamEndReason.SUPERSEDED, None),
            "This seat is being played from elsewhere now.",
        ),
        (events.Event(seq=1, time=NOW), None),
        (SnapshotTaken(), None),
        (events.PresenceChanged((), 0), None),
        (
            events.PresenceChanged((), 0, gone=(0, 1)),
            "Bob is away; in 2 minutes a substitute takes over.",
        ),
        (events.PresenceChanged((), 0, back=(0, 1)), "Bob is here again."),
        (events.DecisionOpened(**at(decision=TABLE.decision)), None),
    ],
)
def test_an_update_is_one_sentence(update: Update, sentence: str | None) -> None:
    assert sentences.sentence(update, TABLE) == sentence


def test_how_things_stand() -> None:
    assert sentences.hand_sentence(cards("R4 B1")) == "Hand, 2 cards: red 4, blue 1."
    assert sentences.hand_sentence(()) == "You hold no cards."
    assert sentences.centre_sentence(TABLE) == "Centre: 64, green 6 and green 4, by Bob."
    assert sentences.players_sentences(TABLE) == [
        "You: 2 cards, 3 points, to act.",
        "Bob: 9 cards, 0 points, passed.",
        "Freya: 1 card, 7 points.",
    ]
    assert sentences.scores_sentences(TABLE) == [
        "Bob: 0 = 0 points.",
        "You: 3 = 3 points.",
        "Freya: 7 = 7 points.",
        "The game goes to 15 points.",
    ]
    assert sentences.waiting_sentence(TABLE) == (
        "Table K7QF waits, to 15 points. "
        "At the table: you, Bob (ready) and Freya (bot, hard, ready). No seat is free."
    )
    assert sentences.scores_sentences(TableModel()) == [
        "No deal is over yet. The game goes to 15 points."
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(), ""),
        (Options(turn_time=45), "45 seconds a turn"),
        (Options(turn_time=60, bank=601), "1 minute a turn and a bank of 10 minutes 1 second"),
    ],
)
def test_a_clock_in_words(options: Options, said: str) -> None:
    assert words.clock(options) == said
    assert words.terms(options) == f"to 15 points{said and ', '}{said}"


def test_who_comes_after_the_end_is_told_of_the_end() -> None:
    game = TABLE.game
    assert game is not None
    over = but(phase=Phase.GAME_OVER, game=replace(game, winners=(1,)), decision=None)
    assert sentences.centre_sentence(over) == "The game is over. Bob wins with 0 points."
    again = but(game=over.game, phase=Phase.WAITING, decision=None)
    assert sentences.centre_sentence(again) == sentences.waiting_sentence(again)


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        (
            Decision(
                1, 0, DecisionKind.RESPOND, True, plays=(LegalPlay(set_of(cards("R9 R8")), False),)
            ),
            "Your turn. Play 2 or 3 cards above 64, or pass.",
        ),
        (Decision(1, 0, DecisionKind.RESPOND, True), "Your turn. You have no legal play: pass."),
        (
            Decision(
                1, 0, DecisionKind.OPEN, False, plays=(LegalPlay(set_of(cards("R9")), False),)
            ),
            "Your turn. Open with one card.",
        ),
        (
            Decision(
                1, 0, DecisionKind.OPEN, False, plays=(LegalPlay(set_of(cards("R9 R8")), True),)
            ),
            "Your turn. Open with one card, or with your whole hand.",
        ),
        (
            Decision(1, 0, DecisionKind.PICK_UP, False, pick_ups=cards("G6 G4")),
            "Your turn. Take green 6 or green 4.",
        ),
    ],
)
def test_the_own_turn_says_what_may_be_done(decision: Decision, sentence: str) -> None:
    assert sentences.turn_sentence(TABLE, decision) == sentence


def test_somebody_who_is_away_is_spoken_of_as_the_table_is() -> None:
    gone = events.PresenceChanged((), 0, gone=(1,))
    waiting = but(phase=Phase.WAITING)
    said = "Bob is away; the seat is kept for 2 minutes."
    assert sentences.sentence(gone, waiting) == said
    seats = tuple(replace(seat, substituted=seat.seat == 1) for seat in TABLE.seats)
    assert sentences.sentence(gone, but(seats=seats)) is None


def test_the_time_that_is_left_is_said() -> None:
    decision = Decision(1, 0, DecisionKind.RESPOND, True, deadline=NOW + timedelta(seconds=65.2))
    assert sentences.time_sentence(decision, NOW) == "1 minute 5 seconds left."
    assert sentences.time_sentence(decision, NOW + timedelta(seconds=70)) == "0 seconds left."
    assert sentences.time_sentence(replace(decision, deadline=None), NOW) is None
