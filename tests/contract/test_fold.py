"""What folding does with events that make no sense; that it is right is shown beside the server."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from odin_contract.enums import Actor, LeaveReason, Phase
from odin_contract.events import CardsPlayed, Event, SeatLeft, SeatResumed
from odin_contract.fold import fold, may_follow
from odin_contract.two_way import NotUnderstoodError
from odin_contract.values import Game, Seat, TableView
from odin_engine import Card, set_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)
VIEW = TableView(seq=4, phase=Phase.PLAYING, seats=(Seat(0), Seat(1)), game=Game(1))


@pytest.mark.parametrize(
    "event",
    [
        SeatResumed(seq=5, time=NOW, seat=2),
        CardsPlayed(
            seq=5,
            time=NOW,
            seat=7,
            set=set_of([Card.parse("R1")]),
            opening=True,
            card_count=8,
            actor=Actor.BOT,
        ),
    ],
)
def test_a_seat_that_there_is_not_is_not_understood(event: Event) -> None:
    with pytest.raises(NotUnderstoodError, match="event 5"):
        fold(VIEW, event)


def test_an_event_of_a_later_version_may_always_come_and_only_counts() -> None:
    later = Event(seq=5, time=NOW)
    assert may_follow(VIEW, later)
    assert fold(VIEW, later).seq == 5


def test_what_cannot_happen_now_may_not_follow() -> None:
    assert not may_follow(VIEW, SeatResumed(seq=5, time=NOW, seat=2))
    assert not may_follow(VIEW, SeatResumed(seq=5, time=NOW, seat=1))
    assert not may_follow(VIEW, SeatLeft(seq=5, time=NOW, seat=1, reason=LeaveReason.LEFT))
