"""Views of a table, and its row in the list of tables, as messages."""

from __future__ import annotations

from odin_contract.cards import CARDS, COLOURS
from odin_contract.decisions import decision_message
from odin_contract.options import options_message
from odin_contract.times import duration, timestamp
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
        view.game.CopyFrom(_game_view(table, game, viewer.seat))
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


def _game_view(table: PublicTable, game: View, own_seat: int | None) -> table_pb2.GameView:
    seats, source = table.players, table.dealt_from
    by_deal_1 = source if source and not source.rounds else None
    return table_pb2.GameView(
        game=table.games,
        deal=game.deal,
        removed_colours=COLOURS.numbers(game.removed),
        opener=seats[game.opener],
        players=[
            table_pb2.Player(
                seat=seat,
                card_count=game.card_counts[player],
                passed=game.passed[player],
                penalties=[deal[player] for deal in game.penalties],
                total=game.totals[player],
                bank=duration(table.banks[player]) if table.options.turn_time else None,
                name=table.names[player],
            )
            for player, seat in enumerate(seats)
        ],
        centre=CARDS.numbers(game.centre or ()),
        centre_value=game.centre.value if game.centre else 0,
        centre_seat=None if game.centre_seat is None else seats[game.centre_seat],
        discarded=CARDS.numbers(game.discarded),
        hand=(
            None
            if game.viewer is None
            else table_pb2.Hand(seat=own_seat or 0, cards=CARDS.numbers(game.hand))
        ),
        remaining_hands=[
            table_pb2.Hand(seat=seats[player], cards=CARDS.numbers(hand))
            for player, hand in enumerate(game.remaining_hands)
        ],
        out_seat=None if game.out is None else seats[game.out],
        winners=[seats[player] for player in game.winners],
        commitment=by_deal_1.commitment if by_deal_1 else b"",
        nonces=by_deal_1.nonces if by_deal_1 else (),
        secret=source.secret if source else b"",
        source=source_to(source) if source and source.rounds else None,
    )


def decision_to(opened: OpenDecision, own: Decision | None) -> decision_pb2.Decision:
    """The open decision; `own` is the engine's, for the seat that has to make it."""
    return decision_message(opened.id, opened.seat, opened.kind, opened.deadline, own)
