"""What can go wrong for a client, sorted by what can be done about it.

ClientError           everything below: an English message, a reason, facts
├── Unreachable       the server cannot be reached, or was lost
├── Refused           the server refuses, with a reason of the contract
│   ├── CredentialRefused   this credential is not accepted
│   ├── VersionsDiffer      client and server are too far apart
│   └── SeatLost            the own seat is gone, perhaps removed by the host
├── TimedOut          what was waited for did not come in time
├── DealtFalsely      a deal was not dealt as the server had promised
├── BadStrategy       there is no such bot, or it cannot be made
└── BadAddress        a text that names no table (connection.address)

Messages are `Translatable` where the SDK words them. Which exit code belongs to an error, and which
command helps, is for the program to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from odin_client.translatable import Translatable


class CopyableError(Exception):
    """An exception that pickle and copy rebuild as it was, whatever its constructor takes.

    As `odin_engine.CopyableError`; every command loads this module, and not the engine.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).__new__, (type(self), *self.args), vars(self)


class ClientError(CopyableError):
    """Something that a person is told in two parts: what happened, and what to do next."""

    def __init__(self, message: str, advice: str = "", *, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        """What to do next, where that does not depend on the program."""
        self.reason = reason
        """What happened, for programs; empty where the class says it."""
        self.facts: Mapping[str, object] = getattr(message, "facts", {})
        """What the message names."""

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()


class Unreachable(ClientError):
    """No answer from the server, also after repeating the call.

    Its reason is NO_SUCH_HOST, NO_ANSWER, or what the server refused with: it stops, say.
    """


class TimedOut(ClientError):
    """What was waited for did not come in the time that was given."""


class DealtFalsely(ClientError):
    """A deal was not dealt as the server had promised: play no further there."""


class BadStrategy(ClientError):
    """There is no such strategy, or it cannot be made.

    Its reason is UNKNOWN, NOT_MADE, NOT_A_BOT, NOT_READY, ENDED or STARTED_INSIDE.
    """


class Refused(ClientError):
    """The server refused the call and changed nothing."""

    def __init__(
        self,
        reason: str,
        message: str,
        facts: Mapping[str, str] | None = None,
        *,
        call: str = "",
        code: str = "",
        retry_after: float | None = None,
        field: str = "",
    ) -> None:
        own = _in_own_words(reason, facts or {})
        super().__init__(own.worded(message) if own else message, reason=reason)
        # `reason` is a name of `ErrorReason` without its prefix, such as "STALE_DECISION"; empty
        # when gRPC itself refused.
        self.facts = dict(facts or {})
        """The facts that the contract names for this reason."""
        self.call = call
        """The method, such as "Act"."""
        self.code = code
        """The gRPC status, such as "FAILED_PRECONDITION"."""
        self.field = field
        """The field of the request that is at fault, if the server named one."""
        self.retry_after = retry_after
        """Seconds to wait before trying again, if the server said so."""


class CredentialRefused(Refused):
    """BAD_CREDENTIAL: another try does not help."""


class VersionsDiffer(Refused):
    """CLIENT_TOO_OLD, or a server that does not speak this contract."""


class SeatLost(Refused):
    """The own seat is gone. If the host `removed` it, this credential takes none there again."""

    def __init__(self, *, removed: bool) -> None:
        if removed:
            message = Translatable("The host has removed you from this table.")
        else:
            message = Translatable("You no longer hold a seat at this table.")
        super().__init__("", message, call="WatchTable")
        self.removed = removed


_OWN_WORDS: Final = {
    "TABLE_NOT_FOUND": Translatable("There is no such table, or the code is wrong."),
    "TABLE_DAMAGED": Translatable("The records of this table cannot be read."),
    "NOT_ALLOWED": Translatable("Only a seat of this table, or only its host, may do that."),
    "GAME_OVER": Translatable("The game, or the table, is over."),
    "ALREADY_STARTED": Translatable("A game is being played."),
    "NOT_STARTED": Translatable("Not now: too few seats are taken, or no game has started."),
    "TABLE_FULL": Translatable("Every seat is taken."),
    "SEAT_TAKEN": Translatable("That seat is taken."),
    "NAME_TAKEN": Translatable(
        "That name is taken, or reads like what stands at a seat, such as (you)."
    ),
    "STALE_DECISION": Translatable("Something else has to be decided now."),
    "STALE_COMMITMENT": Translatable("That was for another deal."),
    "NOT_YOUR_TURN": Translatable("It is not your turn."),
    "RATE_LIMITED": Translatable("That was too much at once."),
    "SERVER_DRAINING": Translatable("The server is about to stop."),
    "STORE_UNAVAILABLE": Translatable("The server cannot write down what happens."),
    "BAD_CREDENTIAL": Translatable("The server does not accept your credential."),
    "CLIENT_TOO_OLD": Translatable("The server no longer talks to this version."),
}
"""What the server means by a reason, for people whose language it does not speak."""


def _in_own_words(reason: str, facts: Mapping[str, str]) -> Translatable | None:
    """None where only the server's own words, which name the thing, can say it."""
    match reason:
        case "NAME_TAKEN" if "name" in facts:
            return Translatable(
                "{name} at the table has that name, or one that reads like it.",
                name=facts["name"],
            )
        case "ILLEGAL_ACTION":
            return Translatable("The rules forbid that ({rule}).", rule=facts.get("rule", "?"))
        case _:
            return _OWN_WORDS.get(reason)
