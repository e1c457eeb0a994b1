"""Runs rule vectors through the engine, and says where they and the engine differ.

A vector is a JSON object on a line of its own. Its kind is known by its keys:

- a position: `hand`, `centre`, `may_pass`, `plays`, `values`, `goes_out`;
- a game: `players`, `threshold`, `colours`, `first_seat`, `deals`, `actions`, `results`, `winners`.

Whatever is wrong with a vector, its form included, is a difference; nothing here raises because
of what a line holds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from odin_engine.cards import Card, Colour, deck, mask_of
from odin_engine.errors import CopyableError, OdinError
from odin_engine.game import (
    NEW,
    Action,
    Decision,
    DecisionKind,
    Pass,
    Phase,
    PlayCards,
    StartDeal,
    StartGame,
    State,
    decide,
    decision_of,
    fold,
)
from odin_engine.rules import HAND_SIZE, Options
from odin_engine.sets import CardSet, set_of

_POSITION_KEYS: Final = ("id", "hand", "centre", "may_pass", "plays", "values", "goes_out")
_GAME_KEYS: Final = (
    "id",
    "players",
    "threshold",
    "colours",
    "first_seat",
    "deals",
    "actions",
    "results",
    "winners",
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One point at which a vector and the engine do not agree."""

    id: str
    """The vector's id, or its file and line when it has none."""
    field: str
    expected: str
    """What the vector says."""
    got: str
    """What the engine says."""

    def __str__(self) -> str:
        return f"{self.id}  {self.field}  expected {self.expected}  got {self.got}"


class _VectorError(CopyableError):
    """A vector differs so that going on would make no sense."""

    def __init__(self, field: str, expected: object, got: object) -> None:
        super().__init__(field)
        self.difference = (field, expected, got)


def check_line(line: str, where: str) -> list[Difference]:
    """The differences between one vector and the engine; none when they agree.

    `where` names the line for a vector without an id, such as "games.jsonl:7".
    """
    try:
        vector = _parsed(line)
        name = _name(vector)
    except _VectorError as wrong:
        return [_difference(where, *wrong.difference)]
    found: list[Difference] = []
    try:
        if "hand" in vector or "centre" in vector:
            checks = _check_position(vector)
        elif "deals" in vector or "actions" in vector:
            checks = _check_game(vector)
        else:
            raise _VectorError("kind", "a position or a game", f"keys {sorted(vector)}")
        found.extend(_difference(name, *difference) for difference in checks)
    except _VectorError as wrong:
        found.append(_difference(name, *wrong.difference))
    return found


def _difference(name: str, field: str, expected: object, got: object) -> Difference:
    return Difference(_shown(name), _shown(field), _shown(expected), _shown(got))


def _shown(value: object) -> str:
    """Fit for any terminal, on one line: texts of a file may hold anything."""
    if isinstance(value, str) and value and value.isascii() and value.isprintable():
        return value
    return json.dumps(value, default=str)


def _parsed(line: str) -> dict[str, Any]:
    try:
        vector: Any = json.loads(line, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise _VectorError("line", "a JSON object", str(error) or "too deep") from None
    if not _is_object(vector):
        raise _VectorError("line", "a JSON object", "something else")
    return vector


def _name(vector: dict[str, Any]) -> str:
    name = vector.get("id")
    if not isinstance(name, str) or not name:
        raise _VectorError("id", name, "a vector has a name")
    return name


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if repeated:
        raise ValueError(f"the key {repeated[0]!r} stands there more than once")
    return dict(pairs)


# What a vector consists of


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _check_keys(what: str, keys: Iterable[str], value: Any) -> dict[str, Any]:
    if not _is_object(value):
        raise _VectorError(what or "vector", f"an object with {', '.join(keys)}", value)
    prefix = f"{what}." if what else ""
    for key in keys:
        if key not in value:
            raise _VectorError(f"{prefix}{key}", "the key", "nothing")
    for key in value:
        if key not in keys:
            raise _VectorError(f"{prefix}{key}", "no such key", value[key])
    return value


def _list(field: str, value: Any) -> list[Any]:
    if not _is_list(value):
        raise _VectorError(field, "a list", value)
    return value


def _number(field: str, value: Any) -> int:
    if type(value) is not int:
        raise _VectorError(field, "a whole number", value)
    return value


def _card(field: str, value: Any) -> Card:
    try:
        return Card.parse(value)
    except (OdinError, TypeError):
        raise _VectorError(field, value, "no such card") from None


def _cards(field: str, value: Any) -> tuple[Card, ...]:
    cards = tuple(_card(field, text) for text in _list(field, value))
    if len(set(cards)) != len(cards):
        raise _VectorError(field, value, "a card more than once")
    return cards


def _texts(cards: Iterable[Card]) -> list[str]:
    """Cards as a vector lists a set: sorted as text."""
    return sorted(map(str, cards))


# Positions


def _check_position(vector: dict[str, Any]) -> Iterator[tuple[str, object, object]]:
    _check_keys("", _POSITION_KEYS, vector)
    hand = _cards("hand", vector["hand"])
    if not 1 <= len(hand) <= HAND_SIZE:
        raise _VectorError("hand", vector["hand"], f"a hand has 1 to {HAND_SIZE} cards")
    in_centre = _cards("centre", vector["centre"])
    if set(hand) & set(in_centre):
        raise _VectorError("centre", vector["centre"], "a card that is in the hand too")
    try:
        centre = set_of(in_centre) if in_centre else None
    except OdinError as error:
        raise _VectorError("centre", vector["centre"], error.message) from None
    kind = DecisionKind.RESPOND if centre else DecisionKind.OPEN
    decision = Decision(0, kind, mask_of(hand), centre)
    plays = decision.plays
    if vector["may_pass"] is not decision.may_pass:
        yield "may_pass", vector["may_pass"], decision.may_pass
    yield from _compare_sets("plays", vector["plays"], plays)
    yield from _compare_values(vector["values"], plays)
    yield from _compare_sets("goes_out", vector["goes_out"], filter(decision.goes_out, plays))


def _compare_sets(
    field: str, listed: Any, sets: Iterable[CardSet]
) -> Iterator[tuple[str, object, object]]:
    named = [
        [str(_card(field, text)) for text in _list(field, each)] for each in _list(field, listed)
    ]
    legal = sorted(_texts(each) for each in sets)
    for surplus in _minus(named, legal):
        yield field, surplus, "not among them"
    for missing in _minus(legal, named):
        yield field, "not among them", missing


def _minus(ones: list[list[str]], others: list[list[str]]) -> list[list[str]]:
    left = Counter(map(tuple, ones)) - Counter(map(tuple, others))
    return [list(each) for each in sorted(left.elements())]


def _compare_values(values: Any, plays: Iterable[CardSet]) -> Iterator[tuple[str, object, object]]:
    if not _is_object(values):
        raise _VectorError("values", "an object", values)
    legal = {",".join(_texts(play)): play.value for play in plays}
    for name in sorted({*values, *legal}):
        expected = values.get(name, "nothing")
        got = legal.get(name, "nothing")
        if type(expected) is not type(got) or expected != got:
            yield f"values.{name}", expected, got


# Games


def _check_game(vector: dict[str, Any]) -> Iterator[tuple[str, object, object]]:
    _check_keys("", _GAME_KEYS, vector)
    state = _started(vector)
    deals = [
        _order(f"deals[{number}]", deal, state)
        for number, deal in enumerate(_list("deals", vector["deals"]))
    ]
    results: list[dict[str, object]] = []
    actions = _list("actions", vector["actions"])
    for number, action in enumerate(actions):
        field = f"actions[{number}]"
        if state.phase is Phase.GAME_OVER:
            raise _VectorError(field, action, "the game is over")
        if state.phase is Phase.BETWEEN_DEALS:
            state = _next_deal(field, state, deals)
        state = _acted(field, state, action)
        if state.phase is not Phase.PLAYING:
            results.append(
                {
                    "after_action": number + 1,
                    "penalties": list(state.penalties[-1]),
                    "totals": list(state.totals),
                }
            )
    if state.phase is not Phase.GAME_OVER:
        raise _VectorError(
            "actions", f"{len(actions)} to the end of the game", "the game is not over"
        )
    if len(deals) != len(results):
        yield "deals", f"{len(deals)} deals", f"{len(results)} were played"
    yield from _compare_results(_list("results", vector["results"]), results)
    if not _same(vector["winners"], list(state.winners)):
        yield "winners", vector["winners"], list(state.winners)


def _started(vector: dict[str, Any]) -> State:
    players = _number("players", vector["players"])
    threshold = vector["threshold"]
    if threshold is not None:
        _number("threshold", threshold)
    letters = _list("colours", vector["colours"])
    known = [colour.value for colour in Colour]
    if letters != [letter for letter in known if letter in letters]:
        raise _VectorError(
            "colours", letters, f"different ones of {' '.join(known)}, in this order"
        )
    removed = tuple(colour for colour in Colour if colour.value not in letters)
    first_seat = _number("first_seat", vector["first_seat"])
    try:
        options = Options(players, threshold, short_deck=bool(removed))
    except OdinError as error:
        field = "threshold" if 2 <= players <= 6 else "players"
        raise _VectorError(field, vector[field], error.message) from None
    if len(removed) != options.colours_to_remove:
        raise _VectorError(
            "colours", letters, "two colours leave, or none, and only for two players"
        )
    try:
        return fold(decide(NEW, StartGame(options, removed, first_seat)))
    except OdinError as error:
        raise _VectorError("first_seat", first_seat, error.message) from None


def _order(field: str, deal: Any, state: State) -> tuple[Card, ...]:
    """A deck in an order that deals these hands."""
    hands = [_cards(field, hand) for hand in _list(field, deal)]
    if len(hands) != state.players:
        raise _VectorError(field, f"{len(hands)} hands", f"{state.players} players")
    for hand in hands:
        if len(hand) != HAND_SIZE:
            raise _VectorError(field, f"a hand of {len(hand)} cards", f"each gets {HAND_SIZE}")
    dealt = [card for hand in hands for card in hand]
    cards = deck(state.removed)
    for card, count in Counter(dealt).items():
        if count > 1:
            raise _VectorError(field, f"{card} in {count} hands", "there is one of each card")
        if card not in cards:
            raise _VectorError(field, str(card), "its colour is not in play")
    return (*dealt, *(card for card in cards if card not in dealt))


def _next_deal(field: str, state: State, deals: list[tuple[Card, ...]]) -> State:
    if state.deal == len(deals):
        raise _VectorError(
            field, f"{len(deals)} deals", "the game goes on, and there is no next deal"
        )
    return fold(decide(state, StartDeal(deals[state.deal])), state)


def _acted(field: str, state: State, action: Any) -> State:
    decision = decision_of(state)
    assert decision is not None, "a deal is being played"
    command = _action(field, action)
    if isinstance(command, PlayCards):
        _check_pick_up(field, decision, command)
    try:
        return fold(decide(state, command), state)
    except OdinError as error:
        raise _VectorError(field, action, error.message) from None


def _action(field: str, action: Any) -> Action:
    if _is_object(action) and "pass" in action:
        _check_keys(field, ("seat", "pass"), action)
        if action["pass"] is not True:
            raise _VectorError(f"{field}.pass", action["pass"], True)
        return Pass(_number(f"{field}.seat", action["seat"]))
    takes = _is_object(action) and "pickup" in action
    known = _check_keys(field, ("seat", "play", "pickup") if takes else ("seat", "play"), action)
    return PlayCards(
        _number(f"{field}.seat", known["seat"]),
        tuple(_card(f"{field}.play", text) for text in _list(f"{field}.play", known["play"])),
        _card(f"{field}.pickup", known["pickup"]) if takes else None,
    )


def _check_pick_up(field: str, decision: Decision, command: PlayCards) -> None:
    """A vector names the pick-up of every response that does not go out, also the only one."""
    goes_out = mask_of(command.cards) == decision.hand
    if decision.kind is DecisionKind.RESPOND and not goes_out and command.pick_up is None:
        raise _VectorError(f"{field}.pickup", "nothing", "a response that does not go out picks up")


def _compare_results(
    listed: list[Any], results: list[dict[str, object]]
) -> Iterator[tuple[str, object, object]]:
    if len(listed) != len(results):
        yield "results", f"{len(listed)} results", f"{len(results)} deals ended"
    for number, (expected, got) in enumerate(zip(listed, results, strict=False)):
        known = _check_keys(f"results[{number}]", tuple(got), expected)
        for key, value in got.items():
            if not _same(known[key], value):
                yield f"results[{number}].{key}", known[key], value


def _same(expected: Any, got: object) -> bool:
    """Equal as JSON: in Python True equals 1, and 1.0 does too."""
    return json.dumps(expected) == json.dumps(got)
