"""The log of the table: what deserves to be seen stands out, and each entry is about one thing."""

from __future__ import annotations

from typing import Any

import pytest

from odin_cli.terminal.capabilities import Capabilities
from odin_cli.terminal.views.log import Log
from odin_cli.terminal.views.screen import Screen
from odin_cli.terminal.views.view import render
from odin_contract.enums import Actor
from odin_contract.events import CardPickedUp, CardsPlayed, ChatSaid, PresenceChanged
from odin_contract.values import ChatLine, SeatPresence
from odin_engine import set_of
from tests.client.terminal import samples
from tests.client.terminal.samples import cards

TABLE = samples.playing().table


def played(seat: int, text: str, *, left: int, opening: bool = False) -> CardsPlayed:
    return CardsPlayed(
        seq=1,
        time=samples.NOW,
        seat=seat,
        set=set_of(cards(text)),
        opening=opening,
        card_count=left,
        actor=Actor.PERSON,
    )


def took(seat: int, card: str) -> CardPickedUp:
    (taken,) = cards(card)
    return CardPickedUp(
        seq=2, time=samples.NOW, seat=seat, card=taken, discarded=(), card_count=3, actor=Actor.BOT
    )


def log_of(*updates: Any) -> Log:
    log = Log()
    for update in updates:
        log.hear(update, TABLE)
    return log


@pytest.mark.parametrize(
    ("play", "entry"),
    [
        (played(3, "V7 V5 V1", left=2), "Chloé 751 (V7 V5 V1)"),
        (played(3, "V7 V5 V1", left=0), "** Chloé 751 (V7 V5 V1), out!"),
        (
            played(3, "V7 V5 V1", left=0, opening=True),
            "** Chloé put down everything: 751 (V7 V5 V1), out!",
        ),
        (played(3, "V7", left=0, opening=True), "** Chloé 7 (V7), out!"),
        (played(2, "V7 V6", left=0), "** You 76 (V7 V6), out!"),
    ],
)
def test_going_out_and_a_whole_hand_at_an_opening_do_not_look_like_any_play(
    play: CardsPlayed, entry: str
) -> None:
    """R6, R12."""
    assert log_of(play) == [entry]


def test_a_pick_up_joins_its_play_whatever_was_said_since() -> None:
    said = ChatSaid(ChatLine(1, samples.NOW, "Bob", 1, "nice one"))
    play, pick_up = played(3, "G6 G4", left=2), took(3, "R3")
    assert log_of(play, said, pick_up) == ["Chloé 64 (G6 G4) took R3", "Bob: nice one"]
    assert log_of(said, pick_up) == ["Bob: nice one", "Chloé took R3"]


def test_each_who_is_back_has_an_entry_of_their_own() -> None:
    back = PresenceChanged(
        (SeatPresence(0, connected=True), SeatPresence(1, connected=True)), 0, back=(0, 1)
    )
    assert log_of(back) == ["Ann is here again.", "Bob is here again."]


@pytest.mark.parametrize("cols", [72, 80, 100])
def test_the_log_stays_in_its_column_whatever_the_players_do(cols: int) -> None:
    def column(screen: Screen) -> int:
        screen.table.presence = {}
        first = render(screen, cols, 24, Capabilities())[2]
        return "".join(span.text for span in first).index("│")

    # With nobody's set in the centre the longest word in these rows is another one.
    assert column(samples.opening()) == column(samples.your_turn()) == column(samples.watching())
