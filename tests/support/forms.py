"""What is told of a deal, wherever that form of deals tells it (docs/fair-deal.md).

Tests that hold for `deal/1` and for `deal/2` look through these.
"""

from __future__ import annotations

from typing import Any

from odin_table.v1 import event_pb2


def source_of(message: Any) -> Any:
    """Where a view or an event says what a deal follows from: `commitment`, and later `nonces`."""
    return message.source if message.HasField("source") else message


def revealed_in(event: event_pb2.Event) -> event_pb2.DealRevealed | None:
    """The secret that is shown in this event."""
    payload = event.WhichOneof("payload") or ""
    return getattr(event, payload) if payload.endswith("deal_revealed") else None


def nonce_in(event: event_pb2.Event) -> event_pb2.NonceGiven | event_pb2.ReadyChanged | None:
    """The nonce that a seat gives in this event, with the seat."""
    if event.nonce_given.nonce:
        return event.nonce_given
    return event.ready_changed if event.ready_changed.nonce else None
