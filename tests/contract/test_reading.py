"""Events and seats from protobuf."""

import pytest

from odin_contract import reading
from odin_contract.events import Event
from odin_table.v1 import event_pb2, table_pb2


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
