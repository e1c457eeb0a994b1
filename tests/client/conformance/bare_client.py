"""A small client on nothing but the generated stubs: right, or with one deliberate mistake.

It shows that the kit asks for nothing that our own client happens to do, and that each mistake is
found. Also a program:

    python -m tests.client.conformance.bare_client HOST:PORT --table K7QF --name Ann
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import secrets
import sys
from enum import Enum, auto
from typing import Any, Final

import grpc
import grpc.aio
from google.rpc import (  # pyright: ignore[reportMissingTypeStubs] -- they are there, unmarked
    error_details_pb2,
)
from grpc_status import rpc_status

from odin_table.v1 import (
    decision_pb2,
    error_pb2,
    event_pb2,
    lobby_pb2,
    lobby_pb2_grpc,
    play_pb2,
    play_pb2_grpc,
    table_pb2,
)

PAUSE: Final = 0.05
"""Seconds between two attempts, when nobody asks for more."""


class Mistake(Enum):
    """What a client can do wrong."""

    ACTS_ON_NO_FIRST_SNAPSHOT = auto()
    FORGETS_ITS_PLACE = auto()
    TAKES_ONLY_A_FIRST_SNAPSHOT = auto()
    KEEPS_THE_FIRST_LOG_ID = auto()
    REMEMBERS_DECISIONS_OF_AN_OLD_LOG = auto()
    ACTS_ON_EACH_DECISION_OF_A_BATCH = auto()
    STUMBLES_OVER_AN_EVENT = auto()
    STUMBLES_OVER_AN_ITEM = auto()
    STUMBLES_OVER_A_VALUE = auto()
    REPEATS_WITH_A_NEW_REQUEST_ID = auto()
    GIVES_UP_AFTER_A_LOST_ANSWER = auto()
    WAITS_FOR_AN_ANSWER_FOR_EVER = auto()
    REPEATS_A_STALE_DECISION = auto()
    ACTS_ON_A_DECISION_IT_HAS_NOT_SEEN = auto()
    COMES_BACK_ALTHOUGH_SUPERSEDED = auto()
    LEAVES_ALTHOUGH_SUPERSEDED = auto()
    STAYS_ALTHOUGH_REMOVED = auto()
    SITS_DOWN_AGAIN_ALTHOUGH_REMOVED = auto()
    COMES_BACK_BEFORE_IT_IS_TIME = auto()
    REPEATS_BEFORE_IT_IS_TIME = auto()
    WAITS_ON_A_SILENT_STREAM_FOR_EVER = auto()
    GIVES_A_STREAM_UP_TOO_EARLY = auto()
    HURRIES_ALTHOUGH_RATE_LIMITED = auto()
    KNOWS_REASONS_ONLY = auto()


class GivesUp(Exception):
    """A call was refused for good."""


class BareClient:
    """Plays one game at one table."""

    def __init__(
        self,
        address: str,
        table: str,
        name: str,
        *,
        silence: float = 25.0,
        deadline: float = 5.0,
        mistake: Mistake | None = None,
    ) -> None:
        """`silence` is for how many seconds a stream may be quiet, `deadline` for a call."""
        self._address: Final = address
        self._table: Final = table
        self._name: Final = name
        self._silence: float | None = silence
        if mistake is Mistake.WAITS_ON_A_SILENT_STREAM_FOR_EVER:
            self._silence = None
        elif mistake is Mistake.GIVES_A_STREAM_UP_TOO_EARLY:
            self._silence = silence / 4
        self._deadline: Final = (
            None if mistake is Mistake.WAITS_FOR_AN_ANSWER_FOR_EVER else deadline
        )
        self._mistake: Final = mistake
        secret = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
        self._metadata: Final = (("authorization", f"Bearer {secret}"),)
        self._place = play_pb2.WatchTableRequest(table=table)
        self._snapshots = 0
        self._items = 0
        self._seat = -1
        self._decision: decision_pb2.Decision | None = None
        self._answered = 0
        self._over = False
        self._removed = False

    async def run(self) -> int:
        """Plays; gives the exit code."""
        options = (
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 1000),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_retries", 0),
        )
        async with grpc.aio.insecure_channel(self._address, options=options) as channel:
            self._lobby = lobby_pb2_grpc.LobbyServiceStub(channel)
            self._play = play_pb2_grpc.PlayServiceStub(channel)
            await self._sit_down()
            pause: float | None = 0.0
            while pause is not None:
                await asyncio.sleep(pause)  # for as long as the server asked
                try:
                    pause = await self._follow()
                except grpc.aio.AioRpcError as error:
                    pause = self._pause_after(error)
                except TimeoutError:
                    pause = PAUSE
                if self._mistake is Mistake.FORGETS_ITS_PLACE:
                    self._place = play_pb2.WatchTableRequest(table=self._table)
            return 0 if self._over else 1

    async def _sit_down(self) -> None:
        seat = lobby_pb2.TakeSeatRequest(
            request_id=secrets.token_hex(8),
            table=self._table,
            name=self._name,
            occupant=table_pb2.OCCUPANT_REMOTE_BOT,
        )
        self._seat = (await self._call(self._lobby.TakeSeat, seat)).seat

    # Following

    async def _follow(self) -> float | None:
        """Follows one stream; gives after how many seconds to come back, None for never."""
        self._items = 0
        stream = self._play.WatchTable(self._place, metadata=self._metadata)
        try:
            while True:
                async with asyncio.timeout(self._silence):
                    item = await stream.read()
                if not isinstance(item, play_pb2.WatchTableResponse):
                    return PAUSE
                self._items += 1
                await self._take(item)
                if self._removed and self._mistake is Mistake.SITS_DOWN_AGAIN_ALTHOUGH_REMOVED:
                    await self._sit_down()
                if self._over or self._removed:
                    return None
                if item.HasField("stream_end"):
                    return await self._after(item.stream_end)
                await self._act_if_due()
        finally:
            stream.cancel()

    async def _after(self, end: event_pb2.StreamEnd) -> float | None:
        if end.HasField("retry_after"):
            hurries = self._mistake is Mistake.COMES_BACK_BEFORE_IT_IS_TIME
            return PAUSE if hurries else end.retry_after.ToTimedelta().total_seconds()
        if self._mistake is Mistake.LEAVES_ALTHOUGH_SUPERSEDED:
            leave = lobby_pb2.LeaveSeatRequest(request_id=secrets.token_hex(8), table=self._table)
            await self._call(self._lobby.LeaveSeat, leave)
        return PAUSE if self._mistake is Mistake.COMES_BACK_ALTHOUGH_SUPERSEDED else None

    async def _take(self, item: play_pb2.WatchTableResponse) -> None:
        match item.WhichOneof("item"):
            case "snapshot":
                self._restart(item.snapshot)
            case "events":
                for event in item.events.events:
                    self._fold(event)
                    if self._mistake is Mistake.ACTS_ON_EACH_DECISION_OF_A_BATCH:
                        await self._act_if_due()
            case None if self._mistake is Mistake.STUMBLES_OVER_AN_ITEM:
                raise ValueError("an item that I do not know")
            case _:
                pass

    def _restart(self, view: table_pb2.TableView) -> None:
        self._snapshots += 1
        if self._mistake is Mistake.TAKES_ONLY_A_FIRST_SNAPSHOT and self._items > 1:
            return
        if self._mistake is Mistake.STUMBLES_OVER_A_VALUE:
            for seat in view.seats:
                table_pb2.Occupant.Name(seat.occupant)
        self._place.after_seq = view.seq
        if self._mistake is not Mistake.KEEPS_THE_FIRST_LOG_ID or not self._place.log_id:
            self._place.log_id = view.log_id
        if self._mistake is not Mistake.REMEMBERS_DECISIONS_OF_AN_OLD_LOG:
            self._answered = 0
        self._decision = view.decision
        if self._mistake is Mistake.ACTS_ON_NO_FIRST_SNAPSHOT and self._snapshots == 1:
            self._decision = None

    def _fold(self, event: event_pb2.Event) -> None:
        self._place.after_seq = event.seq
        match event.WhichOneof("payload"):
            case "decision_opened":
                self._decision = event.decision_opened.decision
            case "cards_played" | "card_picked_up" | "passed":
                self._decision = None
            case "game_ended" | "table_closed":
                self._over = True
            case "seat_left" if event.seat_left.seat == self._seat:
                self._removed = self._mistake is not Mistake.STAYS_ALTHOUGH_REMOVED
            case None if self._mistake is Mistake.STUMBLES_OVER_AN_EVENT:
                raise ValueError("an event that I do not know")
            case _:
                pass

    # Acting

    async def _act_if_due(self) -> None:
        decision = self._decision
        if decision is None or decision.seat != self._seat or not decision.HasField("choices"):
            return
        if decision.id == self._answered:
            return
        self._answered = decision.id
        request = play_pb2.ActRequest(
            request_id=secrets.token_hex(8),
            table=self._table,
            decision_id=decision.id,
            action=_choice(decision),
        )
        try:
            await self._call(self._play.Act, request)
        except GivesUp as refused:
            info: error_details_pb2.ErrorInfo = refused.args[0]
            if info.reason != "STALE_DECISION":
                raise
            request.request_id = secrets.token_hex(8)
            if self._mistake is Mistake.ACTS_ON_A_DECISION_IT_HAS_NOT_SEEN:
                request.decision_id = int(info.metadata["decision_id"])
                await self._call(self._play.Act, request)
            elif self._mistake is Mistake.REPEATS_A_STALE_DECISION:
                await self._call(self._play.Act, request)

    async def _call(self, method: Any, request: Any) -> Any:
        """Calls until there is an answer; raises GivesUp after a refusal for good."""
        while True:
            try:
                return await method(request, timeout=self._deadline, metadata=self._metadata)
            except grpc.aio.AioRpcError as error:
                # For as long as the server asked.
                await asyncio.sleep(self._pause_before_repeating(error))
                new = self._mistake is Mistake.REPEATS_WITH_A_NEW_REQUEST_ID
                if new and _is_lost(error):
                    request.request_id = secrets.token_hex(8)

    def _pause_before_repeating(self, error: grpc.aio.AioRpcError) -> float:
        """Seconds; raises GivesUp when repeating would not help."""
        info, seconds = _details(error)
        if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
            raise GivesUp(info) from error
        if self._mistake is Mistake.GIVES_UP_AFTER_A_LOST_ANSWER and _is_lost(error):
            raise GivesUp(info) from error
        known = f"ERROR_REASON_{info.reason}" in error_pb2.ErrorReason.DESCRIPTOR.values_by_name
        if self._mistake is Mistake.KNOWS_REASONS_ONLY and info.reason and not known:
            raise GivesUp(info) from error
        hurries = self._mistake is Mistake.REPEATS_BEFORE_IT_IS_TIME
        return PAUSE if hurries and info.reason == "SERVER_DRAINING" else max(PAUSE, seconds)

    def _pause_after(self, error: grpc.aio.AioRpcError) -> float:
        """Seconds after which to watch again."""
        info, seconds = _details(error)
        hurries = self._mistake is Mistake.HURRIES_ALTHOUGH_RATE_LIMITED
        return PAUSE if hurries and info.reason == "RATE_LIMITED" else max(PAUSE, seconds)


def _choice(decision: decision_pb2.Decision) -> decision_pb2.Action:
    """The lowest play; when there is none, what happens anyway."""
    choices = decision.choices
    if not choices.plays:
        return choices.default_action
    play = decision_pb2.PlayCards(cards=choices.plays[0].cards)
    if choices.pick_ups and not choices.plays[0].goes_out:
        play.pick_up = choices.pick_ups[0]
    return decision_pb2.Action(play_cards=play)


def _is_lost(error: grpc.aio.AioRpcError) -> bool:
    """Whether the line, and no server, says that there is no answer."""
    return error.code() is grpc.StatusCode.UNAVAILABLE and not _details(error)[0].reason


def _details(error: grpc.aio.AioRpcError) -> tuple[error_details_pb2.ErrorInfo, float]:
    """Why, and for how many seconds to wait."""
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        detail.Unpack(info)
        detail.Unpack(retry)
    return info, retry.retry_delay.ToTimedelta().total_seconds()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--table", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--mistake", choices=[mistake.name for mistake in Mistake])
    given = parser.parse_args()
    mistake = Mistake[given.mistake] if given.mistake else None
    client = BareClient(given.address, given.table, given.name, mistake=mistake)
    try:
        return asyncio.run(client.run())
    except ValueError as problem:
        sys.exit(f"bare client: {problem}")


if __name__ == "__main__":
    sys.exit(main())
