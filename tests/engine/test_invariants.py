"""What always holds, whatever is played: properties, tried on many random games."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odin_engine import (
    ALL_SETS,
    DECK,
    NEW,
    Action,
    Card,
    CardSet,
    CardsPlayed,
    Colour,
    Command,
    DealStarted,
    Event,
    OdinError,
    Options,
    Pass,
    Phase,
    PickUp,
    PlayCards,
    StartDeal,
    StartGame,
    State,
    cards_of,
    decide,
    decision_of,
    deck,
    evolve,
    fold,
    legal_plays,
    mask_of,
    view_for,
)
from tests.engine.deals import all_cards, decision


def is_set(cards: tuple[Card, ...]) -> bool:
    """R8, said plainly."""
    return len({card.number for card in cards}) == 1 or len({card.colour for card in cards}) == 1


def value_of(cards: tuple[Card, ...]) -> int:
    """R9, said plainly."""
    return int("".join(str(n) for n in sorted((card.number for card in cards), reverse=True)))


def naive_plays(hand: tuple[Card, ...], centre: CardSet | None) -> set[frozenset[Card]]:
    """Every choice of cards, tried against the rules one after the other."""
    found: set[frozenset[Card]] = set()
    for count in range(1, len(hand) + 1):
        for chosen in combinations(hand, count):
            if not is_set(chosen):
                continue
            if centre is None:
                allowed = count in (1, len(hand))
            else:
                allowed = count in (centre.count, centre.count + 1)
                allowed = allowed and value_of(chosen) > value_of(centre.cards)
            if allowed:
                found.add(frozenset(chosen))
    return found


hands = st.lists(st.sampled_from(DECK), min_size=1, max_size=9, unique=True).map(tuple)
centres = st.none() | st.sampled_from(ALL_SETS)


@given(hands, centres)
@settings(max_examples=400)
def test_the_move_generator_finds_what_trying_everything_finds(
    hand: tuple[Card, ...], centre: CardSet | None
) -> None:
    found = legal_plays(hand, centre)
    assert {frozenset(play.cards) for play in found} == naive_plays(hand, centre)
    assert [play.value for play in found] == sorted(play.value for play in found)
    assert len(set(found)) == len(found)


def test_a_set_with_more_cards_always_has_the_greater_value() -> None:
    for smaller, larger in pairwise(ALL_SETS):
        assert smaller.count <= larger.count
        assert smaller.value == value_of(smaller.cards)


class Game(RuleBasedStateMachine):
    """Plays anything that is legal, tries things that are not, and looks at every step."""

    def __init__(self) -> None:
        super().__init__()
        self.state: State = NEW
        self.events: list[Event] = []
        self.last_values: list[int] = []

    def do(self, command: Command) -> None:
        for event in decide(self.state, command):
            self.state = evolve(self.state, event)
            self.events.append(event)
            if isinstance(event, CardsPlayed):
                if event.opening:
                    self.last_values = []
                self.last_values.append(event.cards.value)

    @initialize(players=st.integers(2, 6), threshold=st.sampled_from([None, 5, 10]), data=st.data())
    def start(self, players: int, threshold: int | None, data: st.DataObject) -> None:
        short = players == 2 and data.draw(st.booleans())
        options = Options(players, threshold, short_deck=short)
        removed = tuple(Colour)[:2] if short else ()
        first_opener = data.draw(st.integers(0, players - 1))
        self.do(StartGame(options, removed, first_opener))

    @precondition(lambda self: self.state.phase is Phase.BETWEEN_DEALS)
    @rule(rng=st.randoms(use_true_random=False))
    def deal(self, rng: random.Random) -> None:
        cards = list(deck(self.state.removed))
        rng.shuffle(cards)
        self.do(StartDeal(tuple(cards)))

    @precondition(lambda self: self.state.phase is Phase.PLAYING)
    @rule(rng=st.randoms(use_true_random=False))
    def act(self, rng: random.Random) -> None:
        self.do(any_action(self.state, rng))

    @rule(
        seat=st.integers(-1, 6),
        named=st.lists(st.sampled_from(DECK), max_size=4),
        card=st.sampled_from(DECK),
    )
    def try_what_may_be_illegal(self, seat: int, named: list[Card], card: Card) -> None:
        """A refused action changes nothing at all; and all refusals are typed."""
        commands: list[Command] = [
            Pass(seat),
            PickUp(seat, card),
            PlayCards(seat, named, card),
            PlayCards(seat, named),
            StartDeal(tuple(named)),
        ]
        before = self.state
        for command in commands:
            with suppress(OdinError):
                decide(self.state, command)
        assert self.state is before

    @invariant()
    def all_cards_together_are_the_deck(self) -> None:
        if self.state.deal:
            assert tuple(all_cards(self.state)) == deck(self.state.removed)

    @invariant()
    def no_hand_exceeds_nine_cards(self) -> None:
        assert all(hand.bit_count() <= 9 for hand in self.state.hands)

    @invariant()
    def somebody_can_always_act(self) -> None:
        if self.state.phase is Phase.PLAYING:
            assert any_action(self.state, random.Random(0))
            decide(self.state, decision(self.state).default)
        else:
            assert decision_of(self.state) is None

    @invariant()
    def values_rise_within_a_round(self) -> None:
        assert self.last_values == sorted(set(self.last_values))

    @invariant()
    def replaying_the_events_gives_the_state(self) -> None:
        assert fold(self.events) == self.state

    @invariant()
    def the_winner_is_below_the_threshold(self) -> None:
        if self.state.phase is Phase.GAME_OVER and self.state.options.threshold:
            assert self.state.out is not None
            assert self.state.totals[self.state.out] < self.state.options.threshold
            assert all(
                self.state.totals[w] < self.state.options.threshold for w in self.state.winners
            )
            if self.state.players == 2:
                assert len(self.state.winners) == 1


def any_action(state: State, rng: random.Random) -> Action:
    """A legal action; going out is preferred, so that deals come to an end."""
    open_now = decision(state)
    seat = open_now.seat
    outs = [play for play in open_now.plays if open_now.goes_out(play)]
    if outs:
        return PlayCards(seat, rng.choice(outs))
    if not open_now.plays:
        pick_ups = open_now.pick_ups
        return Pass(seat) if open_now.may_pass else PickUp(seat, rng.choice(pick_ups))
    if open_now.may_pass and rng.random() < 0.2:
        return Pass(seat)
    take = rng.choice([None, *open_now.pick_ups]) if open_now.pick_ups else None
    return PlayCards(seat, rng.choice(open_now.plays), take)


TestGame: Any = Game.TestCase
TestGame.settings = settings(max_examples=40, stateful_step_count=80)


def whole_game(players: int, seed: int) -> list[State]:
    """Every state of a random game."""
    rng = random.Random(seed)
    options = Options(players, 10, short_deck=False)
    state = fold(decide(NEW, StartGame(options, (), rng.randrange(players))))
    states = [state]
    while state.phase is not Phase.GAME_OVER:
        command: Command
        if state.phase is Phase.BETWEEN_DEALS:
            command = StartDeal(tuple(rng.sample(DECK, len(DECK))))
        else:
            command = any_action(state, rng)
        state = fold(decide(state, command), state)
        states.append(state)
    return states


@given(st.integers(2, 6), st.integers(0, 10**6), st.data())
@settings(max_examples=30)
def test_a_view_says_nothing_of_cards_that_its_viewer_may_not_see(
    players: int, seed: int, data: st.DataObject
) -> None:
    """R17: exchange all hidden cards for each other, and the view is the same."""
    states = [s for s in whole_game(players, seed) if s.phase is Phase.PLAYING]
    state = data.draw(st.sampled_from(states))
    viewer = data.draw(st.none() | st.integers(0, players - 1))
    hidden = [
        card for seat, hand in enumerate(state.hands) if seat != viewer for card in cards_of(hand)
    ] + list(cards_of(state.undealt))
    shuffled = data.draw(st.permutations(hidden))
    hands: list[int] = []
    for seat, hand in enumerate(state.hands):
        if seat == viewer:
            hands.append(hand)
        else:
            count = hand.bit_count()
            hands.append(mask_of(shuffled[:count]))
            shuffled = shuffled[count:]
    other = state._replace(hands=tuple(hands), undealt=mask_of(shuffled))
    assert view_for(other, viewer) == view_for(state, viewer)


def test_the_parts_of_a_deal_are_one_hand_for_each_seat_and_a_rest() -> None:
    event = DealStarted(1, 0, 4, DECK)
    dealt = [card for seat in range(4) for card in event.hand_of(seat)]
    assert sorted([*dealt, *event.undealt]) == list(DECK)


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=30)
def test_every_deal_ends_and_every_round_throws_a_card_away(players: int, seed: int) -> None:
    states = whole_game(players, seed)
    for before, after in pairwise(states):
        round_over = before.centre is not None and after.centre is None
        if round_over and before.phase is Phase.PLAYING:
            assert len(after.discarded) > len(before.discarded)
    assert states[-1].winners
