"""The enums of the contract as enums of Python, for server and clients.

The values of the members are the numbers of the contract, so that each class is its own table:
`Occupant.of(message.occupant)` reads, and `occupant.value` writes. What the server stores are these
numbers too. The kinds of a decision are the engine's (`decisions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Self

from odin_table.v1 import event_pb2, table_pb2


class ContractEnum(Enum):
    """An enum with the numbers of the contract, where 0 is what this version does not know."""

    @classmethod
    def of(cls, number: int) -> Self:
        """The member with this number, or the one with 0 for a number of a later version."""
        try:
            return cls(number)
        except ValueError:
            return cls(0)


class Phase(ContractEnum):
    """Where a table is in its life."""

    UNKNOWN = table_pb2.TABLE_PHASE_UNSPECIFIED
    WAITING = table_pb2.TABLE_PHASE_WAITING
    """Before a game: seats are taken and left."""
    PLAYING = table_pb2.TABLE_PHASE_PLAYING
    BETWEEN_DEALS = table_pb2.TABLE_PHASE_BETWEEN_DEALS
    GAME_OVER = table_pb2.TABLE_PHASE_GAME_OVER
    CLOSED = table_pb2.TABLE_PHASE_CLOSED
    """The table has ended."""


class Occupant(ContractEnum):
    """Who holds a seat."""

    NOBODY = table_pb2.OCCUPANT_UNSPECIFIED
    PERSON = table_pb2.OCCUPANT_PERSON
    REMOTE_BOT = table_pb2.OCCUPANT_REMOTE_BOT
    BUILT_IN_BOT = table_pb2.OCCUPANT_BUILT_IN_BOT


class Actor(ContractEnum):
    """Who made a choice."""

    UNKNOWN = event_pb2.ACTOR_UNSPECIFIED
    PERSON = event_pb2.ACTOR_PERSON
    BOT = event_pb2.ACTOR_BOT
    SUBSTITUTE = event_pb2.ACTOR_SUBSTITUTE
    CLOCK = event_pb2.ACTOR_CLOCK
    """Nobody: the default action was taken."""


PLAYED_BY: Final[Mapping[Occupant, Actor]] = {
    Occupant.PERSON: Actor.PERSON,
    Occupant.REMOTE_BOT: Actor.BOT,
    Occupant.BUILT_IN_BOT: Actor.BOT,
}
"""Who makes the choices of a seat, as long as no substitute plays it."""


class LeaveReason(ContractEnum):
    """Why a player no longer holds a seat."""

    UNKNOWN = event_pb2.LEAVE_REASON_UNSPECIFIED
    LEFT = event_pb2.LEAVE_REASON_LEFT
    AWAY = event_pb2.LEAVE_REASON_AWAY
    REMOVED = event_pb2.LEAVE_REASON_REMOVED


class CloseReason(ContractEnum):
    """Why a table has ended."""

    UNKNOWN = event_pb2.CLOSE_REASON_UNSPECIFIED
    HOST = event_pb2.CLOSE_REASON_HOST
    EMPTY = event_pb2.CLOSE_REASON_EMPTY


class StreamEndReason(ContractEnum):
    """Why the server ended a stream."""

    UNKNOWN = event_pb2.STREAM_END_REASON_UNSPECIFIED
    DRAINING = event_pb2.STREAM_END_REASON_DRAINING
    RENEW = event_pb2.STREAM_END_REASON_RENEW
    SUPERSEDED = event_pb2.STREAM_END_REASON_SUPERSEDED
    TABLE_CLOSED = event_pb2.STREAM_END_REASON_TABLE_CLOSED
