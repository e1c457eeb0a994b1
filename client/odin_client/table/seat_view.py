"""From a table to the engine's `View`: the same value that the server has for that seat.

Built-in strategies and bots choose from it. The engine counts players from 0 without gaps; so in a
view a seat is the number of the player among those who play, clockwise.

Two things that a `View` can hold are not in the contract and stay empty: the undealt cards after
a deal, and the set just beaten while somebody else has to pick up. Neither matters to whoever has
to decide.
"""

from __future__ import annotations

from odin_client.table.model import TableModel
from odin_contract.enums import Phase
from odin_contract.values import Decision, Game
from odin_engine import Decision as EngineDecision
from odin_engine import DecisionKind, View, mask_of, set_of
from odin_engine import Options as EngineOptions
from odin_engine import Phase as EnginePhase

_PHASES = {
    Phase.PLAYING: EnginePhase.PLAYING,
    Phase.BETWEEN_DEALS: EnginePhase.BETWEEN_DEALS,
}


def seat_view(table: TableModel) -> View:
    """What the viewer of this table may know of its game; raises ValueError when there is none."""
    game = table.game
    if game is None:
        raise ValueError("No game has started at this table.")
    number = {player.seat: index for index, player in enumerate(game.players)}
    viewer = None if table.my_seat is None else number.get(table.my_seat)
    decision = table.decision
    remaining = dict(game.remaining_hands)
    return View(
        viewer=viewer,
        phase=_PHASES.get(table.phase, EnginePhase.GAME_OVER),
        options=EngineOptions(
            players=len(game.players),
            threshold=table.options.threshold,
            short_deck=table.options.short_deck,
        ),
        removed=game.removed,
        deal=game.deal,
        opener=number[game.opener],
        turn=number[decision.seat] if decision else None,
        kind=decision.kind if decision else None,
        decision=_own(decision, game, viewer) if decision and table.my_turn else None,
        hand=table.hand,
        card_counts=tuple(player.card_count for player in game.players),
        centre=game.centre,
        centre_seat=None if game.centre_seat is None else number[game.centre_seat],
        beaten=(
            set_of(decision.pick_ups)
            if decision and decision.kind is DecisionKind.PICK_UP and table.my_turn
            else None
        ),
        passed=tuple(player.passed for player in game.players),
        discarded=game.discarded,
        penalties=tuple(zip(*(player.penalties for player in game.players), strict=True)),
        totals=tuple(player.total for player in game.players),
        remaining_hands=tuple(remaining[player.seat] for player in game.players)
        if remaining
        else (),
        undealt=(),
        out=None if game.out_seat is None else number[game.out_seat],
        winners=tuple(number[seat] for seat in game.winners),
    )


def _own(decision: Decision, game: Game, viewer: int | None) -> EngineDecision | None:
    kind = decision.kind
    if viewer is None or kind is None:
        return None
    beaten = set_of(decision.pick_ups) if kind is DecisionKind.PICK_UP else game.centre
    return EngineDecision(viewer, kind, mask_of(game.hand or ()), beaten)
