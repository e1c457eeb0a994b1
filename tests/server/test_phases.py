"""Every call that changes a table, in every phase of its life, at a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from odin_contract.enums import Phase
from odin_server.main import Server
from odin_server.table.commands import LIFE
from odin_server.table.commands.phases import PHASES
from odin_table.v1 import chat_pb2, decision_pb2, lobby_pb2, play_pb2, table_pb2
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.patience import PATIENCE
from tests.support.people import Person, Refused, first_choice, play_until

LONG_PAUSE: Final = replace(QUICK, deal_pause=3600)

OK: Final = "OK"
OVER: Final = "GAME_OVER"
STARTED: Final = "ALREADY_STARTED"
ANSWERS: Final[Mapping[str, tuple[str, ...]]] = {
    # In the order of PHASES: WAITING, PLAYING, BETWEEN_DEALS, GAME_OVER, CLOSED.
    "take_seat": (OK, OK, OK, OK, OVER),
    "leave_seat": (OK, OK, OK, OK, OK),
    "remove_seat": (OK, STARTED, STARTED, OVER, OVER),
    "add_bot": (OK, STARTED, STARTED, OVER, OVER),
    "remove_bot": (OK, STARTED, STARTED, OVER, OVER),
    "set_ready": (OK, STARTED, OK, OVER, OVER),
    "give_nonce": (OK, STARTED, OK, OK, OVER),
    "start_game": (OK, STARTED, OK, OVER, OVER),
    "rematch": (OK, STARTED, STARTED, OK, OVER),
    "act": ("NOT_STARTED", OK, "STALE_DECISION", OVER, OVER),
    "send_chat": (OK, OK, OK, OK, OVER),
    "close_table": (OK, OK, OK, OK, OVER),
}
PASS: Final = decision_pb2.Action(pass_turn=decision_pb2.PassTurn())
CALLS: Final = [
    method
    for file in (lobby_pb2, play_pb2, chat_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if "request_id" in method.input_type.fields_by_name
]
"""The calls that change something."""


def snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name)[1:]


class Scene:
    """A table with a host, another person, a bot and a free seat."""

    def __init__(self, server: Server, host: Person, guest: Person, table: str) -> None:
        self._server = server
        self._people = (host, guest)
        self._table = table

    async def reach(self, phase: Phase) -> None:
        """Brings the table into this phase."""
        host, _ = self._people
        for person in self._people:
            await person.sit(self._table)
        await host.add_bot(self._table)
        if phase in (Phase.PLAYING, Phase.BETWEEN_DEALS, Phase.GAME_OVER):
            await host.start(self._table)
        if phase in (Phase.BETWEEN_DEALS, Phase.GAME_OVER):
            await asyncio.gather(
                *(play_until(person, self._table, "deal_ended") for person in self._people)
            )
        if phase is Phase.CLOSED:
            await host.call(host.lobby.CloseTable, lobby_pb2.CloseTableRequest(table=self._table))
        assert (await host.view(self._table)).phase == phase.value

    async def call(self, name: str) -> str:
        """What the server answers to this call, made by somebody who may make it."""
        try:
            await self._make(name)
        except Refused as refused:
            return refused.reason
        return OK

    async def _make(self, name: str) -> None:
        if name == "act":
            await self._act()
            return
        host, guest = self._people
        nonce = {"nonce": b"nonce", "commitment": await self._commitment()}
        calls: dict[str, tuple[Person, Any, Mapping[str, Any]]] = {
            "take_seat": (guest, lobby_pb2.TakeSeatRequest, {"name": guest.name}),
            "leave_seat": (guest, lobby_pb2.LeaveSeatRequest, {}),
            "remove_seat": (host, lobby_pb2.RemoveSeatRequest, {"seat": 1}),
            "add_bot": (host, lobby_pb2.AddBotRequest, {}),
            "remove_bot": (host, lobby_pb2.RemoveBotRequest, {"seat": 2}),
            "set_ready": (guest, lobby_pb2.SetReadyRequest, {"ready": True}),
            "give_nonce": (guest, lobby_pb2.GiveNonceRequest, nonce),
            "start_game": (host, lobby_pb2.StartGameRequest, {}),
            "rematch": (guest, lobby_pb2.RematchRequest, {}),
            "send_chat": (guest, chat_pb2.SendChatRequest, {"text": "Well played!"}),
            "close_table": (host, lobby_pb2.CloseTableRequest, {}),
        }
        who, kind, fields = calls[name]
        service = who.chat if name == "send_chat" else who.lobby
        call = "".join(map(str.capitalize, name.split("_")))
        await who.call(getattr(service, call), kind(table=self._table, **fields))

    async def _commitment(self) -> bytes:
        table = await self._server.lobby.table(self._table)
        assert table is not None
        return table.state.commitment or bytes(32)

    async def _act(self) -> None:
        """Acts for the person whose turn it is, once the bot has acted."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for person in self._people:
                    view = await person.view(self._table)
                    if view.decision.HasField("choices"):
                        action = first_choice(view.decision.choices)
                        await person.act(self._table, view.decision.id, action)
                        return
                    if view.phase != table_pb2.TABLE_PHASE_PLAYING:
                        await person.act(self._table, 1, PASS)
                        return


def test_the_table_of_phases_has_a_row_for_each_call_at_a_table() -> None:
    calls = {snake(method.name) for method in CALLS} - {"create_table"}
    assert set(LIFE) == set(ANSWERS) == calls


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
async def test_each_call_in_each_phase(serve: Serve, meet: Meet, phase: Phase) -> None:
    server = await serve(LONG_PAUSE)
    scene: Scene | None = None
    actual: dict[str, str] = {}
    for number, name in enumerate(ANSWERS):
        # A refused call has changed nothing, so the next one may be made at the same table.
        if scene is None:
            host, guest = meet(server, f"Ann {number}"), meet(server, f"Bob {number}")
            options = table_pb2.TableOptions(seats=4)
            if phase is Phase.GAME_OVER:
                options.single_deal = True
            scene = Scene(server, host, guest, await host.open_table(options))
            await scene.reach(phase)
        actual[name] = await scene.call(name)
        if actual[name] == OK:
            scene = None
    column = PHASES.index(phase)
    assert actual == {name: answers[column] for name, answers in ANSWERS.items()}
    said = {name: cells[column] for name, cells in LIFE.items()}
    assert actual == {name: no.reason.name if no else OK for name, no in said.items()}
