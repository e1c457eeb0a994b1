"""A naive referee: judges whole vectors by the rules, and shares no code with the engine.

Cards are texts, hands are sets of texts, and every choice of cards is tried. It says only whether
a vector is right.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations
from typing import Any

COLOURS = "ROYGBV"
CARDS = {f"{colour}{number}" for colour in COLOURS for number in range(1, 10)}


class _WrongError(Exception):
    """The vector is not as the rules have it."""


def accepts(vector: Any) -> bool:
    """Whether everything in this vector is as the rules have it."""
    try:
        _need(isinstance(vector.get("id"), str) and vector["id"])
        if "hand" in vector:
            _judge_position(vector)
        else:
            _judge_game(vector)
    except (_WrongError, AttributeError, KeyError, TypeError):
        # What does not even have the form of a vector fails in one of the other ways.
        return False
    return True


def _need(what: object) -> None:
    if not what:
        raise _WrongError


def _equal(one: object, other: object) -> bool:
    # As JSON, where true is not 1 and 1.0 is not 1.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _keys(thing: Any, *keys: str) -> None:
    _need(isinstance(thing, dict))
    _need(set(thing) == set(keys))


def _number(thing: Any) -> int:
    _need(type(thing) is int)
    return int(thing)


def _list(thing: Any) -> list[Any]:
    _need(isinstance(thing, list))
    return list(thing)


def _cards(thing: Any) -> list[str]:
    cards = _list(thing)
    _need(all(isinstance(card, str) and card in CARDS for card in cards))
    _need(len(set(cards)) == len(cards))
    return cards


def _is_set(cards: Iterable[str]) -> bool:
    """R8."""
    return len({card[0] for card in cards}) == 1 or len({card[1] for card in cards}) == 1


def _value(cards: Iterable[str]) -> int:
    """R9."""
    return int("".join(sorted((card[1] for card in cards), reverse=True)))


def _may_go_down(play: list[str], hand: Iterable[str], centre: list[str]) -> bool:
    """R5 to R9."""
    hand = set(hand)
    if not play or not set(play) <= hand or not _is_set(play):
        return False
    if not centre:
        return len(play) == 1 or set(play) == hand
    return len(play) - len(centre) in (0, 1) and _value(play) > _value(centre)


def _judge_position(vector: dict[str, Any]) -> None:
    _keys(vector, "id", "hand", "centre", "may_pass", "plays", "values", "goes_out")
    hand, centre = _cards(vector["hand"]), _cards(vector["centre"])
    _need(1 <= len(hand) <= 9)
    _need(not set(hand) & set(centre))
    _need(not centre or _is_set(centre))
    _need(vector["may_pass"] is bool(centre))
    chosen = (list(c) for n in range(len(hand)) for c in combinations(sorted(hand), n + 1))
    plays = [play for play in chosen if _may_go_down(play, hand, centre)]
    _need(_same_in_any_order(vector["plays"], plays))
    out = [play for play in plays if len(play) == len(hand)]
    _need(_same_in_any_order(vector["goes_out"], out))
    _need(_equal(vector["values"], {",".join(play): _value(play) for play in plays}))


def _same_in_any_order(thing: Any, plays: list[list[str]]) -> bool:
    return sorted(map(json.dumps, _list(thing))) == sorted(map(json.dumps, plays))


def _judge_game(vector: dict[str, Any]) -> None:
    _keys(
        vector,
        *("id", "players", "threshold", "colours", "first_seat"),
        *("deals", "actions", "results", "winners"),
    )
    players, threshold = _number(vector["players"]), vector["threshold"]
    _need(2 <= players <= 6)
    _need(threshold is None or (_number(threshold) % 5 == 0 and 5 <= threshold <= 100))
    colours = _list(vector["colours"])
    _need(colours == [colour for colour in COLOURS if colour in colours])
    _need(len(colours) == 6 or (players == 2 and len(colours) == 4))
    first_seat = _number(vector["first_seat"])
    _need(0 <= first_seat < players)

    actions, done = _list(vector["actions"]), 0
    totals = [0] * players
    results: list[dict[str, object]] = []
    deals = _list(vector["deals"])
    for number, deal in enumerate(deals):
        # R16: no deal after the one that ended the game.
        _need(number == 0 or (threshold is not None and max(totals) < threshold))
        hands = _dealt(deal, players, colours)
        done = _judge_deal(hands, (first_seat + number) % players, actions, done)
        penalties = [len(hand) for hand in hands]
        totals = [sum(both) for both in zip(totals, penalties, strict=True)]
        results.append({"after_action": done, "penalties": penalties, "totals": totals})
    _need(deals and (threshold is None or max(totals) >= threshold))
    _need(done == len(actions))
    _need(_equal(vector["results"], results))
    winners = [seat for seat, total in enumerate(totals) if total == min(totals)]
    _need(_equal(vector["winners"], winners))


def _dealt(deal: Any, players: int, colours: list[str]) -> list[set[str]]:
    hands = [_cards(hand) for hand in _list(deal)]
    _need(len(hands) == players and all(len(hand) == 9 for hand in hands))
    dealt = _cards([card for hand in hands for card in hand])
    _need(all(card[0] in colours for card in dealt))
    return [set(hand) for hand in hands]


def _judge_deal(hands: list[set[str]], turn: int, actions: list[Any], done: int) -> int:
    """Plays one deal, changing the hands; returns how many actions are done at its end."""
    centre: list[str] = []
    owner = turn
    passes = 0
    while True:
        _need(done < len(actions))
        action = actions[done]
        done += 1
        _need(_number(action["seat"]) == turn)
        if "pass" in action:
            _keys(action, "seat", "pass")
            # R5: the opener may not.
            _need(action["pass"] is True and centre)
            passes += 1
            turn = (turn + 1) % len(hands)
            if passes == len(hands) - 1:
                # R14
                centre, turn = [], owner
            continue
        play = _cards(action["play"])
        _need(_may_go_down(play, hands[turn], centre))
        hands[turn] -= set(play)
        if not centre or not hands[turn]:
            # R11, R12: nothing is taken after an opening, nor with an empty hand.
            _keys(action, "seat", "play")
        else:
            _keys(action, "seat", "play", "pickup")
            _need(action["pickup"] in centre)
            hands[turn].add(action["pickup"])
        if not hands[turn]:
            return done
        centre, owner, passes = play, turn, 0
        turn = (turn + 1) % len(hands)
