"""What a viewer is sent says nothing about cards that the viewer may not see (R17).

The same game is played twice: the second time every card that the viewer has no way to know of
is exchanged for another such card before the deal. All that the viewer receives, byte for byte,
has to be the same: stream, snapshot, view, list, history, and refusals. Times, ids and the
commitment to the deal are held fixed; the order of the cards is the only thing that differs. The
secret behind the commitment, from which the cards would follow, is in none of these bytes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.duration_pb2 import Duration

from odin_engine import DECK, Card
from odin_engine.fair_deal import ROUNDS, SECRET_LENGTH, commitment
from odin_table.v1 import (
    card_pb2,
    chat_pb2,
    decision_pb2,
    history_pb2,
    lobby_pb2,
    play_pb2,
    table_pb2,
)
from tests.server.conftest import QUICK, Meet, Serve
from tests.support.arranged import ArrangedDealer
from tests.support.clocks import SetClock
from tests.support.patience import PATIENCE
from tests.support.people import Person

PLAYERS = 3
HAND = 9
STEPS = 24
"""Actions before the two games are compared; the deal is still being played then."""


def secrets() -> random.Random:
    """Where the server gets its secrets from: the same ones each time."""
    return random.Random(0)


class Recorder:
    """One game, and every byte that one viewer is sent of it."""

    def __init__(self, people: list[Person], viewer: Person, table: str) -> None:
        self.people = people
        self.viewer = viewer
        self.table = table
        self.received: list[tuple[str, bytes]] = []

    async def call(self, service: str, method: str, request: Any) -> None:
        """Makes a call of the viewer's; an answer and a refusal are both recorded."""
        path = f"/odin_table.v1.{service}/{method}"
        channel: Any = self.viewer.channel
        try:
            answer: bytes = await channel.unary_unary(path)(
                request.SerializeToString(), metadata=self.viewer.metadata, timeout=PATIENCE
            )
            self.received.append((method, answer))
        except grpc.aio.AioRpcError as error:
            details = [
                bytes(value, "utf8") if isinstance(value, str) else value
                for _, value in error.trailing_metadata() or ()
            ]
            text = f"{error.code()} {error.details()}".encode()
            self.received.append((f"{method} refused", b"|".join([text, *sorted(details)])))

    async def everything(self) -> None:
        """All that the viewer can ask for, and some of what it may not."""
        table = self.table
        await self.call("PlayService", "GetView", play_pb2.GetViewRequest(table=table))
        await self.call("LobbyService", "ListTables", lobby_pb2.ListTablesRequest())
        await self.call("HistoryService", "GetHistory", history_pb2.GetHistoryRequest(table=table))
        for number, action in enumerate(_actions()):
            request = play_pb2.ActRequest(
                request_id=f"try-{len(self.received)}-{number}",
                table=table,
                # A decision of somebody else, or one that is answered: never a real action.
                decision_id=1,
                action=action,
            )
            await self.call("PlayService", "Act", request)
        say = chat_pb2.SendChatRequest(request_id=f"{len(self.received)}", table=table, text="hi")
        await self.call("ChatService", "SendChat", say)

    async def stream(self, items: int, **fields: Any) -> None:
        """The first messages of the viewer's stream."""
        request = play_pb2.WatchTableRequest(table=self.table, **fields)
        channel: Any = self.viewer.channel
        call = channel.unary_stream("/odin_table.v1.PlayService/WatchTable")(
            request.SerializeToString(), metadata=self.viewer.metadata
        )
        for _ in range(items):
            self.received.append(("WatchTable", await call.read()))
        call.cancel()


def _actions() -> list[decision_pb2.Action]:
    return [
        decision_pb2.Action(pass_turn=decision_pb2.PassTurn()),
        decision_pb2.Action(
            play_cards=decision_pb2.PlayCards(cards=[card_pb2.CARD_R7, card_pb2.CARD_Y5])
        ),
        decision_pb2.Action(pick_up=decision_pb2.PickUp(card=card_pb2.CARD_B4)),
    ]


async def recorded(
    serve: Serve,
    meet: Meet,
    order: Sequence[Card],
    viewer_seat: int | None,
    script: list[decision_pb2.Action],
) -> Recorder:
    """Plays a game with this order of the cards. An empty script is filled; another is followed."""
    server = await serve(
        QUICK,
        clock=SetClock(),
        chance=secrets(),
        names=random.Random(5),
        dealer=ArrangedDealer(order),
    )
    people = [meet(server, f"person {number}") for number in range(PLAYERS)]
    clock = table_pb2.Clock(per_turn=Duration(seconds=60), bank=Duration(seconds=60))
    table = await people[0].open_table(table_pb2.TableOptions(threshold=100, clock=clock))
    for number, person in enumerate(people):
        request = lobby_pb2.TakeSeatRequest(
            request_id=f"sit {number}", table=table, name=person.name
        )
        await person.call(person.lobby.TakeSeat, request)
    viewer = people[viewer_seat] if viewer_seat is not None else meet(server, "watcher")
    say = chat_pb2.SendChatRequest(request_id="hello", table=table, text="hello")
    await people[0].call(people[0].chat.SendChat, say)
    recorder = Recorder(people, viewer, table)
    await recorder.everything()
    start = lobby_pb2.StartGameRequest(request_id="start", table=table)
    await people[0].call(people[0].lobby.StartGame, start)
    rng = random.Random(3)
    follows = bool(script)
    for step in range(STEPS):
        if step % 8 == 0:
            await recorder.everything()
        seat = (await people[0].view(table)).decision.seat
        decision = (await people[seat].view(table)).decision
        if not follows:
            script.append(_chosen(decision.choices, rng))
        act = play_pb2.ActRequest(
            request_id=f"step {step}", table=table, decision_id=decision.id, action=script[step]
        )
        await people[seat].call(people[seat].play.Act, act)
    await recorder.everything()
    view = await recorder.viewer.view(table)
    assert view.phase == table_pb2.TABLE_PHASE_PLAYING, "nothing hidden has been shown yet"
    await recorder.stream(3)
    await recorder.stream(3, after_seq=0)
    await recorder.stream(3, after_seq=10, log_id=view.log_id)
    return recorder


def _chosen(choices: decision_pb2.Choices, rng: random.Random) -> decision_pb2.Action:
    """Small plays and many passes, so that the deal lasts; never one that goes out."""
    plays = [play for play in choices.plays if len(play.cards) <= 2 and not play.goes_out]
    passes = choices.default_action.HasField("pass_turn")
    if not plays or (passes and rng.random() < 0.4):
        return choices.default_action
    play = rng.choice(plays)
    takes = rng.choice(choices.pick_ups) if choices.pick_ups else card_pb2.CARD_UNSPECIFIED
    return decision_pb2.Action(play_cards=decision_pb2.PlayCards(cards=play.cards, pick_up=takes))


def _exchanged(
    order: Sequence[Card], viewer_seat: int | None, script: list[decision_pb2.Action], seed: int
) -> list[Card]:
    """The order with all cards exchanged among each other of which the viewer knows nothing."""
    shown = {DECK[card - 1] for action in script for card in action.play_cards.cards}
    own = (
        set[Card]()
        if viewer_seat is None
        else set(order[viewer_seat * HAND : (viewer_seat + 1) * HAND])
    )
    places = [place for place, card in enumerate(order) if card not in shown | own]
    cards = [order[place] for place in places]
    random.Random(seed).shuffle(cards)
    changed = list(order)
    for place, card in zip(places, cards, strict=True):
        changed[place] = card
    return changed


@pytest.mark.parametrize("viewer_seat", [0, 1, 2, None], ids=["0", "1", "2", "watcher"])
@pytest.mark.parametrize("seed", [1, 2])
async def test_hidden_cards_make_no_difference_to_what_a_viewer_is_sent(
    serve: Serve, meet: Meet, viewer_seat: int | None, seed: int
) -> None:
    order = random.Random(seed).sample(DECK, len(DECK))
    script: list[decision_pb2.Action] = []
    first = await recorded(serve, meet, order, viewer_seat, script)
    other = _exchanged(order, viewer_seat, script, seed)
    hidden = PLAYERS * HAND
    assert order[:hidden] != other[:hidden], "somebody holds another card"
    assert order[hidden:] != other[hidden:], "another card is out of play"
    second = await recorded(serve, meet, other, viewer_seat, script)
    assert [name for name, _ in first.received] == [name for name, _ in second.received]
    for (name, one), (_, two) in zip(first.received, second.received, strict=True):
        assert one == two, name
    secret = secrets().randbytes(SECRET_LENGTH)
    assert any(commitment(secret, ROUNDS) in received for _, received in first.received)
    for name, received in first.received:
        assert secret not in received, name
        assert secret.hex().encode() not in received, name


async def test_the_comparison_sees_a_difference_that_the_viewer_may_see(
    serve: Serve, meet: Meet
) -> None:
    """The test above can fail: another hand of the viewer's own is another stream."""
    order = random.Random(1).sample(DECK, len(DECK))
    script: list[decision_pb2.Action] = []
    first = await recorded(serve, meet, order, 0, script)
    other = _exchanged(order, None, script, 1)
    second = await recorded(serve, meet, other, 0, script)
    assert first.received != second.received
