"""What a request says, as values of engine and table; whatever makes no sense is refused."""

from __future__ import annotations

from dataclasses import replace

from google.protobuf import duration_pb2

from odin_contract.decisions import action_of, at_seat
from odin_contract.enums import Occupant
from odin_contract.limits import BANKS, TITLE_LENGTH, TURN_TIMES
from odin_contract.options import options_of
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import Options as TableOptions
from odin_engine import Action
from odin_engine.fair_deal import MAX_NONCE_LENGTH
from odin_server.errors import invalid_option, malformed
from odin_server.table.commands import Nonce
from odin_server.texts import cleaned
from odin_table.v1 import decision_pb2, lobby_pb2, table_pb2


def action_from(message: decision_pb2.Action) -> Action:
    """The action, with no seat in it yet; raises MALFORMED."""
    try:
        action = action_of(message)
    except NotUnderstoodError as error:
        raise malformed(f"action.{error.field}", f"{error.problem}.") from None
    if action is None:
        raise malformed("action", "Say what to do: play_cards, pick_up or pass_turn.")
    return at_seat(action, 0)


def options_from(message: table_pb2.TableOptions) -> TableOptions:
    """The options of a table to be opened, with defaults for what is absent; raises a Refusal."""
    if message.WhichOneof("ending") == "single_deal" and not message.single_deal:
        raise invalid_option("options.single_deal", "Set it to true, or give a threshold.")
    if message.visibility not in table_pb2.Visibility.values():
        raise malformed("options.visibility", f"{message.visibility} is unknown.")
    title = cleaned("options.title", message.title, TITLE_LENGTH, may_be_empty=True)
    if message.HasField("clock"):
        _check_seconds("per_turn", message.clock.per_turn, TURN_TIMES)
        _check_seconds("bank", message.clock.bank, BANKS)
    return replace(options_of(message), title=title)


def _check_seconds(part: str, duration: duration_pb2.Duration, allowed: range) -> None:
    """Raises INVALID_OPTION for a part of a clock that is not among these seconds."""
    if duration.nanos or duration.seconds not in allowed:
        shortest, longest = allowed[0], allowed[-1]
        raise invalid_option(f"options.clock.{part}", f"{shortest} to {longest} whole seconds.")


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
