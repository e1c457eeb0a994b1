"""Bots as careless authors write them. Each is imported in a worker, and most go wrong there."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import cast

from odin_client.bots import Action, Bot, Card, Pass, PickUp, PlayCards, View
from odin_engine import DECK, CardsNotHeld


def lowest(view: View) -> Action:
    """The lowest legal play."""
    decision = view.decision
    assert decision is not None
    if decision.plays:
        return PlayCards(decision.seat, decision.plays[0])
    if decision.may_pass:
        return Pass(decision.seat)
    return PickUp(decision.seat, decision.pick_ups[0])


class Lowest(Bot):
    def choose(self, view: View) -> Action:
        return lowest(view)


# What works in a worker.


class UsesAPool(Bot):
    def choose(self, view: View) -> Action:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]
        return lowest(view)


class UsesAnExecutor(Bot):
    def choose(self, view: View) -> Action:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            assert list(pool.map(abs, [-1, -2])) == [1, 2]
        return lowest(view)


class Prints(Bot):
    def choose(self, view: View) -> Action:
        print("my hand has", len(view.hand), "cards")  # noqa: T201 -- what an author does
        os.write(1, b"written without Python\n")
        return lowest(view)


class TakesTimeToBeMade(Bot):
    def __init__(self) -> None:
        time.sleep(0.6)

    def choose(self, view: View) -> Action:
        time.sleep(0.05)
        return lowest(view)


class HangsAtSeat0(Bot):
    """Elsewhere it says how often it was asked, by the card that it names."""

    def __init__(self) -> None:
        self.asked = 0

    def choose(self, view: View) -> Action:
        self.asked += 1
        if view.viewer == 0:
            time.sleep(600)
        return PlayCards(1, (DECK[self.asked],))


class DrawsFromEverything(Bot):
    """Chooses by all that chance decides in a Python program."""

    def choose(self, view: View) -> Action:
        decision = view.decision
        assert decision is not None
        if not decision.plays:
            return lowest(view)
        drawn = int((random.random() + self.rng.random()) * 1_000_000) + hash(str(view))
        return PlayCards(decision.seat, decision.plays[drawn % len(decision.plays)])


# What fails.


class Matches(Bot):
    """Never gives the interpreter back."""

    def choose(self, view: View) -> Action:
        print("begins what never ends")  # noqa: T201 -- what an author does
        re.match(r"(a+)+$", "a" * 60 + "b")
        return lowest(view)


class Computes(Bot):
    def choose(self, view: View) -> Action:
        sum(range(10**12))
        return lowest(view)


class LeavesChildren(Bot):
    """Is too slow, and has started others that would outlive it."""

    def choose(self, view: View) -> Action:
        for _ in range(3):
            if os.fork() == 0:
                break
        time.sleep(600)
        return lowest(view)


class Raises(Bot):
    def choose(self, view: View) -> Action:
        return helper(view)


def helper(view: View) -> Action:
    """Where `Raises` fails."""
    raise ZeroDivisionError("oh no")


class Exits(Bot):
    def choose(self, view: View) -> Action:
        sys.exit(3)


class EndsItsProcess(Bot):
    def choose(self, view: View) -> Action:
        os._exit(3)


class Crashes(Bot):
    def choose(self, view: View) -> Action:
        ctypes.string_at(0)
        return lowest(view)


class Asks(Bot):
    def choose(self, view: View) -> Action:
        input("Which card? ")
        return lowest(view)


class RefusesInAPool(Bot):
    def choose(self, view: View) -> Action:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.apply(_refuse)
        return lowest(view)


def _refuse() -> None:
    raise CardsNotHeld("R7", "not in this hand")


class ForksAndReturns(Bot):
    """Both processes come back from `choose`."""

    def choose(self, view: View) -> Action:
        os.fork()
        return lowest(view)


class SaysNothing(Bot):
    def choose(self, view: View) -> Action:
        return cast("Action", None)


class NamesNoCards(Bot):
    def choose(self, view: View) -> Action:
        return PlayCards(0, cast("tuple[Card, ...]", ("R1",)))


class PlaysWhatItDoesNotHold(Bot):
    def choose(self, view: View) -> Action:
        return PlayCards(0, (next(card for card in DECK if card not in view.hand),))


class IsNeverMade(Bot):
    def __init__(self) -> None:
        raise OSError("no model")

    def choose(self, view: View) -> Action:
        return lowest(view)


class IsMadeForever(Bot):
    def __init__(self) -> None:
        time.sleep(600)

    def choose(self, view: View) -> Action:
        return lowest(view)


class IsMadeOnce(Bot):
    """Cannot be made a second time: the file says that there was a first."""

    def __init__(self) -> None:
        Path(os.environ["MADE"]).touch(exist_ok=False)

    def choose(self, view: View) -> Action:
        os._exit(3)
