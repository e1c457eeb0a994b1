"""What a server promised is not forgotten: by a snapshot, by another log, by a new session.

Two deals are played at a real server, of each form. What Zoe was told of them is told again, with
lies in it, by events and by snapshots, which a server may send whenever it likes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import pytest

from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.connection.credential import Credential
from odin_client.errors import Refused
from odin_client.session.session import Session
from odin_client.table.deal_check import DealCheck
from odin_client.table.model import OutOfStepError, TableModel
from odin_client.table.promises import Promises
from odin_client.table.updates import DealChecked, DealFault, DealGap
from odin_contract.values import Options
from odin_engine.fair_deal import ROUNDS, commitment
from odin_server.settings import Settings
from odin_server.table import draft
from odin_table.v1 import card_pb2, event_pb2, lobby_pb2, play_pb2, table_pb2
from tests.support.forms import nonce_in, revealed_in, source_of
from tests.support.servers import serving

ZOE: Final = 0
NONCES: Final = (b"Zoe adds this to the first deal", b"Zoe adds this to the second one")

Item = play_pb2.WatchTableResponse
EventLie: TypeAlias = Callable[[event_pb2.Event], None]
ViewLie: TypeAlias = Callable[[table_pb2.TableView], None]


@dataclass
class Story:
    """Two deals between Zoe and Bob, as Zoe was told of them."""

    rounds: int = 0
    """0: they are dealt by deal/1."""
    events: list[event_pb2.Event] = field(default_factory=list[event_pb2.Event])
    views: dict[int, table_pb2.TableView] = field(default_factory=dict[int, table_pb2.TableView])
    """What a snapshot held after the events with these numbers."""

    def at(self, payload: str, which: int = 0) -> int:
        """The number of an event of this kind."""
        return [e.seq for e in self.events if e.WhichOneof("payload") == payload][which]

    def view_from(self, seq: int) -> int:
        """The first number from this one on after which there is a view."""
        return min(number for number in self.views if number >= seq)


@pytest.fixture(scope="module", params=[0, ROUNDS], ids=["deal/1", "deal/2"])
def story(request: pytest.FixtureRequest) -> Story:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draft, "ROUNDS", request.param)
        return asyncio.run(_story(request.param))


async def _story(rounds: int) -> Story:
    told = Story(rounds)
    people: list[Connection] = []
    async with serving(Settings(port=0, bot_delay=0, deal_pause=600)) as server:
        try:
            for _ in range(2):
                there = Address("127.0.0.1", server.port)
                people.append(await Connection.open(there, Credential.new()))
            await _play(told, *people)
            return told
        finally:
            for person in people:
                await person.close()


async def _play(story: Story, zoe: Connection, bob: Connection) -> None:
    host = await Session.open_table(zoe, Options(threshold=100, short_deck=True))
    await host.take_seat("Zoe")
    table = host.table.table
    await Session.sit_down(bob, table, name="Bob")
    number = 0

    async def look(connection: Connection) -> table_pb2.TableView:
        answer = await connection.call(
            connection.table.GetView, play_pb2.GetViewRequest(table=table)
        )
        return answer.view

    deals = 0
    while True:
        view = await look(zoe)
        story.views[view.seq] = view
        number += 1
        if view.phase != table_pb2.TABLE_PHASE_PLAYING:
            if deals == 2:
                break
            for person, nonce in ((zoe, NONCES[deals]), (bob, b"")):
                request = lobby_pb2.SetReadyRequest(
                    request_id=f"ready {number}",
                    table=table,
                    ready=True,
                    nonce=nonce,
                    commitment=source_of(view).commitment,
                )
                await person.call(person.lobby.SetReady, request)
                seen = await look(zoe)
                story.views[seen.seq] = seen
            deals += 1
        else:
            person = zoe if view.decision.seat == ZOE else bob
            mine = view if person is zoe else await look(bob)
            act = play_pb2.ActRequest(
                request_id=f"act {number}",
                table=table,
                decision_id=mine.decision.id,
                action=mine.decision.choices.default_action,
            )
            plays = mine.decision.choices.plays
            if plays:
                act.action.play_cards.cards[:] = plays[0].cards
            await person.call(person.table.Act, act)
    stream = zoe.watch(play_pb2.WatchTableRequest(table=table, after_seq=0, log_id=view.log_id))
    while len(story.events) < view.seq:
        item = await stream.read()
        assert isinstance(item, Item)
        story.events += item.events.events
    stream.cancel()


class Told:
    """Zoe's client, as far as it is told."""

    def __init__(self, story: Story, promises: Promises | None = None, *lies: ViewLie) -> None:
        self.story = story
        self.table = TableModel(check=DealCheck(promises))
        self.found: list[DealChecked] = []
        self.snapshot(story.view_from(1), *lies)

    def snapshot(self, seq: int, *lies: ViewLie) -> Told:
        """A snapshot after this event."""
        view = table_pb2.TableView()
        view.CopyFrom(self.story.views[seq])
        for lie in lies:
            lie(view)
        self._apply(Item(snapshot=view))
        return self

    def until(self, last: int, *lies: EventLie) -> Told:
        """Events up to this number, one by one; when Zoe gives a nonce, her client knows it."""
        for true in self.story.events[self.table.seq : last]:
            event = event_pb2.Event()
            event.CopyFrom(true)
            if (given := nonce_in(true)) and given.seat == ZOE:
                self.gives(given.nonce, true.seq)
            for lie in lies:
                lie(event)
            self._apply(Item(events=event_pb2.EventBatch(events=[event])))
        return self

    def gives(self, nonce: bytes, seq: int) -> None:
        """Zoe's client adds this, and the server says that it has taken it."""
        with self.table.check.giving(self.table.commitment, nonce) as taken:
            taken(seq)

    def _apply(self, item: Item) -> None:
        self.found += [u for u in self.table.apply(item) if isinstance(u, DealChecked)]

    @property
    def faults(self) -> list[tuple[DealFault, ...]]:
        return [checked.faults for checked in self.found]

    @property
    def gaps(self) -> list[tuple[DealGap, ...]]:
        return [checked.gaps for checked in self.found]


# Lies


def other_commitment(view: table_pb2.TableView) -> None:
    for told in (source_of(view), source_of(view.game)):
        if told.commitment:
            told.commitment = commitment(bytes(32), view.source.rounds or view.game.source.rounds)


def no_nonce_of_mine(view: table_pb2.TableView) -> None:
    view.seats[ZOE].nonce = b""
    if source_of(view.game).nonces:
        source_of(view.game).nonces[ZOE] = b""


def nonce_of_mine_exchanged(view: table_pb2.TableView) -> None:
    view.seats[ZOE].nonce = b"the server's choice"
    if source_of(view.game).nonces:
        source_of(view.game).nonces[ZOE] = b"the server's choice"


def other_nonce_of_bob(view: table_pb2.TableView) -> None:
    source_of(view.game).nonces[1] = b"the server's choice"


def other_opener(view: table_pb2.TableView) -> None:
    view.game.opener = 1 - view.game.opener


def other_colours(view: table_pb2.TableView) -> None:
    others = (colour % 6 + 1 for colour in view.game.removed_colours)
    view.game.removed_colours[:] = map(card_pb2.Colour.ValueType, others)


def hand_of_bob(story: Story) -> ViewLie:
    """The cards that Zoe does not hold, instead of hers."""

    def lie(view: table_pb2.TableView) -> None:
        mine = {*story.views[story.view_from(story.at("deal_started"))].game.hand.cards}
        colours = {*view.game.removed_colours}
        deck = [card for card in range(1, 55) if (card - 1) // 9 + 1 not in colours]
        others = [card for card in deck if card not in mine]
        count = len(view.game.hand.cards)
        view.game.hand.cards[:] = map(card_pb2.Card.ValueType, sorted(others)[:count])

    return lie


def another_log(view: table_pb2.TableView) -> None:
    view.log_id = "another log"


def no_secret(view: table_pb2.TableView) -> None:
    view.game.secret = b""


def other_secret(view: table_pb2.TableView) -> None:
    view.game.secret = bytes(32)


def uncommitted_view(view: table_pb2.TableView) -> None:
    view.commitment = b""
    view.ClearField("source")
    if view.HasField("game"):
        view.game.commitment = b""
        view.game.nonces[:] = []
        view.game.ClearField("source")


def uncommitted(event: event_pb2.Event) -> None:
    if event.HasField("deal_started"):
        event.deal_started.commitment = b""
        event.deal_started.nonces[:] = []
        event.deal_started.ClearField("source")
    if event.HasField("deal_committed") or revealed_in(event):
        event.ClearField(event.WhichOneof("payload") or "seq")


def start(story: Story, deal: int = 1) -> int:
    return story.view_from(story.at("deal_started", deal - 1))


def ready(story: Story) -> int:
    """After Zoe gave her nonce for the first deal, and before it started."""
    return story.view_from(story.at("ready_changed"))


def over(story: Story, deal: int = 1) -> int:
    return story.view_from(story.at("deal_ended", deal - 1))


def later(story: Story, seq: int, more: int) -> int:
    """Some views later than this number."""
    return sorted(number for number in story.views if number >= seq)[more]


def middle(story: Story) -> int:
    return later(story, start(story), 2)


# What is no lie


def test_a_snapshot_in_place_of_the_start_of_a_deal_is_as_good_as_its_events(story: Story) -> None:
    told = Told(story).until(ready(story)).snapshot(start(story)).until(len(story.events))
    assert [checked.in_full for checked in told.found] == [True, True]
    assert told.found[0].mine


def test_a_snapshot_twice_at_the_same_event_misses_nothing(story: Story) -> None:
    here = middle(story)
    told = Told(story).until(here).snapshot(here).until(len(story.events))
    assert [checked.in_full for checked in told.found] == [True, True]


@pytest.mark.parametrize("skipped", [1, 2, 5])
def test_a_deal_of_which_a_part_was_missed_is_not_checked_in_full(
    story: Story, skipped: int
) -> None:
    here = middle(story)
    told = Told(story).until(here).snapshot(later(story, here, skipped)).until(len(story.events))
    assert told.faults == [(), ()]
    assert told.gaps == [(DealGap.MISSED,), ()]
    assert [checked.not_in_full for checked in told.found] == [1, 1]
    assert told.table.check.tally.not_in_full == 1


@pytest.mark.parametrize("where", [ready, middle])
def test_a_deal_whose_end_was_missed_is_said_not_to_be_checked_in_full(
    story: Story, where: Callable[[Story], int]
) -> None:
    told = Told(story).until(where(story)).snapshot(over(story))
    assert (told.faults, told.gaps) == ([()], [(DealGap.MISSED,)])
    # Nor is one that a snapshot does not show any more.
    told = Told(story).until(middle(story)).snapshot(start(story, 2))
    assert (told.faults, told.gaps) == ([()], [(DealGap.MISSED,)])


def test_another_log_with_another_commitment_is_no_lie_but_said(story: Story) -> None:
    told = Told(story).until(ready(story))
    told.snapshot(ready(story), another_log, other_commitment)
    assert told.found == []

    def the_other_one(event: event_pb2.Event) -> None:
        if event.HasField("deal_started"):
            source = source_of(event.deal_started)
            source.commitment = commitment(bytes(32), story.rounds)
        if revealed := revealed_in(event):
            revealed.secret = bytes(32)

    told.until(over(story), the_other_one)
    (checked,) = told.found
    assert checked.gaps == (DealGap.SET_BACK,)
    # Only what has to follow from that secret does not.
    assert not {DealFault.COMMITMENT, DealFault.OWN_NONCE, DealFault.NONCES} & {*checked.faults}


def test_a_table_that_was_set_back_may_have_lost_a_nonce(story: Story) -> None:
    told = Told(story).until(ready(story))
    told.snapshot(ready(story), another_log, no_nonce_of_mine)
    told.snapshot(start(story), another_log, no_nonce_of_mine)
    assert told.found == []
    told.snapshot(over(story), another_log, no_nonce_of_mine)
    (checked,) = told.found
    assert DealGap.SET_BACK in checked.gaps
    assert DealFault.OWN_NONCE not in checked.faults


def test_a_table_that_was_set_back_may_have_dealt_other_hands(story: Story) -> None:
    told = Told(story).until(middle(story))
    told.snapshot(start(story), another_log, hand_of_bob(story))
    assert told.found == []


def test_a_deal_that_another_log_deals_again_is_not_checked_in_full(story: Story) -> None:
    promises = Promises()
    first = Told(story, promises).until(len(story.events))
    assert [checked.in_full for checked in first.found] == [True, True]
    again = Told(story, promises, another_log).until(over(story))
    assert (again.faults, again.gaps) == ([()], [(DealGap.SET_BACK,)])


def test_a_server_that_never_promised_anything_is_said_to_be_one(story: Story) -> None:
    told = Told(story, None, uncommitted_view).until(over(story), uncommitted)
    assert (told.faults, told.gaps) == ([()], [(DealGap.UNCOMMITTED,)])


def test_a_substitute_that_the_server_speaks_of_makes_a_nonce_void_but_not_in_silence(
    story: Story,
) -> None:
    told = Told(story).until(ready(story))

    def substitute(event: event_pb2.Event) -> None:
        if event.HasField("ready_changed"):
            event.substitute_seated.seat = ZOE

    def left_out(event: event_pb2.Event) -> None:
        if event.HasField("deal_started"):
            source_of(event.deal_started).nonces[ZOE] = b""

    told.until(start(story), substitute, left_out)
    assert told.found == []
    told.until(over(story))
    (checked,) = told.found
    assert checked.gaps == (DealGap.VOID,)
    assert DealFault.OWN_NONCE not in checked.faults


def test_a_nonce_that_came_too_late_is_not_missed_and_one_that_was_taken_is(story: Story) -> None:
    def without_it(event: event_pb2.Event) -> None:
        if event.HasField("deal_started"):
            source_of(event.deal_started).nonces[ZOE] = b""
        if event.HasField("nonce_given"):
            event.ClearField("nonce_given")
        if event.HasField("ready_changed"):
            event.ready_changed.nonce = b""

    for is_taken in (False, True):
        told = Told(story)
        before = next(event.seq for event in story.events if nonce_in(event)) - 1
        told.until(before)
        check = told.table.check
        found: list[DealChecked] = []
        told.gives = lambda nonce, seq: None  # type: ignore[method-assign]
        try:
            with check.giving(told.table.commitment, NONCES[0]) as taken:
                told.until(start(story), without_it)
                assert told.found == [], "nobody knows yet"
                if not is_taken:
                    raise Refused("ALREADY_STARTED", "too late")
                taken(start(story))
        except Refused:
            pass
        told.until(start(story) + 1, without_it)
        found += told.found
        assert [checked.faults for checked in found] == (
            [(DealFault.OWN_NONCE,)] if is_taken else []
        )


def test_the_same_nonce_is_given_however_often_the_server_asks(story: Story) -> None:
    check = Told(story).table.check
    fresh = iter([b"first", b"second", b"third"])
    open_now = source_of(story.views[story.view_from(1)]).commitment
    for _ in range(2):
        # The server learns what goes into the deal late, when somebody is ready for it.
        assert check.nonce_for(open_now, lambda: next(fresh), early=True) == b"first"
        assert check.nonce_for(open_now, lambda: next(fresh)) == b"second"


# Lies before the deal has started


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (other_commitment, DealFault.COMMITMENT),
        (no_nonce_of_mine, DealFault.OWN_NONCE),
        (nonce_of_mine_exchanged, DealFault.OWN_NONCE),
    ],
)
@pytest.mark.parametrize("where", [ready, start])
def test_a_snapshot_cannot_exchange_what_was_promised_or_given(
    story: Story, where: Callable[[Story], int], lie: ViewLie, fault: DealFault
) -> None:
    told = Told(story).until(ready(story)).snapshot(where(story), lie)
    assert told.faults == [(fault,)], "at once, before a card is played"
    assert told.found[0].deal == 1
    told.until(over(story))
    assert len(told.found) == 1, "once for each deal"


def test_who_never_took_a_nonce_back_knows_that_the_server_lies(story: Story) -> None:
    def not_ready(event: event_pb2.Event) -> None:
        if event.HasField("ready_changed") and event.ready_changed.seat != ZOE:
            event.ready_changed.seat = ZOE
            event.ready_changed.ready = False

    told = Told(story).until(start(story), not_ready)
    # By deal/2 that makes no difference to a nonce.
    assert told.faults == ([] if story.rounds else [(DealFault.OWN_NONCE,)])


def test_who_took_a_nonce_back_does_not_miss_it(story: Story) -> None:
    told = Told(story).until(ready(story))
    told.gives(b"", ready(story))
    told.snapshot(ready(story), no_nonce_of_mine).snapshot(start(story), no_nonce_of_mine)
    assert told.found == []


def test_a_snapshot_that_is_older_than_the_nonce_is_no_lie(story: Story) -> None:
    told = Told(story)
    told.gives(NONCES[0], ready(story))
    told.snapshot(story.view_from(1))
    assert told.found == []


def test_the_commitment_of_a_deal_before_is_noticed(story: Story) -> None:
    first = source_of(story.views[story.view_from(1)]).commitment

    def again(event: event_pb2.Event) -> None:
        if event.HasField("deal_committed") and event.deal_committed.deal == 2:
            source_of(event.deal_committed).commitment = first

    def again_in_view(view: table_pb2.TableView) -> None:
        source_of(view).commitment = first

    told = Told(story).until(over(story), again)
    assert told.faults == [(), (DealFault.REUSED,)]
    assert told.found[1].deal == 2
    told = Told(story).until(over(story) - 1).snapshot(over(story), again_in_view)
    assert (DealFault.REUSED,) in told.faults


def test_a_deal_cannot_be_dealt_twice(story: Story) -> None:
    told = Told(story).until(over(story)).snapshot(story.view_from(1))
    assert told.faults == [(), (DealFault.REUSED,)]


def test_a_commitment_that_vanishes_is_no_deal_of_an_old_server(story: Story) -> None:
    told = Told(story).until(start(story), uncommitted)
    assert told.faults == [(DealFault.COMMITMENT,)]


# Lies while a deal is played, and after it


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (other_commitment, DealFault.COMMITMENT),
        (no_nonce_of_mine, DealFault.NONCES),
        (other_nonce_of_bob, DealFault.NONCES),
        (other_opener, DealFault.OPENER),
        (other_colours, DealFault.COLOURS),
    ],
)
def test_a_snapshot_cannot_change_what_a_deal_started_from(
    story: Story, lie: ViewLie, fault: DealFault
) -> None:
    here = middle(story)
    told = Told(story).until(here).snapshot(later(story, here, 1), lie)
    assert fault in told.faults[0]


def test_the_colours_of_a_game_stay_out_of_it(story: Story) -> None:
    told = Told(story).until(start(story, 2) - 2).snapshot(start(story, 2), other_colours)
    assert told.faults[-1] == (DealFault.COLOURS,)


def test_a_snapshot_cannot_exchange_hands(story: Story) -> None:
    told = Told(story).until(ready(story)).snapshot(start(story), hand_of_bob(story))
    told.until(over(story))
    assert told.faults == [(DealFault.CARDS,)], "after the deal, since the secret is not out before"
    here = later(story, start(story), 1)
    told = Told(story).until(here).snapshot(later(story, here, 1), hand_of_bob(story))
    assert told.faults == [(DealFault.CARDS,)], "at once: so many cards do not change hands at once"
    told = Told(story).until(here).snapshot(here, hand_of_bob(story))
    assert told.faults == [(DealFault.CARDS,)], "at once: nothing has happened at all"


@pytest.mark.parametrize(
    ("lie", "fault"),
    [(no_secret, DealFault.NEVER_REVEALED), (other_secret, DealFault.COMMITMENT)],
)
@pytest.mark.parametrize("where", [ready, middle])
def test_a_snapshot_in_place_of_the_end_is_checked(
    story: Story, where: Callable[[Story], int], lie: ViewLie, fault: DealFault
) -> None:
    told = Told(story).until(where(story)).snapshot(over(story), lie)
    assert fault in told.faults[0]


def test_a_new_session_of_the_process_remembers(story: Story) -> None:
    promises = Promises()
    Told(story, promises).until(ready(story))
    told = Told(story, promises).snapshot(start(story), no_nonce_of_mine)
    assert told.faults == [(DealFault.OWN_NONCE,)]


def test_a_batch_with_a_mistake_in_it_does_not_swallow_what_was_found(story: Story) -> None:
    told = Told(story).until(ready(story))
    started = [event_pb2.Event() for _ in range(2)]
    for event, true in zip(started, story.events[told.table.seq :], strict=False):
        event.CopyFrom(true)
    started[1].seq += 7
    with pytest.raises(OutOfStepError):
        told.table.apply(Item(events=event_pb2.EventBatch(events=started)))
    assert told.table.seq == ready(story), "nothing of it was taken"


async def test_promises_are_one_memory_for_each_credential() -> None:
    mine, other = Credential.new(), Credential.new()
    here = Address("127.0.0.1", 1)
    assert Connection(here, mine).promises is Connection(here, mine).promises
    assert Connection(here, mine).promises is not Connection(here, other).promises
    assert Connection(here).promises is not Connection(here).promises
