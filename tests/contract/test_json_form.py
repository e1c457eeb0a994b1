"""JSON is read as it was meant, or refused with the place that makes no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    error_details_pb2,
)

from odin_contract.json_form import JsonError, fill, parsed
from odin_table.v1 import card_pb2, history_pb2, lobby_pb2, play_pb2, table_pb2

CREATE, ACT, READY = lobby_pb2.CreateTableRequest, play_pb2.ActRequest, lobby_pb2.SetReadyRequest


def read(kind: type[Message], value: object) -> Message:
    message = kind()
    fill(message, parsed(json.dumps(value)))
    return message


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        # Names and numbers that no enum has, in every place where there can be one.
        (CREATE, {"options": {"visibility": "PRIVATE"}}, "options.visibility"),
        (CREATE, {"options": {"visibility": "visibility_private"}}, "options.visibility"),
        (CREATE, {"options": {"visibility": 7}}, "options.visibility"),
        (CREATE, {"options": {"visibility": "2"}}, "options.visibility"),
        (CREATE, {"options": {"visibility": 2.0}}, "options.visibility"),
        (CREATE, {"options": {"visibility": True}}, "options.visibility"),
        (CREATE, {"options": {"visibility": ["VISIBILITY_PRIVATE"]}}, "options.visibility"),
        (lobby_pb2.ListTablesRequest, {"phase": "PLAYING"}, "phase"),
        *(
            (
                ACT,
                {"action": {name: {"cards": ["CARD_O1", "CARD_R10"]}}},
                "action.play_cards.cards[1]",
            )
            for name in ("playCards", "play_cards")
        ),
        (ACT, {"action": {"pickUp": {"card": "R1"}}}, "action.pick_up.card"),
        # What is no message, list, text or base64.
        (CREATE, [], ""),
        (CREATE, "x", ""),
        (CREATE, None, ""),
        (CREATE, {"options": []}, "options"),
        (CREATE, {"options": "x"}, "options"),
        (CREATE, {"options": 1}, "options"),
        (ACT, {"action": {"playCards": {"cards": "CARD_O1"}}}, "action.play_cards.cards"),
        (ACT, {"action": {"playCards": {"cards": {"0": "CARD_O1"}}}}, "action.play_cards.cards"),
        (ACT, {"action": {"passTurn": []}}, "action.pass_turn"),
        (READY, {"nonce": "not base64!"}, "nonce"),
        (READY, {"nonce": [1, 2]}, "nonce"),
        # The same thing said twice, in two spellings.
        (ACT, {"decisionId": 1, "decision_id": 2}, "decision_id"),
        # Left to protobuf.
        (ACT, {"decisionId": "x"}, ""),
        (ACT, {"decisionId": 1.5}, ""),
        (ACT, {"action": {"passTurn": {}, "pickUp": {"card": "CARD_O1"}}}, ""),
        (CREATE, {"options": {"clock": {"perTurn": "soon"}}}, ""),
        (ACT, {"action": {"playCards": {"cards": [None]}}}, "action.play_cards.cards[0]"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    kind: type[Message], value: object, path: str
) -> None:
    with pytest.raises(JsonError) as caught:
        read(kind, value)
    assert caught.value.path == path
    assert caught.value.problem
    assert str(caught.value).startswith(path)


@pytest.mark.parametrize(
    "text",
    ["", "{", "nothing", '{"table": "A", "table": "B"}', '{"a": {"b": 1, "b": 1}}', "[" * 50_000],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        parsed(text)
    with pytest.raises(JsonError):
        parsed(b"\xff" + text.encode())


def test_both_spellings_numbers_and_absence_are_understood() -> None:
    for value in (
        {"decisionId": 3, "action": {"playCards": {"cards": ["CARD_O1", 2], "pickUp": "CARD_G4"}}},
        {"decision_id": 3, "action": {"play_cards": {"cards": [10, "CARD_R2"], "pick_up": 31}}},
    ):
        request = read(ACT, {**value, "table": None, "requestId": None})
        assert isinstance(request, play_pb2.ActRequest)
        assert request.decision_id == 3
        assert sorted(request.action.play_cards.cards) == [2, 10]
        assert request.action.play_cards.pick_up == card_pb2.CARD_G4


def test_what_is_unknown_is_stepped_over_and_what_follows_from_a_message_is_that_message() -> None:
    newer: Any = {"new": {"visibility": "PRIVATE"}, "options": {"newer": [], "seats": 3}}
    assert read(CREATE, newer) == CREATE(options=table_pb2.TableOptions(seats=3))
    for message in (
        table_pb2.TableOptions(clock=table_pb2.Clock(), single_deal=True),
        history_pb2.GetHistoryRequest(table="ABCD", after_seq=3),
        READY(nonce=bytes(range(32)), commitment=b"\xff" * 31, ready=True),
    ):
        value: Any = json_format.MessageToDict(message)
        assert read(type(message), value) == message


def test_maps_are_walked_too() -> None:
    """No request has one so far."""
    info = read(error_details_pb2.ErrorInfo, {"metadata": {"rule": "R9"}})
    assert info == error_details_pb2.ErrorInfo(metadata={"rule": "R9"})
    with pytest.raises(JsonError) as caught:
        read(error_details_pb2.ErrorInfo, {"metadata": ["R9"]})
    assert caught.value.path == "metadata"
