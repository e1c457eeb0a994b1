"""The engine's view of a game as a message."""

from __future__ import annotations

from collections.abc import Sequence

from odin_contract.cards import CARDS, COLOURS
from odin_contract.times import duration
from odin_engine import View
from odin_table.v1 import table_pb2


def game_message(
    view: View, players: Sequence[int], names: Sequence[str], banks: Sequence[int] | None
) -> table_pb2.GameView:
    """What this viewer knows; tables add the number of the game and what the deal follows from.

    `players` has the seat of each player, `banks` their microseconds. None: there is no clock.
    """
    return table_pb2.GameView(
        deal=view.deal,
        removed_colours=COLOURS.numbers(view.removed),
        opener=players[view.opener],
        players=[
            table_pb2.Player(
                seat=seat,
                card_count=view.card_counts[player],
                passed=view.passed[player],
                penalties=[deal[player] for deal in view.penalties],
                total=view.totals[player],
                bank=None if banks is None else duration(banks[player]),
                name=names[player],
            )
            for player, seat in enumerate(players)
        ],
        centre=CARDS.numbers(view.centre or ()),
        centre_value=view.centre.value if view.centre else 0,
        centre_seat=None if view.centre_seat is None else players[view.centre_seat],
        discarded=CARDS.numbers(view.discarded),
        hand=(
            None
            if view.viewer is None
            else table_pb2.Hand(seat=players[view.viewer], cards=CARDS.numbers(view.hand))
        ),
        remaining_hands=[
            table_pb2.Hand(seat=players[player], cards=CARDS.numbers(hand))
            for player, hand in enumerate(view.remaining_hands)
        ],
        out_seat=None if view.out is None else players[view.out],
        winners=[players[player] for player in view.winners],
    )
