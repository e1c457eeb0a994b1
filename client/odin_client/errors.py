"""What can go wrong for a client, sorted by what whoever started it can do about it.

ClientError           everything below; has an exit code, a message and advice
├── Unreachable       3: the server cannot be reached, or was lost
├── Refused           4: the server says no, with a reason of the contract
│   ├── CredentialRefused   5: not with this credential
│   ├── VersionsDiffer      6: client and server are too far apart
│   └── SeatLost            4: the own seat is gone, perhaps removed by the host
├── TimedOut              7: what was waited for did not come in time
└── DealtFalsely          9: a deal was not dealt as the server had promised

No error, but said by the exit code of a bot: 8, a deal could not be checked in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from odin_cli.speech.languages import ENGLISH, _, spoken

NOT_IN_FULL: Final = 8
"""The exit code of a bot that could not check all of its deals in full."""


class CopyableError(Exception):
    """An exception that pickle and copy rebuild as it was, whatever its constructor takes.

    As `odin_engine.CopyableError`; every command loads this module, and not the engine.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).__new__, (type(self), *self.args), vars(self)


class ClientError(CopyableError):
    """Something that a person is told in two parts: what happened, and what to do next."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()


class Unreachable(ClientError):
    """No answer from the server, also after repeating the call."""

    exit_code = 3


class TimedOut(ClientError):
    """What was waited for did not come in the time that was given."""

    exit_code = 7


class DealtFalsely(ClientError):
    """A deal was not dealt as the server had promised: play no further there."""

    exit_code = 9


class Refused(ClientError):
    """The server refused the call and changed nothing."""

    exit_code = 4

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
        own = None if spoken() == ENGLISH else _in_own_words(reason, facts or {})
        super().__init__(own or message, _advice(reason))
        self.reason = reason
        """A name of `ErrorReason` without its prefix, such as "STALE_DECISION"; empty when gRPC
        itself refused."""
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

    exit_code = 5


class VersionsDiffer(Refused):
    """CLIENT_TOO_OLD, or a server that does not speak this contract."""

    exit_code = 6


class SeatLost(Refused):
    """The own seat is gone. If the host `removed` it, this credential takes none there again."""

    def __init__(self, *, removed: bool) -> None:
        if removed:
            message = _("The host has removed you from this table.")
            advice = _("`odin-table ls` shows other tables; `odin-table host` opens one.")
        else:
            message = _("You no longer hold a seat at this table.")
            advice = _("`odin-table join` sits you down again, unless its host has removed you.")
        super().__init__("", message, call="WatchTable")
        self.advice = advice


def _in_own_words(reason: str, facts: Mapping[str, str]) -> str | None:
    """What the server means, for people whose language it does not speak.

    None where only its own words, which name the thing, can say it.
    """
    said = {
        "TABLE_NOT_FOUND": _("There is no such table, or the code is wrong."),
        "TABLE_DAMAGED": _("The records of this table cannot be read."),
        "NOT_ALLOWED": _("Only a seat of this table, or only its host, may do that."),
        "GAME_OVER": _("The game, or the table, is over."),
        "ALREADY_STARTED": _("A game is being played."),
        "NOT_STARTED": _("Not now: too few seats are taken, or no game has started."),
        "TABLE_FULL": _("Every seat is taken."),
        "SEAT_TAKEN": _("That seat is taken."),
        "NAME_TAKEN": _("{name} at the table has that name, or one that reads like it.")
        if "name" in facts
        else _("That name is taken, or reads like what stands at a seat, such as (you)."),
        "STALE_DECISION": _("Something else has to be decided now."),
        "STALE_COMMITMENT": _("That was for another deal."),
        "NOT_YOUR_TURN": _("It is not your turn."),
        "ILLEGAL_ACTION": _("The rules forbid that ({rule})."),
        "RATE_LIMITED": _("That was too much at once."),
        "SERVER_DRAINING": _("The server is about to stop."),
        "STORE_UNAVAILABLE": _("The server cannot write down what happens."),
        "BAD_CREDENTIAL": _("The server does not accept your credential."),
        "CLIENT_TOO_OLD": _("The server no longer talks to this version."),
    }.get(reason)
    return said and said.format(rule=facts.get("rule", "?"), name=facts.get("name", "?"))


def _advice(reason: str) -> str:
    """What to do next, where the server's message does not say it already."""
    match reason:
        case "TABLE_NOT_FOUND":
            return _("See `odin-table ls` for the tables there; a private one needs --code.")
        case "NAME_TAKEN":
            return _("Choose another one with --name.")
        case "TABLE_FULL":
            return _("Watch it with `odin-table watch`, or open another one.")
        case "ALREADY_STARTED":
            return _("Watch it with `odin-table watch`, or wait for the next game.")
        case "GAME_OVER":
            return _("Open another table with `odin-table host`.")
        case "SEAT_TAKEN":
            return _("Take another seat.")
        case "STALE_DECISION" | "STALE_COMMITMENT":
            return _("Look at the table again.")
        case "RATE_LIMITED":
            return _("Wait a moment, then try again.")
        case "CLIENT_TOO_OLD":
            return _("Install the version of odin-table that the server has.")
        case "BAD_CREDENTIAL":
            return _("Remove the line of this server from the file of credentials.")
        case _:
            return ""
