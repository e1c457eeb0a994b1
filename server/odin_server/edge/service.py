"""The calls of the contract, one method each: translate in, call, translate out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from google.protobuf.message import Message

from odin_contract.enums import Phase
from odin_contract.limits import EVENTS_PER_PAGE, REQUEST_ID_LENGTH, TABLES_PER_PAGE
from odin_contract.times import timestamp
from odin_server.authority import Role
from odin_server.edge.calls import (
    OLDEST_REVISION,
    REVISION,
    Caller,
    Calls,
    Streaming,
    Unary,
)
from odin_server.edge.limits import Buckets, Held, Reserved
from odin_server.edge.request_digest import request_digest
from odin_server.edge.requests import action_from, nonce_from, occupant_from, options_from
from odin_server.environment import Environment
from odin_server.errors import Reason, Refusal, malformed, not_allowed, table_damaged
from odin_server.event_log import Conflict, EventLog, Stored, TableDamaged
from odin_server.features import FEATURES
from odin_server.lobby.listing import page
from odin_server.lobby.tables import Lobby
from odin_server.table import commands
from odin_server.table.chat import Line
from odin_server.table.draft import Draft
from odin_server.table.encoding import field_bytes
from odin_server.table.events import Record, RequestKey, SeatResumed, SeatTaken, TableOpened
from odin_server.table.table import Table
from odin_server.table.views import summary
from odin_server.table.visibility import public_table
from odin_server.table.watch import Watch
from odin_server.texts import cleaned
from odin_table.v1 import chat_pb2, event_pb2, history_pb2, lobby_pb2, play_pb2, table_pb2

_TABLES_A_PAGE: Final = 50
_EVENTS_A_PAGE: Final = 500

Result = TypeVar("Result")

Methods: TypeAlias = Mapping[str, Mapping[str, Unary[Any] | Streaming[Any]]]
"""The methods of each service, by their names in the contract."""


class Answered(NamedTuple):
    """What a request led to: now, or when it was made the first time."""

    table: str
    """The handle of the table."""
    seq: int
    replayed: bool


class Services:
    """Every method of the contract, over one lobby."""

    def __init__(
        self,
        *,
        environment: Environment,
        lobby: Lobby,
        watch: Watch,
        log: EventLog,
        calls: Calls,
        levels: Sequence[str],
        version: str,
    ) -> None:
        limits, clock = environment.settings.limits, environment.clock
        self._lobby: Final = lobby
        self._watch: Final = watch
        self._log: Final = log
        self._clock: Final = clock
        self._calls: Final = calls
        self._levels: Final = levels
        self._version: Final = version
        self._limits: Final = limits
        self._chat_lines: Final = Buckets(
            "chat_lines_per_minute", limits.chat_lines_per_minute / 60, 10, clock.monotonic
        )
        self._wrong_codes: Final = Buckets(
            "wrong_codes_per_minute", limits.wrong_codes_per_minute / 60, 10, clock.monotonic
        )
        self._streams_of_credential: Final = Held(
            "streams_per_credential", limits.streams_per_credential
        )
        self._streams_of_address: Final = Held("streams_per_address", limits.streams_per_address)

    def methods(self) -> Methods:
        """All of them."""
        return {
            "odin_table.v1.LobbyService": {
                "GetServerInfo": Unary(lobby_pb2.GetServerInfoRequest, self.get_server_info),
                "ListTables": Unary(lobby_pb2.ListTablesRequest, self.list_tables),
                "CreateTable": Unary(lobby_pb2.CreateTableRequest, self.create_table, goes_on=True),
                "TakeSeat": Unary(lobby_pb2.TakeSeatRequest, self.take_seat, goes_on=True),
                "LeaveSeat": Unary(lobby_pb2.LeaveSeatRequest, self.leave_seat),
                "SetReady": Unary(lobby_pb2.SetReadyRequest, self.set_ready),
                "StartGame": Unary(lobby_pb2.StartGameRequest, self.start_game),
                "AddBot": Unary(lobby_pb2.AddBotRequest, self.add_bot),
                "RemoveBot": Unary(lobby_pb2.RemoveBotRequest, self.remove_bot),
                "RemoveSeat": Unary(lobby_pb2.RemoveSeatRequest, self.remove_seat),
                "Rematch": Unary(lobby_pb2.RematchRequest, self.rematch),
                "GiveNonce": Unary(lobby_pb2.GiveNonceRequest, self.give_nonce),
                "CloseTable": Unary(lobby_pb2.CloseTableRequest, self.close_table),
            },
            "odin_table.v1.PlayService": {
                "Act": Unary(play_pb2.ActRequest, self.act, limits_itself=True),
                "WatchTable": Streaming(play_pb2.WatchTableRequest, self.watch_table),
                "GetView": Unary(play_pb2.GetViewRequest, self.get_view),
            },
            "odin_table.v1.ChatService": {
                "SendChat": Unary(chat_pb2.SendChatRequest, self.send_chat, goes_on=True),
            },
            "odin_table.v1.HistoryService": {
                "GetHistory": Unary(history_pb2.GetHistoryRequest, self.get_history),
            },
        }

    # LobbyService

    async def get_server_info(
        self, _request: lobby_pb2.GetServerInfoRequest, _caller: Caller
    ) -> Message:
        """GetServerInfo."""
        return lobby_pb2.GetServerInfoResponse(
            version=self._version,
            revision=REVISION,
            oldest_revision=OLDEST_REVISION,
            server_time=timestamp(self._clock.now()),
            levels=self._levels,
            max_name_length=self._limits.name_characters,
            max_chat_length=self._limits.chat_characters,
            features=FEATURES,
        )

    async def list_tables(self, request: lobby_pb2.ListTablesRequest, _caller: Caller) -> Message:
        """ListTables."""
        size = _page_size(request.page_size, _TABLES_A_PAGE, TABLES_PER_PAGE)
        if request.phase not in table_pb2.TablePhase.values():
            raise malformed("phase", f"{request.phase} is unknown.")
        phase = Phase(request.phase) if request.phase else None
        tables, token = await page(
            self._lobby,
            self._log,
            size,
            request.page_token,
            phase,
            joinable=request.joinable,
            for_bots=request.open_to_bots,
        )
        return lobby_pb2.ListTablesResponse(
            tables=[
                summary(table.handle, public_table(table.state), table.opened) for table in tables
            ],
            next_page_token=token,
        )

    async def create_table(self, request: lobby_pb2.CreateTableRequest, caller: Caller) -> Message:
        """CreateTable."""
        options = options_from(request.options)
        key = _key(request, caller)
        while True:
            stored = await self._find_request(key)
            if stored:
                _check_content(stored, key)
                opened = stored.records[0].event
                assert isinstance(opened, TableOpened), "the content of the request is the same"
                return lobby_pb2.CreateTableResponse(
                    table=stored.table, code=opened.code, replayed=True
                )
            try:
                table = await self._lobby.open(options, caller.holder, caller.address, key)
            except Conflict:
                continue
            except Refusal:
                # Perhaps only since the same request has been done meanwhile.
                if await self._find_request(key):
                    continue
                raise
            return lobby_pb2.CreateTableResponse(table=table.handle, code=table.state.code)

    async def take_seat(self, request: lobby_pb2.TakeSeatRequest, caller: Caller) -> Message:
        """TakeSeat."""
        occupant = occupant_from(request.occupant)
        nonce = nonce_from(request)
        wanted = request.seat if request.HasField("seat") else None
        key = _key(request, caller)

        async def enter() -> Table:
            table = await self._find(request.table, request.code, caller)
            reserved.close()
            if table.state.seat_held_by(caller.holder) is None:
                seat = self._lobby.quotas.reserve_seat(caller.holder, caller.address)
                reserved.enter_context(seat)
            return table

        def sit_down(draft: Draft) -> int:
            # Whoever has a seat already need not say their name again.
            own = draft.state.seat_held_by(caller.holder) is not None
            name = "" if own else cleaned("name", request.name, self._limits.name_characters)
            return commands.take_seat(draft, caller.holder, name, wanted, occupant, nonce)

        with ExitStack() as reserved:
            answered, seat = await self._change(key, caller, enter, sit_down, _seat_taken)
            if not answered.replayed:
                self._lobby.seated(answered.table, caller.holder, caller.address)
        return lobby_pb2.TakeSeatResponse(
            table=answered.table, seat=seat, seq=answered.seq, replayed=answered.replayed
        )

    async def leave_seat(self, request: lobby_pb2.LeaveSeatRequest, caller: Caller) -> Message:
        """LeaveSeat."""
        answered = await self._simple(
            request, caller, lambda draft: commands.leave_seat(draft, caller.holder)
        )
        return lobby_pb2.LeaveSeatResponse(seq=answered.seq, replayed=answered.replayed)

    async def set_ready(self, request: lobby_pb2.SetReadyRequest, caller: Caller) -> Message:
        """SetReady."""
        nonce = nonce_from(request, may_add=request.ready)
        answered = await self._simple(
            request,
            caller,
            lambda draft: commands.set_ready(draft, caller.holder, request.ready, nonce),
        )
        return lobby_pb2.SetReadyResponse(seq=answered.seq, replayed=answered.replayed)

    async def start_game(self, request: lobby_pb2.StartGameRequest, caller: Caller) -> Message:
        """StartGame."""
        answered = await self._simple(
            request, caller, lambda draft: commands.start_game(draft, caller.authority)
        )
        return lobby_pb2.StartGameResponse(seq=answered.seq, replayed=answered.replayed)

    async def add_bot(self, request: lobby_pb2.AddBotRequest, caller: Caller) -> Message:
        """AddBot."""
        name = cleaned("name", request.name, self._limits.name_characters, may_be_empty=True)
        wanted = request.seat if request.HasField("seat") else None
        level = request.level or "greedy"
        answered, bot = await self._change(
            _key(request, caller),
            caller,
            partial(self._find, request.table, "", caller),
            lambda draft: commands.add_bot(
                draft, caller.authority, level, wanted, name, self._levels
            ),
            _bot_seated,
        )
        return lobby_pb2.AddBotResponse(
            seq=answered.seq, replayed=answered.replayed, seat=bot.seat, name=bot.name
        )

    async def remove_bot(self, request: lobby_pb2.RemoveBotRequest, caller: Caller) -> Message:
        """RemoveBot."""
        answered = await self._simple(
            request,
            caller,
            lambda draft: commands.remove_bot(draft, caller.authority, request.seat),
        )
        return lobby_pb2.RemoveBotResponse(seq=answered.seq, replayed=answered.replayed)

    async def remove_seat(self, request: lobby_pb2.RemoveSeatRequest, caller: Caller) -> Message:
        """RemoveSeat."""
        answered = await self._simple(
            request,
            caller,
            lambda draft: commands.remove_seat(draft, caller.authority, request.seat, request.name),
        )
        return lobby_pb2.RemoveSeatResponse(seq=answered.seq, replayed=answered.replayed)

    async def rematch(self, request: lobby_pb2.RematchRequest, caller: Caller) -> Message:
        """Rematch."""
        nonce = nonce_from(request)
        answered = await self._simple(
            request, caller, lambda draft: commands.rematch(draft, caller.holder, nonce)
        )
        return lobby_pb2.RematchResponse(seq=answered.seq, replayed=answered.replayed)

    async def give_nonce(self, request: lobby_pb2.GiveNonceRequest, caller: Caller) -> Message:
        """GiveNonce."""
        nonce = nonce_from(request)
        if not nonce.nonce:
            raise malformed("nonce", "Give some bytes, 32 random ones at best.")
        answered = await self._simple(
            request, caller, lambda draft: commands.give_nonce(draft, caller.holder, nonce)
        )
        return lobby_pb2.GiveNonceResponse(seq=answered.seq, replayed=answered.replayed)

    async def close_table(self, request: lobby_pb2.CloseTableRequest, caller: Caller) -> Message:
        """CloseTable."""
        answered = await self._simple(
            request, caller, lambda draft: commands.close_table(draft, caller.authority)
        )
        return lobby_pb2.CloseTableResponse(seq=answered.seq, replayed=answered.replayed)

    # PlayService

    async def act(self, request: play_pb2.ActRequest, caller: Caller) -> Message:
        """Act."""
        action = action_from(request.action)

        async def enter() -> Table:
            table = await self._find(request.table, "", caller)
            # The move of the seat that has to act is never one call too many.
            decision = table.state.decision
            if decision is None or decision.seat != table.state.seat_held_by(caller.holder):
                self._calls.count(caller)
            return table

        answered, _ = await self._change(
            _key(request, caller),
            None,
            enter,
            lambda draft: commands.act(draft, caller.holder, request.decision_id, action),
            _nothing,
        )
        return play_pb2.ActResponse(seq=answered.seq, replayed=answered.replayed)

    async def watch_table(
        self, request: play_pb2.WatchTableRequest, caller: Caller
    ) -> tuple[AsyncIterator[bytes], Callable[[], None]]:
        """WatchTable."""
        after_seq = request.after_seq if request.HasField("after_seq") else None
        if after_seq is not None and after_seq < 0:
            raise malformed("after_seq", "Numbers of events start at 1.")
        table = await self._find(request.table, request.code, caller)
        if after_seq and (request.log_id != table.state.log_id or after_seq > table.state.seq):
            # It counts in another log: what the client knows is void.
            after_seq = None
        whose = caller.credential or caller.address
        reserved = Reserved(
            (self._streams_of_address, caller.address), (self._streams_of_credential, whose)
        )
        try:
            if caller.credential is not None:
                holder = caller.credential
                await table.submit(lambda draft: commands.come_back(draft, holder))
            stream = self._watch.open(table, caller.credential)
        except BaseException:
            reserved.release()
            raise

        def gone() -> None:
            self._watch.close(stream)
            reserved.release()

        return stream.items(after_seq), gone

    async def get_view(self, request: play_pb2.GetViewRequest, caller: Caller) -> bytes:
        """GetView."""
        table = await self._find(request.table, request.code, caller)
        view = table.view(table.viewer(caller.credential))
        return field_bytes(play_pb2.GetViewResponse.VIEW_FIELD_NUMBER, view)

    # ChatService

    async def send_chat(self, request: chat_pb2.SendChatRequest, caller: Caller) -> Message:
        """SendChat."""
        text = cleaned("text", request.text, self._limits.chat_characters)
        key = _key(request, caller)
        while True:
            stored = await self._find_request(key)
            if stored and stored.request == key:
                return chat_pb2.SendChatResponse(number=stored.line or 0, replayed=True)
            table = await self._find(request.table, "", caller)
            viewer = table.viewer(caller.credential)
            seat = table.state.seats[viewer.seat] if viewer.seat is not None else None
            if seat is None and not viewer.is_host:
                raise not_allowed("Only seats and the host of this table may talk here.")
            if stored:
                raise _reused()
            commands.check_phase("send_chat", table.state)
            self._chat_lines.take(caller.holder)
            line = Line(0, self._clock.now(), seat.name if seat else "host", viewer.seat, text)
            try:
                return chat_pb2.SendChatResponse(number=await table.say(line, key))
            except Conflict:
                continue

    # HistoryService

    async def get_history(self, request: history_pb2.GetHistoryRequest, caller: Caller) -> bytes:
        """GetHistory."""
        if request.after_seq < 0 or request.game < 0:
            raise malformed("after_seq" if request.after_seq < 0 else "game", "Not below 0.")
        size = _page_size(request.page_size, _EVENTS_A_PAGE, EVENTS_PER_PAGE)
        table = await self._find(request.table, "", caller)
        events, more = table.transcript.history(
            request.after_seq, size, request.game, table.viewer(caller.credential).seat
        )
        answer = history_pb2.GetHistoryResponse(log_id=table.state.log_id, more=more)
        answer.events.extend(event_pb2.EventBatch.FromString(events).events)
        return answer.SerializeToString()

    # What several calls share

    async def _find(self, handle: str, code: str, caller: Caller) -> Table:
        """The table that the caller may enter; raises TABLE_NOT_FOUND.

        Whoever tries too many wrong codes has to wait, and does not learn which were right.
        """
        if not handle and not code:
            raise malformed("table", "Name the table.")
        if caller.role is Role.OPERATOR:
            return await self._lobby.known(handle)
        # A wrong code is counted before anything is awaited, and not after: see `Held`.
        is_wrong = bool(code) and not self._lobby.is_code_of(code, handle)
        if is_wrong:
            self._wrong_codes.take(caller.address)
        elif code:
            self._wrong_codes.check(caller.address)
        table = await self._lobby.find(handle, code, caller.credential)
        if is_wrong:
            # No code was needed.
            self._wrong_codes.give_back(caller.address)
        return table

    async def _simple(
        self, request: Any, caller: Caller, command: Callable[[Draft], None]
    ) -> Answered:
        """A change at a table that the request names, with nothing special in its answer."""
        answered, _ = await self._change(
            _key(request, caller),
            caller,
            partial(self._find, request.table, "", caller),
            command,
            _nothing,
        )
        return answered

    async def _change(
        self,
        key: RequestKey,
        starter: Caller | None,
        enter: Callable[[], Awaitable[Table]],
        command: Callable[[Draft], Any],
        read: Callable[[tuple[Record, ...], Any], Result],
    ) -> tuple[Answered, Result]:
        """Changes a table exactly once, however often the request comes.

        `read` takes the answer from what the command added to the log; when it added nothing,
        from what it returned. A deal that this starts is counted for `starter`; for nobody when
        None, since a deal takes many moves to play.
        """
        while True:
            refused: Refusal | None = None
            try:
                table = await enter()
                done = await table.submit(command, key)
            except Conflict:
                pass
            except Refusal as refusal:
                refused = refusal
            else:
                if done.stretched and starter:
                    self._calls.count_deal(starter)
                return Answered(table.handle, done.seq, False), read(done.records, done.result)
            # Either it is known, or it was refused for good. Only then is it looked up, since the
            # log would have taken nothing under an id that it knows.
            if refused and refused.reason is Reason.RATE_LIMITED:
                raise refused
            stored = await self._find_request(key)
            if stored and stored.request == key:
                return Answered(stored.table, stored.seq, True), read(stored.records, stored.result)
            if refused and (stored is None or refused.reason in _BEFORE_REUSED):
                raise refused
            if stored:
                raise _reused()

    async def _find_request(self, key: RequestKey) -> Stored | None:
        try:
            return await self._log.find(key.credential, key.request_id)
        except TableDamaged:
            raise table_damaged() from None


_BEFORE_REUSED: Final = frozenset(
    (Reason.TABLE_NOT_FOUND, Reason.TABLE_DAMAGED, Reason.NOT_ALLOWED)
)
"""What is checked before REQUEST_ID_REUSED, in the order of error.proto."""


def _nothing(_records: tuple[Record, ...], _result: Any) -> None:
    """The answer of a call that has nothing special in it."""


def _seat_taken(records: tuple[Record, ...], result: Any) -> int:
    for record in records:
        if isinstance(record.event, SeatTaken | SeatResumed):
            return record.event.seat
    seat: int = result
    return seat


def _bot_seated(records: tuple[Record, ...], _result: Any) -> SeatTaken:
    event = records[0].event
    assert isinstance(event, SeatTaken), "the content of the request is the same"
    return event


def _page_size(asked: int, default: int, most: int) -> int:
    if asked < 0:
        raise malformed("page_size", "Not below 0.")
    return min(asked or default, most)


def _key(request: Any, caller: Caller) -> RequestKey:
    """What makes this request known when it comes again; raises MALFORMED for a bad id."""
    request_id: str = request.request_id
    if not 1 <= len(request_id) <= REQUEST_ID_LENGTH:
        raise malformed(
            "request_id", f"1 to {REQUEST_ID_LENGTH} characters, unique per credential."
        )
    return RequestKey(caller.holder, request_id, request_digest(request))


def _check_content(stored: Stored, key: RequestKey) -> None:
    if stored.request != key:
        raise _reused()


def _reused() -> Refusal:
    return Refusal(
        Reason.REQUEST_ID_REUSED,
        "This request id was used for something else. Make a new one for each new request.",
    )
