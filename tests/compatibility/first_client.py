"""A bot as somebody wrote it for the first version of the contract. It must go on working for ever.

It is a program of its own that knows nothing but the stubs of that version, which have to come
first on PYTHONPATH. It uses every call that a player needs, goes on after a stream that broke off
in mid-game, and prints each event that it sees and the result of the game, as JSON lines.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import sys
from typing import Final

import grpc.aio
from google.protobuf import json_format

from odin_table.v1 import (
    card_pb2,
    chat_pb2,
    chat_pb2_grpc,
    decision_pb2,
    event_pb2,
    history_pb2,
    history_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
    table_pb2,
)

PATIENCE: Final = 60
"""Seconds for a call, and for the next item of a stream, on a busy machine."""

ACTS_UNTIL_BREAK: Final = 3


class FirstClient:
    """One seat at one table."""

    def __init__(self, channel: grpc.aio.Channel, table: str) -> None:
        self.table: Final = table
        self._lobby: Final = lobby_pb2_grpc.LobbyServiceStub(channel)
        self._play: Final = play_pb2_grpc.PlayServiceStub(channel)
        self._chat: Final = chat_pb2_grpc.ChatServiceStub(channel)
        self._history: Final = history_pb2_grpc.HistoryServiceStub(channel)
        secret = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
        self._metadata: Final = (
            ("authorization", f"Bearer {secret}"),
            ("odin-table-revision", "1"),
        )
        self._log_id = ""
        self._seq = 0
        self._decision: decision_pb2.Decision | None = None
        self._acts = 0
        self._between_deals = False
        self._scores: dict[int, int] = {}
        self._winners: list[int] = []

    async def sit_down(self, name: str) -> None:
        """Finds the table in the list, takes a seat, and is ready."""
        info = await self._lobby.GetServerInfo(
            lobby_pb2.GetServerInfoRequest(), metadata=self._metadata, timeout=PATIENCE
        )
        assert info.oldest_revision <= 1, "the server has left the first contract behind"
        listed = await self._lobby.ListTables(
            lobby_pb2.ListTablesRequest(joinable=True), metadata=self._metadata, timeout=PATIENCE
        )
        assert self.table in [table.table for table in listed.tables]
        seat = lobby_pb2.TakeSeatRequest(request_id="sit", table=self.table, name=name)
        await self._lobby.TakeSeat(seat, metadata=self._metadata, timeout=PATIENCE)
        await self._get_ready()
        line = chat_pb2.SendChatRequest(request_id="hello", table=self.table, text="Hello!")
        await self._chat.SendChat(line, metadata=self._metadata, timeout=PATIENCE)

    async def play_to_the_end(self) -> dict[str, object]:
        """Plays the game, on a stream that breaks off once; gives its result."""
        await self._follow(until_acts=ACTS_UNTIL_BREAK)
        assert not self._over, "the game has ended before the stream broke off"
        await self._follow()
        view = await self._play.GetView(
            play_pb2.GetViewRequest(table=self.table), metadata=self._metadata, timeout=PATIENCE
        )
        assert view.view.phase == table_pb2.TABLE_PHASE_GAME_OVER
        assert list(view.view.game.winners) == self._winners
        history = await self._history.GetHistory(
            history_pb2.GetHistoryRequest(table=self.table, page_size=1000),
            metadata=self._metadata,
            timeout=PATIENCE,
        )
        assert [event.seq for event in history.events] == list(range(1, view.view.seq + 1))
        totals = [{"seat": seat, "total": self._scores[seat]} for seat in sorted(self._scores)]
        return {"winners": self._winners, "totals": totals}

    @property
    def _over(self) -> bool:
        return bool(self._winners)

    async def _follow(self, until_acts: int | None = None) -> None:
        """Follows from where it stopped, and acts, until so many acts or the end of the game."""
        request = play_pb2.WatchTableRequest(table=self.table)
        if self._log_id:
            request.after_seq, request.log_id = self._seq, self._log_id
        stream = self._play.WatchTable(request, metadata=self._metadata)
        while not self._over and self._acts != until_acts:
            async with asyncio.timeout(PATIENCE):
                item = await stream.read()
            assert isinstance(item, play_pb2.WatchTableResponse), "the server ended the stream"
            if item.HasField("snapshot"):
                self._log_id, self._seq = item.snapshot.log_id, item.snapshot.seq
                self._consider(item.snapshot.decision)
            for event in item.events.events:
                assert event.seq == self._seq + 1, "the numbers have a hole"
                self._seq = event.seq
                print(json_format.MessageToJson(event, indent=None), flush=True)  # noqa: T201 -- tells the test
                self._fold(event)
            if self._decision is not None:
                await self._act(self._decision)
            elif self._between_deals:
                await self._get_ready()
        stream.cancel()

    def _fold(self, event: event_pb2.Event) -> None:
        """Steps over what it does not need, and over what it does not know."""
        if event.HasField("decision_opened"):
            self._consider(event.decision_opened.decision)
        elif event.HasField("deal_ended"):
            self._between_deals = True
            self._scores = {score.seat: score.total for score in event.deal_ended.scores}
        elif event.HasField("game_ended"):
            self._between_deals = False
            self._winners = list(event.game_ended.winners)

    def _consider(self, decision: decision_pb2.Decision) -> None:
        """Only the seat that must act is told its choices."""
        self._decision = decision if decision.HasField("choices") else None

    async def _get_ready(self) -> None:
        ready = lobby_pb2.SetReadyRequest(
            request_id=f"ready-{self._seq}", table=self.table, ready=True
        )
        await self._lobby.SetReady(ready, metadata=self._metadata, timeout=PATIENCE)
        self._between_deals = False

    async def _act(self, decision: decision_pb2.Decision) -> None:
        request = play_pb2.ActRequest(
            request_id=f"act-{decision.id}",
            table=self.table,
            decision_id=decision.id,
            action=_lowest(decision.choices),
        )
        answers = [
            await self._play.Act(request, metadata=self._metadata, timeout=PATIENCE)
            for _ in range(2)
        ]
        assert [answer.replayed for answer in answers] == [False, True]
        assert answers[0].seq == answers[1].seq
        self._acts += 1
        self._decision = None


def _lowest(choices: decision_pb2.Choices) -> decision_pb2.Action:
    """The lowest play, taking the first card of the beaten set; without one the default."""
    if not choices.plays:
        return choices.default_action
    play = choices.plays[0]
    takes = choices.pick_ups and not play.goes_out
    pick_up = choices.pick_ups[0] if takes else card_pb2.CARD_UNSPECIFIED
    return decision_pb2.Action(play_cards=decision_pb2.PlayCards(cards=play.cards, pick_up=pick_up))


async def main(server: str, table: str, name: str) -> None:
    """Plays one game at a table of this server."""
    async with grpc.aio.insecure_channel(server) as channel:
        client = FirstClient(channel, table)
        await client.sit_down(name)
        print(json.dumps(await client.play_to_the_end()))  # noqa: T201 -- tells the test


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
