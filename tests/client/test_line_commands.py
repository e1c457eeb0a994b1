"""How a typed play is read: never by guessing."""

from dataclasses import replace

import pytest

from odin_cli.line.line_commands import MistakeError, read_play, read_take
from odin_client.table.model import TableModel
from odin_contract.values import (
    Decision,
    Game,
    LegalPlay,
    PickUp,
    PlayCards,
    TableView,
)
from odin_engine import Card, CardSet, DecisionKind, legal_plays, set_of


def cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


def at_my_turn(hand: str, centre: str, kind: DecisionKind = DecisionKind.RESPOND) -> TableModel:
    """A table at which I hold these cards and have to act."""
    beaten: CardSet | None = set_of(cards(centre)) if centre else None
    plays = legal_plays(cards(hand), beaten)
    decision = Decision(
        id=9,
        seat=0,
        kind=kind,
        may_pass=kind is DecisionKind.RESPOND,
        plays=tuple(LegalPlay(play, play.count == len(cards(hand))) for play in plays),
        pick_ups=cards(centre),
    )
    game = Game(game=1, deal=1, centre=beaten, hand=cards(hand))
    return TableModel(TableView(my_seat=0, game=game, decision=decision))


HAND = "R4 O7 Y8 B9 B6 B1 V4"


@pytest.mark.parametrize(
    ("typed", "play", "taken"),
    [
        ("961 take G4", "B9 B6 B1", "G4"),
        ("169 take g4", "B9 B6 B1", "G4"),
        ("b1 b9 b6 TAKE 6", "B9 B6 B1", "G6"),
        ("B9,B6 take G6", "B9 B6", "G6"),
    ],
)
def test_a_play_is_read_in_several_ways(typed: str, play: str, taken: str) -> None:
    table = at_my_turn(HAND, "G6 G4")
    assert read_play(typed, table) == PlayCards(cards(play), Card.parse(taken))


def test_one_old_card_need_not_be_named() -> None:
    assert read_play("96", at_my_turn(HAND, "Y8")) == PlayCards(cards("B9 B6"), Card.parse("Y8"))


def test_an_opening_takes_nothing() -> None:
    table = at_my_turn(HAND, "", DecisionKind.OPEN)
    assert read_play("7", table) == PlayCards(cards("O7"), None)
    with pytest.raises(MistakeError, match="takes no card"):
        read_play("7 take G4", table)


def test_going_out_takes_nothing_r12() -> None:
    assert read_play("98", at_my_turn("B9 B8", "G6 G4")) == PlayCards(cards("B9 B8"), None)


def test_a_play_may_be_typed_in_full_width() -> None:
    wide = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
    table = at_my_turn(HAND, "G6 G4")
    for typed in ("961 take G4", "b9 b6 b1 take 4"):
        assert read_play(typed.translate(wide), table) == read_play(typed, table)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("961", "say which card to take: G6 or G4"),
        ("961 take R1", "R1 cannot be taken; there is G6 or G4"),
        ("961 take 5", "5 cannot be taken"),
        ("961 take X", "X is no card"),
        ("61 take G4", "61 does not beat 64"),
        ("9", "needs 2 or 3 cards"),
        ("55", "your cards do not make 55"),
        ("B9 R9", "you do not hold R9"),
        ("B9 R4", "same colour or same number only"),
        ("B9 Q4", "Q4 is no card"),
        ("B9 B9", "name each card once"),
        ("", "say what to play"),
        ("take G4", "say what to play"),
        ("99999999999", "your cards do not make"),
    ],
)
def test_what_cannot_be_played_is_said(typed: str, why: str) -> None:
    with pytest.raises(MistakeError, match=why):
        read_play(typed, at_my_turn(HAND, "G6 G4"))


def test_a_number_that_can_be_made_in_two_ways_is_refused_with_both() -> None:
    with pytest.raises(MistakeError, match="77 can be made in 3 ways: play R7 G7, play R7 B7 or"):
        read_play("77", at_my_turn("R7 G7 B7 V1", "Y5"))


def test_two_equal_numbers_to_take_are_refused_with_both() -> None:
    with pytest.raises(MistakeError, match="say which card to take: R7 or G7"):
        read_play("88 take 7", at_my_turn("Y8 V8 R1", "R7 G7"))


def test_a_pick_up_is_read() -> None:
    table = at_my_turn(HAND, "G6 G4", DecisionKind.PICK_UP)
    assert read_take("4", table) == PickUp(Card.parse("G4"))
    assert read_take("g6", table) == PickUp(Card.parse("G6"))
    with pytest.raises(MistakeError, match="which card"):
        read_take("", table)
    with pytest.raises(MistakeError, match="first take a card: G6 or G4"):
        read_play("961", table)
    with pytest.raises(MistakeError, match="nothing to take now"):
        read_take("G4", at_my_turn(HAND, "G6 G4"))


def test_nothing_is_read_when_it_is_not_my_turn() -> None:
    table = at_my_turn(HAND, "")
    table.view = replace(table.view, my_seat=1)
    with pytest.raises(MistakeError, match="not your turn"):
        read_play("7", table)
