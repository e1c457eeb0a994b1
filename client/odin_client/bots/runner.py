"""Plays a bot at one table: follows it, asks the bot, acts, and reports what the bot does wrong."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from odin_client.bots import BadStrategy, Bot
from odin_client.bots.choices import Choice, Chooser, Failure, choose, too_slow
from odin_client.errors import DealtFalsely, Refused, Unreachable
from odin_client.session.session import Session
from odin_client.table.check_sentence import check_sentence
from odin_client.table.seat_view import seat_view
from odin_client.table.updates import DealChecked, LinkChanged, SnapshotTaken, Update
from odin_client.translatable import Translatable, clause
from odin_contract import values
from odin_contract.enums import Occupant, Phase, StreamEndReason
from odin_contract.events import (
    DealCommitted,
    DecisionOpened,
    GameEnded,
    RematchAsked,
    SeatTaken,
    StreamEnded,
)
from odin_engine import View

Result = TypeVar("Result")

CHOICE_DEADLINE: Final = 5.0
"""Seconds that a bot may think about one decision."""

LINE_PATIENCE: Final = 300.0
"""Seconds without a server after which a bot gives up its table."""

REMATCH_PATIENCE: Final = 30.0
"""Seconds after a game in which people may ask a roaming bot for another one."""

EMPTY_PATIENCE: Final = 60.0
"""Seconds that a roaming bot waits at a table where no person is."""

Report: TypeAlias = Callable[[str], None]
"""Takes what a bot did wrong: a line, and perhaps a traceback below it; a `Translatable`."""

_log: Final = logging.getLogger(__name__)

_NOT_ALLOWED: Final = ("ILLEGAL_ACTION", "MALFORMED")
_OVERTAKEN: Final = ("STALE_DECISION", "NOT_YOUR_TURN", "NOT_STARTED", "GAME_OVER")
"""Refusals that say: this decision is no longer open."""


class BotRunner:
    """Lets a bot play its seat at one table."""

    def __init__(
        self,
        session: Session,
        bot: Bot | Chooser,
        report: Report,
        *,
        deadline: float = CHOICE_DEADLINE,
    ) -> None:
        """The session has its seat already. `deadline` is in seconds for each choice.

        A `Bot` chooses in a thread of this process. That keeps nothing from the process that a
        thread can do to it: a choice that is overdue goes on, so that the bot is not asked again
        until it ends; one that computes slows everything down, and one that does not give the
        interpreter back (a long `re.match`) stops it; a fork may hang. `bots.process.BotWorker` has
        none of these limits: give a seat of it instead of the bot.
        """
        self.played = 0
        """How many games it has played to their end."""
        self._session: Final = session
        self._chooser: Final[Chooser] = InThread(bot) if isinstance(bot, Bot) else bot
        self._report: Final = report
        self._deadline: Final = deadline
        self._decided = 0
        self._superseded = False

    async def play(self, games: int | None = 1, *, roams: bool = False) -> None:
        """Plays so many games (None: all that there are), or until the table has ended.

        Asks for another game after each but the last. A bot that roams does not: it leaves that to
        the people at the table, and gives up a table at which nothing happens any more. Raises
        what `Session.follow` raises, DealtFalsely as soon as a deal is not as promised, and
        BadStrategy when its bot can no longer be asked.
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
                if isinstance(update, DealCommitted | RematchAsked | SeatTaken | SnapshotTaken):
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
                self._report(Translatable("ends: its seat is played from elsewhere now"))
            case DealChecked() if update.faults:
                raise DealtFalsely(check_sentence(update))
            case DealChecked() if not update.in_full:
                self._report(check_sentence(update))
            case _:
                pass

    async def _add_nonce(self) -> None:
        """Adds to the next deal by deal/1, which waits for a person and not for this."""
        table = self._session.table
        if table.rounds or table.phase not in (Phase.WAITING, Phase.BETWEEN_DEALS):
            return
        if table.commitment and table.me is not None and not table.me.nonce:
            with contextlib.suppress(Refused, Unreachable):
                await self._session.ready()

    def _tell_of(self, link: LinkChanged) -> None:
        if link.online:
            self._report(Translatable("is connected again"))
        elif link.attempt == 1:
            self._report(
                Translatable("has lost the server and tries again: {problem}", problem=link.problem)
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
        except (Refused, Unreachable) as problem:
            if problem.reason != "ALREADY_STARTED":  # another bot was quicker
                self._report(
                    Translatable("cannot ask for another game: {problem}", problem=problem.message)
                )

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
            choice = await self._choice(decision)
            if choice is not None and await self._accepted(choice, decision):
                return
            await self._take_default(decision)
        except Unreachable:
            return  # the decision is still open when the line is mended
        self._decided = decision.id

    async def _choice(self, decision: values.Decision) -> values.Action | None:
        """What the bot chooses; None, and a report, when it does not."""
        try:
            choice = await self._chooser.choose(seat_view(self._session.table), self._deadline)
        except BadStrategy:
            # The others shall not wait for a seat that ends.
            with contextlib.suppress(Refused, Unreachable):
                await self._take_default(decision)
            raise
        if isinstance(choice, Failure):
            self._fails(choice)
            return None
        return choice

    def _fails(self, failure: Failure) -> None:
        said = Translatable("{problem}; the default action is taken", problem=failure.problem)
        table = self._session.table.table
        _log.warning("table %r: the bot %s", table, f"{said}\n{failure.trace}".rstrip())
        if failure.trace and failure.place not in self._chooser.shown:
            self._chooser.shown.add(failure.place)
            said = Translatable.joined("\n", (said, failure.trace.rstrip()))
        self._report(said)

    async def _take_default(self, decision: values.Decision) -> None:
        if decision.default_action is not None:
            await self._accepted(decision.default_action, decision)

    async def _accepted(self, action: values.Action, decision: values.Decision) -> bool:
        """Whether it is settled: done, or overtaken by what happened meanwhile."""
        try:
            await self._session.act(action, decision_id=decision.id)
        except Refused as refusal:
            if refusal.reason in _NOT_ALLOWED:
                self._fails(
                    Failure(
                        Translatable(
                            "chose something illegal: {problem}", problem=clause(refusal.message)
                        )
                    )
                )
                return False
            if refusal.reason not in _OVERTAKEN:
                raise
        self._decided = decision.id
        return True


class InThread:
    """A `Chooser` for a bot in this process: each choice in a thread, one at a time."""

    def __init__(self, bot: Bot) -> None:
        """Starts nothing yet."""
        self._bot: Final = bot
        self._thinking: asyncio.Future[Choice] | None = None
        self._shown: Final[set[str]] = set()

    @property
    def shown(self) -> set[str]:
        """See `Chooser.shown`."""
        return self._shown

    async def choose(self, view: View, seconds: float) -> Choice:
        """See `Chooser.choose`."""
        if self._thinking is not None and not self._thinking.done():
            return Failure(Translatable("is still thinking about an earlier decision"))
        self._thinking = _in_a_thread(lambda: choose(self._bot, view))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._thinking)
        except TimeoutError:
            return Failure(too_slow(seconds))


def _in_a_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """What the work, which raises nothing, returns.

    The thread is a daemon: work that never ends does not keep the program from ending.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def finish(result: Result) -> None:
        if not future.done():
            future.set_result(result)

    def run() -> None:
        result = work()
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(finish, result)

    threading.Thread(target=run, name="bot", daemon=True).start()
    return future
