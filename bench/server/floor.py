"""The thin server: the contract's shape on the same grpc.aio, without any rules.

It is the floor of the measurements. Its messages are made before the first call, from the
contract's own and of the size of ours; an act does nothing but tell the watchers of its table
that the next seat must act. There is no log, and nobody is ever refused.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeAlias

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import aio

from bench.server.product import SETTINGS
from odin_server.main import channel_options
from odin_table.v1 import card_pb2, decision_pb2, event_pb2, lobby_pb2, play_pb2, table_pb2

SEATS = 6
# A response: what was played, what was picked up, and who must decide next. In the product an
# act comes to 2.7 events and 90 bytes for a seat, here to 3 and 100.
EVENTS_PER_ACT = 3

TIME = Timestamp(seconds=1_800_000_000, nanos=123_456_000)

Context: TypeAlias = aio.ServicerContext[bytes, bytes]


class ThinTable:
    """Counts the turns it has announced, and wakes the watchers."""

    def __init__(self) -> None:
        self.turns = 0
        self.credentials: list[str] = []
        self.news = asyncio.Event()

    @property
    def events(self) -> int:
        """How many events it has had: the first turn follows no act."""
        return 1 + EVENTS_PER_ACT * (self.turns - 1)

    def tell(self) -> None:
        """The next seat must act."""
        self.turns += 1
        news, self.news = self.news, asyncio.Event()
        news.set()


class ThinServer:
    """The calls that the load makes, and the empty one."""

    def __init__(self) -> None:
        self._tables: dict[str, ThinTable] = {}
        # The first turn follows no act.
        self._told_first = _message(_decision(0))
        self._asked_first = _message(_decision(0, _choices()))
        self._told = [_message(_played(), _picked_up(), _decision(seat)) for seat in range(SEATS)]
        self._asked = [
            _message(_played(), _picked_up(), _decision(seat, _choices())) for seat in range(SEATS)
        ]
        self._single = _message(_played())
        self._snapshot = play_pb2.WatchTableResponse(
            snapshot=table_pb2.TableView(log_id="thin")
        ).SerializeToString()

    async def create_table(self, request: bytes, context: Context) -> bytes:
        """Opens a table, named by its number."""
        handle = str(len(self._tables))
        self._tables[handle] = ThinTable()
        return lobby_pb2.CreateTableResponse(table=handle).SerializeToString()

    async def take_seat(self, request: bytes, context: Context) -> bytes:
        """Gives the next seat to the caller."""
        credentials = self._tables[lobby_pb2.TakeSeatRequest.FromString(request).table].credentials
        credentials.append(_credential(context))
        return lobby_pb2.TakeSeatResponse(seat=len(credentials) - 1).SerializeToString()

    async def start_game(self, request: bytes, context: Context) -> bytes:
        """Tells the watchers that the first seat must act."""
        self._tables[lobby_pb2.StartGameRequest.FromString(request).table].tell()
        return b""

    async def act(self, request: bytes, context: Context) -> bytes:
        """Tells the watchers that the next seat must act."""
        self._tables[play_pb2.ActRequest.FromString(request).table].tell()
        return b""

    async def watch_table(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        """A snapshot, or the missing events one by one; then one message an act."""
        asked = play_pb2.WatchTableRequest.FromString(request)
        table = self._tables[asked.table]
        credential = _credential(context)
        seats = len(table.credentials)
        seat = table.credentials.index(credential) if credential in table.credentials else None
        sent = table.turns
        if asked.HasField("after_seq"):
            for _ in range(table.events - asked.after_seq):
                yield self._single
        else:
            yield self._snapshot
        while True:
            while sent < table.turns:
                turn = sent % seats
                if sent == 0:
                    yield self._asked_first if seat == 0 else self._told_first
                else:
                    yield self._asked[turn] if turn == seat else self._told[turn]
                sent += 1
            await table.news.wait()

    async def empty(self, request: bytes, context: Context) -> bytes:
        """Nothing in, nothing out."""
        return b""

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The calls by their names in the contract; messages stay bytes, as in the product."""
        unary = grpc.unary_unary_rpc_method_handler
        services: dict[str, dict[str, grpc.RpcMethodHandler[bytes, bytes]]] = {
            "odin_table.v1.LobbyService": {
                "CreateTable": unary(self.create_table),
                "TakeSeat": unary(self.take_seat),
                "StartGame": unary(self.start_game),
            },
            "odin_table.v1.PlayService": {
                "Act": unary(self.act),
                "WatchTable": grpc.unary_stream_rpc_method_handler(self.watch_table),
            },
            "thin": {"Empty": unary(self.empty)},
        }
        return [grpc.method_handlers_generic_handler(name, its) for name, its in services.items()]


def _credential(context: Context) -> str:
    return str(dict(context.invocation_metadata() or ())["authorization"])


def _message(*events: event_pb2.Event) -> bytes:
    return play_pb2.WatchTableResponse(
        events=event_pb2.EventBatch(events=events)
    ).SerializeToString()


def _played() -> event_pb2.Event:
    played = event_pb2.CardsPlayed(
        seat=1, cards=[card_pb2.CARD_R9], value=9, card_count=5, actor=event_pb2.ACTOR_PERSON
    )
    return event_pb2.Event(seq=999, time=TIME, cards_played=played)


def _picked_up() -> event_pb2.Event:
    picked_up = event_pb2.CardPickedUp(
        seat=1, card=card_pb2.CARD_O5, card_count=6, actor=event_pb2.ACTOR_PERSON
    )
    return event_pb2.Event(seq=1_000, time=TIME, card_picked_up=picked_up)


def _decision(seat: int, choices: decision_pb2.Choices | None = None) -> event_pb2.Event:
    decision = decision_pb2.Decision(
        id=1_001,
        seat=seat,
        kind=decision_pb2.DECISION_KIND_RESPOND,
        may_pass=True,
        choices=choices,
    )
    opened = event_pb2.DecisionOpened(decision=decision)
    return event_pb2.Event(seq=1_001, time=TIME, decision_opened=opened)


def _choices() -> decision_pb2.Choices:
    """What a seat may choose: a middling hand over a single card."""
    play = decision_pb2.LegalPlay(cards=[card_pb2.CARD_R9], value=9)
    return decision_pb2.Choices(
        plays=[play] * 3,
        pick_ups=[card_pb2.CARD_O9],
        default_action=decision_pb2.Action(pass_turn=decision_pb2.PassTurn()),
    )


async def serve() -> None:
    """Serves until the process is ended."""
    server = aio.server(options=channel_options(SETTINGS))
    server.add_generic_rpc_handlers(ThinServer().handlers())
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"the thin server serves on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve())
