"""The SDK: for anyone who writes a bot or a front end in Python.

A bot that opens a table with a built-in bot, and plays a game there:

    import asyncio

    from odin_client import (
        Address, BotRunner, Connection, Credential, Occupant, Options, Session, make_bot
    )

    async def play(server: str) -> int:
        connection = await Connection.open(Address.parse(server), Credential.new())
        try:
            session = await Session.open_table(connection, Options(seats=2))
            await session.add_bot("random")
            await session.take_seat("Zoe", occupant=Occupant.REMOTE_BOT)
            runner = BotRunner(session, make_bot("greedy"), print)
            await runner.play()
            return runner.played
        finally:
            await connection.close()

    if __name__ == "__main__":
        print(asyncio.run(play("127.0.0.1")), "played")

`Connection` is one server, `Session` one table there, and `TableModel` what is known of that table.
`__all__` is the public face; each name is loaded when it is asked for, so that a bot in a worker
does without gRPC. Docstrings say which of the errors a call raises.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from odin_client.bots.bot import Bot, make_bot
    from odin_client.bots.process import BotWorker
    from odin_client.bots.runner import BotRunner
    from odin_client.connection.address import Address, BadAddress
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential import Credential
    from odin_client.errors import (
        BadStrategy,
        ClientError,
        CredentialRefused,
        DealtFalsely,
        Refused,
        SeatLost,
        TimedOut,
        Unreachable,
        VersionsDiffer,
    )
    from odin_client.session.lobby import list_tables
    from odin_client.session.session import Session
    from odin_client.table.model import TableModel
    from odin_client.table.updates import DealChecked, LinkChanged, SnapshotTaken
    from odin_client.translatable import Translatable
    from odin_contract.enums import Occupant
    from odin_contract.values import Options

__all__ = [
    "Address",
    "BadAddress",
    "BadStrategy",
    "Bot",
    "BotRunner",
    "BotWorker",
    "ClientError",
    "Connection",
    "Credential",
    "CredentialRefused",
    "DealChecked",
    "DealtFalsely",
    "LinkChanged",
    "Occupant",
    "Options",
    "Refused",
    "SeatLost",
    "Session",
    "SnapshotTaken",
    "TableModel",
    "TimedOut",
    "Translatable",
    "Unreachable",
    "VersionsDiffer",
    "list_tables",
    "make_bot",
]

_ELSEWHERE: Final = {
    "odin_client.bots.bot": ("Bot", "make_bot"),
    "odin_client.bots.process": ("BotWorker",),
    "odin_client.bots.runner": ("BotRunner",),
    "odin_client.connection.address": ("Address", "BadAddress"),
    "odin_client.connection.connection": ("Connection",),
    "odin_client.connection.credential": ("Credential",),
    "odin_client.session.lobby": ("list_tables",),
    "odin_client.session.session": ("Session",),
    "odin_client.table.model": ("TableModel",),
    "odin_client.table.updates": ("DealChecked", "LinkChanged", "SnapshotTaken"),
    "odin_client.translatable": ("Translatable",),
    "odin_contract.enums": ("Occupant",),
    "odin_contract.values": ("Options",),
}
"""Where each name is, apart from the errors."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next((at for at, names in _ELSEWHERE.items() if name in names), "odin_client.errors")
    return getattr(importlib.import_module(module), name)
