"""What a server lists as its features is what the contract announces by these names."""

from __future__ import annotations

import re
from pathlib import Path

from odin_server.features import FEATURES
from odin_table.v1 import lobby_pb2
from tests.server.conftest import Meet, Serve

CONTRACT = Path(__file__).parents[2] / "proto/odin_table/v1"


def test_the_contract_names_every_feature_and_no_other() -> None:
    files = (path.read_text(encoding="utf-8") for path in CONTRACT.glob("*.proto"))
    comments = " ".join(re.sub(r"\s*//\s*", " ", text) for text in files)
    assert set(re.findall(r'feature "(\w+)"', comments)) == set(FEATURES)


async def test_a_server_lists_its_features(serve: Serve, meet: Meet) -> None:
    ann = meet(await serve(), "Ann")
    info = await ann.call(ann.lobby.GetServerInfo, lobby_pb2.GetServerInfoRequest())
    assert tuple(info.features) == FEATURES
