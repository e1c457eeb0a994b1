"""The rules, one by one, by their numbers."""

from __future__ import annotations

import copy
import pickle

import pytest

import odin_engine
from odin_engine import (
    ALL_SETS,
    DECK,
    NEW,
    AlreadyStarted,
    Card,
    CardPickedUp,
    CardsNotHeld,
    CardsPlayed,
    Colour,
    Command,
    DealEnded,
    DealIsRunning,
    DealNotRunning,
    DecisionKind,
    GameEnded,
    GameIsOver,
    GameNotStarted,
    IllegalAction,
    InvalidOption,
    NoCards,
    NotASet,
    NothingToPickUp,
    NotInBeatenSet,
    NotYourTurn,
    OdinError,
    OpenerMayNotPass,
    Options,
    PartialHandOpening,
    Pass,
    Passed,
    Phase,
    PickUp,
    PickUpPending,
    PlayCards,
    RoundEnded,
    SameCardTwice,
    StartDeal,
    StartGame,
    State,
    TooFewCards,
    TooManyCards,
    UnknownCard,
    ValueTooLow,
    WrongDeck,
    cards_of,
    decide,
    deck,
    fold,
    legal_plays,
    mask_of,
    set_of,
    view_for,
)
from tests.engine.deals import card_set, cards, dealt, decision, do, holding, plays, started


def test_r1_the_deck_has_one_of_each_of_nine_numbers_in_six_colours() -> None:
    assert len(DECK) == len(set(DECK)) == 54
    assert [colour.value for colour in Colour] == list("ROYGBV")
    assert {str(card) for card in DECK} == {f"{c}{n}" for c in "ROYGBV" for n in range(1, 10)}
    assert list(DECK) == sorted(DECK)
    assert [card.index for card in DECK] == list(range(54))


@pytest.mark.parametrize("text", ["", "R", "R0", "R10", "X1", "7R", "r7", "R7 ", "R\u0667"])
def test_r1_a_text_that_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(UnknownCard):
        Card.parse(text)


def test_r1_there_is_one_object_for_each_card_and_set() -> None:
    card, both = Card.parse("R7"), card_set("R7 B7")
    assert copy.deepcopy(card) is card
    assert pickle.loads(pickle.dumps(card)) is card
    assert pickle.loads(pickle.dumps(both)) is both


def test_r2_two_players_play_without_two_colours_unless_it_is_turned_off() -> None:
    assert Options(2).colours_to_remove == 2
    assert Options(2, short_deck=False).colours_to_remove == 0
    assert Options(3).colours_to_remove == 0
    assert len(deck((Colour.RED, Colour.BLUE))) == 36
    with pytest.raises(InvalidOption):
        decide(NEW, StartGame(Options(2), (), 0))
    with pytest.raises(InvalidOption):
        decide(NEW, StartGame(Options(2), (Colour.RED, Colour.RED), 0))
    with pytest.raises(InvalidOption):
        decide(NEW, StartGame(Options(3), (Colour.RED, Colour.BLUE), 0))
    state = do(NEW, StartGame(Options(2), (Colour.RED, Colour.BLUE), 0))
    with pytest.raises(WrongDeck):
        decide(state, StartDeal(DECK))
    state = do(state, StartDeal(deck(state.removed)))
    assert view_for(state, None).removed == (Colour.RED, Colour.BLUE)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_r3_everybody_gets_nine_cards_and_the_rest_stays_out(players: int) -> None:
    state = do(started(players), StartDeal(DECK))
    assert [hand.bit_count() for hand in state.hands] == [9] * players
    assert cards_of(state.hands[1]) == DECK[9:18]
    assert cards_of(state.undealt) == DECK[9 * players :]


@pytest.mark.parametrize("players", [-1, 0, 1, 7])
def test_r3_two_to_six_play(players: int) -> None:
    with pytest.raises(InvalidOption, match="2 to 6"):
        Options(players)


def test_r4_the_opener_of_a_later_deal_sits_left_of_the_one_before_whoever_went_out() -> None:
    state = started(3, threshold=100, first_opener=2)
    with pytest.raises(InvalidOption):
        decide(NEW, StartGame(Options(3), (), 3))
    for opener in (2, 0, 1, 2):
        state = do(state, StartDeal(DECK))
        assert (state.opener, state.turn) == (opener, opener)
        # Whoever opens goes out with one red card, so not always the same seat.
        state = do(
            holding(state, *("R1" if seat == opener else "B1" for seat in range(3))),
            PlayCards(opener, cards("R1")),
        )
        assert state.phase is Phase.BETWEEN_DEALS


def test_r4_play_is_clockwise_and_wraps() -> None:
    state = dealt(started(3, first_opener=2), "R5", "R6", "R4")
    state = do(state, PlayCards(2, cards("R4")), PlayCards(0, cards("R5")))
    assert state.turn == 1
    with pytest.raises(NotYourTurn):
        decide(state, Pass(0))


def test_r5_the_opener_puts_down_one_card_and_may_not_pass() -> None:
    state = dealt(started(2), "R1 R2 B2")
    assert all(play.count == 1 for play in decision(state).plays)
    assert len(decision(state).plays) == 9
    assert not decision(state).may_pass
    with pytest.raises(OpenerMayNotPass):
        decide(state, Pass(0))
    with pytest.raises(PartialHandOpening):
        decide(state, PlayCards(0, cards("R1 R2")))


def test_r6_a_whole_hand_that_is_a_set_may_open_and_a_single_card_still_may() -> None:
    state = dealt(started(2), "R1")
    for hand in ("R1 R5 R9", "R4 B4 V4"):
        at = holding(state, hand, "G1")
        assert plays(at) == {*hand.split(), str(card_set(hand))}
        assert isinstance(decide(at, PlayCards(0, cards(hand)))[1], DealEnded)
        with pytest.raises(PartialHandOpening):
            decide(at, PlayCards(0, cards(hand)[:2]))
    assert plays(holding(state, "R1 R5 B9", "G1")) == {"R1", "R5", "B9"}
    with pytest.raises(NotASet):
        decide(holding(state, "R1 R5 B9", "G1"), PlayCards(0, cards("R1 R5 B9")))


def over(hand: str, centre: str, *, others: str = "V1 V2 V3") -> State:
    """Seat 0 has to respond to this centre with this hand."""
    state = holding(dealt(started(2, first_opener=1), "R1"), hand, others)
    return state._replace(centre=card_set(centre), centre_seat=1, turn=0)


def test_r7_as_many_cards_as_the_centre_or_one_more() -> None:
    state = over("R5 R6 R7 R8 R9", "B1 B2")
    assert {play.count for play in decision(state).plays} == {2, 3}
    with pytest.raises(TooFewCards) as few:
        decide(state, PlayCards(0, cards("R9")))
    assert few.value.needed_counts == (2, 3)
    with pytest.raises(TooManyCards) as many:
        decide(state, PlayCards(0, cards("R6 R7 R8 R9")))
    assert (many.value.count, many.value.value, many.value.value_to_beat) == (4, 9876, 21)


def test_r7_a_play_names_cards_that_are_held_each_once() -> None:
    state = over("R5 R6", "B1")
    with pytest.raises(NoCards):
        decide(state, PlayCards(0, ()))
    with pytest.raises(CardsNotHeld, match="B9"):
        decide(state, PlayCards(0, cards("B9")))
    with pytest.raises(SameCardTwice, match="R6"):
        decide(state, PlayCards(0, cards("R6 R6")))


def test_r8_cards_put_down_together_are_of_one_number_or_one_colour() -> None:
    assert card_set("R7").value == 7
    for text in ("R7 B3", "R7 R3 B7", "R1 R2 B1 B2"):
        with pytest.raises(NotASet):
            set_of(cards(text))
    with pytest.raises(NotASet):
        decide(over("R7 B8", "B1"), PlayCards(0, cards("R7 B8")))
    by_colour = 6 * (2**9 - 1)
    by_number = 9 * (2**6 - 1)
    assert len(ALL_SETS) == by_colour + by_number - 54


def test_r9_the_value_is_read_from_the_digits_in_descending_order() -> None:
    assert card_set("R2 R8").value == 82
    assert card_set("R5 B5 V5").value == 555
    assert set_of(cards("R8 R2")) is set_of(cards("R2 R8"))
    assert [s.value for s in ALL_SETS] == sorted(s.value for s in ALL_SETS)


def test_r9_an_equal_value_is_refused_and_a_lower_one_too() -> None:
    state = over("R4 B3 R9", "B4")
    assert plays(state) == {"R9", "R9 R4"}
    for text in ("R4", "B3"):
        with pytest.raises(ValueTooLow):
            decide(state, PlayCards(0, cards(text)))


def test_r10_a_responder_may_always_pass_and_play_again_in_the_same_round() -> None:
    state = dealt(started(3), "R1 R9", "R2 R8", "R3 R7")
    state = do(state, PlayCards(0, cards("R1")))
    before = state.hands
    assert decision(state).may_pass
    state = do(state, Pass(1))
    assert state.hands == before
    assert view_for(state, None).passed == (False, True, False)
    state = do(state, PlayCards(2, cards("R3")), Pass(0), PlayCards(1, cards("R8")))
    assert view_for(state, None).passed == (True, False, False)


def test_r11_one_card_of_the_beaten_set_is_taken_and_the_others_are_discarded() -> None:
    state = over("R5 R6 R7", "B1 B2")
    events = decide(state, PlayCards(0, cards("R5 R6"), Card.parse("B1")))
    assert events[1] == CardPickedUp(0, Card.parse("B1"), cards("B2"))
    after = fold(events, state)
    assert cards_of(after.hands[0]) == cards("R7 B1")
    assert after.turn == 1
    for wrong in ("R5", "V9"):
        with pytest.raises(NotInBeatenSet):
            decide(state, PlayCards(0, cards("R5 R6"), Card.parse(wrong)))


def test_r11_the_only_card_of_a_beaten_set_is_taken_by_itself() -> None:
    state = over("R5 R6 R7", "B1")
    for named in (None, Card.parse("B1")):
        events = decide(state, PlayCards(0, cards("R5"), named))
        assert events == (
            CardsPlayed(0, card_set("R5"), False),
            CardPickedUp(0, Card.parse("B1"), ()),
        )


def test_r11_after_an_opening_there_is_nothing_to_take() -> None:
    state = dealt(started(2), "R1")
    assert decision(state).pick_ups == ()
    with pytest.raises(NothingToPickUp):
        decide(state, PlayCards(0, cards("R1"), Card.parse("R2")))
    with pytest.raises(NothingToPickUp):
        decide(state, PickUp(0, Card.parse("R1")))


def test_r12_a_response_that_empties_the_hand_ends_the_deal_and_takes_nothing() -> None:
    state = over("R5 R6", "B1")
    events = decide(state, PlayCards(0, cards("R5 R6")))
    assert [type(event) for event in events] == [CardsPlayed, DealEnded]
    with pytest.raises(NothingToPickUp):
        decide(state, PlayCards(0, cards("R5 R6"), Card.parse("B1")))
    # R7 and R9 still bind it.
    with pytest.raises(TooManyCards):
        decide(over("R5 R6 R7", "B1"), PlayCards(0, cards("R5 R6 R7")))
    with pytest.raises(ValueTooLow):
        decide(over("R5", "B9"), PlayCards(0, cards("R5")))


def test_r13_until_the_pick_up_nobody_else_acts_and_the_player_does_nothing_else() -> None:
    state = do(over("R5 R6 R7", "B1 B2"), PlayCards(0, cards("R5 R6")))
    assert decision(state).kind is DecisionKind.PICK_UP
    assert decision(state).seat == 0
    assert decision(state).pick_ups == cards("B2 B1")
    assert decision(state).plays == ()
    for command in (Pass(0), PlayCards(0, cards("R7"))):
        with pytest.raises(PickUpPending):
            decide(state, command)
    others: list[Command] = [Pass(1), PlayCards(1, cards("V1")), PickUp(1, Card.parse("B1"))]
    for other in others:
        with pytest.raises(NotYourTurn):
            decide(state, other)
    state = do(state, PickUp(0, Card.parse("B2")))
    assert decision(state).seat == 1
    assert state.discarded[-1] is Card.parse("B1")


def test_r14_a_round_ends_when_everybody_else_has_passed_in_a_row() -> None:
    state = dealt(started(4), "R1 R9", "R2 R8", "R3 R7", "R4 R6")
    state = do(state, PlayCards(0, cards("R1")), Pass(1), PlayCards(2, cards("R3")))
    hands = state.hands
    state = do(state, Pass(3), Pass(0))
    events = decide(state, Pass(1))
    assert events == (Passed(1), RoundEnded(2, cards("R3")))
    state = fold(events, state)
    assert state.hands == hands
    assert state.centre is None
    assert decision(state).seat == 2
    assert decision(state).kind is DecisionKind.OPEN
    assert view_for(state, None).passed == (False,) * 4


def test_r15_a_deal_costs_one_point_for_each_card_left() -> None:
    state = holding(dealt(started(3), "R1"), "R1", "R9 B9 V9", "G1 G2")
    ended = decide(state, PlayCards(0, cards("R1")))[1]
    assert isinstance(ended, DealEnded)
    assert (ended.out, ended.penalties, ended.totals) == (0, (0, 3, 2), (0, 3, 2))
    assert ended.hands == ((), cards("R9 B9 V9"), cards("G1 G2"))
    after = do(state, PlayCards(0, cards("R1")))
    with pytest.raises(DealNotRunning):
        decide(after, Pass(1))
    with pytest.raises(DealIsRunning):
        decide(state, StartDeal(DECK))
    assert sorted(do(after, StartDeal(DECK)).discarded) == []


def ending(totals: tuple[int, ...], *, threshold: int | None = 15) -> tuple[object, ...]:
    """The events of a deal after which the totals are these; seat 0 goes out."""
    players = len(totals)
    state = started(players, threshold=threshold)
    state = do(state, StartDeal(DECK))
    state = holding(state, "R1", *(("B1", "G1", "V1", "O1", "Y1")[: players - 1]))
    state = state._replace(penalties=((totals[0], *(total - 1 for total in totals[1:])),))
    return decide(state, PlayCards(0, cards("R1")))


def test_r16_a_game_ends_after_the_deal_in_which_a_total_reaches_the_threshold() -> None:
    assert isinstance(ending((3, 14))[-1], DealEnded)
    assert ending((3, 15))[-1] == GameEnded((0,), (3, 15))
    assert ending((3, 16))[-1] == GameEnded((0,), (3, 16))
    assert ending((7, 9), threshold=10)[-1] != GameEnded((0,), (7, 9))
    assert ending((7, 10), threshold=10)[-1] == GameEnded((0,), (7, 10))


def test_r16_equal_lowest_totals_share_the_victory() -> None:
    assert ending((8, 8, 15))[-1] == GameEnded((0, 1), (8, 8, 15))


def test_r16_a_single_deal_is_a_game() -> None:
    assert ending((0, 1), threshold=None)[-1] == GameEnded((0,), (0, 1))


@pytest.mark.parametrize("threshold", [0, 1, 4, 12, 105, -5])
def test_r16_thresholds_are_multiples_of_five_up_to_a_hundred(threshold: int) -> None:
    with pytest.raises(InvalidOption):
        Options(2, threshold)


def test_r16_after_the_game_nothing_can_be_done() -> None:
    state = holding(dealt(started(2, threshold=None), "R1"), "R1", "B1")
    state = do(state, PlayCards(0, cards("R1")))
    assert state.phase is Phase.GAME_OVER
    commands: list[Command] = [Pass(1), PlayCards(1, cards("B1")), PickUp(1, DECK[0])]
    for command in (*commands, StartDeal(DECK)):
        with pytest.raises(GameIsOver):
            decide(state, command)
    with pytest.raises(AlreadyStarted):
        decide(state, StartGame(Options(3), (), 0))
    with pytest.raises(GameNotStarted):
        decide(NEW, StartDeal(DECK))
    with pytest.raises(DealNotRunning):
        decide(NEW, Pass(0))


def test_r17_a_view_holds_ones_own_hand_and_what_is_public() -> None:
    state = dealt(started(3), "R1", "R2", "R3")
    spectator, own = view_for(state, None), view_for(state, 0)
    assert spectator.hand == ()
    assert mask_of(own.hand) == state.hands[0]
    assert spectator.card_counts == (9, 9, 9)
    assert (spectator.turn, spectator.kind) == (0, DecisionKind.OPEN)
    assert spectator.decision is None
    assert own.decision == decision(state)
    assert view_for(state, 1).decision is None
    for view in (spectator, own):
        assert view.undealt == ()
        assert view.remaining_hands == ()


def test_r17_when_a_deal_is_over_the_remaining_hands_are_shown() -> None:
    state = holding(dealt(started(3), "R1"), "R1", "R9 B9", "G1 G2")
    state = do(state, PlayCards(0, cards("R1")))
    assert view_for(state, None).remaining_hands == ((), cards("R9 B9"), cards("G1 G2"))
    assert view_for(state, None).out == 0


def test_d1_the_default_of_an_opener_is_the_lowest_single_card() -> None:
    state = holding(dealt(started(2), "R1"), "B2 O2 V3", "G1")
    assert decision(state).default == PlayCards(0, card_set("O2"))


def test_d1_the_default_of_a_responder_is_a_pass() -> None:
    assert decision(over("R9", "B1")).default == Pass(0)


def test_d1_the_default_of_a_pick_up_is_the_highest_number_and_then_the_first_colour() -> None:
    state = do(over("R5 R6 R7", "B1 B2"), PlayCards(0, cards("R5 R6")))
    assert decision(state).default == PickUp(0, Card.parse("B2"))
    state = do(over("R5 R6 R7", "V3 O3"), PlayCards(0, cards("R5 R6")))
    assert decision(state).default == PickUp(0, Card.parse("O3"))


def test_every_refusal_names_its_rule_and_says_what_to_do() -> None:
    state = over("R5 R6 R7", "B1 B2")
    for command in (Pass(1), PlayCards(0, ()), PlayCards(0, cards("R7")), PickUp(0, DECK[0])):
        with pytest.raises(IllegalAction) as refused:
            decide(state, command)
        assert refused.value.rule.startswith("R")
        assert refused.value.message.endswith(".")


def test_legal_plays_can_be_asked_for_cards_too() -> None:
    assert legal_plays(cards("R1 R2"), None) == legal_plays(mask_of(cards("R1 R2")), None)


def test_the_exported_names_are_all_there() -> None:
    assert len(set(odin_engine.__all__)) == len(odin_engine.__all__)
    for name in odin_engine.__all__:
        assert getattr(odin_engine, name) is not None
    public = {name for name, value in vars(odin_engine).items() if isinstance(value, type)}
    assert public <= set(odin_engine.__all__)
    assert issubclass(UnknownCard, OdinError)
