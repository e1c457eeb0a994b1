"""The public face of the SDK: its names, what it loads, and the example that it shows."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import textwrap
from typing import Any, Final

import pytest

import odin_client
from odin_client.connection.address import Address
from tests.support.patience import PATIENCE

NAMES: Final = (
    *("Address", "BadAddress", "BadStrategy", "Bot", "BotRunner", "BotWorker", "ClientError"),
    *("Connection", "Credential", "CredentialRefused", "DealChecked", "DealtFalsely"),
    *("LinkChanged", "Occupant", "Options", "Refused", "SeatLost", "Session", "SnapshotTaken"),
    *("TableModel", "TimedOut", "Translatable", "Unreachable", "VersionsDiffer"),
    *("list_tables", "make_bot"),
)
"""What programs of others import: a name may be added here, and none may go."""

OF_THE_PROGRAM: Final = ("odin_cli", "gettext", "click", "platformdirs", "prompt_toolkit")


def test_the_names_of_the_sdk_are_these() -> None:
    assert tuple(odin_client.__all__) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_sdk_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(odin_client, name)
    assert inspect.getdoc(found)
    assert found.__name__ == name


def test_a_name_that_it_does_not_have_is_an_attribute_error() -> None:
    assert not hasattr(odin_client, "errors_of_others")


@pytest.mark.parametrize(
    ("imports", "never"),
    [
        ("import odin_client.bots", (*OF_THE_PROGRAM, "grpc")),
        ("from odin_client import Bot, make_bot, ClientError", (*OF_THE_PROGRAM, "grpc")),
        ("from odin_client import *", OF_THE_PROGRAM),
    ],
)
def test_the_sdk_loads_none_of_the_programs_libraries(imports: str, never: tuple[str, ...]) -> None:
    # Python's own argparse asks for gettext: what is loaded before does not count.
    code = f"import sys; before = set(sys.modules)\n{imports}\nprint(*{{*sys.modules}} - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert set(never) & {module.partition(".")[0] for module in done.stdout.split()} == set()


async def test_the_example_of_the_sdk_plays_a_game(address: Address) -> None:
    described = inspect.getdoc(odin_client)
    assert described
    blocks = described.split("\n\n")
    code = "\n\n".join(block for block in blocks if block.startswith("    "))
    example: dict[str, Any] = {"__name__": "example"}
    exec(textwrap.dedent(code), example)
    async with asyncio.timeout(PATIENCE):
        assert await example["play"](str(address)) == 1
