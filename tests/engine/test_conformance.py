"""The vectors pass; and a mistake in any field of a vector is found."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from odin_engine import DECK
from odin_engine.conformance import check_line

FOLDER = Path(__file__).parent / "conformance"
POSITIONS = (FOLDER / "positions.jsonl").read_text().splitlines()
GAMES = (FOLDER / "games.jsonl").read_text().splitlines()

Vector = dict[str, Any]


@pytest.mark.parametrize("file", ["positions", "games"])
def test_every_vector_passes(file: str) -> None:
    lines = {"positions": POSITIONS, "games": GAMES}[file]
    assert len(lines) >= 60
    for line in lines:
        assert check_line(line, "") == []


def other_card(card: str, rng: random.Random) -> str:
    return rng.choice([str(other) for other in DECK if str(other) != card])


def changed(vector: Vector, field: str, change: Callable[[Vector], object]) -> tuple[str, Vector]:
    """A copy of this vector with one change, and the field in which it is."""
    wrong = copy.deepcopy(vector)
    change(wrong)
    return field, wrong


def wrong_positions(vector: Vector, rng: random.Random) -> Iterator[tuple[str, Vector]]:
    """Vectors like this one, each with one mistake, and the field in which it is."""
    yield changed(vector, "may_pass", lambda v: v.update(may_pass=not v["may_pass"]))
    yield changed(vector, "may_pass", lambda v: v.update(may_pass=int(v["may_pass"])))
    yield changed(vector, "hand", lambda v: v["hand"].append(v["hand"][0]))
    yield changed(vector, "hand", lambda v: v["hand"].append("R0"))
    yield changed(vector, "hand", lambda v: v.update(hand=None))
    yield changed(vector, "centre", lambda v: v["centre"].append(v["hand"][0]))
    yield changed(vector, "plays", lambda v: v["plays"].append(["R1", "B2"]))
    yield changed(
        vector, "values", lambda v: v["values"].update({"R1,R2,R3,R4,R5,R6,R7,R8,R9,B1": 1})
    )
    yield changed(vector, "goes_out", lambda v: v["goes_out"].append(["R1", "B2"]))
    yield changed(vector, "surplus", lambda v: v.update(surplus=1))
    for key in ("hand", "centre", "may_pass", "plays", "values", "goes_out"):
        yield changed(vector, key, lambda v, key=key: v.pop(key))  # type: ignore[misc]
    for place in range(len(vector["plays"])):
        name = ",".join(vector["plays"][place])
        yield changed(vector, "plays", lambda v, place=place: v["plays"].pop(place))  # type: ignore[misc]
        yield changed(vector, "values", lambda v, name=name: v["values"].pop(name))  # type: ignore[misc]
        yield changed(
            vector,
            "values",
            lambda v, name=name: v["values"].update({name: v["values"][name] + 1}),  # type: ignore[misc]
        )
        yield changed(
            vector,
            "plays",
            lambda v, place=place: v["plays"].append(v["plays"][place]),  # type: ignore[misc]
        )
    if vector["goes_out"]:
        yield changed(vector, "goes_out", lambda v: v["goes_out"].pop())
    if vector["plays"]:
        # Without a card that can be played, some play of the list is not there any more.
        card = vector["plays"][0][0]
        yield changed(vector, "hand", lambda v: v["hand"].remove(card))


def wrong_games(vector: Vector, rng: random.Random) -> Iterator[tuple[str, Vector]]:
    for key in vector:
        if key != "id":
            yield changed(vector, key, lambda v, key=key: v.pop(key))  # type: ignore[misc]
    yield changed(vector, "surplus", lambda v: v.update(surplus=1))
    yield changed(vector, "players", lambda v: v.update(players=v["players"] % 6 + 1))
    yield changed(vector, "threshold", lambda v: v.update(threshold=7))
    yield changed(vector, "threshold", lambda v: v.update(threshold=True))
    yield changed(vector, "threshold", lambda v: v.update(threshold=100))
    yield changed(vector, "colours", lambda v: v["colours"].pop())
    yield changed(vector, "colours", lambda v: v["colours"].reverse())
    yield changed(
        vector, "first_seat", lambda v: v.update(first_seat=(v["first_seat"] + 1) % v["players"])
    )
    yield changed(vector, "first_seat", lambda v: v.update(first_seat=9))
    yield changed(vector, "winners", lambda v: v.update(winners=[]))
    yield changed(vector, "winners", lambda v: v["winners"].append(v["winners"][0]))
    yield changed(vector, "winners", lambda v: v.update(winners=[bool(w) for w in v["winners"]]))
    yield changed(vector, "deals", lambda v: v["deals"].append(v["deals"][-1]))
    yield changed(vector, "deals", lambda v: v["deals"].pop())
    yield changed(vector, "deals", lambda v: v["deals"][0].pop())
    yield changed(vector, "deals", lambda v: v["deals"][0][0].pop())
    yield changed(vector, "deals", lambda v: v["deals"][0][0].__setitem__(0, v["deals"][0][1][0]))
    yield changed(vector, "actions", lambda v: v["actions"].pop())
    yield changed(vector, "actions", lambda v: v["actions"].append(v["actions"][-1]))
    yield from wrong_results(vector, rng)
    yield from wrong_actions(vector, rng)


def wrong_results(vector: Vector, rng: random.Random) -> Iterator[tuple[str, Vector]]:
    for number in range(len(vector["results"])):
        for key in ("after_action", "penalties", "totals"):
            yield changed(
                vector,
                "results",
                lambda v, number=number, key=key: v["results"][number].pop(key),  # type: ignore[misc]
            )
        yield changed(
            vector,
            "results",
            lambda v, number=number: v["results"][number].update(  # type: ignore[misc]
                after_action=v["results"][number]["after_action"] + 1
            ),
        )
        for key in ("penalties", "totals"):
            seat = rng.randrange(vector["players"])

            def more(v: Vector, number: int = number, key: str = key, seat: int = seat) -> None:
                v["results"][number][key][seat] += 1

            yield changed(vector, "results", more)
        yield changed(vector, "results", lambda v, number=number: v["results"].pop(number))  # type: ignore[misc]


def wrong_actions(vector: Vector, rng: random.Random) -> Iterator[tuple[str, Vector]]:
    actions = vector["actions"]
    for place in rng.sample(range(len(actions)), min(12, len(actions))):
        action = actions[place]

        def edit(v: Vector, place: int = place, change: Callable[[Vector], object] = dict) -> None:
            change(v["actions"][place])

        def edited(change: Callable[[Vector], object], place: int = place) -> tuple[str, Vector]:
            return changed(vector, "actions", lambda v: edit(v, place, change))

        yield edited(lambda a: a.update(seat=(a["seat"] + 1) % vector["players"]))
        yield edited(lambda a: a.update(seat=str(a["seat"])))
        if action["seat"] < 2:
            yield edited(lambda a: a.update(seat=bool(a["seat"])))
        yield edited(lambda a: a.pop("seat"))
        yield edited(lambda a: a.update(surplus=1))
        if "play" in action:
            yield edited(lambda a: a["play"].append(a["play"][0]))
            yield edited(lambda a: a.update(play=[]))
            yield edited(lambda a: a.pop("play"))
            yield edited(lambda a: a["play"].__setitem__(0, "Q7"))
            if "pickup" in action:
                yield edited(lambda a: a.pop("pickup"))
                yield edited(lambda a: a.update(pickup=a["play"][0]))
            else:
                yield edited(lambda a: a.update(pickup=a["play"][0]))
        else:
            yield edited(lambda a: a.update({"pass": False}))


def test_a_mistake_in_any_field_of_a_position_is_found() -> None:
    rng = random.Random(1)
    count = 0
    for line in POSITIONS[::4]:
        vector = json.loads(line)
        for field, wrong in wrong_positions(vector, rng):
            differences = check_line(json.dumps(wrong), "")
            assert differences, (field, wrong)
            assert all(difference.id == vector["id"] for difference in differences)
            count += 1
    assert count > 2_000


def test_a_mistake_in_any_field_of_a_game_is_found() -> None:
    rng = random.Random(2)
    count = 0
    for line in GAMES[::10]:
        vector = json.loads(line)
        for field, wrong in wrong_games(vector, rng):
            if _means_the_same(vector, wrong):
                continue
            assert check_line(json.dumps(wrong), ""), (field, vector["id"])
            count += 1
    assert count > 1_000


def _means_the_same(vector: Vector, wrong: Vector) -> bool:
    """Whether the change is none that the rules could tell from the right vector."""
    if vector["threshold"] is None or wrong.get("threshold") != 100:
        # Nothing else that was changed has the same meaning.
        return json.dumps(vector) == json.dumps(wrong)
    highest: int = max(vector["results"][-1]["totals"])
    return highest >= 100


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("", "line"),
        ("[]", "line"),
        ("7", "line"),
        ("{", "line"),
        ('{"hand": [], "hand": []}', "line"),
        ("[" * 100_000, "line"),
        ("{}", "id"),
        ('{"id": 7}', "id"),
        ('{"id": "x"}', "kind"),
    ],
)
def test_a_line_that_is_no_vector_is_a_difference(line: str, field: str) -> None:
    (difference,) = check_line(line, "file.jsonl:7")
    assert difference.field == field
    assert difference.id in ("file.jsonl:7", "x")


def test_a_difference_names_the_id_the_field_and_both_sides() -> None:
    vector = json.loads(POSITIONS[0])
    vector["may_pass"] = True
    (difference,) = check_line(json.dumps(vector), "")
    assert str(difference) == "p0000  may_pass  expected true  got false"
