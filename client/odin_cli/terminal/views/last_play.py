"""The last play of a round and of a deal, which stays to be read for a moment. Pure.

The server clears the centre in the same batch in which the last pass comes, and a deal that is over
is no longer drawn as a board: without this nobody would see what ended it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from odin_cli.speech.languages import _
from odin_cli.speech.words import player_name
from odin_cli.terminal.views.screen import Screen
from odin_client.table.model import TableModel
from odin_client.table.updates import Update
from odin_contract.enums import Phase
from odin_contract.events import DealEnded, RoundEnded
from odin_contract.values import Game
from odin_engine import set_of

_LIVE: Final = 8
"""Events. What lies further back came while catching up, and nobody needs to see it again."""


def to_linger_on(update: Update, table: TableModel) -> Game | None:
    """The game with the centre that this update takes away; None when there is nothing to see."""
    game = table.game
    if not isinstance(update, RoundEnded | DealEnded) or game is None:
        return None
    if table.seq - update.seq > _LIVE:
        return None
    if isinstance(update, DealEnded):  # its centre lies there until the next deal
        return game if game.centre is not None and game.deal == update.deal else None
    if game.centre is not None or not update.discarded:
        return None
    return replace(game, centre=set_of(update.discarded), centre_seat=update.opener)


def shown_with(screen: Screen, game: Game) -> Screen:
    """The screen as it was when this game was the present: nobody is on turn."""
    view = replace(screen.table.view, game=game, phase=Phase.PLAYING, decision=None)
    return replace(screen, table=replace(screen.table, view=view))


def went_out(screen: Screen, game: Game) -> str:
    """Who has ended the deal, in a few words; empty at the end of a round."""
    if game.out_seat is None:
        return ""
    mine = screen.table.played_by_me(game.out_seat)
    text = _("you went out with {value}") if mine else _("{name} went out with {value}")
    return text.format(
        name=player_name(screen.table, game.out_seat),
        value=game.centre.value if game.centre else "",
    )
