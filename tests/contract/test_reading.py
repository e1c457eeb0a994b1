"""From protobuf to values and back."""

import pytest

from odin_contract import reading
from odin_contract.events import Event
from odin_contract.values import Options, Pass, Phase, PickUp, PlayCards
from odin_engine import DECK, Card
from odin_table.v1 import card_pb2, event_pb2, table_pb2


def test_the_cards_of_engine_and_contract_are_the_same() -> None:
    for card in DECK:
        assert card_pb2.Card.Name(reading.card_value(card)) == f"CARD_{card}"
        assert reading.card_of(reading.card_value(card)) is card


@pytest.mark.parametrize("number", [0, 55, -1])
def test_a_card_that_there_is_not_is_not_understood(number: int) -> None:
    with pytest.raises(reading.NotUnderstoodError):
        reading.card_of(number)


@pytest.mark.parametrize(
    "action",
    [
        PlayCards((Card.parse("B9"), Card.parse("B1"))),
        PlayCards((Card.parse("R1"),), pick_up=Card.parse("V9")),
        PickUp(Card.parse("G4")),
        Pass(),
    ],
)
def test_an_action_survives_the_wire(action: PlayCards | PickUp | Pass) -> None:
    assert reading.action_of(reading.action_message(action)) == action


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(seats=2, threshold=None, short_deck=False, private=True, open_to_bots=False),
        Options(threshold=100, title="Longship"),
        Options(turn_time=45),
        Options(turn_time=5, bank=3600),
    ],
)
def test_options_survive_the_wire(options: Options) -> None:
    assert reading.options_of(reading.options_message(options)) == options


def test_a_phase_of_a_later_version_is_unknown() -> None:
    assert Phase(77) is Phase.UNKNOWN


def test_an_event_of_a_later_version_is_a_bare_event() -> None:
    later = event_pb2.Event(seq=7)
    # A field that this version does not know: number 200, of the kind that messages have.
    later.MergeFromString(b"\xc2\x0c\x00")
    assert type(reading.event_of(later)) is Event
    assert reading.event_of(later).seq == 7


@pytest.mark.parametrize(
    ("raw", "harmless"),
    [
        ("\x1b]0;owned\x07Bob", "]0;ownedBob"),
        ("\x9b31mBob", "31mBob"),
        ("a\u202eb\u2066c\u200b", "abc"),
        ("  two\n lines\t", "two lines"),
        ("Zoe\u0301", "Zo\u00e9"),
        ("x" * 300, "x" * 24),
        ("\x00\x01", ""),
        ("Ann\ufe0f\u3164\u2800", "Ann"),
        ("\u3164\u115f", ""),
        ("\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0645\u06cc\u200c\u0631\u0648\u0645"),
    ],
)
def test_names_from_the_network_are_made_harmless(raw: str, harmless: str) -> None:
    seat = table_pb2.Seat(occupant=table_pb2.OCCUPANT_PERSON, name=raw)
    assert reading.seat_of(seat).name == harmless
