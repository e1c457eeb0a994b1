"""Building a play: what the keys make of a hand, and what is said about it."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from odin_cli.play.selection import (
    Selection,
    Situation,
    goes_out,
    judge,
    next_of_number,
    pick_ups,
    plays_that_make,
)
from odin_engine import DECK, Card, CardSet, Colour, legal_plays, mask_of, set_of


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def situation(hand: str, centre: str = "") -> Situation:
    """The open decision of somebody with this hand, with the legal plays of the engine."""
    beaten = set_of(cards(centre)) if centre else None
    return Situation(
        hand=cards(hand), centre=beaten, plays=tuple(legal_plays(mask_of(cards(hand)), beaten))
    )


def typed(keys: str, hand: str) -> Selection:
    """What these keys make: digits, and capitals for colours."""
    selection = Selection()
    for key in keys:
        if key.isdigit():
            selection = selection.typed(int(key), cards(hand))
        else:
            selection = selection.limited_to(Colour(key))
    return selection


def text_of(selection: Selection) -> str:
    return " ".join(map(str, selection.cards))


# -- typing the number


@pytest.mark.parametrize(
    ("keys", "hand", "chosen"),
    [
        ("961", "R4 O7 Y8 B9 B6 B1 V4", "B9 B6 B1"),
        ("169", "R4 O7 Y8 B9 B6 B1 V4", "B1 B6 B9"),
        ("4", "R4 V4", "R4"),
        ("44", "R4 V4", "R4 V4"),
        ("444", "R4 V4", "R4 V4"),
        ("5", "R4 V4", ""),
        # A card typed before changes its colour when only that makes a set (R8).
        ("96", "R9 B9 B6", "B9 B6"),
        ("961", "R9 R6 B9 B6 B1", "B9 B6 B1"),
        # No colour has both: the cards stay, and the reason is shown.
        ("96", "R9 B6", "R9 B6"),
        # A number that is not there changes nothing.
        ("92", "R9 B6", "R9"),
        ("991", "R9 B9 B1", "R9 B9 B1"),
        # A capital limits the numbers after it; the same one again does not.
        ("V4", "R4 V4", "V4"),
        ("VV4", "R4 V4", "R4"),
        ("B96", "R9 R6 B9 B6", "B9 B6"),
        ("B4", "R4 V4", ""),
    ],
)
def test_typed_digits_build_the_number(keys: str, hand: str, chosen: str) -> None:
    assert text_of(typed(keys, hand)) == chosen


def test_every_set_of_any_hand_can_be_typed() -> None:
    chance = random.Random(9)
    for _ in range(60):
        hand = tuple(sorted(chance.sample(DECK, 9)))
        for play in all_sets(hand):
            selection = Selection()
            for number in map(int, str(play.value)):
                selection = selection.typed(number, hand)
            assert selection.card_set is not None
            assert selection.card_set.value == play.value


def test_every_set_can_be_named_exactly_with_its_colour() -> None:
    chance = random.Random(10)
    for _ in range(40):
        hand = tuple(sorted(chance.sample(DECK, 9)))
        for play in all_sets(hand):
            selection = Selection()
            for card in play:
                if selection.colour is not card.colour:
                    selection = selection.limited_to(card.colour)
                selection = selection.typed(card.number, hand)
            assert selection.card_set is play


def all_sets(hand: tuple[Card, ...]) -> list[CardSet]:
    return [
        set_of(some)
        for count in range(1, len(hand) + 1)
        for some in combinations(hand, count)
        if len({c.colour for c in some}) == 1 or len({c.number for c in some}) == 1
    ]


# -- arrows, Space and clicks


def test_toggling_takes_a_card_up_and_puts_it_back() -> None:
    selection = Selection().toggled(Card.parse("B9")).toggled(Card.parse("B6"))
    assert text_of(selection) == "B9 B6"
    assert text_of(selection.toggled(Card.parse("B9"))) == "B6"


def test_a_card_that_makes_no_set_with_the_others_starts_anew() -> None:
    selection = Selection(cards("B9 B6")).toggled(Card.parse("R4"))
    assert text_of(selection) == "R4"


def test_more_cards_than_may_be_played_stay_chosen() -> None:
    """A click too many never loses the set; the reason is shown instead."""
    selection = Selection(cards("B9 B6")).toggled(Card.parse("B1"))
    assert text_of(selection) == "B9 B6 B1"
    assert judge(selection, situation("B9 B6 B1 R4", "R3")).text == "needs 1 or 2 cards"


# -- walking, undoing, the whole hand


def test_tab_walks_the_legal_plays_round_and_round() -> None:
    here = situation("R4 O7 Y8 B9 B6 B1 V4", "G6 G4")
    assert here.plays is not None
    seen: list[CardSet | None] = []
    selection = Selection()
    for _ in range(len(here.plays)):
        selection = selection.walked(here.plays, 1)
        seen.append(selection.card_set)
    assert seen == list(here.plays)
    assert selection.walked(here.plays, 1).card_set is here.plays[0]
    assert selection.walked(here.plays, -1).card_set is here.plays[-2]
    assert Selection().walked(here.plays, -1).card_set is here.plays[-1]


def test_tab_goes_from_a_beginning_to_a_play_that_contains_it() -> None:
    here = situation("R4 O7 Y8 B9 B6 B1 V4", "G6 G4")
    assert here.plays is not None
    assert text_of(Selection(cards("B6")).walked(here.plays, 1)) == "B9 B6"
    assert text_of(Selection(cards("B6")).walked(here.plays, -1)) == "B9 B6 B1"


def test_tab_without_any_legal_play_changes_nothing() -> None:
    assert Selection(cards("R4")).walked((), 1) == Selection(cards("R4"))


def test_backspace_puts_back_the_card_chosen_last() -> None:
    assert text_of(Selection(cards("B9 B6")).without_last()) == "B9"
    assert Selection().without_last() == Selection()


def test_the_whole_hand_is_taken_highest_first() -> None:
    assert text_of(Selection().whole(cards("B1 B6 B9"))) == "B9 B6 B1"


def test_candidates_are_the_cards_of_legal_plays_that_contain_the_selection() -> None:
    here = situation("R4 O7 Y8 B9 B6 B1 V4", "G6 G4")
    assert here.plays is not None
    assert Selection().candidates(here.plays) == set(cards("B9 B6 B1"))
    assert Selection(cards("B6 B1")).candidates(here.plays) == set(cards("B9 B6 B1"))
    assert Selection(cards("R4")).candidates(here.plays) == set()


# -- selecting in advance


def test_a_selection_survives_events_and_loses_only_what_is_gone() -> None:
    selection = Selection(cards("B9 B6"), pick_up=Card.parse("G4"))
    assert selection.kept(cards("B9 B6 B1"), cards("G6 G4")) == selection
    assert selection.kept(cards("B9 B1"), cards("V8 V7")) == Selection(cards("B9"))


def test_in_advance_the_same_reasons_are_given() -> None:
    waiting = Situation(hand=cards("B9 B6 B1 R4"), centre=set_of(cards("G6 G4")))
    assert judge(Selection(cards("B9 B6")), waiting).text == "beats 64"
    assert judge(Selection(cards("B6 B1")), waiting).text == "61 does not beat 64"


# -- the verdict


@pytest.mark.parametrize(
    ("hand", "centre", "chosen", "good", "text"),
    [
        ("B9 B6 B1 R4", "G6 G4", "", False, ""),
        ("B9 B6 B1 R4", "G6 G4", "B9 B6 B1", True, "beats 64"),  # R7, R9
        ("B9 B6 B1 R4", "G6 G4", "B9", False, "needs 2 or 3 cards"),  # R7
        ("B9 B6 B1 R4", "G6 G4", "B6 B1", False, "61 does not beat 64"),  # R9
        ("B6 B4 B1 R4", "G6 G4", "B6 B4", False, "64 does not beat 64"),  # R9: equal
        ("B9 B6 B1 R4", "G6 G4", "B9 R4", False, "same colour or same number only"),  # R8
        ("B9 B6 B1 R4", "", "R4", True, "opens"),  # R5
        ("B9 B6 B1 R4", "", "B9 B6", False, "an opening is 1 card"),  # R5
        ("B9 B6 B1", "", "B9 B6", False, "an opening is 1 card or all 3"),  # R6
        ("B9 B6 B1", "", "B9 B6 B1", True, "goes out"),  # R6
        ("B9 B6", "G6", "B9 B6", True, "goes out"),  # R12
        ("B9", "", "B9", True, "goes out"),
    ],
)
def test_the_verdict_gives_the_exact_reason(
    hand: str, centre: str, chosen: str, good: bool, text: str
) -> None:
    verdict = judge(Selection(cards(chosen)), situation(hand, centre))
    assert (verdict.good, verdict.text) == (good, text)


def test_verdict_and_legal_plays_never_disagree() -> None:
    """R5 to R9: over random hands and centres, each subset of the hand."""
    chance = random.Random(7)
    for _ in range(120):
        dealt = chance.sample(DECK, 10)
        hand = tuple(sorted(dealt[: chance.randint(1, 6)]))
        beaten = chance.choice([None, *all_sets(tuple(sorted(dealt[6:])))])
        legal = tuple(legal_plays(mask_of(hand), beaten))
        told = Situation(hand, beaten, legal)
        untold = Situation(hand, beaten)
        for mask in range(1, 1 << len(hand)):
            some = tuple(card for at, card in enumerate(hand) if mask >> at & 1)
            verdict = judge(Selection(some), told)
            assert verdict.good == (Selection(some).card_set in legal)
            assert verdict.text not in ("", "the table does not allow it")
            # What is said in advance holds when the turn comes; before somebody else has opened
            # nothing can be said.
            in_advance = judge(Selection(some), untold)
            if beaten is None and Selection(some).card_set:
                assert in_advance.text == "kept for your turn"
            else:
                assert in_advance == verdict


def test_the_table_has_the_last_word() -> None:
    """The client never calls something legal that did not come with the decision."""
    here = Situation(hand=cards("R4 B9"), centre=None, plays=())
    assert judge(Selection(cards("R4")), here).text == "the table does not allow it"


# -- the pick-up (R11, R12)


@pytest.mark.parametrize(
    ("hand", "centre", "play", "choices"),
    [
        ("B9 B6 B1 R4", "", "R4", ""),  # nothing after an opening
        ("B9 B6 B1 R4", "R3", "R4", "R3"),  # one old card: that one
        ("B9 B6 B1 R4", "G6 G4", "B9 B6", "G6 G4"),  # several: choose
        ("B9 B6", "G6 G4", "B9 B6", ""),  # R12: nothing when it goes out
    ],
)
def test_the_cards_that_can_be_picked_up(hand: str, centre: str, play: str, choices: str) -> None:
    here = situation(hand, centre)
    played = set_of(cards(play))
    assert pick_ups(played, here) == cards(choices)
    assert goes_out(played, here) == (len(cards(hand)) == len(cards(play)))


def test_the_number_chooses_the_card_to_pick_up_and_again_the_next_equal_one() -> None:
    centre = set_of(cards("R7 G7 V7")).cards
    first = next_of_number(7, centre, None)
    second = next_of_number(7, centre, first)
    third = next_of_number(7, centre, second)
    assert (first, second, third) == cards("R7 G7 V7")
    assert next_of_number(7, centre, third) == first
    assert next_of_number(8, centre, None) is None


def test_a_number_may_stand_for_several_plays() -> None:
    plays = legal_plays(mask_of(cards("R4 V4 B4")), set_of(cards("R3")))
    assert [str(play) for play in plays_that_make(44, plays)] == ["R4 B4", "R4 V4", "B4 V4"]
    assert plays_that_make(45, plays) == ()
