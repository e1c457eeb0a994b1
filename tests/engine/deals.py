"""Games with chosen hands, for the tests."""

from __future__ import annotations

from collections.abc import Sequence

from odin_engine import (
    NEW,
    Card,
    CardSet,
    Command,
    Decision,
    Options,
    StartDeal,
    StartGame,
    State,
    cards_of,
    decide,
    decision_of,
    deck,
    fold,
    mask_of,
    set_of,
)


def cards(text: str) -> tuple[Card, ...]:
    """The cards written in a text such as "R7 B3"."""
    return tuple(map(Card.parse, text.split()))


def card_set(text: str) -> CardSet:
    """The set of the cards written in a text."""
    return set_of(cards(text))


def started(players: int, *, threshold: int | None = 15, first_opener: int = 0) -> State:
    """A game without a short deck, before its first deal."""
    options = Options(players, threshold, short_deck=False)
    return fold(decide(NEW, StartGame(options, (), first_opener)))


def do(state: State, *commands: Command) -> State:
    """The state after these commands."""
    for command in commands:
        state = fold(decide(state, command), state)
    return state


def dealt(state: State, *hands: str) -> State:
    """The state after a deal in which the first cards of each hand are these.

    Cards that a hand lacks are taken from the end of the deck.
    """
    chosen = [list(cards(hand)) for hand in hands]
    named = [card for hand in chosen for card in hand]
    rest = [card for card in deck(state.removed) if card not in named]
    for hand in chosen:
        while len(hand) < 9:
            hand.append(rest.pop())
    order = [card for hand in chosen for card in hand]
    return do(state, StartDeal((*order, *rest)))


def holding(state: State, *hands: str) -> State:
    """The state with exactly these hands; the other cards count as discarded.

    Short hands say what a rule is about; a real deal would take many turns to get there.
    """
    masks = tuple(mask_of(cards(hand)) for hand in hands)
    held = {card for hand in hands for card in cards(hand)}
    gone = tuple(card for card in deck(state.removed) if card not in held)
    return state._replace(hands=masks, discarded=gone, undealt=0)


def decision(state: State) -> Decision:
    """The decision that is open."""
    found = decision_of(state)
    assert found is not None
    return found


def plays(state: State) -> set[str]:
    """The legal plays, as text."""
    return {str(play) for play in decision(state).plays}


def all_cards(state: State) -> Sequence[Card]:
    """Every card that the state knows of, in order: has to be the deck."""
    found = [card for hand in state.hands for card in cards_of(hand)]
    found += state.discarded
    found += cards_of(state.undealt)
    for lying in (state.centre, state.beaten):
        found += lying.cards if lying else ()
    return sorted(found)
