"""The commands of line mode, and how a typed play is read.

A number that can be made in more than one way, or a pick-up that is not named, is never guessed:
the command is refused with the alternatives.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, NoReturn

from odin_cli.play.hand_order import by_colour, by_number
from odin_cli.play.selection import Selection, Situation, judge, pick_ups, plays_that_make
from odin_cli.speech import sentences
from odin_cli.speech.languages import _
from odin_cli.speech.rules_text import rules_text
from odin_cli.speech.text_width import text_width
from odin_cli.speech.words import alternatives, listed
from odin_client.session.session import Session
from odin_client.table.model import TableModel
from odin_contract.enums import Phase
from odin_contract.limits import CHAT_LENGTH
from odin_contract.texts import clean
from odin_contract.values import (
    Decision,
    Pass,
    PickUp,
    PlayCards,
)
from odin_engine import Card, CardSet, DecisionKind, OdinError


def help_lines() -> list[str]:
    """What can be typed, one command a line."""
    described = (
        ("hand", _("your cards")),
        ("table", _("the cards to beat, and who holds what")),
        ("legal", _("all that you may play")),
        ("play 961", _("the cards that make 961")),
        ("play B9 B6 B1", _("exactly these cards")),
        ("play 961 take G4", _("and which card you pick up; needed when there are several")),
        ("take G4", _("pick up this card")),
        ("pass", _("let the others play")),
        ("sort", _("your hand by colour or by number")),
        ("scores", _("penalties of each deal, and totals")),
        ("say TEXT", _("talk to the table")),
        ("ready", _("for the game or the next deal")),
        ("start", _("now, whoever is ready (host)")),
        ("bot [LEVEL]", _("seat a bot (host)")),
        ("remove NAME", _("free the seat of a bot or a person (host)")),
        ("rematch", _("another game")),
        ("rules", _("how to play")),
        ("quit", _("stop; your seat is kept")),
        ("leave", _("give your seat up")),
    )
    return [f"{typed:<18}{meaning}" for typed, meaning in described]


class MistakeError(Exception):
    """A command that cannot be done; says why, and what would do."""


@dataclass(frozen=True)
class Command:
    """One thing that can be typed."""

    do: Callable[[str], Awaitable[None]]
    """Takes the rest of the line. May raise MistakeError, Refused and Unreachable."""
    possible: Callable[[], bool]
    """Whether it can be done now; in a pipe it waits until then."""
    otherwise: str = ""
    """What a person is told when it cannot."""


def read_play(text: str, table: TableModel) -> PlayCards:
    """A play as it is typed: `961`, `961 take G4` or `B9 B6 B1 take G4`.

    Raises MistakeError: no such card, not legal, or more than one way to understand it.
    """
    decision = _own_decision(table)
    if decision.kind is DecisionKind.PICK_UP:
        named = alternatives(map(str, decision.pick_ups))
        raise MistakeError(_("first take a card: {cards}").format(cards=named))
    centre = table.game.centre if table.game else None
    plays = tuple(play.set for play in decision.plays)
    situation = Situation(table.hand, centre, plays)
    text = unicodedata.normalize("NFKC", text)
    cards, *rest = re.split(r"\btake\b", text, maxsplit=1, flags=re.IGNORECASE)
    play = _read_set(cards.replace(",", " ").split(), situation)
    pick_up = _read_pick_up(rest[0] if rest else "", pick_ups(play, situation))
    return PlayCards(play.cards, pick_up)


def read_take(text: str, table: TableModel) -> PickUp:
    """A pick-up as it is typed: `G4`, `4`, or nothing when there is only one card."""
    decision = _own_decision(table)
    if decision.kind is not DecisionKind.PICK_UP:
        raise MistakeError(_("there is nothing to take now; name the card with your play"))
    taken = _read_pick_up(unicodedata.normalize("NFKC", text), decision.pick_ups)
    assert taken is not None, "a pick-up always has cards to choose from"
    return PickUp(taken)


def _own_decision(table: TableModel) -> Decision:
    if table.decision is None or not table.my_turn:
        raise MistakeError(_("it is not your turn"))
    return table.decision


def _read_set(words: Sequence[str], situation: Situation) -> CardSet:
    plays = situation.plays or ()
    if not words:
        raise MistakeError(_("say what to play, such as: play 961, or: play B9 B6 B1"))
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        return _read_number(words[0], situation, plays)
    cards = [_read_card(word) for word in words]
    if missing := [str(card) for card in cards if card not in situation.hand]:
        raise MistakeError(_("you do not hold {cards}").format(cards=listed(missing)))
    if len(set(cards)) < len(cards):
        raise MistakeError(_("name each card once"))
    chosen = Selection(cards=tuple(cards))
    if chosen.card_set is None or chosen.card_set not in plays:
        _refuse(chosen, situation)
    return chosen.card_set


def _read_number(digits: str, situation: Situation, plays: Sequence[CardSet]) -> CardSet:
    # Digits in any order: it is the cards that count (R9).
    value = int("".join(sorted(digits, reverse=True)))
    found = plays_that_make(value, plays)
    if len(found) > 1:
        ways = alternatives(f"play {play}" for play in found)
        raise MistakeError(
            _("{value} can be made in {count} ways: {ways}").format(
                value=value, count=len(found), ways=ways
            )
        )
    if not found:
        typed = reduce(lambda s, digit: s.typed(int(digit), situation.hand), digits, Selection())
        if len(typed.cards) < len(digits):
            raise MistakeError(_("your cards do not make {value}").format(value=value))
        _refuse(typed, situation)
    return found[0]


def _refuse(selection: Selection, situation: Situation) -> NoReturn:
    cards = " ".join(map(str, selection.cards))
    why = judge(selection, situation).text
    raise MistakeError(_("{cards} cannot be played: {reason}").format(cards=cards, reason=why))


def _read_card(word: str) -> Card:
    try:
        return Card.parse(word.upper())
    except OdinError as error:
        raise MistakeError(
            _(
                "{word} is no card; a card is a letter of R O Y G B V and a number, such as R7"
            ).format(word=word)
        ) from error


def _read_pick_up(text: str, among: Sequence[Card]) -> Card | None:
    word = text.strip()
    if not among:
        if word:
            raise MistakeError(_("this play takes no card"))
        return None
    fitting = among
    if word.isascii() and word.isdigit():
        fitting = [card for card in among if str(card.number) == word]
    elif word:
        fitting = [card for card in among if card is _read_card(word)]
    if len(fitting) == 1:
        return fitting[0]
    choices = alternatives(map(str, among))
    if word and not fitting:
        raise MistakeError(
            _("{word} cannot be taken; there is {cards}").format(word=word, cards=choices)
        )
    raise MistakeError(_("say which card to take: {cards}").format(cards=choices))


class LineCommands:
    """What can be typed at a table."""

    def __init__(
        self,
        session: Session,
        say: Callable[[str], None],
        settled: Callable[[int], Awaitable[None]],
    ) -> None:
        """`say` prints a line; `settled` waits until the event with this number has come."""
        self._session: Final = session
        self._table: Final = session.table
        self._say: Final = say
        self._settled: Final = settled
        self._by_number = False

        def known() -> bool:
            return bool(self._table.log_id)

        def my_turn() -> bool:
            return self._table.my_turn

        def in_phase(*phases: Phase) -> Callable[[], bool]:
            return lambda: self._table.phase in phases

        pause = in_phase(Phase.WAITING, Phase.BETWEEN_DEALS)
        waiting = in_phase(Phase.WAITING)
        not_my_turn = _("it is not your turn")
        not_now = _("not while a deal is being played")
        only_waiting = _("only while the table waits")
        self.all: Final[Mapping[str, Command]] = {
            "hand": Command(self._hand, known),
            "table": Command(self._show_table, known),
            "legal": Command(self._legal, my_turn, not_my_turn),
            "play": Command(self._play, my_turn, not_my_turn),
            "take": Command(self._take, my_turn, not_my_turn),
            "pass": Command(self._pass, my_turn, not_my_turn),
            "sort": Command(self._sort, known),
            "say": Command(self._chat, known),
            "scores": Command(self._scores, known),
            "ready": Command(self._ready, pause, not_now),
            "start": Command(self._start, pause, not_now),
            "bot": Command(self._bot, waiting, only_waiting),
            "remove": Command(self._remove, waiting, only_waiting),
            "rematch": Command(self._rematch, in_phase(Phase.GAME_OVER), _("the game is not over")),
            "rules": Command(self._rules, lambda: True),
            "help": Command(self._help, lambda: True),
        }
        """By name; quitting is not among them, since it is not the table's business."""

    def hand_in_order(self) -> list[Card]:
        """The own hand by colour, or by number."""
        ordered = by_number if self._by_number else by_colour
        return list(ordered(self._table.hand))

    async def _hand(self, _rest: str) -> None:
        self._say(sentences.hand_sentence(self.hand_in_order()))

    async def _show_table(self, _rest: str) -> None:
        self._say(sentences.centre_sentence(self._table))
        if self._table.game is not None:
            for line in sentences.players_sentences(self._table):
                self._say(line)

    async def _legal(self, _rest: str) -> None:
        decision = _own_decision(self._table)
        for play in decision.plays:
            self._say(sentences.play_line(play))
        if decision.kind is DecisionKind.PICK_UP:
            for card in decision.pick_ups:
                self._say(f"take {card}")
        elif len(decision.pick_ups) > 1 and decision.plays:
            choices = alternatives(f"take {card}" for card in decision.pick_ups)
            self._say(_("and with it: {choices}").format(choices=choices))
        if decision.may_pass:
            self._say("pass")

    async def _play(self, text: str) -> None:
        await self._settled(await self._session.act(read_play(text, self._table)))

    async def _take(self, text: str) -> None:
        await self._settled(await self._session.act(read_take(text, self._table)))

    async def _pass(self, _rest: str) -> None:
        if not _own_decision(self._table).may_pass:
            raise MistakeError(_("you may not pass now"))
        await self._settled(await self._session.act(Pass()))

    async def _sort(self, _rest: str) -> None:
        self._by_number = not self._by_number
        await self._hand("")

    async def _chat(self, text: str) -> None:
        if not text:
            raise MistakeError(_("say what? Like: say hello"))
        limit = self._session.connection.info.max_chat_length or CHAT_LENGTH
        if (length := len(clean(text, len(text)))) > limit:
            raise MistakeError(
                _("that has {length} characters; say at most {limit} at a time").format(
                    length=length, limit=limit
                )
            )
        await self._session.chat(text)

    async def _scores(self, _rest: str) -> None:
        for line in sentences.scores_sentences(self._table):
            self._say(line)

    async def _ready(self, _rest: str) -> None:
        await self._session.ready()

    async def _start(self, _rest: str) -> None:
        await self._session.start()

    async def _bot(self, level: str) -> None:
        await self._session.add_bot(level)

    async def _remove(self, name: str) -> None:
        seat = self._table.seat_named(name)
        if seat is None:
            raise MistakeError(
                _("nobody here is called {name}; like: remove NAME").format(name=name or "?")
            )
        await self._session.free_seat(seat)

    async def _rematch(self, _rest: str) -> None:
        await self._session.rematch()

    async def _rules(self, _rest: str) -> None:
        self._say(rules_text(text_width(sys.stdout)).rstrip())

    async def _help(self, _rest: str) -> None:
        self._say("\n".join(help_lines()))
