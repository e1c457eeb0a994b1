"""How a table plays, as a message and back."""

from __future__ import annotations

from odin_contract.limits import TITLE_LENGTH
from odin_contract.texts import clean
from odin_contract.values import Options
from odin_table.v1 import table_pb2

_DEFAULTS = Options()


def options_message(options: Options) -> table_pb2.TableOptions:
    """The options of a table, none of them left out."""
    message = table_pb2.TableOptions(
        seats=options.seats,
        short_deck=options.short_deck,
        visibility=(
            table_pb2.VISIBILITY_PRIVATE if options.private else table_pb2.VISIBILITY_PUBLIC
        ),
        open_to_bots=options.open_to_bots,
        title=options.title,
    )
    if options.turn_time or options.bank:
        message.clock.per_turn.seconds = options.turn_time
        message.clock.bank.seconds = options.bank
    if options.threshold is None:
        message.single_deal = True
    else:
        message.threshold = options.threshold
    return message


def options_of(message: table_pb2.TableOptions) -> Options:
    """The options of a table, with the defaults of the contract for those that are absent."""
    threshold = {
        "threshold": message.threshold,
        "single_deal": None,
        None: _DEFAULTS.threshold,
    }[message.WhichOneof("ending")]
    return Options(
        seats=message.seats or _DEFAULTS.seats,
        threshold=threshold,
        short_deck=not message.HasField("short_deck") or message.short_deck,
        private=message.visibility == table_pb2.VISIBILITY_PRIVATE,
        open_to_bots=not message.HasField("open_to_bots") or message.open_to_bots,
        title=clean(message.title, TITLE_LENGTH),
        turn_time=message.clock.per_turn.seconds,
        bank=message.clock.bank.seconds,
    )
