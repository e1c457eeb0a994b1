"""What happened at a table before this client came, or while it was away: for logs.

A snapshot says how things stand, not how they came about. The history does, and what was said is
put in between by its time.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from odin_client.session.session import Session
from odin_client.table.model import TableModel
from odin_client.table.updates import DealChecked, Update
from odin_contract.enums import Phase
from odin_contract.events import ChatSaid
from odin_contract.limits import EVENTS_PER_PAGE
from odin_contract.times import time_of
from odin_contract.values import TableView
from odin_table.v1 import event_pb2, history_pb2, play_pb2


async def told_again(session: Session) -> AsyncGenerator[tuple[Update, TableModel]]:
    """What led to the snapshot that the session has just taken: the running or last game on.

    Each update comes with the table as it was then, as far as that is known: players by the names
    that they have now. Raises Refused or Unreachable.
    """
    now = session.table
    until, view = now.seq, now.view
    events = await _events(session, now.game.game if now.game else 0, until)
    then = TableModel(
        TableView(
            table=view.table,
            log_id=view.log_id,
            seq=events[0].seq - 1 if events else until,
            options=view.options,
            phase=Phase.WAITING,
            seats=view.seats,
            my_seat=view.my_seat,
        )
    )
    said = [ChatSaid(one) for one in now.chat]
    for event in events:
        at = time_of(event.time)
        while said and said[0].line.time < at:
            yield said.pop(0), then
        batch = event_pb2.EventBatch(events=[event])
        for update in then.apply(play_pb2.WatchTableResponse(events=batch)):
            # A deal is checked by who sees it being dealt, not by who is told of it later.
            if not isinstance(update, DealChecked):
                yield update, then
    for line in said:
        yield line, then


async def _events(session: Session, game: int, until: int) -> Sequence[event_pb2.Event]:
    """The events of this game and those after it; of a table without a game, all of them."""
    events: list[event_pb2.Event] = []
    request = history_pb2.GetHistoryRequest(
        table=session.table.table, page_size=EVENTS_PER_PAGE, game=game
    )
    while True:
        page = await session.connection.call(session.connection.history.GetHistory, request)
        events += page.events
        if page.events:
            request.after_seq = page.events[-1].seq
        if not page.more and request.game:
            request.game = 0  # and on, to what came after the game
        elif not page.more or not page.events:
            return [event for event in events if event.seq <= until]
