"""`Session`: one table, followed and acted upon; from a seat or from beside it.

    connection = await Connection.open(Address.parse("192.168.1.20"), credential)
    session = await Session.sit_down(connection, "K7QF", name="Zoe")
    async for update in session.follow():
        if session.table.my_turn:
            await session.act(session.table.decision.default_action)

`follow` comes back by itself after a broken line and goes on where it stopped. It has to be
running for `table` to be current.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from odin_client.connection.connection import (
    Connection,
    new_request_id,
)
from odin_client.errors import Refused, Unreachable, VersionsDiffer
from odin_client.session.following import Following
from odin_client.translatable import Translatable
from odin_contract.decisions import action_message
from odin_contract.enums import (
    Occupant,
    Phase,
)
from odin_contract.options import options_message
from odin_contract.values import (
    Action,
    Options,
    Seat,
)
from odin_engine.fair_deal import MAX_NONCE_LENGTH
from odin_table.v1 import chat_pb2, lobby_pb2, play_pb2

_log: Final = logging.getLogger(__name__)


def random_nonce() -> bytes:
    """What a client adds to a deal, so that the server does not choose it alone."""
    return secrets.token_bytes(MAX_NONCE_LENGTH)


_GIVES: Final = (
    lobby_pb2.GiveNonceRequest,
    lobby_pb2.SetReadyRequest,
    lobby_pb2.RematchRequest,
    lobby_pb2.LeaveSeatRequest,
)
_GIVEN: Final = (
    lobby_pb2.GiveNonceResponse,
    lobby_pb2.SetReadyResponse,
    lobby_pb2.RematchResponse,
    lobby_pb2.LeaveSeatResponse,
)
"""Calls with which a seat adds to a deal, or takes back what it added, and their answers."""

_WithNonce: TypeAlias = (
    lobby_pb2.TakeSeatRequest
    | lobby_pb2.GiveNonceRequest
    | lobby_pb2.SetReadyRequest
    | lobby_pb2.RematchRequest
)

Answer = TypeVar("Answer", bound=Message)


class Session(Following):
    """One table over one connection. Make it with `sit_down`, `look_on` or `open_table`."""

    def __init__(self, connection: Connection, table: str, *, code: str = "") -> None:
        """Calls nothing. `code` opens a private table to a watcher."""
        super().__init__(connection, table, code=code)
        self.fresh_nonce: Callable[[], bytes] = random_nonce
        """What this client adds to each deal; nothing for who wants the same cards each time."""
        self._giving: asyncio.Task[None] | None = None

    # Getting to a table

    @classmethod
    async def open_table(cls, connection: Connection, options: Options | None = None) -> Session:
        """Opens a table; the caller is its host, without a seat yet. None: all defaults.

        Raises Refused (INVALID_OPTION, RATE_LIMITED) or Unreachable.
        """
        answer = await connection.call(
            connection.lobby.CreateTable,
            lobby_pb2.CreateTableRequest(
                request_id=new_request_id(),
                options=options_message(options) if options else None,
            ),
        )
        return cls(connection, answer.table, code=answer.code)

    @classmethod
    async def sit_down(
        cls,
        connection: Connection,
        table: str,
        *,
        name: str,
        code: str = "",
        occupant: Occupant = Occupant.PERSON,
    ) -> Session:
        """Takes a seat at a table, or the seat back that one has there. See `take_seat`."""
        session = cls(connection, table, code=code)
        await session.take_seat(name, occupant=occupant)
        return session

    async def take_seat(
        self, name: str, *, seat: int | None = None, occupant: Occupant = Occupant.PERSON
    ) -> int:
        """Sits down at the first free seat, or at the one asked for; gives the seat.

        A credential that holds a seat already gets that one, whatever the name. Raises Unreachable
        or Refused: TABLE_NOT_FOUND, GAME_OVER, ALREADY_STARTED, TABLE_FULL, SEAT_TAKEN, NAME_TAKEN,
        NOT_ALLOWED.
        """
        await self._hear_what_is_promised()
        request = lobby_pb2.TakeSeatRequest(
            request_id=new_request_id(),
            table=self.table.table,
            code=self.code,
            name=name,
            seat=seat,
            occupant=occupant.value,
        )
        if occupant is Occupant.REMOTE_BOT and self._may_give:
            # A table of programs may start at once when this one sits down.
            self._add_nonce(request, early=True)
        with self.table.check.giving(request.commitment, request.nonce):
            # Whether the server took it is known when it shows it: at another deal it drops it.
            answer = await self.connection.call(self.connection.lobby.TakeSeat, request)
        self.table.apply(answer)
        self._left = False
        _log.info("table %r: in seat %d", answer.table, answer.seat)
        # Nobody waits for a bot: it follows from where it looked, or it might miss the first plays.
        goes_on = occupant is Occupant.REMOTE_BOT and self.table.phase is Phase.WAITING
        self._start_anew(with_snapshot=not goes_on)
        return answer.seat

    async def _hear_what_is_promised(self) -> None:
        """Looks at the table: the game may start as soon as one sits down."""
        if self.table.table and not self.table.log_id:
            with contextlib.suppress(Refused):
                await self.look()

    # Acting. Every one of these may raise Refused or Unreachable, and is safe to repeat.

    async def act(self, action: Action, *, decision_id: int | None = None) -> int:
        """Does something for the own seat; gives the number of the last event of it.

        `decision_id` is the decision that the person or bot has seen; unless named, the open one.
        Raises Refused: STALE_DECISION when another one is open by now, NOT_YOUR_TURN,
        ILLEGAL_ACTION.
        """
        if decision_id is None:
            decision_id = self.table.decision.id if self.table.decision else 0
        answer = await self.connection.call(
            self.connection.table.Act,
            play_pb2.ActRequest(
                request_id=new_request_id(),
                table=self.table.table,
                decision_id=decision_id,
                action=action_message(action),
            ),
        )
        return answer.seq

    async def ready(self, ready: bool = True) -> None:
        """Says whether one is ready for the game or for the next deal.

        Whoever is adds fresh random bytes to the deal, so that the server does not choose it alone
        (docs/fair-deal.md). A remote bot, which is always ready, may call this just for that.
        Raises Refused: STALE_COMMITMENT when another deal is the next one by now.
        """
        request = lobby_pb2.SetReadyRequest(
            request_id=new_request_id(), table=self.table.table, ready=ready
        )
        if ready:
            self._add_nonce(request)
        await self.noting(request, self.connection.call(self.connection.lobby.SetReady, request))

    def _add_nonce(self, request: _WithNonce, *, early: bool = False) -> None:
        """Adds a nonce to the request, if any is wanted."""
        if self.table.commitment:
            request.commitment = self.table.commitment
            request.nonce = self.table.check.nonce_for(
                request.commitment, self.fresh_nonce, early=early
            )

    @property
    def _may_give(self) -> bool:
        """Whether a nonce may be given to the next deal without being ready."""
        return self.table.rounds > 0 and "give_nonce" in self.connection.info.features

    def _has_folded(self) -> None:
        """Adds to the next deal as soon as there is a commitment, whoever starts it and when."""
        table = self.table
        if (
            self._giving is None
            and self._may_give
            and table.phase is not Phase.CLOSED
            and table.me is not None
            and not table.me.substituted
            and not table.check.has_given(table.commitment)
        ):
            self._giving = asyncio.create_task(self._give_nonce())

    async def _give_nonce(self) -> None:
        request = lobby_pb2.GiveNonceRequest(request_id=new_request_id(), table=self.table.table)
        self._add_nonce(request, early=True)
        try:
            if request.nonce:
                answer = self.connection.call(self.connection.lobby.GiveNonce, request)
                await self.noting(request, answer)
        except (Refused, Unreachable, grpc.aio.UsageError) as problem:
            # The deal has started, say, or the connection was closed before this began.
            _log.info("table %r: no nonce was given: %s", self.table.table, problem)
        finally:
            self._giving = None

    async def noting(self, request: Message, answer: Awaitable[Answer]) -> Answer:
        """Waits for the answer to a request; what it adds to a deal, or takes back, is noted."""
        if not isinstance(request, _GIVES) or request.table != self.table.table:
            return await answer
        nonce = b"" if isinstance(request, lobby_pb2.LeaveSeatRequest) else request.nonce
        if not (nonce or isinstance(request, lobby_pb2.LeaveSeatRequest)) and self.table.rounds:
            return await answer  # by deal/2 being ready or not takes nothing back
        with self.table.check.giving(self.table.commitment, nonce) as taken:
            done = await answer
            assert isinstance(done, _GIVEN), "it is the answer to such a request"
            taken(done.seq)
            return done

    async def start(self) -> None:
        """Starts the game or the next deal, whoever is ready. Host only.

        A host with a seat gets ready first, and so adds to the deal as well.
        """
        table = self.table
        adds = (
            table.i_am_host
            and bool(table.commitment)
            and len(table.taken_seats) > 1
            and table.me is not None
            and not table.me.nonce
        )
        if adds:
            await self.ready()
        request = lobby_pb2.StartGameRequest(request_id=new_request_id(), table=table.table)
        try:
            await self.connection.call(self.connection.lobby.StartGame, request)
        except Refused as refusal:
            # When the host was the last to get ready, it has started already.
            if not (adds and refusal.reason == "ALREADY_STARTED"):
                raise

    async def add_bot(self, level: str = "", *, seat: int | None = None, name: str = "") -> int:
        """Seats a built-in bot and gives its seat. Host only, while the table waits."""
        answer = await self.connection.call(
            self.connection.lobby.AddBot,
            lobby_pb2.AddBotRequest(
                request_id=new_request_id(),
                table=self.table.table,
                level=level,
                seat=seat,
                name=name,
            ),
        )
        return answer.seat

    async def free_seat(self, seat: Seat) -> None:
        """Removes whoever sits there, a built-in bot or anyone else. Host only, while it waits."""
        if seat.occupant is Occupant.BUILT_IN_BOT:
            await self.remove_bot(seat.seat)
        else:
            await self.remove_seat(seat.seat)

    async def remove_bot(self, seat: int) -> None:
        """Removes a built-in bot. Host only, while the table waits."""
        await self.connection.call(
            self.connection.lobby.RemoveBot,
            lobby_pb2.RemoveBotRequest(
                request_id=new_request_id(), table=self.table.table, seat=seat
            ),
        )

    async def remove_seat(self, seat: int) -> None:
        """Frees the seat of a person or a remote bot, who cannot come back to this table.

        Host only, while the table waits. Raises Refused, also when someone else sits there by now.
        """
        if "remove_seat" not in self.connection.info.features:
            raise VersionsDiffer("", Translatable("This server is older and cannot remove people."))
        await self.connection.call(
            self.connection.lobby.RemoveSeat,
            lobby_pb2.RemoveSeatRequest(
                request_id=new_request_id(),
                table=self.table.table,
                seat=seat,
                name=self.table.seats[seat].name,
            ),
        )

    async def rematch(self) -> None:
        """Asks for another game with the same seats; one is ready for it then."""
        request = lobby_pb2.RematchRequest(request_id=new_request_id(), table=self.table.table)
        self._add_nonce(request)
        await self.noting(request, self.connection.call(self.connection.lobby.Rematch, request))

    async def chat(self, text: str) -> None:
        """Says a line to everybody at the table."""
        await self.connection.call(
            self.connection.chat.SendChat,
            chat_pb2.SendChatRequest(
                request_id=new_request_id(), table=self.table.table, text=text
            ),
        )

    async def leave(self) -> None:
        """Gives the seat up; during a game a substitute plays on. One watches on until `close`."""
        request = lobby_pb2.LeaveSeatRequest(request_id=new_request_id(), table=self.table.table)
        await self.noting(request, self.connection.call(self.connection.lobby.LeaveSeat, request))
        self._left = True

    async def close_table(self) -> None:
        """Ends the table for everybody. Host only."""
        answer = await self.connection.call(
            self.connection.lobby.CloseTable,
            lobby_pb2.CloseTableRequest(request_id=new_request_id(), table=self.table.table),
        )
        self.table.apply(answer)

    async def close(self) -> None:
        """Stops following and closes the connection. The seat is kept."""
        if self._giving is not None:
            self._giving.cancel()
        await super().close()
