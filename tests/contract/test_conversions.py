"""Values of the engine and of clients become messages and come back, each by one table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import odin_engine as engine
from odin_contract.cards import CARDS, COLOURS, set_from
from odin_contract.decisions import (
    DECISION_KINDS,
    action_message,
    action_of,
    at_seat,
    decision_message,
    decision_of,
)
from odin_contract.limits import BANKS, TURN_TIMES
from odin_contract.options import options_message, options_of
from odin_contract.times import duration, length_in, time_in, time_of, timestamp
from odin_contract.two_way import NotUnderstoodError, TwoWay
from odin_contract.values import LegalPlay, Options, Pass, PickUp, PlayCards
from odin_engine import ALL_SETS, DECK, Colour
from odin_engine.rules import MAX_PLAYERS, MIN_PLAYERS, THRESHOLDS
from odin_table.v1 import card_pb2, decision_pb2, event_pb2, table_pb2

cards = st.sampled_from(DECK)
actions = st.one_of(
    st.builds(PlayCards, st.lists(cards, max_size=9).map(tuple), st.none() | cards),
    st.builds(PickUp, cards),
    st.just(Pass()),
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
lengths = st.timedeltas(timedelta(), timedelta(days=100_000))


# Cards


def test_each_card_colour_and_kind_of_decision_is_the_one_that_the_contract_names() -> None:
    assert {str(card): card_pb2.Card.Name(number) for card, number in CARDS} == {
        str(card): f"CARD_{card}" for card in DECK
    }
    assert [(colour, card_pb2.Colour.Name(number)) for colour, number in COLOURS] == [
        (Colour.RED, "COLOUR_RED"),
        (Colour.ORANGE, "COLOUR_ORANGE"),
        (Colour.YELLOW, "COLOUR_YELLOW"),
        (Colour.GREEN, "COLOUR_GREEN"),
        (Colour.BLUE, "COLOUR_BLUE"),
        (Colour.VIOLET, "COLOUR_VIOLET"),
    ]
    kinds = {kind: decision_pb2.DecisionKind.Name(number) for kind, number in DECISION_KINDS}
    assert kinds == {
        engine.DecisionKind.OPEN: "DECISION_KIND_OPEN",
        engine.DecisionKind.RESPOND: "DECISION_KIND_RESPOND",
        engine.DecisionKind.PICK_UP: "DECISION_KIND_PICK_UP",
    }


@given(st.lists(cards))
def test_cards_survive_the_wire(held: list[engine.Card]) -> None:
    assert CARDS.values(CARDS.numbers(held)) == tuple(held)


@given(st.sampled_from(ALL_SETS))
def test_a_set_survives_the_wire(played: engine.CardSet) -> None:
    assert set_from(CARDS.numbers(played)) is played


@pytest.mark.parametrize("number", [0, 55, -1])
def test_a_card_that_there_is_not_is_not_understood(number: int) -> None:
    with pytest.raises(NotUnderstoodError, match=f"there is no card {number}, only 1 to 54"):
        CARDS.value(number)
    assert CARDS.get(number) is None
    assert CARDS.known([1, number, 54]) == (DECK[0], DECK[-1])


def test_cards_that_are_not_a_set_are_not_understood() -> None:
    with pytest.raises(NotUnderstoodError, match="not a set"):
        set_from([card_pb2.CARD_R1, card_pb2.CARD_B7])


def test_a_table_has_each_number_once() -> None:
    with pytest.raises(AssertionError, match="twice"):
        TwoWay("letter", {"a": 1, "b": 1})


# Actions and decisions


@given(actions, st.integers(0, 5))
def test_an_action_survives_the_wire(action: PlayCards | PickUp | Pass, player: int) -> None:
    assert action_of(action_message(action)) == action
    assert action_of(action_message(at_seat(action, player))) == action
    assert at_seat(action, player).seat == player


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"pick_up": {}}, "pick_up.card"),
        ({"play_cards": {"cards": [1, 77]}}, "play_cards.cards"),
        ({"play_cards": {"cards": [1], "pick_up": 77}}, "play_cards.pick_up"),
    ],
)
def test_a_card_that_there_is_not_is_named_with_its_field(
    message: dict[str, Any], field: str
) -> None:
    with pytest.raises(NotUnderstoodError) as refused:
        action_of(decision_pb2.Action(**message))
    assert refused.value.field == field


def test_an_action_of_a_later_version_is_none() -> None:
    assert action_of(decision_pb2.Action()) is None


@given(st.lists(cards, min_size=1, max_size=9, unique=True), st.none() | st.sampled_from(ALL_SETS))
def test_a_decision_survives_the_wire(
    hand: list[engine.Card], centre: engine.CardSet | None
) -> None:
    kind = engine.DecisionKind.RESPOND if centre else engine.DecisionKind.OPEN
    own = engine.Decision(2, kind, engine.mask_of(hand), centre)
    told = decision_of(decision_message(31, 4, kind, None, own))
    assert (told.id, told.seat, told.kind, told.may_pass) == (31, 4, kind, own.may_pass)
    assert told.deadline is None
    assert told.plays == tuple(LegalPlay(play, own.goes_out(play)) for play in own.plays)
    assert told.pick_ups == own.pick_ups
    assert told.default_action is not None
    assert action_message(told.default_action) == action_message(own.default)


def test_other_seats_are_told_nothing_of_what_may_be_chosen() -> None:
    message = decision_message(31, 4, engine.DecisionKind.RESPOND, EPOCH)
    assert not message.HasField("choices")
    told = decision_of(message)
    assert (told.plays, told.pick_ups, told.default_action) == ((), (), None)
    assert told.deadline == EPOCH


def test_a_decision_of_a_later_version_has_no_kind() -> None:
    later = decision_pb2.DecisionKind.ValueType(77)
    assert decision_of(decision_pb2.Decision(kind=later)).kind is None


# Options


@given(
    st.builds(
        Options,
        seats=st.integers(MIN_PLAYERS, MAX_PLAYERS),
        threshold=st.none() | st.sampled_from(THRESHOLDS),
        short_deck=st.booleans(),
        private=st.booleans(),
        open_to_bots=st.booleans(),
        title=st.sampled_from(["", "Longship", "Zoë’s"]),
        turn_time=st.just(0) | st.sampled_from(TURN_TIMES),
        bank=st.sampled_from(BANKS),
    )
)
def test_options_survive_the_wire(options: Options) -> None:
    assert options_of(options_message(options)) == options


def test_options_that_are_absent_are_those_of_the_contract() -> None:
    assert options_of(table_pb2.TableOptions()) == Options()


# Times


@given(lengths)
def test_times_survive_the_wire(since: timedelta) -> None:
    moment = EPOCH + since
    assert time_of(timestamp(moment)) == moment
    assert timestamp(since // timedelta(microseconds=1)) == timestamp(moment)
    heard = event_pb2.SeatPresence(away_since=timestamp(moment))
    assert time_in(heard, "away_since") == moment
    assert time_in(heard, "kept_until") is None


@given(lengths)
def test_lengths_of_time_survive_the_wire(length: timedelta) -> None:
    heard = event_pb2.SeatPresence(may_be_away=duration(length))
    assert length_in(heard, "may_be_away") == length
    assert duration(length // timedelta(microseconds=1)) == duration(length)
    assert length_in(event_pb2.SeatPresence(), "may_be_away") is None
