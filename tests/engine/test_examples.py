"""The examples of the rules, E1 to E9."""

from __future__ import annotations

import pytest

from odin_engine import (
    Card,
    DealEnded,
    DecisionKind,
    GameEnded,
    NotASet,
    Pass,
    Phase,
    PlayCards,
    TooFewCards,
    TooManyCards,
    ValueTooLow,
    cards_of,
    decide,
    set_of,
)
from tests.engine.deals import card_set, cards, dealt, decision, do, holding, plays, started
from tests.engine.test_rules import ending, over


def test_e1_a_round_of_three_players() -> None:
    state = holding(
        dealt(started(3), "R8"),
        "R8 B9 V9 O1",
        "R3 B3 Y1 Y2",
        "G6 G4 V7 V5 V1",
    )
    state = do(state, PlayCards(0, cards("R8")))
    before = state.hands[1].bit_count()
    state = do(state, PlayCards(1, cards("R3 B3")))  # 33 beats 8, and takes it
    assert state.hands[1].bit_count() == before - 1
    assert Card.parse("R8") in cards_of(state.hands[1])
    state = do(state, PlayCards(2, cards("G6 G4"), Card.parse("R3")))  # 64 beats 33
    assert state.discarded[-1] is Card.parse("B3")
    with pytest.raises(TooFewCards):
        decide(state, PlayCards(0, cards("B9")))
    state = do(state, Pass(0), Pass(1))
    assert state.discarded[-2:] == cards("G6 G4")
    assert decision(state).kind is DecisionKind.OPEN
    assert decision(state).seat == 2
    state = holding(state, "R1", "R2", "V7 V5 V1")
    events = decide(state, PlayCards(2, cards("V7 V5 V1")))
    assert isinstance(events[1], DealEnded)
    assert events[1].out == 2


def test_e2_four_cards_of_one_colour_go_down_together_only_at_an_opening() -> None:
    hand = "R2 R5 R6 R8"
    state = over(hand, "B1 B2")
    assert {play.count for play in decision(state).plays} == {2, 3}
    with pytest.raises(TooManyCards):
        decide(state, PlayCards(0, cards(hand)))
    opening = holding(dealt(started(2), "R2"), hand, "B1")
    assert isinstance(decide(opening, PlayCards(0, cards(hand)))[1], DealEnded)


def test_e3_on_82() -> None:
    hand = "R9 R4 B3 G3 V3 Y8 Y1 B9 O4 R1 R2 R3"
    state = over(hand, "G8 G2")
    assert {"R9 R4", "G3 B3 V3"} <= plays(state)
    for text, refusal in (
        ("Y8 Y1", ValueTooLow),
        ("B9", TooFewCards),
        ("R4 R3 R2 R1", TooManyCards),
    ):
        with pytest.raises(refusal):
            decide(state, PlayCards(0, cards(text)))


def test_e4_two_nines_over_two_sevens() -> None:
    state = over("R9 B9 G1", "R7 B7")
    state = do(state, PlayCards(0, cards("R9 B9"), Card.parse("B7")))
    assert state.centre is card_set("R9 B9")
    assert state.discarded[-1] is Card.parse("R7")
    assert cards_of(state.hands[0]) == cards("G1 B7")


def test_e5_values() -> None:
    assert card_set("R9 R6 R1").value == 961
    assert card_set("R4 B4").value == 44
    with pytest.raises(NotASet):
        set_of(cards("R8 B2"))


def test_e6_what_is_left_costs_a_point_a_card_whatever_its_number() -> None:
    state = holding(dealt(started(2), "R1"), "R1", "R2 R7 R9 B9")
    ended = decide(state, PlayCards(0, cards("R1")))[1]
    assert isinstance(ended, DealEnded)
    assert ended.penalties == (0, 4)


def test_e7_totals() -> None:
    assert ending((8, 12, 16))[-1] == GameEnded((0,), (8, 12, 16))
    # Also when the player at 12 went out: the order of the seats does not matter.
    assert ending((12, 8, 16))[-1] == GameEnded((1,), (12, 8, 16))
    assert ending((9, 15, 18))[-1] == GameEnded((0,), (9, 15, 18))
    assert isinstance(ending((14, 14))[-1], DealEnded)


def test_e8_whoever_passed_may_play_when_the_turn_comes_back() -> None:
    state = dealt(started(3, first_opener=2), "R9", "R5", "R1")
    state = do(state, PlayCards(2, cards("R1")), Pass(0), PlayCards(1, cards("R5")), Pass(2))
    assert decision(state).seat == 0
    assert "R9" in plays(state)


def test_e9_with_two_players_one_pass_ends_the_round() -> None:
    state = dealt(started(2), "R1")
    state = do(state, PlayCards(0, cards("R1")), Pass(1))
    assert state.centre is None
    assert decision(state).seat == 0
    assert state.phase is Phase.PLAYING
