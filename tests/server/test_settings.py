"""Settings that make no sense are refused when they are made, with the name of the setting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import grpc
import pytest

from odin_server.settings import Limits, Settings
from odin_table.v1 import chat_pb2, lobby_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.people import Refused


@pytest.mark.parametrize(
    "wrong",
    [
        {"tables": 0},
        {"message_bytes": -1},
        {"calls_per_second_per_address": 0},
        {"chat_lines_per_minute": float("nan")},
        {"name_characters": 0},
        {"name_characters": 25},
        {"chat_characters": 201},
    ],
)
def test_a_limit_has_to_let_something_through(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"deal_pause": -1},
        {"keepalive": 0},
        {"keepalive_timeout": -1},
        {"stream_life_least": 0},
        {"stream_life_most": 1_000},
        {"bot_delay": float("nan")},
        {"away_budget": float("inf")},
        {"heartbeat": 0},
        {"heartbeat": 11},
        {"batch_events": 0},
        {"ended_in_memory": -1},
    ],
)
def test_a_setting_has_to_make_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)


async def test_an_operator_may_ask_for_shorter_names_and_chat(serve: Serve, meet: Meet) -> None:
    limits = replace(Limits(), name_characters=5, chat_characters=8)
    server = await serve(replace(QUICK, limits=limits))
    ann, long = meet(server, "Ann"), meet(server, "Maximilian")
    info = await ann.call(ann.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest())
    assert (info.max_name_length, info.max_chat_length) == (5, 8)
    table = await ann.open_table()
    await ann.sit(table)
    say = chat_pb2.SendChatRequest(table=table, text="123456789")
    for call, field in ((long.sit(table), "name"), (ann.call(ann.chat.SendChat, say), "text")):
        with pytest.raises(Refused) as caught:
            await call
        assert (caught.value.reason, caught.value.fields) == ("MALFORMED", [field])
        assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    say = chat_pb2.SendChatRequest(table=table, text="12345678")
    await ann.call(ann.chat.SendChat, say)
