"""Random playouts: the engine's fast loop, its public API, and python-chess as a peer.

A step is one decision: uniform over the legal plays and the pass, then uniform over the
pick-ups; in chess it is one move, uniform over the legal moves. What counts is processor time
of one process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import chess

from odin_engine import (
    DECK,
    NEW,
    Card,
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
from odin_engine.playout import play_out

SEED = 7
PLAYERS = (2, 3, 4, 5, 6)


@dataclass(frozen=True)
class Playouts:
    """One way to play at random. `run` plays and returns the steps; equal calls do equal work."""

    name: str
    title: str
    aim: int | None
    """Steps a second that are aimed at."""
    run: Callable[[int], int]
    """Takes how many games or deals."""
    games: int
    """How many are played in a turn."""


def _orders(games: int) -> Iterator[tuple[int, list[Card]]]:
    uniform = random.Random(SEED).random
    for game in range(games):
        yield PLAYERS[game % len(PLAYERS)], sorted(DECK, key=lambda _: uniform())


def fast_loop(games: int) -> int:
    """Deals on masks."""
    uniform = random.Random(SEED).random
    steps = 0
    for players, order in _orders(games):
        hands = [mask_of(order[9 * seat : 9 * seat + 9]) for seat in range(players)]
        steps += play_out(hands, 0, uniform).steps
    return steps


def public_api(games: int) -> int:
    """The same through decide, evolve and decision_of, as a program that uses them would."""
    uniform = random.Random(SEED).random
    # Before Python 3.12 looking a member up in its Enum is slow, so it is done once.
    pick_up = DecisionKind.PICK_UP
    steps = 0
    for players, order in _orders(games):
        options = Options(players, threshold=None, short_deck=False)
        state = fold(decide(NEW, StartGame(options, (), 0)))
        state = fold(decide(state, StartDeal(tuple(order))), state)
        while decision := decision_of(state):
            steps += 1
            seat = decision.seat
            if decision.kind is pick_up:
                pick_ups = decision.pick_ups
                events = decide(state, PickUp(seat, pick_ups[int(uniform() * len(pick_ups))]))
            else:
                plays = decision.plays
                chosen = int(uniform() * (len(plays) + decision.may_pass))
                if chosen == len(plays):
                    events = decide(state, Pass(seat))
                else:
                    events = decide(state, PlayCards(seat, plays[chosen]))
            for event in events:
                state = evolve(state, event)
    return steps


def chess_games(games: int) -> int:
    """Chess by python-chess, until a game is over or 200 moves old."""
    uniform = random.Random(SEED).random
    steps = 0
    for _ in range(games):
        board = chess.Board()
        for _ in range(200):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(moves[int(uniform() * len(moves))])
            steps += 1
    return steps


ALL = (
    Playouts("playouts", "playouts, the fast loop, steps/s", 400_000, fast_loop, 4_000),
    Playouts("playouts-api", "playouts through the public API, steps/s", 200_000, public_api, 800),
    Playouts(
        "playouts-chess", "random chess moves by python-chess, moves/s", None, chess_games, 60
    ),
)


def measure(turns: int, quick: bool) -> dict[str, list[float]]:
    """Steps per second of processor time, a list of the turns for each, taken in turn."""
    figures: dict[str, list[float]] = {each.name: [] for each in ALL}
    for turn in range(turns + 1):
        for each in ALL:
            games = each.games // 4 if quick else each.games
            start = time.process_time()
            steps = each.run(games)
            taken = time.process_time() - start
            # The first turn fills tables and caches, as any program does once.
            if turn:
                figures[each.name].append(steps / taken)
    return figures


def rows(figures: dict[str, list[float]]) -> Iterator[str]:
    """A line for each figure: its median, its spread, and its aim."""
    for each in ALL:
        turns = figures[each.name]
        middle = median(turns)
        spread = f"{min(turns):,.0f} to {max(turns):,.0f}"
        verdict = ""
        if each.aim is not None:
            verdict = f"aim {each.aim:,}: {'met' if middle >= each.aim else 'NOT MET'}"
        yield f"{each.title:<52} {middle:>10,.0f}  {spread:<22} {verdict}".rstrip()
