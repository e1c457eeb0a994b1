"""The engine's events as payloads of the contract: what everybody may know of them."""

from __future__ import annotations

from collections.abc import Sequence

from odin_contract.cards import CARDS, COLOURS
from odin_contract.enums import Actor
from odin_engine import (
    CardPickedUp,
    CardsPlayed,
    DealEnded,
    DealStarted,
    Event,
    GameEnded,
    GameStarted,
    Passed,
    RoundEnded,
)
from odin_table.v1 import event_pb2


def write_move(
    to: event_pb2.Event,
    event: Event,
    players: Sequence[int],
    card_counts: Sequence[int] = (),
    actor: event_pb2.Actor.ValueType = Actor.UNKNOWN.value,
) -> None:
    """Writes what follows from the event; tables add what only they know, such as times.

    `players` has the seat of each player, `card_counts` their cards after the event.
    """
    match event:
        case GameStarted():
            to.game_started.seats.extend(players)
            to.game_started.removed_colours.extend(COLOURS.numbers(event.removed))
        case DealStarted():
            to.deal_started.deal = event.number
            to.deal_started.opener = players[event.opener]
        case CardsPlayed():
            played = to.cards_played
            played.seat = players[event.seat]
            played.cards.extend(CARDS.numbers(event.cards))
            played.value = event.cards.value
            played.opening = event.opening
            played.card_count = card_counts[event.seat]
            played.actor = actor
        case CardPickedUp():
            taken = to.card_picked_up
            taken.seat = players[event.seat]
            taken.card = CARDS.number(event.card)
            taken.discarded.extend(CARDS.numbers(event.discarded))
            taken.card_count = card_counts[event.seat]
            taken.actor = actor
        case Passed():
            to.passed.seat = players[event.seat]
            to.passed.actor = actor
        case RoundEnded():
            to.round_ended.opener = players[event.opener]
            to.round_ended.discarded.extend(CARDS.numbers(event.discarded))
        case DealEnded():
            to.deal_ended.deal = event.number
            to.deal_ended.out_seat = players[event.out]
            for player, seat in enumerate(players):
                to.deal_ended.scores.add(
                    seat=seat,
                    remaining=CARDS.numbers(event.hands[player]),
                    penalty=event.penalties[player],
                    total=event.totals[player],
                )
        case GameEnded():
            to.game_ended.winners.extend(players[player] for player in event.winners)
