"""The engine and a naive referee, which share no code, agree: on games, and on what is wrong."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from odin_engine import (
    NEW,
    CardsPlayed,
    Colour,
    DealEnded,
    DealStarted,
    GameEnded,
    Options,
    Passed,
    Phase,
    StartDeal,
    StartGame,
    decide,
    deck,
    fold,
    view_for,
)
from odin_engine.conformance import check_line
from odin_engine.events import CardPickedUp, Event
from odin_engine.strategies import STRATEGIES
from tests.engine import referee
from tests.engine.deals import decision

FOLDER = Path(__file__).parent / "conformance"
POSITIONS = [json.loads(line) for line in (FOLDER / "positions.jsonl").read_text().splitlines()]
GAMES = [json.loads(line) for line in (FOLDER / "games.jsonl").read_text().splitlines()]

Vector = dict[str, Any]


def texts(cards: Any) -> list[str]:
    return sorted(map(str, cards))


def played(level: str, options: Options, rng: random.Random) -> list[Event]:
    """All events of a game."""
    removed = tuple(
        sorted(rng.sample(list(Colour), options.colours_to_remove), key=list(Colour).index)
    )
    events = [*decide(NEW, StartGame(options, removed, rng.randrange(options.players)))]
    state = fold(events)
    player = STRATEGIES[level]()
    while state.phase is not Phase.GAME_OVER:
        if state.phase is Phase.BETWEEN_DEALS:
            cards = deck(removed)
            new = decide(state, StartDeal(tuple(rng.sample(cards, len(cards)))))
        else:
            seat = decision(state).seat
            new = decide(state, player.choose(view_for(state, seat), rng))
        events += new
        state = fold(new, state)
    return events


def as_vector(options: Options, events: list[Event]) -> Vector:
    """A game as a vector."""
    deals: list[object] = []
    actions: list[dict[str, object]] = []
    results: list[object] = []
    vector: Vector = {"id": "played", "players": options.players, "threshold": options.threshold}
    for event in events:
        match event:
            case DealStarted():
                if event.number == 1:
                    vector["first_seat"] = event.opener
                    letters = {str(card)[0] for card in event.order}
                    vector["colours"] = [c.value for c in Colour if c.value in letters]
                deals.append([texts(hand) for hand in event.hands])
            case CardsPlayed():
                actions.append({"seat": event.seat, "play": texts(event.cards)})
            case CardPickedUp():
                actions[-1]["pickup"] = str(event.card)
            case Passed():
                actions.append({"seat": event.seat, "pass": True})
            case DealEnded():
                results.append(
                    {
                        "after_action": len(actions),
                        "penalties": list(event.penalties),
                        "totals": list(event.totals),
                    }
                )
            case GameEnded():
                vector["winners"] = list(event.winners)
            case _:
                pass
    return {**vector, "deals": deals, "actions": actions, "results": results}


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("level", STRATEGIES)
def test_the_referee_accepts_what_the_engine_plays(level: str, players: int) -> None:
    rng = random.Random(players)
    for threshold in (None, 5, 15, 20):
        options = Options(players, threshold, short_deck=rng.random() < 0.5)
        vector = as_vector(options, played(level, options, rng))
        assert referee.accepts(vector)
        assert check_line(json.dumps(vector), "") == []


def test_the_referee_accepts_the_vectors() -> None:
    assert all(map(referee.accepts, POSITIONS + GAMES))


JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 7, 15, 100, 1.0, 10**30, float("nan")),
    *("", "R1", "V9", "B5", "R0", "r1", " R1", "\ud800", "\x1b[31m"),
    *([], ["R1"], [["R1"]], {}, {"seat": 0}),
]


def is_list(thing: Any) -> TypeGuard[list[Any]]:
    return isinstance(thing, list)


def is_object(thing: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(thing, dict)


def places(thing: Any, *path: Any) -> list[tuple[Any, ...]]:
    """The paths to everything in a vector."""
    found = [path] if path else []
    if is_object(thing):
        for key, value in thing.items():
            found += places(value, *path, key)
    elif is_list(thing):
        for index, value in enumerate(thing):
            found += places(value, *path, index)
    return found


def at(thing: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        thing = thing[key]
    return thing


def changed(vector: Vector, paths: list[tuple[Any, ...]], rng: random.Random) -> Vector:
    """The vector with one thing in it removed, replaced, repeated, swapped or added."""
    vector = copy.deepcopy(vector)
    *path, key = rng.choice(paths)
    inside = at(vector, tuple(path))
    old = inside[key]
    match rng.randrange(7):
        case 0:
            del inside[key]
        case 1:
            inside[key] = copy.deepcopy(rng.choice(JUNK))
        case 2:
            inside[key] = copy.deepcopy(at(vector, rng.choice(paths)))
        case 3 if is_list(inside):
            inside.insert(key, copy.deepcopy(rng.choice(inside)))
        case 4 if is_list(inside):
            other = rng.randrange(len(inside))
            inside[key], inside[other] = inside[other], old
        case 5 if is_object(inside):
            inside[rng.choice(["pickup", "pass", "play", "seat", "surplus"])] = rng.choice(JUNK)
        case _ if type(old) is int:
            inside[key] = old + rng.choice([-5, -1, 1, 5])
        case _ if isinstance(old, str):
            inside[key] = rng.choice(sorted(referee.CARDS))
        case _:
            inside[key] = not old
    return vector


@pytest.mark.parametrize(
    ("vectors", "count"), [(POSITIONS, 2_000), (GAMES, 800)], ids=["positions", "games"]
)
def test_a_changed_vector_passes_only_if_the_referee_accepts_it(
    vectors: list[Vector], count: int
) -> None:
    rng = random.Random(0)
    paths = [places(vector) for vector in vectors]
    mistakes = 0
    for _ in range(count):
        number = rng.randrange(len(vectors))
        wrong = changed(vectors[number], paths[number], rng)
        right = referee.accepts(wrong)
        mistakes += not right
        differences = check_line(json.dumps(wrong), "")
        assert right is not bool(differences), (vectors[number]["id"], differences)
    assert mistakes > 0.8 * count
