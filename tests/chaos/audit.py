"""The end of a run, compared with what was answered and told before, and with the log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from itertools import chain, pairwise
from typing import cast

from odin_client.errors import Refused
from odin_client.table.model import TableModel
from odin_server.event_log import EventLog
from odin_server.table.state import TableState, evolve
from odin_server.table.views import table_view
from odin_server.table.visibility import Viewer, sight
from odin_table.v1 import decision_pb2, event_pb2, history_pb2, play_pb2, table_pb2
from tests.chaos.ledger import Answered, Ledger, digest_of
from tests.chaos.players import NotedSession, PlayedTable

_GET_HISTORY = history_pb2.DESCRIPTOR.services_by_name["HistoryService"].methods_by_name[
    "GetHistory"
]


Views = dict[NotedSession, table_pb2.TableView]
"""The last view of each viewer."""


async def audit(tables: Sequence[PlayedTable], ledger: Ledger, patience: float) -> Views:
    """Compares what was promised with what the server says now, when nobody acts any more.

    Tables have `patience` seconds to come to rest, and viewers to learn the end.
    """
    views: Views = {}
    for table in tables:
        try:
            await _until_at_rest(table.seats[0], ledger, patience)
            history = await _history(table.seats[0])
            for session in table.viewers:
                views[session] = await _view(session)
        except Refused as refusal:
            ledger.fault("lost", f"table {table.handle}: {refusal}")
            continue
        ledger.counts["events"] += len(history)
        _compare_acts(table, history, ledger)
    await _until_caught_up(views, ledger, patience)
    return views


async def compare_viewers(views: Views, ledger: Ledger) -> None:
    """Compares what viewers were told with what a new stream tells them; they follow no more."""
    for session, view in views.items():
        await _compare_viewer(session, view, ledger)


async def _until_at_rest(session: NotedSession, ledger: Ledger, patience: float) -> None:
    """Waits until the table does nothing more unless somebody acts: a deal starts by itself."""
    try:
        async with asyncio.timeout(patience):
            view = await _view(session)
            while not (view.HasField("decision") or view.phase == table_pb2.TABLE_PHASE_GAME_OVER):
                await asyncio.sleep(0.02)
                view = await _view(session)
    except TimeoutError:
        ledger.fault("tables that stand still", f"{session.table.table}, without a decision")


async def _view(session: NotedSession) -> table_pb2.TableView:
    request = play_pb2.GetViewRequest(table=session.table.table)
    return (await session.connection.call(session.connection.table.GetView, request)).view


async def _until_caught_up(views: Views, ledger: Ledger, patience: float) -> None:
    """Waits until everybody has been told all that there is."""
    try:
        async with asyncio.timeout(patience):
            for session, view in views.items():
                while session.table.seq < view.seq:  # noqa: ASYNC110 (others fold it)
                    await asyncio.sleep(0.02)
    except TimeoutError:
        for session, view in views.items():
            if session.table.seq < view.seq:
                what = f"knows of {session.table.seq} events of {view.seq}"
                ledger.fault("viewers left behind", f"{session.who} {what}")


async def _history(session: NotedSession) -> list[event_pb2.Event]:
    events: list[event_pb2.Event] = []
    while True:
        request = history_pb2.GetHistoryRequest(
            table=session.table.table, after_seq=len(events), page_size=1000
        )
        page = cast(
            "history_pb2.GetHistoryResponse",
            await session.connection.call_by_name(_GET_HISTORY, request),
        )
        events += page.events
        if not page.more:
            return events


def _compare_acts(table: PlayedTable, history: Sequence[event_pb2.Event], ledger: Ledger) -> None:
    """Each answered action is in the log once, and no other action is."""
    answered = ledger.acts_at(table.handle)
    for act in answered:
        if not _is_in(history, act):
            ledger.fault("lost", f"{act} is not in the history")
    times = Counter(act.request.decision_id for act in answered)
    for decision in _acted_upon(history) - times.keys():
        ledger.fault("doubled", f"decision {decision} at {table.handle}, which nobody answered")
    for decision, count in times.items():
        if count > 1:
            ledger.fault("doubled", f"{count} actions for decision {decision} at {table.handle}")


def _acted_upon(history: Sequence[event_pb2.Event]) -> set[int]:
    """The decisions that an action follows."""
    acts = ("cards_played", "card_picked_up", "passed")
    return {
        event.seq
        for event, following in pairwise(history)
        if event.HasField("decision_opened") and following.WhichOneof("payload") in acts
    }


def _is_in(history: Sequence[event_pb2.Event], act: Answered) -> bool:
    """Whether this action follows its decision, and ends at the number that was answered."""
    decision, end = act.request.decision_id, act.answer.seq
    if not decision < end <= len(history) or not history[decision - 1].HasField("decision_opened"):
        return False
    done = history[decision:end]
    seat = history[decision - 1].decision_opened.decision.seat
    action: decision_pb2.Action = act.request.action
    first = done[0]
    if action.HasField("pass_turn"):
        happened = first.HasField("passed") and first.passed.seat == seat
    elif action.HasField("pick_up"):
        taken = first.card_picked_up
        happened = (taken.seat, taken.card) == (seat, action.pick_up.card)
    else:
        played, wanted = first.cards_played, action.play_cards
        happened = played.seat == seat and sorted(played.cards) == sorted(wanted.cards)
        if wanted.pick_up:
            happened &= any(event.card_picked_up.card == wanted.pick_up for event in done)
    # The next action is no part of it.
    return happened and not _acted_upon(done)


async def _compare_viewer(session: NotedSession, view: table_pb2.TableView, ledger: Ledger) -> None:
    """What a viewer was told while it happened is what the log tells it now."""
    snapshot = TableModel()
    snapshot.apply(play_pb2.WatchTableResponse(snapshot=view))
    if snapshot.view != session.table.view:
        ledger.fault("told otherwise", f"{session.who} knows another table than a snapshot shows")
    for event in await _log_as_told(session, view.seq):
        digest = digest_of(event)
        if session.told.events.get(event.seq, digest) != digest:
            ledger.fault("told otherwise", f"{session.who} was told another event {event.seq}")


async def _log_as_told(session: NotedSession, until: int) -> list[event_pb2.Event]:
    """The whole log as this viewer may see it, from a stream of its own."""
    events: list[event_pb2.Event] = []
    request = play_pb2.WatchTableRequest(table=session.table.table, after_seq=0)
    stream = session.connection.watch(request)
    while len(events) < until:
        item = await stream.read()
        assert isinstance(item, play_pb2.WatchTableResponse), "the stream goes on"
        events += item.events.events
    stream.cancel()
    return events


async def compare_with_log(
    log: EventLog, tables: Sequence[PlayedTable], views: Views, ledger: Ledger
) -> None:
    """The server's last views are what a replay of its log gives, and every request is in it."""
    for table in tables:
        batches = await log.read(table.handle)
        records = chain.from_iterable(batch.records for batch in batches)
        state = reduce(evolve, records, TableState())
        ledger.counts["tables replayed"] += 1
        for session in views.keys() & set(table.viewers):
            viewer = Viewer(state.seat_held_by(session.holder), state.host == session.holder)
            if table_view(table.handle, sight(state, viewer)) != views[session]:
                ledger.fault("unlike the replay of their log", session.who)
        ends = {
            batch.request.request_id: batch.records[-1].seq for batch in batches if batch.request
        }
        for act in ledger.acts_at(table.handle):
            if ends.get(act.request.request_id) != act.answer.seq:
                ledger.fault("lost", f"{act} is not in the log")
