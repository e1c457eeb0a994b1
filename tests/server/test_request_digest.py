"""The digest of a request, which lies in files of tables: it never changes."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from odin_server.edge.request_digest import canonical, request_digest
from odin_table.v1 import card_pb2, chat_pb2, decision_pb2, lobby_pb2, play_pb2, table_pb2

REQUESTS = [
    getattr(file, method.input_type.name)
    for file in (lobby_pb2, play_pb2, chat_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if "request_id" in method.input_type.fields_by_name
]


def filled(message: Message, rng: random.Random) -> Message:
    """The message with anything in any of its fields."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.3:
            continue
        if field.is_repeated and field.type == FieldDescriptor.TYPE_MESSAGE:
            filled(getattr(message, field.name).add(), rng)
        elif field.is_repeated:
            getattr(message, field.name).extend(value_for(field, rng) for _ in range(3))
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            part = getattr(message, field.name)
            part.SetInParent()
            filled(part, rng)
        else:
            setattr(message, field.name, value_for(field, rng))
    return message


def value_for(field: Any, rng: random.Random) -> Any:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return rng.choice(["", "Åsa", "x" * 300])
        case FieldDescriptor.TYPE_BYTES:
            return rng.randbytes(32)
        case FieldDescriptor.TYPE_BOOL:
            return rng.random() < 0.5
        case FieldDescriptor.TYPE_ENUM:
            return rng.choice([0, 1, 54, 200, -1])
        case _:
            return rng.choice([0, 1, 127, 128, 2**31 - 1, -1, -(2**31)])


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.DESCRIPTOR.name)
def test_it_is_what_released_versions_hashed(kind: type[Message]) -> None:
    """Those hashed the bytes that protobuf wrote then, for any content."""
    rng = random.Random(kind.__name__)
    for _ in range(50):
        request = filled(kind(), rng)
        written = request.SerializeToString(deterministic=True)
        assert canonical(request) == written
        assert request_digest(request) == hashlib.sha256(kind.__name__.encode() + written).digest()


def test_what_this_version_does_not_know_counts() -> None:
    """A request of a newer client, with fields of every wire type that are unknown here."""
    known = lobby_pb2.StartGameRequest(table="ABCD", request_id="1")
    more = b"\xf8\x3f\x96\x01\xf1\x3f12345678\xfa\x3f\x02hi\xfd\x3f1234"
    more += b"\xfb\x3f\x08\x01\xfc\x3f"
    request = lobby_pb2.StartGameRequest.FromString(known.SerializeToString() + more)
    assert canonical(request) == canonical(known) + more
    assert request_digest(request) != request_digest(known)


def test_digests_that_lie_in_files() -> None:
    """Written down once. A difference here is a request that is done twice."""
    cards = [card_pb2.CARD_B4, card_pb2.CARD_R7, card_pb2.CARD_Y5]
    play = decision_pb2.PlayCards(cards=cards, pick_up=card_pb2.CARD_R7)
    action = decision_pb2.Action(play_cards=play)
    act = play_pb2.ActRequest(table="ABCD", decision_id=300, action=action, request_id="r-1")
    clock = table_pb2.Clock(per_turn=Duration(seconds=30), bank=Duration(seconds=600))
    options = table_pb2.TableOptions(seats=4, short_deck=False, title="Åsa", clock=clock)
    create = lobby_pb2.CreateTableRequest(options=options, request_id="r-2")
    digests = [request_digest(request).hex()[:16] for request in (act, create)]
    assert digests == ["c1e6ffb69e43a1b4", "4315b72fe8e04213"]
