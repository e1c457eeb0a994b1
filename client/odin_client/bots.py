"""Bots: the base class, and the runner that plays one at a table.

The smallest bot:

    from odin_client.bots import Action, Bot, Pass, PickUp, PlayCards, View

    class Lowest(Bot):
        def choose(self, view: View) -> Action:
            decision = view.decision
            if decision.plays:
                return PlayCards(view.viewer, decision.plays[0])
            if decision.may_pass:
                return Pass(view.viewer)
            return PickUp(view.viewer, decision.pick_ups[0])

    $ odin-table bot 192.168.1.20 --strategy my_module:Lowest

A bot is a client like any other and sees what its seat may see. One that raises, is too slow, or
chooses something illegal is reported, and its decision gets the default action (D1): it never
keeps a table waiting, and plays on with the next decision.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import random
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from odin_client import values
from odin_client.check_sentence import check_sentence
from odin_client.errors import ClientError, DealtFalsely, Refused, Unreachable
from odin_client.languages import _
from odin_client.seat_view import seat_view
from odin_client.session import Session
from odin_client.updates import (
    DealChecked,
    DealCommitted,
    DecisionOpened,
    GameEnded,
    LinkChanged,
    RematchAsked,
    SnapshotTaken,
    StreamEnded,
    Update,
)
from odin_client.values import Occupant, Phase, StreamEndReason
from odin_engine import Action, Card, Decision, Pass, PickUp, PlayCards, View
from odin_engine.strategies import STRATEGIES, Strategy

__all__ = [
    "Action",
    "Bot",
    "BotRunner",
    "Card",
    "Decision",
    "Pass",
    "PickUp",
    "PlayCards",
    "View",
    "make_bot",
]

CHOICE_DEADLINE: Final = 5.0
"""Seconds that a bot may think about one decision."""

LINE_PATIENCE: Final = 300.0
"""Seconds without a server after which a bot gives up its table."""

REMATCH_PATIENCE: Final = 30.0
"""Seconds after a game in which people may ask a roaming bot for another one."""

EMPTY_PATIENCE: Final = 60.0
"""Seconds that a roaming bot waits at a table where no person is."""

Report: TypeAlias = Callable[[str], None]
"""Takes a line about a bot that failed."""


class Bot(ABC):
    """Plays one seat. One object plays any number of games, one decision at a time."""

    rng: random.Random = random.Random()
    """Randomness to choose with; one of its own for each bot that `make_bot` makes."""

    @abstractmethod
    def choose(self, view: View) -> Action:
        """The action for `view.decision`, which is the bot's own and open now.

        Called in a thread of its own. Whatever it raises is reported.
        """


class BadStrategy(ClientError):
    """There is no such strategy, or it cannot be made."""

    exit_code = 2


class _BuiltIn(Bot):
    """A strategy of the engine."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    def choose(self, view: View) -> Action:
        return self._strategy.choose(view, self.rng)


def make_bot(strategy: str, seed: int | None = None) -> Bot:
    """The bot of this name, or of this class, written `module:Class`.

    A module is looked for in the current folder, too. Raises BadStrategy.
    """
    if strategy in STRATEGIES:
        bot: Bot = _BuiltIn(STRATEGIES[strategy]())
    else:
        bot = _load(strategy)
    bot.rng = random.Random(seed)
    return bot


def _load(strategy: str) -> Bot:
    module_name, colon, class_name = strategy.partition(":")
    if not colon:
        raise BadStrategy(
            _("There is no strategy {name}.").format(name=repr(strategy)),
            _("There are {names}, and your own as module:Class.").format(
                names=", ".join(STRATEGIES)
            ),
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        bot = getattr(importlib.import_module(module_name), class_name)()
    except Exception as error:  # it is somebody else's module
        raise BadStrategy(
            _("{name} cannot be made: {problem}.").format(
                name=strategy, problem=f"{type(error).__name__}: {error}"
            ),
            _("It has to be module:Class, with the module in this folder or installed."),
        ) from error
    if not isinstance(bot, Bot):
        raise BadStrategy(
            _("{name} is no bot.").format(name=strategy),
            _("Let it inherit from odin_client.bots.Bot."),
        )
    return bot


_NOT_ALLOWED: Final = ("ILLEGAL_ACTION", "MALFORMED")
_OVERTAKEN: Final = ("STALE_DECISION", "NOT_YOUR_TURN", "NOT_STARTED", "GAME_OVER")
"""Refusals that say: this decision is no longer open."""


class BotRunner:
    """Lets a bot play its seat at one table."""

    def __init__(
        self,
        session: Session,
        bot: Bot,
        report: Report,
        *,
        deadline: float = CHOICE_DEADLINE,
    ) -> None:
        """The session has its seat already. `deadline` is in seconds for each choice."""
        self.played = 0
        """How many games it has played to their end."""
        self._session: Final = session
        self._bot: Final = bot
        self._report: Final = report
        self._deadline: Final = deadline
        self._decided = 0
        self._superseded = False
        self._thinking: asyncio.Future[object] | None = None

    async def play(self, games: int | None = 1, *, roams: bool = False) -> None:
        """Plays so many games (None: all that there are), or until the table has ended.

        Asks for another game after each but the last. A bot that roams does not: it leaves that to
        the people at the table, and gives up a table at which nothing happens any more. Raises
        what `Session.follow` raises, and DealtFalsely as soon as a deal is not as promised.
        """
        give_up: float | None = None
        loop = asyncio.get_running_loop()
        async with contextlib.aclosing(self._session.follow(patience=LINE_PATIENCE)) as updates:
            while True:
                try:
                    async with asyncio.timeout_at(give_up):
                        update = await anext(updates)
                except (StopAsyncIteration, TimeoutError):
                    return
                self._take_note(update)
                if isinstance(update, GameEnded):
                    self.played += 1
                    if self.played == games:
                        return
                    if not roams:
                        await self._ask_for_rematch()
                if isinstance(update, DealCommitted | RematchAsked | SnapshotTaken):
                    await self._add_nonce()
                if self._may_be_due(update):
                    await self._decide_if_due()
                left = self._patience() if roams else None
                if left is None:
                    give_up = None
                elif give_up is None:
                    give_up = loop.time() + left

    async def leave(self) -> None:
        """Frees the seat, unless there is nothing to free any more, or somebody else plays it."""
        if self._superseded or self._session.table.closed:
            return
        with contextlib.suppress(Refused, Unreachable):
            await self._session.leave()

    def _take_note(self, update: Update) -> None:
        match update:
            case LinkChanged():
                self._tell_of(update)
            case SnapshotTaken():
                self._decided = 0  # it may be of another log, where numbers begin anew
            case StreamEnded(reason=StreamEndReason.SUPERSEDED):
                self._superseded = True
                self._report(_("ends: its seat is played from elsewhere now"))
            case DealChecked() if update.faults:
                raise DealtFalsely(check_sentence(update))
            case DealChecked() if not update.in_full:
                self._report(check_sentence(update))
            case _:
                pass

    async def _add_nonce(self) -> None:
        """Adds to the next deal, which waits for a person and not for this."""
        table = self._session.table
        if table.phase not in (Phase.WAITING, Phase.BETWEEN_DEALS):
            return
        if table.commitment and table.me is not None and not table.me.nonce:
            with contextlib.suppress(Refused, Unreachable):
                await self._session.ready()

    def _tell_of(self, link: LinkChanged) -> None:
        if link.online:
            self._report(_("is connected again"))
        elif link.attempt == 1:
            self._report(
                _("has lost the server and tries again: {problem}").format(problem=link.problem)
            )

    def _patience(self) -> float | None:
        """Seconds for which a bot stays at a table where nothing happens; None: something does."""
        table = self._session.table
        if table.phase is Phase.GAME_OVER:
            return REMATCH_PATIENCE
        someone = any(
            seat.occupant is Occupant.PERSON
            and seat.seat in table.presence
            and table.presence[seat.seat].connected
            for seat in table.taken_seats
        )
        return None if someone or table.phase is not Phase.WAITING else EMPTY_PATIENCE

    async def _ask_for_rematch(self) -> None:
        try:
            await self._session.rematch()
        except Refused as refusal:
            if refusal.reason != "ALREADY_STARTED":  # another bot was quicker
                self._report(_("cannot ask for another game: {problem}").format(problem=refusal))
        except Unreachable as problem:
            self._report(_("cannot ask for another game: {problem}").format(problem=problem))

    def _may_be_due(self, update: Update) -> bool:
        """Whether to look for an own decision now: once for each, and again when a line is mended.

        Not at every update: with the server gone, each look would wait for it anew.
        """
        if isinstance(update, LinkChanged):
            return update.online
        if isinstance(update, DecisionOpened):
            decision = self._session.table.decision
            return decision is not None and decision.id == update.decision.id
        return isinstance(update, SnapshotTaken)

    async def _decide_if_due(self) -> None:
        table = self._session.table
        decision = table.decision
        if decision is None or not table.my_turn or decision.id <= self._decided:
            return
        try:
            choice = await self._choice()
            if choice is not None and await self._accepted(choice, decision):
                return
            if decision.default_action is not None:
                await self._accepted(decision.default_action, decision)
        except Unreachable:
            return  # the decision is still open when the line is mended
        self._decided = decision.id

    async def _choice(self) -> values.Action | None:
        """What the bot chooses; None, and a report, when it does not."""
        if self._thinking is not None and not self._thinking.done():
            self._fails(_("is still thinking about an earlier decision"))
            return None
        view = seat_view(self._session.table)
        self._thinking = _in_a_thread(lambda: self._bot.choose(view))
        try:
            async with asyncio.timeout(self._deadline):
                chosen = await asyncio.shield(self._thinking)
        except TimeoutError:
            self._fails(_("took more than {seconds:g} s").format(seconds=self._deadline))
            return None
        if isinstance(chosen, BaseException):
            self._fails(_("raised {problem}").format(problem=f"{type(chosen).__name__}: {chosen}"))
            return None
        try:
            return _without_seat(chosen)
        except TypeError as error:
            self._fails(str(error))
            return None

    def _fails(self, problem: str) -> None:
        self._report(_("{problem}; the default action is taken").format(problem=problem))

    async def _accepted(self, action: values.Action, decision: values.Decision) -> bool:
        """Whether it is settled: done, or overtaken by what happened meanwhile."""
        try:
            await self._session.act(action, decision_id=decision.id)
        except Refused as refusal:
            if refusal.reason in _NOT_ALLOWED:
                self._fails(
                    _("chose something illegal: {problem}").format(
                        problem=refusal.message.rstrip(".")
                    )
                )
                return False
            if refusal.reason not in _OVERTAKEN:
                raise
        self._decided = decision.id
        return True


def _in_a_thread(work: Callable[[], object]) -> asyncio.Future[object]:
    """What the work returns, or the exception that it raises, as the result of a future.

    The thread is a daemon: work that never ends does not keep the program from ending.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def finish(outcome: object) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        try:
            outcome = work()
        except BaseException as error:  # noqa: BLE001 -- somebody else's code; even SystemExit
            outcome = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(finish, outcome)

    threading.Thread(target=run, name="bot", daemon=True).start()
    return future


def _without_seat(action: object) -> values.Action:
    """What a bot has chosen, as a session takes it; raises TypeError when it is no action."""
    match action:
        case PlayCards(_, cards, pick_up):
            named = tuple(cards)
            if {*map(type, named), type(pick_up)} <= {Card, type(None)}:
                return values.PlayCards(named, pick_up)
        case PickUp(_, card) if type(card) is Card:
            return values.PickUp(card)
        case Pass():
            return values.Pass()
        case _:
            pass
    raise TypeError(_("chose {text}, which is no action").format(text=repr(str(action)[:80])))
