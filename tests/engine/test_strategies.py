"""The built-in players: legal, fixed by what they see, and `greedy` to the letter (D2)."""

from __future__ import annotations

import random

import pytest

from odin_engine import (
    DECK,
    Card,
    Pass,
    Phase,
    PickUp,
    PlayCards,
    StartDeal,
    State,
    mask_of,
    view_for,
)
from odin_engine.strategies import STRATEGIES, Greedy, Strategy
from odin_engine.strategies.hard import plays_needed
from tests.engine.deals import card_set, cards, dealt, decision, do, holding, started
from tests.engine.test_rules import over


def play_game(players: list[Strategy], seed: int, threshold: int | None = 15) -> State:
    """A game of these players to its end."""
    rng = random.Random(seed)
    state = started(len(players), threshold=threshold, first_opener=rng.randrange(len(players)))
    while state.phase is not Phase.GAME_OVER:
        if state.phase is Phase.BETWEEN_DEALS:
            state = do(state, StartDeal(tuple(rng.sample(DECK, len(DECK)))))
        else:
            seat = decision(state).seat
            state = do(state, players[seat].choose(view_for(state, seat), rng))
    return state


@pytest.mark.parametrize("level", STRATEGIES)
@pytest.mark.parametrize("players", [2, 3, 6])
def test_every_level_plays_legally_to_the_end(level: str, players: int) -> None:
    for seed in range(3):
        assert play_game([STRATEGIES[level]() for _ in range(players)], seed).winners


@pytest.mark.parametrize("level", STRATEGIES)
def test_a_seat_that_has_nothing_to_decide_is_an_error(level: str) -> None:
    state = dealt(started(2), "R1")
    with pytest.raises(ValueError, match="nothing to decide"):
        STRATEGIES[level]().choose(view_for(state, 1), random.Random(0))


@pytest.mark.parametrize("level", STRATEGIES)
def test_the_same_view_and_randomness_give_the_same_action(level: str) -> None:
    state = do(dealt(started(2), "R1 R5 B5 B7", "R9 R8 G8"), PlayCards(0, cards("R1")))
    view = view_for(state, 1)
    first = STRATEGIES[level]().choose(view, random.Random(4))
    assert STRATEGIES[level]().choose(view, random.Random(4)) == first


def greedy(state: State, seat: int = 0) -> object:
    return Greedy().choose(view_for(state, seat), random.Random(0))


def opening(hand: str) -> State:
    return holding(dealt(started(2), "R1"), hand, "V1 V2 V3")


def test_d2_greedy_goes_out_if_it_can() -> None:
    assert greedy(opening("R1 R5 R9")) == PlayCards(0, card_set("R1 R5 R9"))
    assert greedy(over("R8 R9", "B1")) == PlayCards(0, card_set("R9 R8"))


def test_d2_greedy_opens_with_its_lowest_single_card() -> None:
    assert greedy(opening("R5 V2 G2 B9")) == PlayCards(0, card_set("G2"))


def test_d2_greedy_responds_with_the_most_cards_and_then_the_lowest_value() -> None:
    # Two cards rather than one; of the pairs above 6 the lowest is 21, red before blue.
    state = over("R9 R2 R1 B2 B1 G7", "Y6")
    assert greedy(state) == PlayCards(0, card_set("R1 B1"), Card.parse("Y6"))
    state = over("R9 R2 R1 B2 V3", "Y1")
    assert greedy(state) == PlayCards(0, card_set("R2 R1"), Card.parse("Y1"))


def test_d2_greedy_never_passes_when_it_can_play() -> None:
    assert greedy(over("R9 B1", "Y8")) == PlayCards(0, card_set("R9"), Card.parse("Y8"))
    assert greedy(over("R1 B1", "Y8 Y9")) == Pass(0)


def test_d2_greedy_picks_up_the_highest_number() -> None:
    state = do(over("R5 R6 R7", "B1 B2"), PlayCards(0, cards("R5 R6")))
    assert greedy(state) == PickUp(0, Card.parse("B2"))
    choice = greedy(over("R5 R6 B9", "V4 G4"))
    assert choice == PlayCards(0, card_set("R5 R6"), Card.parse("G4"))


def wins(level: str, other: str, games: int) -> tuple[int, int]:
    """Games won by one level and by the other, two at a table of four; seats in turn."""
    won = [0, 0]
    for seed in range(games):
        mine = seed % 2
        seats = [STRATEGIES[level if seat % 2 == mine else other]() for seat in range(4)]
        # Each shuffle is played from both sides.
        for winner in play_game(seats, seed // 2).winners:
            won[0 if winner % 2 == mine else 1] += 1
    return won[0], won[1]


def test_greedy_beats_random() -> None:
    good, bad = wins("greedy", "random", games=60)
    assert good > 1.5 * bad


def test_hard_beats_greedy() -> None:
    good, bad = wins("hard", "greedy", games=60)
    assert good > 3 * bad


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("R1", 1),
        ("R1 R5 R9", 1),
        ("R1 B1 V1", 1),
        ("R1 B2", 2),
        ("R1 R2 B2 B3", 2),
        ("R1 B1 B5 V5", 2),
        ("R1 O2 Y3 G4", 4),
        ("R1 R2 R3 B1 B2 B3 V7 G8 O8", 4),
    ],
)
def test_hard_knows_how_few_plays_a_hand_needs(hand: str, plays: int) -> None:
    assert plays_needed(mask_of(cards(hand))) == plays
