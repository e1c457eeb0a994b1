"""What the log says: one short entry per thing that happened, with cards in letters.

Everything else that can be reported is in the shared sentences; a play has a shorter form here,
since the log has little room and cards are drawn in letters all over the screen.
"""

from __future__ import annotations

from collections.abc import Iterable

from odin_cli.speech.languages import _
from odin_cli.speech.sentences import presence_sentences, sentence
from odin_cli.speech.words import seat_name
from odin_client.table.model import TableModel
from odin_client.table.updates import LinkChanged, Update
from odin_contract.enums import Actor, Occupant
from odin_contract.events import (
    CardPickedUp,
    CardsPlayed,
    ChatSaid,
    Passed,
    PresenceChanged,
    RoundEnded,
)


class Log(list[str]):
    """The entries, oldest first."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        """Starts with these entries."""
        super().__init__(entries)
        self._last_play: int | None = None
        """Where the entry of the play stands whose pick-up has not been seen yet."""

    def hear(self, update: Update, table: TableModel) -> None:
        """Adds what this update has to say, if anything. A taken card joins the entry of its play.

        `table` has the update already.
        """
        match update:
            case CardsPlayed():
                self._last_play = len(self)
                self.append(_play(update, table))
            case CardPickedUp():
                self._take(update, table)
            case PresenceChanged():
                self.extend(presence_sentences(update, table))
            case _:
                if entry := _entry(update, table):
                    self.append(entry)

    def _take(self, update: CardPickedUp, table: TableModel) -> None:
        taken = _("took {card}").format(card=update.card) + _by(table, update)
        if self._last_play is None:  # the play was before the log begins
            self.append(f"{_who(table, update.seat)} {taken}")
        else:
            # Somebody may have said something since, so the play need not be the newest entry.
            self[self._last_play] += f" {taken}"
            self._last_play = None


def _play(update: CardsPlayed, table: TableModel) -> str:
    who, played = _who(table, update.seat), update.set
    cards = f"{played.value} ({played}){_by(table, update)}"
    if update.card_count:
        return f"{who} {cards}"
    if update.opening and played.count > 1:  # R6
        return _("** {who} put down everything: {cards}, out!").format(who=who, cards=cards)
    return _("** {who} {cards}, out!").format(who=who, cards=cards)


def _entry(update: Update, table: TableModel) -> str:
    match update:
        case Passed():
            mine = update.seat == table.my_seat
            said = _("You passed") if mine else _("{name} passed")
            return said.format(name=seat_name(table, update.seat)) + _by(table, update)
        case RoundEnded():
            mine = update.opener == table.my_seat
            said = _("round over, you open") if mine else _("round over, {name} opens")
            return f"-- {said.format(name=seat_name(table, update.opener))}"
        case ChatSaid(line=line):
            return f"{line.name}: {line.text}"
        case LinkChanged(online=False):
            # The banner counts the attempts; the log says only once that it happened.
            return _("Connection lost.") if update.attempt == 1 else ""
        case _:
            return sentence(update, table) or ""


def _who(table: TableModel, seat: int) -> str:
    return _("You") if seat == table.my_seat else seat_name(table, seat)


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
