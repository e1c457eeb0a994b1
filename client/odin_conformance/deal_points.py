"""The points for clients that say that they check deals: lies, each told by events or by snapshots.

All are told by `deal/2`, and a few by `deal/1` as well, as by an earlier server. The client gives a
nonce to the first deal. When a lie shows it may not act any more, and has to end
with another exit code than 0.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from odin_conformance.fair_table import FairTable, Lie
from odin_conformance.play import Play
from odin_conformance.points import Point
from odin_conformance.table import CLIENT, OTHER
from odin_table.v1 import table_pb2


async def _honest(play: Play) -> None:
    await play.begins_fairly()
    play.start()
    await play.plays_the_deal()
    await play.finishes()


async def _honest_between_programs(play: Play) -> None:
    play.table.seats[OTHER].occupant = table_pb2.OCCUPANT_REMOTE_BOT
    await _honest(play)


async def _key_not_stretched(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.KEY_NOT_STRETCHED
    play.start()
    await play.stops()


async def _exchanged_rounds(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.ROUNDS_EXCHANGED
    play.start()
    await play.stops()


async def _left_out_nonce(play: Play) -> None:
    play.fair.lie = Lie.NONCE_LEFT_OUT
    await play.begins_fairly()
    play.start()
    await play.stops()


async def _left_out_nonce_in_snapshot(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.NONCE_LEFT_OUT
    play.table.start()
    play.show()
    await play.stops()


async def _not_ready(play: Play) -> None:
    await play.begins_fairly()
    play.fair.make_ready(False)
    play.start()
    await play.stops()


async def _snapshot(play: Play) -> None:
    await play.begins_fairly()
    play.fair.exchange_commitment()
    play.show()
    play.start()
    await play.stops()


async def _exchanged_commitment(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.COMMITMENT_EXCHANGED
    play.start()
    await play.stops()


async def _set_back(play: Play) -> None:
    await play.begins_fairly()
    play.cut()
    seat = play.table.seats[CLIENT]
    play.table = FairTable(single_deal=True, set_back=play.fair)
    play.table.sit_down(seat.name, seat.occupant)
    await play.watches_and_gives()
    play.start()
    await play.plays_the_deal()
    await play.finishes()


async def _exchanged_hands(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.HANDS_EXCHANGED
    play.start()
    await play.plays_the_deal()
    play.start()
    await play.stops()


async def _exchanged_hands_in_snapshot(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.HANDS_EXCHANGED
    play.table.start()
    play.show()
    await play.plays_the_deal()
    play.start()
    await play.stops()


async def _wrong_secret(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.SECRET_WRONG
    play.start()
    await play.plays_the_deal()
    play.start()
    await play.stops()


async def _wrong_secret_in_snapshot(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.SECRET_WRONG
    play.start()
    await play.plays_the_deal(shown=True)
    play.start()
    await play.stops()


async def _replayed_commitment(play: Play) -> None:
    await play.begins_fairly()
    play.fair.lie = Lie.COMMITMENT_REPLAYED
    play.start()
    await play.plays_the_deal()
    play.start()
    await play.stops()


_SINGLE: Final = partial(FairTable, single_deal=True)
_SINGLE_BY_1: Final = partial(FairTable, single_deal=True, rounds=0)
_BY_1: Final = partial(FairTable, rounds=0)

DEAL_POINTS: Final = (
    Point(
        "deal.honest",
        "After a deal that follows from what was promised it ends with exit code 0.",
        _honest,
        _SINGLE,
    ),
    Point(
        "deal.honest-between-programs",
        "When it sits down as a bot, it takes a key with one round for right.",
        _honest_between_programs,
        _SINGLE,
    ),
    Point(
        "deal.honest-by-1",
        "It ends with exit code 0 after a deal by deal/1 as well.",
        _honest,
        _SINGLE_BY_1,
    ),
    Point(
        "deal.set-back",
        "Another log with another commitment is not a lie: it plays on, but does not end with 0.",
        _set_back,
        FairTable,
    ),
    Point(
        "deal.left-out-nonce",
        "It stops when its nonce, which was taken, is not among those that a deal follows from.",
        _left_out_nonce,
        FairTable,
    ),
    Point(
        "deal.left-out-nonce-by-1",
        "It stops when its nonce is left out of a deal by deal/1.",
        _left_out_nonce,
        _BY_1,
    ),
    Point(
        "deal.left-out-nonce-in-snapshot",
        "It stops when a snapshot that takes the place of deal_started says so.",
        _left_out_nonce_in_snapshot,
        FairTable,
    ),
    Point(
        "deal.not-ready",
        "By deal/1 it stops when its seat is said not to be ready, which it never said.",
        _not_ready,
        _BY_1,
    ),
    Point(
        "deal.key-not-stretched",
        "It stops when the key of a deal has one round although a person plays.",
        _key_not_stretched,
        FairTable,
    ),
    Point(
        "deal.exchanged-rounds",
        "It stops when a deal has other rounds than those that the commitment came with.",
        _exchanged_rounds,
        FairTable,
    ),
    Point(
        "deal.exchanged-commitment",
        "It stops when a deal follows from another commitment than the one before the nonces.",
        _exchanged_commitment,
        FairTable,
    ),
    Point(
        "deal.snapshot",
        "It stops when a snapshot between commitment and deal has another commitment.",
        _snapshot,
        FairTable,
    ),
    Point(
        "deal.replayed-commitment",
        "It stops when the commitment to a deal is that of a deal before.",
        _replayed_commitment,
        FairTable,
    ),
    Point(
        "deal.exchanged-hands",
        "It stops when the secret shows that it got the hand of the other seat.",
        _exchanged_hands,
        FairTable,
    ),
    Point(
        "deal.exchanged-hands-in-snapshot",
        "It stops when a snapshot that took the place of deal_started gave it that hand.",
        _exchanged_hands_in_snapshot,
        FairTable,
    ),
    Point(
        "deal.wrong-secret",
        "It stops when the secret is not the one that the server had committed itself to.",
        _wrong_secret,
        FairTable,
    ),
    Point(
        "deal.wrong-secret-in-snapshot",
        "It stops when a snapshot that takes the place of the end of a deal shows such a secret.",
        _wrong_secret_in_snapshot,
        FairTable,
    ),
)
