"""The fast loop plays the same game as the public API: same chance, same deal, step by step."""

from __future__ import annotations

import random

import pytest

from odin_engine import (
    DECK,
    NEW,
    Card,
    DealEnded,
    DecisionKind,
    Options,
    Pass,
    PickUp,
    PlayCards,
    StartDeal,
    StartGame,
    decide,
    decision_of,
    evolve,
    fold,
    mask_of,
)
from odin_engine.playout import Playout, play_out


def by_the_api(players: int, order: tuple[Card, ...], seed: int) -> Playout:
    """The same deal through decide and evolve, with the same numbers from chance."""
    uniform = random.Random(seed).random
    options = Options(players, threshold=None, short_deck=False)
    state = fold(decide(NEW, StartGame(options, (), 0)))
    state = fold(decide(state, StartDeal(order)), state)
    steps = 0
    ended: DealEnded | None = None
    while decision := decision_of(state):
        steps += 1
        seat, plays, pick_ups = decision.seat, decision.plays, decision.pick_ups
        if decision.kind is DecisionKind.PICK_UP:
            chosen = PickUp(seat, pick_ups[int(uniform() * len(pick_ups))])
            events = decide(state, chosen)
        else:
            number = int(uniform() * (len(plays) + decision.may_pass))
            events = decide(
                state, Pass(seat) if number == len(plays) else PlayCards(seat, plays[number])
            )
        for event in events:
            state = evolve(state, event)
            if isinstance(event, DealEnded):
                ended = event
    assert ended is not None
    return Playout(ended.out, ended.penalties, steps)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_the_fast_loop_and_the_public_api_play_the_same_deal(players: int) -> None:
    for seed in range(60):
        order = tuple(random.Random(seed).sample(DECK, len(DECK)))
        hands = [mask_of(order[9 * seat : 9 * seat + 9]) for seat in range(players)]
        fast = play_out(hands, 0, random.Random(seed).random)
        assert fast == by_the_api(players, order, seed)


def test_the_opener_is_the_one_named_and_the_hands_given_stay_as_they_are() -> None:
    hands = [mask_of(DECK[:1]), mask_of(DECK[1:3])]
    before = list(hands)
    # A single card goes out at once; red 2 and red 3 do when they are played together.
    assert play_out(hands, 0, lambda: 0.0) == Playout(0, (0, 2), 1)
    assert play_out(hands, 1, lambda: 0.999) == Playout(1, (1, 0), 1)
    assert hands == before
