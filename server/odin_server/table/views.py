"""Views of a table, and its row in the list of tables, as messages."""

from __future__ import annotations

from odin_contract.decisions import decision_message
from odin_contract.games import game_message
from odin_contract.options import options_message
from odin_contract.times import timestamp
from odin_engine import Decision, View
from odin_server.table.state import IN_GAME, DealtFrom, OpenDecision
from odin_server.table.visibility import PublicTable, Sight
from odin_table.v1 import decision_pb2, table_pb2


def seat_to(table: PublicTable, number: int) -> table_pb2.Seat:
    """What sits at this place."""
    seat = table.seats[number]
    if seat is None:
        return table_pb2.Seat(seat=number)
    return table_pb2.Seat(
        seat=number,
        occupant=seat.occupant.value,
        name=seat.name,
        level=seat.level,
        ready=seat.ready,
        host=number == table.host_seat,
        substituted=seat.substitute is not None,
        abandoned=seat.abandoned,
        nonce=seat.nonce,
    )


def _seats(table: PublicTable) -> list[table_pb2.Seat]:
    return [seat_to(table, number) for number in range(len(table.seats))]


def summary(handle: str, table: PublicTable, opened: int) -> table_pb2.TableSummary:
    """A table in the list."""
    return table_pb2.TableSummary(
        table=handle,
        options=options_message(table.options),
        phase=table.phase.value,
        seats=_seats(table),
        deal=table.deal if table.phase in IN_GAME else 0,
        create_time=timestamp(opened),
    )


def table_view(handle: str, sight: Sight) -> table_pb2.TableView:
    """All that one viewer may see of the table."""
    viewer, table, game, code = sight
    view = table_pb2.TableView(
        table=handle,
        log_id=table.log_id,
        seq=table.seq,
        options=options_message(table.options),
        phase=table.phase.value,
        seats=_seats(table),
        your_seat=viewer.seat,
        you_are_host=viewer.is_host,
        code=code,
        commitment=b"" if table.rounds else table.commitment,
        source=open_source(table) if table.rounds else None,
    )
    if game is not None:
        view.game.CopyFrom(_game_view(table, game))
        if table.decision:
            view.decision.CopyFrom(decision_to(table.decision, game.decision))
    if table.next_deal is not None:
        view.next_deal_time.CopyFrom(timestamp(table.next_deal))
    return view


def open_source(table: PublicTable) -> table_pb2.DealSource:
    """What the next deal will follow from, as far as that is known."""
    return table_pb2.DealSource(commitment=table.commitment, rounds=table.rounds)


def source_to(dealt_from: DealtFrom) -> table_pb2.DealSource:
    """What a deal follows from, by deal/2."""
    return table_pb2.DealSource(
        commitment=dealt_from.commitment,
        rounds=dealt_from.rounds,
        nonces=dealt_from.nonces,
        key_rounds=dealt_from.key_rounds,
    )


def _game_view(table: PublicTable, game: View) -> table_pb2.GameView:
    banks = table.banks if table.options.turn_time else None
    message = game_message(game, table.players, table.names, banks)
    message.game = table.games
    if source := table.dealt_from:
        message.secret = source.secret
        if source.rounds:
            message.source.CopyFrom(source_to(source))
        else:
            message.commitment = source.commitment
            message.nonces.extend(source.nonces)
    return message


def decision_to(opened: OpenDecision, own: Decision | None) -> decision_pb2.Decision:
    """The open decision; `own` is the engine's, for the seat that has to make it."""
    return decision_message(opened.id, opened.seat, opened.kind, opened.deadline, own)
