"""What a viewer may see of a table: everybody the same, a seat besides its own.

Encoders are handed these values, and never a `TableState`. Which part of an event is whose is
declared with its class (`odin_engine.visibility`).
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, NamedTuple

from odin_contract.enums import Actor, Phase
from odin_contract.values import Options as TableOptions
from odin_engine import View, view_for
from odin_engine.views import own_for
from odin_engine.visibility import Until, parts_of
from odin_server.table.events import Record
from odin_server.table.state import DealtFrom, OpenDecision, Seat, TableState


class Viewer(NamedTuple):
    """Who looks at a table: what they may see follows from this alone."""

    seat: int | None
    """The seat they hold."""
    is_host: bool = False


class PublicTable(NamedTuple):
    """What everybody may know of a table. See `TableState` for what has the same name there."""

    seq: int
    log_id: str
    options: TableOptions
    phase: Phase
    seats: tuple[Seat | None, ...]
    games: int
    players: tuple[int, ...]
    names: tuple[str, ...]
    banks: tuple[int, ...]
    decision: OpenDecision | None
    next_deal: int | None
    commitment: bytes
    rounds: int
    dealt_from: DealtFrom | None
    host_seat: int | None
    deal: int
    """The number of the running or last deal, from 1."""
    card_counts: tuple[int, ...]
    """How many cards each player holds."""
    actor: Actor | None
    """Who chose what happened last, if a seat chose it."""


_SAME: Final = attrgetter(*PublicTable._fields[: PublicTable._fields.index("deal")])


def public_table(state: TableState, actor: Actor | None = None) -> PublicTable:
    """What everybody may know now."""
    counts = tuple(map(int.bit_count, state.game.hands))
    fields = (*_SAME(state), state.game.deal, counts, actor)
    # As `_make` does, at half the time: every event needs one.
    return tuple.__new__(PublicTable, fields)  # pyright: ignore[reportUnknownMemberType]: typeshed's


class VisibleEvent(NamedTuple):
    """An event as its class has declared who may know which part of it."""

    kind: type
    seq: int
    time: int
    """Microseconds since 1970."""
    table: PublicTable
    """After it."""
    public: Any
    """The part for everybody."""
    own: Mapping[int, Any]
    """The parts that single seats see besides, by seat."""
    hidden: tuple[Until, Any] | None
    """The part that everybody sees once that is over."""


_NOBODY: Final[Mapping[int, Any]] = {}


def visible(record: Record, after: TableState) -> VisibleEvent:
    """The event for everybody who may see it; `after` is the state with this record in it."""
    event: Any = record.event
    kind = type(record.event)
    parts, own = parts_of(kind), _NOBODY
    if parts.one_seat:
        seat = event.seat
        own = {seat: parts.one_seat(event, own_for(after.game, after.players.index(seat)))}
    elif parts.each_seat:
        own = {
            seat: parts.each_seat(event, own_for(after.game, player))
            for player, seat in enumerate(after.players)
        }
    hidden = (parts.hidden[0], parts.hidden[1](event)) if parts.hidden else None
    public = parts.everybody(event)
    table = public_table(after, record.actor)
    return VisibleEvent(kind, record.seq, record.time, table, public, own, hidden)


class Sight(NamedTuple):
    """All that one viewer may see of a table."""

    viewer: Viewer
    table: PublicTable
    game: View | None
    """The engine's, for the viewer; None before the first game."""
    code: str
    """Empty for a viewer who may not invite others."""


def sight(state: TableState, viewer: Viewer) -> Sight:
    """All that this viewer may see now."""
    game = view_for(state.game, state.player_of(viewer.seat)) if state.games else None
    may_invite = viewer.seat is not None or viewer.is_host
    return Sight(viewer, public_table(state), game, state.code if may_invite else "")
