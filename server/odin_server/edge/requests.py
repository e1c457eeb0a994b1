"""What a request says, as values of engine and table; whatever makes no sense is refused."""

from __future__ import annotations

from typing import Final

from google.protobuf import duration_pb2

from odin_engine import DECK, Action, Card, Pass, PickUp, PlayCards
from odin_engine.fair_deal import MAX_NONCE_LENGTH
from odin_server.errors import invalid_option, malformed
from odin_server.table.commands import Nonce
from odin_server.table.events import Occupant, TableOptions
from odin_server.texts import MAX_TITLE, cleaned
from odin_table.v1 import decision_pb2, lobby_pb2, table_pb2

TURN_TIMES: Final = range(5, 601)
"""The seconds that a clock may give each decision."""
BANKS: Final = range(3601)
"""The seconds that a bank may have."""


def card_from(field: str, number: int) -> Card:
    """The card with this number in the contract; raises MALFORMED when there is none."""
    if not 1 <= number <= len(DECK):
        raise malformed(field, f"{number} is no card. Cards are numbered 1 to {len(DECK)}.")
    return DECK[number - 1]


def action_from(action: decision_pb2.Action) -> Action:
    """The action, with no seat in it yet; raises MALFORMED."""
    match action.WhichOneof("action"):
        case "play_cards":
            cards = [card_from("action.play_cards.cards", card) for card in action.play_cards.cards]
            taken = action.play_cards.pick_up
            return PlayCards(
                0, cards, card_from("action.play_cards.pick_up", taken) if taken else None
            )
        case "pick_up":
            return PickUp(0, card_from("action.pick_up.card", action.pick_up.card))
        case "pass_turn":
            return Pass(0)
        case _:
            raise malformed("action", "Say what to do: play_cards, pick_up or pass_turn.")


def options_from(options: table_pb2.TableOptions) -> TableOptions:
    """The options of a table to be opened, with defaults for what is absent; raises a Refusal."""
    threshold: int | None = 15
    match options.WhichOneof("ending"):
        case "threshold":
            threshold = options.threshold
        case "single_deal":
            if not options.single_deal:
                raise invalid_option("options.single_deal", "Set it to true, or give a threshold.")
            threshold = None
        case _:
            pass
    if options.visibility not in table_pb2.Visibility.values():
        raise malformed("options.visibility", f"{options.visibility} is unknown.")
    clock, has_clock = options.clock, options.HasField("clock")
    return TableOptions(
        seats=options.seats or 6,
        threshold=threshold,
        short_deck=options.short_deck if options.HasField("short_deck") else True,
        private=options.visibility == table_pb2.VISIBILITY_PRIVATE,
        open_to_bots=options.open_to_bots if options.HasField("open_to_bots") else True,
        title=cleaned("options.title", options.title, MAX_TITLE, may_be_empty=True),
        turn_time=_seconds("per_turn", clock.per_turn, TURN_TIMES) if has_clock else 0,
        bank=_seconds("bank", clock.bank, BANKS) if has_clock else 0,
    )


def _seconds(part: str, duration: duration_pb2.Duration, allowed: range) -> int:
    """A part of a clock in seconds; raises INVALID_OPTION."""
    if duration.nanos or duration.seconds not in allowed:
        least, most = allowed[0], allowed[-1]
        raise invalid_option(f"options.clock.{part}", f"{least} to {most} whole seconds.")
    return duration.seconds


def nonce_from(
    request: (
        lobby_pb2.SetReadyRequest
        | lobby_pb2.RematchRequest
        | lobby_pb2.TakeSeatRequest
        | lobby_pb2.GiveNonceRequest
    ),
    *,
    may_add: bool = True,
) -> Nonce:
    """What the caller adds to the next deal; raises MALFORMED."""
    nonce, commitment = request.nonce, request.commitment
    if len(nonce) > MAX_NONCE_LENGTH:
        raise malformed("nonce", f"At most {MAX_NONCE_LENGTH} bytes, not {len(nonce)}.")
    if nonce and not commitment:
        raise malformed("commitment", "Name the commitment that the nonce is for.")
    if nonce and not may_add:
        raise malformed("nonce", "Only a seat that is ready adds one.")
    return Nonce(nonce, commitment)


def occupant_from(occupant: table_pb2.Occupant.ValueType) -> Occupant:
    """What a caller who takes a seat says it is; raises MALFORMED."""
    match occupant:
        case table_pb2.OCCUPANT_UNSPECIFIED | table_pb2.OCCUPANT_PERSON:
            return Occupant.PERSON
        case table_pb2.OCCUPANT_REMOTE_BOT:
            return Occupant.REMOTE_BOT
        case _:
            raise malformed("occupant", "Say OCCUPANT_PERSON or OCCUPANT_REMOTE_BOT.")
