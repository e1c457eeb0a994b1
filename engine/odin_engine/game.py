"""A game: its state, the commands it takes, and the two functions that move it.

    decide(state, command) -> events    checks, and refuses by raising; changes nothing
    evolve(state, event)   -> state     only folds

    NOT_STARTED ──StartGame──> BETWEEN_DEALS ──StartDeal──> PLAYING ──DealEnded──> BETWEEN_DEALS
                                                                    ──GameEnded──> GAME_OVER

While a deal is played exactly one seat has to act: `decision_of(state)` says which, and what it
may choose. Clock and chance come in as arguments: the shuffled order in `StartDeal`, and
the caller that finds that time is up sends `Decision.default` as the seat's own action (D1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import reduce
from typing import Any, Final, NamedTuple, TypeAlias

from odin_engine.cards import Card, Colour, Mask, cards_of, deck, mask_of
from odin_engine.errors import (
    AlreadyStarted,
    DealIsRunning,
    DealNotRunning,
    GameIsOver,
    GameNotStarted,
    IllegalAction,
    InvalidOption,
    NothingToPickUp,
    NotInBeatenSet,
    NotYourTurn,
    OpenerMayNotPass,
    PickUpPending,
    WrongDeck,
)
from odin_engine.events import (
    CardPickedUp,
    CardsPlayed,
    DealEnded,
    DealStarted,
    Event,
    GameEnded,
    GameStarted,
    Passed,
    RoundEnded,
)
from odin_engine.rules import MAX_PLAYERS, Options, check_play, plays_of
from odin_engine.sets import CardSet


class Phase(Enum):
    """Where a game is."""

    NOT_STARTED = "not started"
    BETWEEN_DEALS = "between deals"
    PLAYING = "playing"
    GAME_OVER = "game over"


class State(NamedTuple):
    """A game at one moment. Holds every hand: give a viewer `views.view_for`, never this.

    First comes what stays as it is while a deal is played, then what changes with each turn.
    """

    phase: Phase = Phase.NOT_STARTED
    options: Options = Options(players=2)
    """Says nothing before the game has started."""
    removed: tuple[Colour, ...] = ()
    """The colours that left the deck (R2)."""
    deal: int = 0
    """The number of the running or last deal, from 1."""
    opener: int = 0
    """The seat that opened the running or last deal; before the first, the one that will (R4)."""
    undealt: Mask = 0
    """The cards that are out of the deal (R3). Secret until it is over."""
    penalties: tuple[tuple[int, ...], ...] = ()
    """One entry per finished deal, by seat (R15)."""
    out: int | None = None
    """The seat that went out, once the deal is over."""
    winners: tuple[int, ...] = ()
    """The seats that won, once the game is over (R16)."""

    turn: int = 0
    """The seat that has to act, while a deal is played."""
    hands: tuple[Mask, ...] = ()
    """By seat. Private to each seat until the deal is over (R17)."""
    centre: CardSet | None = None
    """The set to beat, or None when a round is to be opened."""
    centre_seat: int | None = None
    """Who put the centre down."""
    beaten: CardSet | None = None
    """The set just beaten, while one of its cards has to be picked up (R13)."""
    passed: Mask = 0
    """Bit `seat`: this seat's last turn in the running round was a pass (R10)."""
    discarded: tuple[Card, ...] = ()
    """All cards that left play in this deal, oldest first."""

    @property
    def players(self) -> int:
        """How many play."""
        return self.options.players

    @property
    def totals(self) -> tuple[int, ...]:
        """Each seat's penalties so far, added up."""
        return totals_of(self.penalties, self.players)

    @property
    def next_opener(self) -> int:
        """The seat that opens the next deal: the one to the left of this deal's opener (R4)."""
        return self.opener if self.deal == 0 else (self.opener + 1) % self.players


NEW: Final = State()
"""The state before anything has happened."""


def totals_of(penalties: Iterable[tuple[int, ...]], players: int) -> tuple[int, ...]:
    """Each seat's penalties, added up."""
    return tuple(map(sum, zip(*penalties, strict=True))) or (0,) * players


# Commands


class StartGame(NamedTuple):
    """Starts the game; `removed` and `first_opener` were drawn by chance (R2, R4)."""

    options: Options
    removed: tuple[Colour, ...]
    first_opener: int


class StartDeal(NamedTuple):
    """Starts the next deal with this shuffled deck, dealt as `events.DealStarted` says."""

    order: tuple[Card, ...]


class PlayCards(NamedTuple):
    """A seat puts cards down.

    `pick_up` names the card of the beaten set to take. With one old card it is taken all the
    same; with several and none named the seat's next decision is the pick-up (R11, R13).
    """

    seat: int
    cards: Iterable[Card]
    pick_up: Card | None = None


class PickUp(NamedTuple):
    """A seat takes a card of the set it has beaten (R11)."""

    seat: int
    card: Card


class Pass(NamedTuple):
    """A seat passes (R10)."""

    seat: int


Action: TypeAlias = PlayCards | PickUp | Pass
"""What a seat can do."""
Command: TypeAlias = StartGame | StartDeal | Action


# Decisions


class DecisionKind(Enum):
    """What kind of thing has to be decided."""

    OPEN = "open"
    RESPOND = "respond"
    PICK_UP = "pick up"


# Each step of a game makes states and a decision. Their constructors are Python functions around
# `tuple.__new__`, which alone takes half the time; so the hot paths call that. Looking a member up
# in its Enum is slow before Python 3.12; so they have these.
_PLAYING: Final = Phase.PLAYING
_OPEN: Final = DecisionKind.OPEN
_RESPOND: Final = DecisionKind.RESPOND
_PICK_UP: Final = DecisionKind.PICK_UP


class Decision(NamedTuple):
    """What one seat has to choose now. Holds its hand: only for the seat that must act."""

    seat: int
    kind: DecisionKind
    hand: Mask
    centre: CardSet | None
    """The set to beat; for a pick-up the set that was beaten."""

    @property
    def may_pass(self) -> bool:
        """Whether this seat may pass (R5, R10, R13)."""
        return self.kind is _RESPOND

    @property
    def plays(self) -> tuple[CardSet, ...]:
        """The sets that may be put down, lowest value first."""
        return () if self.kind is _PICK_UP else plays_of(self.hand, self.centre)

    @property
    def pick_ups(self) -> tuple[Card, ...]:
        """The cards that may be taken: now, or with a response that does not go out (R11)."""
        return () if self.centre is None else self.centre.cards

    def goes_out(self, play: CardSet) -> bool:
        """Whether this play empties the hand, which ends the deal and takes nothing (R12)."""
        return play.mask == self.hand

    @property
    def default(self) -> Action:
        """What happens when time is up (D1)."""
        match self.kind:
            case DecisionKind.OPEN:
                # Plays are in order of value, then of colour.
                return PlayCards(self.seat, self.plays[0])
            case DecisionKind.RESPOND:
                return Pass(self.seat)
            case DecisionKind.PICK_UP:
                # The cards of a set are in descending order of number, then in colour order.
                return PickUp(self.seat, self.pick_ups[0])


def decision_of(state: State) -> Decision | None:
    """The decision that is open, or None while no deal is played."""
    if state.phase is not _PLAYING:
        return None
    seat, centre = state.turn, state.centre
    kind = _OPEN if centre is None else _RESPOND
    if state.beaten is not None:
        kind, centre = _PICK_UP, state.beaten
    fields = (seat, kind, state.hands[seat], centre)
    return tuple.__new__(Decision, fields)  # pyright: ignore[reportUnknownMemberType]: typeshed's


# Deciding


def decide(state: State, command: Command) -> tuple[Event, ...]:
    """The events that this command leads to.

    Raises an IllegalAction that names the rule, InvalidOption or WrongDeck; then nothing has
    changed. The end of a round, of a deal and of the game come with the action that brings
    them about.
    """
    return _DECIDE[type(command)](state, command)


def _start_game(state: State, command: StartGame) -> tuple[Event, ...]:
    if state.phase is not Phase.NOT_STARTED:
        raise AlreadyStarted("R3", "This game has started already.")
    options, removed, first_opener = command
    if len(set(removed)) != len(removed) or len(removed) != options.colours_to_remove:
        raise InvalidOption(
            "R2",
            "removed",
            f"{options.colours_to_remove} different colours have to leave the deck of this game.",
        )
    if not 0 <= first_opener < options.players:
        raise InvalidOption("R4", "first_opener", f"There is no seat {first_opener} in this game.")
    return (GameStarted(options, tuple(removed), first_opener),)


def _start_deal(state: State, command: StartDeal) -> tuple[Event, ...]:
    if state.phase is Phase.NOT_STARTED:
        raise GameNotStarted("R3", "This game has not started yet.")
    if state.phase is Phase.PLAYING:
        raise DealIsRunning("R15", "A deal is being played. The next one starts when it ends.")
    if state.phase is Phase.GAME_OVER:
        raise GameIsOver("R16", "This game is over.")
    order = tuple(command.order)
    cards = deck(state.removed)
    if len(order) != len(cards) or set(order) != set(cards):
        raise WrongDeck("The shuffled order has to hold each card of this game's deck once.")
    return (DealStarted(state.deal + 1, state.next_opener, state.players, order),)


def _play_cards(state: State, command: PlayCards) -> tuple[Event, ...]:
    seat, cards, pick_up = command
    if seat != state.turn or state.phase is not _PLAYING:
        raise _not_to_act(state)
    if state.beaten is not None:
        raise PickUpPending("R13", "First pick up a card of the set that you have beaten.")
    hand, centre = state.hands[seat], state.centre
    played = check_play(hand, centre, cards)
    play = CardsPlayed(seat, played, centre is None)
    # The empty hand comes before the pick-up (R12).
    if played.mask == hand:
        if pick_up:
            raise NothingToPickUp("R12", "This play goes out, so nothing is picked up.")
        return (play, *_deal_end(state, seat))
    if centre is None:
        if pick_up:
            raise NothingToPickUp("R11", "An opening beats nothing, so nothing is picked up.")
        return (play,)
    if pick_up is None:
        if centre.count > 1:
            return (play,)
        pick_up = centre.cards[0]
    return (play, _picked_up(seat, centre, pick_up))


def _pick_up(state: State, command: PickUp) -> tuple[Event, ...]:
    if command.seat != state.turn or state.phase is not _PLAYING:
        raise _not_to_act(state)
    if state.beaten is None:
        raise NothingToPickUp("R11", "There is nothing to pick up now.")
    return (_picked_up(command.seat, state.beaten, command.card),)


def _pass(state: State, command: Pass) -> tuple[Event, ...]:
    seat = command.seat
    if seat != state.turn or state.phase is not _PLAYING:
        raise _not_to_act(state)
    if state.beaten is not None:
        raise PickUpPending("R13", "First pick up a card of the set that you have beaten.")
    centre, centre_seat = state.centre, state.centre_seat
    if centre is None or centre_seat is None:
        raise OpenerMayNotPass("R5", "The opener may not pass. Put down one card.")
    passed = _PASSED[seat]
    if (seat + 1) % len(state.hands) != centre_seat:
        return passed
    # The turn is back at the centre's owner: everybody else has passed in a row (R14).
    return (*passed, RoundEnded(centre_seat, centre.cards))


# Half of all actions are passes, and these are all that there can be.
_PASSED: Final = tuple((Passed(seat),) for seat in range(MAX_PLAYERS))


def _not_to_act(state: State) -> IllegalAction:
    """Why a seat may not act: it is another's turn, or nobody's."""
    if state.phase is _PLAYING:
        return NotYourTurn("R4", f"Seat {state.turn} has to act now.")
    if state.phase is Phase.GAME_OVER:
        return GameIsOver("R16", "This game is over.")
    return DealNotRunning("R15", "No deal is being played now.")


def _picked_up(seat: int, beaten: CardSet, card: Card) -> CardPickedUp:
    if card not in beaten:
        raise NotInBeatenSet(
            "R11", f"{card} is not in the set that was beaten. Take one of {beaten}."
        )
    others = [old for old in beaten.cards if old is not card] if beaten.count > 1 else ()
    return CardPickedUp(seat, card, tuple(others))


def _deal_end(state: State, out: int) -> tuple[Event, ...]:
    """What follows when this seat's hand is empty (R15, R16)."""
    left = tuple([0 if seat == out else hand for seat, hand in enumerate(state.hands)])
    penalties = tuple([hand.bit_count() for hand in left])
    totals = totals_of((*state.penalties, penalties), state.players)
    ended = DealEnded(
        state.deal, out, tuple(map(cards_of, left)), cards_of(state.undealt), penalties, totals
    )
    threshold = state.options.threshold
    if threshold is not None and max(totals) < threshold:
        return (ended,)
    lowest = min(totals)
    winners = tuple([seat for seat, total in enumerate(totals) if total == lowest])
    return (ended, GameEnded(winners, totals))


_DECIDE: Final[dict[type, Callable[[State, Any], tuple[Event, ...]]]] = {
    StartGame: _start_game,
    StartDeal: _start_deal,
    PlayCards: _play_cards,
    PickUp: _pick_up,
    Pass: _pass,
}


# Folding


def evolve(state: State, event: Event) -> State:
    """The state after this event, which `decide` gave for this state."""
    return _EVOLVE[type(event)](state, event)


def fold(events: Iterable[Event], state: State = NEW) -> State:
    """The state after these events, in order."""
    return reduce(evolve, events, state)


def _game_started(_: State, event: GameStarted) -> State:
    return State(
        phase=Phase.BETWEEN_DEALS,
        options=event.options,
        removed=event.removed,
        opener=event.first_opener,
    )


def _deal_started(state: State, event: DealStarted) -> State:
    return State(
        phase=Phase.PLAYING,
        options=state.options,
        removed=state.removed,
        deal=event.number,
        opener=event.opener,
        turn=event.opener,
        hands=event.hand_masks,
        undealt=mask_of(event.undealt),
        penalties=state.penalties,
    )


_TURN: Final = State._fields.index("turn")


def _turned(
    state: State,
    turn: int,
    hands: tuple[Mask, ...],
    centre: CardSet | None,
    centre_seat: int | None,
    beaten: CardSet | None,
    passed: Mask,
    discarded: tuple[Card, ...],
) -> State:
    """The state with all that changes with a turn; what comes before `turn` stays.

    Most of a game is made here, so it does without `_replace`, which takes four times as long.
    """
    changed = (turn, hands, centre, centre_seat, beaten, passed, discarded)
    fields = state[:_TURN] + changed
    return tuple.__new__(State, fields)  # pyright: ignore[reportUnknownMemberType]: typeshed's


def _cards_played(state: State, event: CardsPlayed) -> State:
    seat, cards, opening = event
    hands, discarded = state.hands, state.discarded
    hand = hands[seat] ^ cards.mask
    beaten = None
    turn = seat + 1 if seat + 1 < len(hands) else 0
    if not opening:
        assert state.centre is not None, "a response has something to beat"
        if hand:
            # A pick-up is due after a response that leaves cards in the hand (R11, R12).
            beaten, turn = state.centre, seat
        else:
            discarded += state.centre.cards
    hands = (*hands[:seat], hand, *hands[seat + 1 :])
    passed = state.passed & ~(1 << seat)
    return _turned(state, turn, hands, cards, seat, beaten, passed, discarded)


def _card_picked_up(state: State, event: CardPickedUp) -> State:
    seat, card, discarded = event
    hands = state.hands
    turn = seat + 1 if seat + 1 < len(hands) else 0
    hands = (*hands[:seat], hands[seat] | card.mask, *hands[seat + 1 :])
    discarded = state.discarded + discarded
    centre, centre_seat, passed = state.centre, state.centre_seat, state.passed
    return _turned(state, turn, hands, centre, centre_seat, None, passed, discarded)


def _passed(state: State, event: Passed) -> State:
    seat = event.seat
    hands, centre, centre_seat = state.hands, state.centre, state.centre_seat
    turn = seat + 1 if seat + 1 < len(hands) else 0
    passed = state.passed | 1 << seat
    return _turned(state, turn, hands, centre, centre_seat, None, passed, state.discarded)


def _round_ended(state: State, event: RoundEnded) -> State:
    discarded = state.discarded + event.discarded
    return _turned(state, event.opener, state.hands, None, None, None, 0, discarded)


def _deal_ended(state: State, event: DealEnded) -> State:
    return state._replace(
        phase=Phase.BETWEEN_DEALS, penalties=(*state.penalties, event.penalties), out=event.out
    )


def _game_ended(state: State, event: GameEnded) -> State:
    return state._replace(phase=Phase.GAME_OVER, winners=event.winners)


_EVOLVE: Final[dict[type, Callable[[State, Any], State]]] = {
    GameStarted: _game_started,
    DealStarted: _deal_started,
    CardsPlayed: _cards_played,
    CardPickedUp: _card_picked_up,
    Passed: _passed,
    RoundEnded: _round_ended,
    DealEnded: _deal_ended,
    GameEnded: _game_ended,
}
