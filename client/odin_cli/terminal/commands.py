"""What a person can do, as named commands. Keys and clicks are bound to these names.

A command only changes the screen or sets a call going; nothing here waits, so a key is never
slow. What a call is refused with becomes a notice.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Final, TypeAlias

from odin_cli.lan.invitation import qr_lines
from odin_cli.play.selection import Selection, next_of_number, pick_ups
from odin_cli.speech.complaints import complaint
from odin_cli.speech.languages import _
from odin_cli.speech.sentences import sentence
from odin_cli.speech.words import colour_name
from odin_cli.terminal.automatic import Automatic
from odin_cli.terminal.keys import ALWAYS, Binding, bindings, bound
from odin_cli.terminal.views.cells import Click
from odin_cli.terminal.views.frame import fits
from odin_cli.terminal.views.pages import help_rows, rules_rows
from odin_cli.terminal.views.screen import Page, Question, Screen, Sort
from odin_client.errors import ClientError
from odin_client.session.table_calls import TableCalls
from odin_client.table.updates import DealChecked, LinkChanged, SnapshotTaken, Update
from odin_contract.enums import Occupant, Phase
from odin_contract.events import (
    CardPickedUp,
    DealEnded,
    DealStarted,
    DecisionOpened,
    GameEnded,
    GameStarted,
    TableClosed,
)
from odin_contract.values import (
    Action,
    Decision,
    Pass,
    PickUp,
    PlayCards,
)
from odin_engine import Card, Colour, DecisionKind

Spawn: TypeAlias = Callable[[Coroutine[None, None, None]], None]
"""Lets a coroutine run on its own."""

SCORES_STAY: Final = 0.7
"""Seconds after a deal in which no key takes its scores away: it may have been meant to play."""

Command: TypeAlias = Callable[..., None]
"""Takes the argument of its binding, if that has one."""


class Commands:
    """The commands of one person at one table."""

    def __init__(
        self,
        screen: Screen,
        session: TableCalls,
        spawn: Spawn,
        size: Callable[[], tuple[int, int]],
        leave_for_good: Callable[[], None],
        ascii_only: bool,
        of_the_terminal: Mapping[str, Command],
    ) -> None:
        """Binds the names of the commands.

        `size` gives the columns and rows of the terminal, `leave_for_good` ends the client,
        `ascii_only` says whether no picture can be drawn;
        `of_the_terminal` are the commands that are about the terminal and not about the game.
        """
        self._screen: Final = screen
        self._session: Final = session
        self._spawn: Final = spawn
        self._size: Final = size
        self._leave_for_good: Final = leave_for_good
        self._ascii_only: Final = ascii_only
        self._scores_since = -math.inf
        self.unsaid = ""
        """A line of chat that did not get through, to be sent again."""
        self._table: Final[Mapping[str, Command]] = {
            "open": self._open,
            "invite": self._invite,
            "scroll": self._scroll,
            "stay": self._stay,
            "leave": self._leave,
            "close_table": self._close_table,
            "ready": self._ready,
            "start": self._start,
            "rematch": self._rematch,
            "to_waiting_room": self._to_waiting_room,
            "add_bot": self._add_bot,
            "remove_bot": self._remove_bot,
            "change_level": self._change_level,
            "retry": session.retry_now,
            "type_number": self._type_number,
            "type_colour": self._type_colour,
            "walk": self._walk,
            "move": self._move,
            "toggle": self._toggle,
            "click_card": self._click_card,
            "whole_hand": self._whole_hand,
            "put_back": self._put_back,
            "clear": self._clear,
            "sort": self._sort,
            "play": self._play,
            "pass_turn": self._pass_turn,
            "type_pick_up": self._type_pick_up,
            "type_pick_up_colour": self._type_pick_up_colour,
            "walk_pick_up": self._walk_pick_up,
            "choose_pick_up": self._choose_pick_up,
            "take": self._take,
            **of_the_terminal,
        }

    # What comes in

    def press(self, key: str) -> None:
        """Does what the key means now; a key that means nothing only takes the notice away.

        While the terminal is too small to show the game, it cannot be played either.
        """
        self._screen.notice = ""
        if self._screen.lingering is not None and self._screen.table.phase is not Phase.PLAYING:
            self.linger_no_more()  # the key only leads on to the scores
            return
        self._screen.lingering = None
        binding = bound(key, bindings(self._screen) if fits(*self._size()) else ALWAYS)
        if binding is not None and not self._is_meant_for_the_board(binding):
            self._do(binding.command, binding.argument)

    def _is_meant_for_the_board(self, binding: Binding) -> bool:
        """Whether the scores have only just appeared below a finger that was about to play."""
        leaves_the_scores = binding.command in ("ready", "start", "rematch")
        return leaves_the_scores and time.monotonic() - self._scores_since < SCORES_STAY

    def click(self, click: Click) -> None:
        """Does what was clicked on, unless a question or a page is in front of it."""
        self._screen.notice = ""
        in_front = self._screen.question is Question.LEAVE or self._screen.page is not Page.TABLE
        if not in_front or any(b.command == click.command for b in bindings(self._screen)):
            self._do(click.command, click.argument)

    def hear(self, update: Update) -> None:
        """Takes note of something that the session reports; the table has it already."""
        screen = self._screen
        warned = screen.checked is not None and not screen.checked.in_full
        if isinstance(update, LinkChanged):
            screen.link = None if update.online else update
        if isinstance(update, CardPickedUp) and update.seat == screen.table.my_seat:
            screen.fresh = update.card
        self._keep_scores(update)
        if screen.my_decision is not None and screen.notice == screen.until_my_turn:
            screen.notice = screen.until_my_turn = ""
        if isinstance(update, DealEnded | GameEnded):
            self._scores_since = time.monotonic()
        if isinstance(update, DealStarted) or (isinstance(update, SnapshotTaken) and not warned):
            screen.checked = None
        if isinstance(update, DealChecked):
            screen.checked = update
        if isinstance(update, GameEnded):
            screen.guided = False  # whoever has finished a game is no newcomer any more
        if isinstance(update, TableClosed):
            screen.ended = sentence(update, screen.table) or ""
        screen.log.hear(update, screen.table)
        screen.selection = screen.selection.kept(screen.table.hand, screen.takeable)
        asked_about_a_play = screen.question not in (None, Question.LEAVE)
        if asked_about_a_play and (
            screen.my_decision is None or isinstance(update, DecisionOpened)
        ):
            screen.question = None
        if screen.choosing_pick_up and screen.selection.pick_up is None:
            screen.selection = screen.selection.taking(screen.takeable[0])

    def linger_no_more(self) -> None:
        """Shows what there is now; scores that appear only now have to stay for a moment."""
        if self._screen.lingering is not None:
            self._screen.lingering = None
            if self._screen.table.phase is not Phase.PLAYING:
                self._scores_since = time.monotonic()

    def _keep_scores(self, update: Update) -> None:
        """The final scores stay until this person leaves them, or has to play the next game."""
        screen, game = self._screen, self._screen.table.game
        if isinstance(update, GameStarted):
            if screen.reading_scores:
                screen.notice = _("The next game has started; w shows the last scores.")
            screen.saved, screen.reading_scores = "", False
        elif isinstance(update, GameEnded) or screen.table.phase is Phase.GAME_OVER:
            screen.reading_scores = True
            screen.guided = False  # whoever has finished a game is no newcomer
        if game is not None and game.winners:
            screen.last_game = game

    def _do(self, command: str, argument: object) -> None:
        # A question about a play is withdrawn by doing anything else than what asked it.
        asked_by = {Question.PASS: "pass_turn", Question.HOLD_BACK: "play"}
        question = self._screen.question
        if question in asked_by and command != asked_by[question]:
            self._screen.question = None
        if argument is None:
            self._table[command]()
        else:
            self._table[command](argument)

    # Pages and questions

    def _open(self, page: Page) -> None:
        self._screen.page = page
        self._screen.scroll = 0

    def _invite(self) -> None:
        screen = self._screen
        first = screen.invitation.partition("\n")[0]
        if first and not screen.picture:
            screen.picture = tuple(qr_lines(first, ascii_only=self._ascii_only))
        self._open(Page.INVITE)

    def _scroll(self, lines: int) -> None:
        screen = self._screen
        backwards = screen.page is Page.LOG
        cols = self._size()[0]
        match screen.page:
            case Page.LOG:
                last = len(screen.log)
            case Page.RULES:
                last = len(rules_rows(cols))
            case _:
                last = len(help_rows(screen, cols))
        wanted = screen.scroll + (-lines if backwards else lines)
        screen.scroll = max(min(wanted, last - 1), 0)

    def _stay(self) -> None:
        if self._screen.question is Question.PICK_UP:
            self._choose(self._screen.selection.taking(None))
        self._screen.question = None

    # The table

    def _leave(self) -> None:
        screen = self._screen
        here = screen.table.my_seat is not None or screen.table.i_am_host
        if not here or screen.table.phase is Phase.CLOSED:
            self._leave_for_good()
        elif screen.question is not Question.LEAVE:
            screen.question = Question.LEAVE
        elif screen.table.my_seat is None or screen.ends_with_me:
            self._leave_for_good()
        else:
            self._call(self._session.leave(), then=self._leave_for_good)

    def _close_table(self) -> None:
        self._call(self._session.close_table(), then=self._leave_for_good)

    def _ready(self) -> None:
        table = self._screen.table
        # Before a game one may change one's mind; between deals a second Enter means the same.
        undo = table.phase is Phase.WAITING and table.me is not None and table.me.ready
        self._call(self._session.ready(not undo))

    def _start(self) -> None:
        self._call(self._session.start())

    def _rematch(self) -> None:
        self._call(self._session.rematch(), then=self._to_waiting_room)

    def _to_waiting_room(self) -> None:
        self._screen.reading_scores = False

    def _add_bot(self, seat: int | None = None) -> None:
        self._call(self._session.add_bot(self._screen.level, seat=seat))

    def _remove_bot(self) -> None:
        bots = [s.seat for s in self._screen.table.seats if s.occupant is Occupant.BUILT_IN_BOT]
        if bots:
            self._call(self._session.remove_bot(bots[-1]))
        else:
            self._screen.notice = _("There is no bot here that you could remove.")

    def remove(self, name: str) -> None:
        """Frees the seat that was typed, by its name or number."""
        seat = self._screen.table.seat_named(name)
        if seat is not None:
            self._call(self._session.free_seat(seat))
        elif name.strip():
            self._screen.notice = _("Nobody here is called {name}.").format(name=name.strip())

    def _change_level(self, step: int) -> None:
        levels = self._screen.levels
        at = levels.index(self._screen.level) if self._screen.level in levels else 0
        self._screen.level = levels[(at + step) % len(levels)]

    def say(self, text: str) -> None:
        """Says a line to everybody at the table."""
        said = text.strip()

        def keep() -> None:
            self.unsaid = said
            self._screen.notice += " " + _("c brings your text back.")

        self.unsaid = ""
        if said:
            self._call(self._session.chat(said), otherwise=keep)

    # Choosing cards

    def _choose(self, selection: Selection) -> None:
        """Takes over a selection, and puts the cursor at the card that was added to it last."""
        screen = self._screen
        added = [card for card in selection.cards if card not in screen.selection.cards]
        if added and added[-1] in screen.hand:
            screen.cursor = screen.hand.index(added[-1])
        screen.selection = selection

    def _type_number(self, number: int) -> None:
        screen = self._screen
        typed = screen.selection.typed(number, screen.hand)
        if typed == screen.selection:
            screen.notice = _no_card(number, typed)
        self._choose(typed)

    def _type_colour(self, colour: Colour) -> None:
        self._choose(self._screen.selection.limited_to(colour))

    def _walk(self, step: int) -> None:
        plays = self._screen.situation.plays
        if plays is None:
            self._tell_until_my_turn(_("The legal plays come with your turn."))
        self._choose(self._screen.selection.walked(plays or (), step))

    def _move(self, step: int) -> None:
        hand = self._screen.hand
        if hand:
            self._screen.cursor = (min(self._screen.cursor, len(hand) - 1) + step) % len(hand)

    def _toggle(self) -> None:
        hand = self._screen.hand
        if hand:
            self._click_card(hand[min(self._screen.cursor, len(hand) - 1)])

    def _click_card(self, card: Card) -> None:
        if card in self._screen.hand:
            self._screen.cursor = self._screen.hand.index(card)  # also when it is put back
            self._choose(self._screen.selection.toggled(card))

    def _whole_hand(self) -> None:
        self._choose(self._screen.selection.whole(self._screen.hand))

    def _put_back(self) -> None:
        self._choose(self._screen.selection.without_last())

    def _clear(self) -> None:
        self._choose(Selection())

    def _sort(self) -> None:
        screen = self._screen
        screen.sort = Sort.NUMBER if screen.sort is Sort.COLOUR else Sort.COLOUR

    # Choosing the card to pick up

    def _type_pick_up(self, number: int) -> None:
        screen = self._screen
        card = next_of_number(number, screen.takeable, screen.selection.pick_up)
        if card is None:
            screen.notice = _("There is no {number} to take.").format(number=number)
        else:
            self._choose(screen.selection.taking(card))

    def _type_pick_up_colour(self, colour: Colour) -> None:
        screen = self._screen
        of_it = [card for card in screen.takeable if card.colour is colour]
        if not of_it:
            screen.notice = _("There is no {colour} card to take.").format(
                colour=colour_name(colour)
            )
        else:
            now = screen.selection.pick_up
            at = of_it.index(now) + 1 if now in of_it else 0
            self._choose(screen.selection.taking(of_it[at % len(of_it)]))

    def _walk_pick_up(self, step: int) -> None:
        screen = self._screen
        cards, now = screen.takeable, screen.selection.pick_up
        if not cards:
            screen.notice = _("There is no card to take.")
        elif now in cards:
            self._choose(screen.selection.taking(cards[(cards.index(now) + step) % len(cards)]))
        else:
            self._choose(screen.selection.taking(cards[0 if step > 0 else -1]))

    def _choose_pick_up(self, card: Card) -> None:
        if card in self._screen.takeable:
            self._choose(self._screen.selection.taking(card))

    # Acting

    def _play(self) -> None:
        screen, here = self._screen, self._screen.situation
        verdict = screen.verdict
        play = screen.selection.card_set
        if not self._may_act():
            return
        if not screen.selection.cards:
            screen.notice = _("Choose cards first: type their number, or Tab.")
        elif play is None or not verdict.good:
            screen.notice = _("Not sent: {reason}.").format(reason=verdict.text)
        elif self._holds_back(play.count) and screen.question is not Question.HOLD_BACK:
            screen.question = Question.HOLD_BACK
        else:
            choices = pick_ups(play, here)
            if len(choices) > 1 and screen.selection.pick_up not in choices:
                screen.question = Question.PICK_UP
                self._choose(screen.selection.taking(choices[0]))
            else:
                taken = screen.selection.pick_up if len(choices) > 1 else None
                self._act(PlayCards(play.cards, pick_up=taken))

    def _holds_back(self, count: int) -> bool:
        """Whether the whole hand could go down instead (R6, R12)."""
        here = self._screen.situation
        return count < len(here.hand) and here.whole_hand in (here.plays or ())

    def _pass_turn(self) -> None:
        screen = self._screen
        if not self._may_act() or screen.my_decision is None:
            return
        if not screen.my_decision.may_pass:
            screen.notice = _("Whoever opens a round may not pass: play a card.")
        elif screen.my_decision.plays and screen.question is not Question.PASS:
            screen.question = Question.PASS
        else:
            self._act(Pass())

    def _take(self) -> None:
        screen, decision = self._screen, self._screen.my_decision
        card = screen.selection.pick_up
        if decision is None or card not in screen.takeable or not self._may_act():
            return
        if decision.kind is DecisionKind.PICK_UP:
            self._act(PickUp(card))
        elif screen.selection.card_set is not None:
            self._act(PlayCards(screen.selection.card_set.cards, pick_up=card))

    async def act_by_itself(self, decision: Decision, automatic: Automatic, seconds: float) -> None:
        """Acts after so many seconds, unless the person has acted before."""
        await asyncio.sleep(seconds)
        if self._screen.my_decision == decision and not self._screen.sending:
            self._screen.log.append(automatic.notice)
            self._act(automatic.action)

    def _may_act(self) -> bool:
        screen = self._screen
        if screen.sending:
            return False
        if screen.my_decision is None:
            self._tell_until_my_turn(_("It is not your turn yet; your choice is kept."))
        return screen.my_decision is not None

    def _tell_until_my_turn(self, notice: str) -> None:
        self._screen.notice = self._screen.until_my_turn = notice

    def _act(self, action: Action) -> None:
        decision = self._screen.my_decision
        assert decision is not None, "only who has to decide something acts"
        self._screen.question = None
        # Until the events come, or a refusal, the keys that act are locked.
        self._screen.sent = decision.id

        def unlock() -> None:
            if self._screen.sent == decision.id:
                self._screen.sent = None

        self._call(self._session.act(action, decision_id=decision.id), otherwise=unlock)

    def _call(
        self,
        call: Awaitable[object],
        *,
        then: Callable[[], None] | None = None,
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Sets a call going; a refusal becomes a notice."""

        async def calling() -> None:
            try:
                await call
            except ClientError as problem:
                self._screen.notice = complaint(problem)
                if otherwise is not None:
                    otherwise()
            else:
                if then is not None:
                    then()

        self._screen.question = None
        self._spawn(calling())


def _no_card(number: int, selection: Selection) -> str:
    """Why a typed number changed nothing: the hand has no such card left."""
    if selection.colour:
        colour = colour_name(selection.colour)
        return _("You hold no {number} in {colour}.").format(number=number, colour=colour)
    if any(card.number == number for card in selection.cards):
        return _("You hold no more {number}.").format(number=number)
    return _("You hold no {number}.").format(number=number)
