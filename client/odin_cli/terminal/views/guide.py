"""What a newcomer is told during the first deal, a line at a time: the guided hand. Pure.

It says what can be done now and why one would, never which card is best. A line is short enough for
a terminal of 80 columns; in a narrow one its end is missing, never its beginning.
"""

from __future__ import annotations

from odin_cli.play.selection import pick_ups
from odin_cli.speech.languages import _
from odin_cli.terminal.views.screen import Screen
from odin_contract.enums import Phase
from odin_contract.values import Decision
from odin_engine import DecisionKind


def tip(screen: Screen) -> str:
    """What to tell now; empty after the first deal, and for whoever does not play."""
    game = screen.table.game
    if game is None or game.deal != 1 or screen.table.my_seat is None:
        return ""
    match screen.table.phase:
        case Phase.PLAYING if screen.my_decision is not None:
            return _on_turn(screen, screen.my_decision)
        case Phase.PLAYING:
            return _("The others play: ▶ marks who is on turn, the log tells. ? has all keys.")
        case Phase.BETWEEN_DEALS:
            return _("Each card that was left costs a point; the fewest points win. Enter goes on.")
        case _:
            return ""


def _on_turn(screen: Screen, decision: Decision) -> str:
    if screen.choosing_pick_up:
        return _("One beaten card joins your hand: type its number or letter, then Enter.")
    if not screen.selection.cards:
        return _to_choose(decision)
    play = screen.selection.card_set
    if play is None or not screen.verdict.good:
        return _("This cannot be played, see above why. Backspace or Esc puts cards back.")
    if len(pick_ups(play, screen.situation)) > 1:
        return _("Enter plays it; then you choose one of the beaten cards to take.")
    return _("Enter plays it.")


def _to_choose(decision: Decision) -> str:
    if decision.kind is DecisionKind.OPEN:
        said = _("You open: put one card down. Type its number, such as {number}, or Tab.")
    elif not decision.plays:
        return _("You have nothing that beats this: p passes. Your turn may well come back.")
    else:
        said = _("Beat the centre: type a higher number, such as {number}, or Tab; p passes.")
    # The lowest one, only to show what is meant: any legal play of this hand would do.
    return said.format(number=decision.plays[0].set.value)
