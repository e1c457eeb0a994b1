"""What the log says: one short entry per thing that happened, with cards in letters.

Everything else that can be reported is in the shared sentences; a play has a shorter form here,
since the log has little room and cards are drawn in letters all over the screen.
"""

from __future__ import annotations

from odin_client.languages import _
from odin_client.sentences import sentence
from odin_client.table import TableModel
from odin_client.updates import (
    CardPickedUp,
    CardsPlayed,
    ChatSaid,
    LinkChanged,
    Passed,
    RoundEnded,
    Update,
)
from odin_client.values import Actor, Occupant


def add_to(log: list[str], update: Update, table: TableModel) -> None:
    """Adds what this update has to say, if anything. A taken card joins the entry of its play."""
    match update:
        case CardsPlayed(set=played):
            entry = f"{_who(table, update.seat)} {played.value} ({played}){_by(table, update)}"
        case CardPickedUp() if log:
            log[-1] += " " + _("took {card}").format(card=update.card) + _by(table, update)
            return
        case Passed():
            mine = update.seat == table.my_seat
            said = _("You passed") if mine else _("{name} passed")
            entry = said.format(name=table.name_of(update.seat)) + _by(table, update)
        case RoundEnded():
            mine = update.opener == table.my_seat
            said = _("round over, you open") if mine else _("round over, {name} opens")
            entry = f"-- {said.format(name=table.name_of(update.opener))}"
        case ChatSaid(line=line):
            entry = f"{line.name}: {line.text}"
        case LinkChanged(online=False):
            # The banner counts the attempts; the log says only once that it happened.
            entry = _("Connection lost.") if update.attempt == 1 else ""
        case _:
            entry = sentence(update, table) or ""
    if entry:
        log.append(entry)


def _who(table: TableModel, seat: int) -> str:
    return _("You") if seat == table.my_seat else table.name_of(seat)


def _by(table: TableModel, update: CardsPlayed | CardPickedUp | Passed) -> str:
    """Who chose, when it was not whoever holds the seat."""
    match update.actor:
        case Actor.SUBSTITUTE:
            return f" ({_('substitute')})"
        case Actor.CLOCK:
            # Only of a bot, or of whoever plays for somebody, can it be that it failed.
            person = table.seats[update.seat].occupant is Occupant.PERSON
            return f" ({_('time was up') if person else _('by default')})"
        case _:
            return ""
