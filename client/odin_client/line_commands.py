"""The commands of line mode, and how a typed play is read.

A number that can be made in more than one way, or a pick-up that is not named, is never guessed:
the command is refused with the alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, NoReturn

from odin_client import sentences
from odin_client.rules_text import RULES
from odin_client.selection import Selection, Situation, judge, pick_ups, plays_that_make
from odin_client.session import Session
from odin_client.table import TableModel
from odin_client.values import Decision, DecisionKind, Occupant, Pass, Phase, PickUp, PlayCards
from odin_engine import Card, CardSet, OdinError, set_of

HELP: Final = """\
hand              your cards                 table      the cards to beat, and who holds what
legal             all that you may play      scores     penalties of each deal, and totals
play 961          the cards that make 961    play B9 B6 B1    exactly these
play 961 take G4  and which card you pick up; needed when there are several
take G4           pick up this card          pass       pass
sort              hand by colour or number   say TEXT   talk to the table
ready             for the game or the deal   start      now, whoever is ready (host)
bot [LEVEL]       seat a bot (host)          remove NAME      take a bot away (host)
rematch           another game               rules      how to play
quit              stop; your seat is kept    leave      give your seat up"""


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
        named = sentences.listed(map(str, decision.pick_ups), "or")
        raise MistakeError(f"first take a card: {named}")
    centre = table.game.centre if table.game else None
    plays = tuple(play.set for play in decision.plays)
    situation = Situation(table.hand, centre, plays)
    cards, *rest = re.split(r"\btake\b", text, maxsplit=1, flags=re.IGNORECASE)
    play = _read_set(cards.replace(",", " ").split(), situation)
    pick_up = _read_pick_up(rest[0] if rest else "", pick_ups(play, situation))
    return PlayCards(play.cards, pick_up)


def read_take(text: str, table: TableModel) -> PickUp:
    """A pick-up as it is typed: `G4`, `4`, or nothing when there is only one card."""
    decision = _own_decision(table)
    if decision.kind is not DecisionKind.PICK_UP:
        raise MistakeError("there is nothing to take now; name the card with your play")
    taken = _read_pick_up(text, decision.pick_ups)
    assert taken is not None, "a pick-up always has cards to choose from"
    return PickUp(taken)


def _own_decision(table: TableModel) -> Decision:
    if table.decision is None or not table.my_turn:
        raise MistakeError("it is not your turn")
    return table.decision


def _read_set(words: Sequence[str], situation: Situation) -> CardSet:
    plays = situation.plays or ()
    if not words:
        raise MistakeError("say what to play, such as: play 961, or: play B9 B6 B1")
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        return _read_number(words[0], situation, plays)
    cards = [_read_card(word) for word in words]
    if missing := [str(card) for card in cards if card not in situation.hand]:
        raise MistakeError(f"you do not hold {sentences.listed(missing)}")
    try:
        chosen = set_of(cards)
    except OdinError as error:
        raise MistakeError(error.message) from error
    if chosen not in plays:
        _refuse(Selection(cards=tuple(cards)), situation)
    return chosen


def _read_number(digits: str, situation: Situation, plays: Sequence[CardSet]) -> CardSet:
    # Digits in any order: it is the cards that count (R9).
    value = int("".join(sorted(digits, reverse=True)))
    found = plays_that_make(value, plays)
    if len(found) > 1:
        ways = sentences.listed((f"play {play}" for play in found), "or")
        raise MistakeError(f"{value} can be made in {len(found)} ways: {ways}")
    if not found:
        typed = reduce(lambda s, digit: s.typed(int(digit), situation.hand), digits, Selection())
        if len(typed.cards) < len(digits):
            raise MistakeError(f"your cards do not make {value}")
        _refuse(typed, situation)
    return found[0]


def _refuse(selection: Selection, situation: Situation) -> NoReturn:
    why = judge(selection, situation).text
    raise MistakeError(f"{' '.join(map(str, selection.cards))} cannot be played: {why}")


def _read_card(word: str) -> Card:
    try:
        return Card.parse(word.upper())
    except OdinError as error:
        raise MistakeError(error.message) from error


def _read_pick_up(text: str, among: Sequence[Card]) -> Card | None:
    word = text.strip()
    if not among:
        if word:
            raise MistakeError("this play takes no card")
        return None
    fitting = among
    if word.isascii() and word.isdigit():
        fitting = [card for card in among if str(card.number) == word]
    elif word:
        fitting = [card for card in among if card is _read_card(word)]
    if len(fitting) == 1:
        return fitting[0]
    choices = sentences.listed(map(str, among), "or")
    if word and not fitting:
        raise MistakeError(f"{word} cannot be taken; there is {choices}")
    raise MistakeError(f"say which card to take: {choices}")


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
        not_my_turn = "it is not your turn"
        not_now = "not while a deal is being played"
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
            "bot": Command(self._bot, waiting, "only while the table waits"),
            "remove": Command(self._remove, waiting, "only while the table waits"),
            "rematch": Command(self._rematch, in_phase(Phase.GAME_OVER), "the game is not over"),
            "rules": Command(self._rules, lambda: True),
            "help": Command(self._help, lambda: True),
        }
        """By name; quitting is not among them, since it is not the table's business."""

    def hand_in_order(self) -> list[Card]:
        """The own hand by colour, or by number."""
        if self._by_number:
            return sorted(self._table.hand, key=lambda card: (-card.number, card))
        return list(self._table.hand)

    async def _hand(self, _: str) -> None:
        self._say(sentences.hand_sentence(self.hand_in_order()))

    async def _show_table(self, _: str) -> None:
        self._say(sentences.centre_sentence(self._table))
        if self._table.game is not None:
            for line in sentences.players_sentences(self._table):
                self._say(line)

    async def _legal(self, _: str) -> None:
        decision = _own_decision(self._table)
        for play in decision.plays:
            self._say(sentences.play_line(play))
        if decision.kind is DecisionKind.PICK_UP:
            for card in decision.pick_ups:
                self._say(f"take {card}")
        elif len(decision.pick_ups) > 1 and decision.plays:
            choices = sentences.listed(map(str, decision.pick_ups), "or")
            self._say(f"and with it: take {choices}")
        if decision.may_pass:
            self._say("pass")

    async def _play(self, text: str) -> None:
        await self._settled(await self._session.act(read_play(text, self._table)))

    async def _take(self, text: str) -> None:
        await self._settled(await self._session.act(read_take(text, self._table)))

    async def _pass(self, _: str) -> None:
        if not _own_decision(self._table).may_pass:
            raise MistakeError("you may not pass now")
        await self._settled(await self._session.act(Pass()))

    async def _sort(self, _: str) -> None:
        self._by_number = not self._by_number
        await self._hand("")

    async def _chat(self, text: str) -> None:
        if not text:
            raise MistakeError("say what? Like: say hello")
        await self._session.chat(text)

    async def _scores(self, _: str) -> None:
        for line in sentences.scores_sentences(self._table):
            self._say(line)

    async def _ready(self, _: str) -> None:
        await self._session.ready()

    async def _start(self, _: str) -> None:
        await self._session.start()

    async def _bot(self, level: str) -> None:
        await self._session.add_bot(level)

    async def _remove(self, name: str) -> None:
        for seat in self._table.seats:
            is_bot = seat.occupant is Occupant.BUILT_IN_BOT
            if is_bot and seat.name.casefold() == name.casefold():
                await self._session.remove_bot(seat.seat)
                return
        raise MistakeError(f"no built-in bot is called {name or 'that'}; like: remove NAME")

    async def _rematch(self, _: str) -> None:
        await self._session.rematch()

    async def _rules(self, _: str) -> None:
        self._say(RULES.rstrip())

    async def _help(self, _: str) -> None:
        self._say(HELP)
