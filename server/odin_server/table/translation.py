"""Values of engine and table as protobuf has them: cards, options, choices, times, enums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from google.protobuf import duration_pb2, timestamp_pb2

from odin_engine import (
    Action,
    Card,
    CardSet,
    Colour,
    Decision,
    DecisionKind,
    Pass,
    PickUp,
    PlayCards,
)
from odin_server.table.events import Actor, Occupant, TableOptions
from odin_server.table.state import TablePhase
from odin_table.v1 import card_pb2, decision_pb2, event_pb2, table_pb2

COLOURS: Final[Mapping[Colour, card_pb2.Colour.ValueType]] = {
    Colour.RED: card_pb2.COLOUR_RED,
    Colour.ORANGE: card_pb2.COLOUR_ORANGE,
    Colour.YELLOW: card_pb2.COLOUR_YELLOW,
    Colour.GREEN: card_pb2.COLOUR_GREEN,
    Colour.BLUE: card_pb2.COLOUR_BLUE,
    Colour.VIOLET: card_pb2.COLOUR_VIOLET,
}
KINDS: Final[Mapping[DecisionKind, decision_pb2.DecisionKind.ValueType]] = {
    DecisionKind.OPEN: decision_pb2.DECISION_KIND_OPEN,
    DecisionKind.RESPOND: decision_pb2.DECISION_KIND_RESPOND,
    DecisionKind.PICK_UP: decision_pb2.DECISION_KIND_PICK_UP,
}
OCCUPANTS: Final[Mapping[Occupant, table_pb2.Occupant.ValueType]] = {
    Occupant.PERSON: table_pb2.OCCUPANT_PERSON,
    Occupant.REMOTE_BOT: table_pb2.OCCUPANT_REMOTE_BOT,
    Occupant.BUILT_IN_BOT: table_pb2.OCCUPANT_BUILT_IN_BOT,
}
PHASES: Final[Mapping[TablePhase, table_pb2.TablePhase.ValueType]] = {
    TablePhase.WAITING: table_pb2.TABLE_PHASE_WAITING,
    TablePhase.PLAYING: table_pb2.TABLE_PHASE_PLAYING,
    TablePhase.BETWEEN_DEALS: table_pb2.TABLE_PHASE_BETWEEN_DEALS,
    TablePhase.GAME_OVER: table_pb2.TABLE_PHASE_GAME_OVER,
    TablePhase.CLOSED: table_pb2.TABLE_PHASE_CLOSED,
}
ACTORS: Final[Mapping[Actor | None, event_pb2.Actor.ValueType]] = {
    None: event_pb2.ACTOR_UNSPECIFIED,
    Actor.PERSON: event_pb2.ACTOR_PERSON,
    Actor.BOT: event_pb2.ACTOR_BOT,
    Actor.SUBSTITUTE: event_pb2.ACTOR_SUBSTITUTE,
    Actor.CLOCK: event_pb2.ACTOR_CLOCK,
}


def timestamp(microseconds: int) -> timestamp_pb2.Timestamp:
    """A time of the server as the contract has it."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return timestamp_pb2.Timestamp(seconds=seconds, nanos=rest * 1000)


def duration_to(microseconds: int) -> duration_pb2.Duration:
    """A length of time."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return duration_pb2.Duration(seconds=seconds, nanos=rest * 1000)


def cards_to(cards: Iterable[Card]) -> list[card_pb2.Card.ValueType]:
    """The numbers of these cards in the contract."""
    return [card_to(card) for card in cards]


def card_to(card: Card) -> card_pb2.Card.ValueType:
    """The number of this card in the contract."""
    return _CARDS[card.index]


_CARDS: Final = tuple(card_pb2.Card.values()[1:])


def options_to(options: TableOptions) -> table_pb2.TableOptions:
    """The options of a table."""
    message = table_pb2.TableOptions(
        seats=options.seats,
        short_deck=options.short_deck,
        visibility=(
            table_pb2.VISIBILITY_PRIVATE if options.private else table_pb2.VISIBILITY_PUBLIC
        ),
        open_to_bots=options.open_to_bots,
        title=options.title,
    )
    if options.turn_time:
        message.clock.per_turn.seconds = options.turn_time
        message.clock.bank.seconds = options.bank
    if options.threshold is None:
        message.single_deal = True
    else:
        message.threshold = options.threshold
    return message


def choices_to(decision: Decision) -> decision_pb2.Choices:
    """What may be chosen. Only for the seat that decides."""
    return decision_pb2.Choices(
        plays=[_legal_play(play, decision.goes_out(play)) for play in decision.plays],
        pick_ups=cards_to(decision.pick_ups),
        default_action=_action(decision.default),
    )


@cache
def _legal_play(play: CardSet, goes_out: bool) -> decision_pb2.LegalPlay:
    """Made once for each set; whoever takes it copies it."""
    return decision_pb2.LegalPlay(cards=cards_to(play.cards), value=play.value, goes_out=goes_out)


def _action(action: Action) -> decision_pb2.Action:
    match action:
        case PlayCards(cards=cards):
            return decision_pb2.Action(play_cards=decision_pb2.PlayCards(cards=cards_to(cards)))
        case PickUp(card=card):
            return decision_pb2.Action(pick_up=decision_pb2.PickUp(card=card_to(card)))
        case Pass():
            return decision_pb2.Action(pass_turn=decision_pb2.PassTurn())
