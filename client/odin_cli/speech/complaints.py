"""How the program tells of an error: what happened, what to do next, and its exit code.

The SDK says what happened, and why; commands of this program that help are named here.
"""

from __future__ import annotations

from typing import Final

from odin_cli.local.preferences import BadSetting
from odin_cli.speech.languages import _, translated
from odin_client.errors import (
    BadStrategy,
    ClientError,
    CredentialRefused,
    DealtFalsely,
    Refused,
    SeatLost,
    TimedOut,
    Unreachable,
    VersionsDiffer,
)

NOT_IN_FULL: Final = 8
"""The exit code of a bot that could not check all of its deals in full."""

_EXIT_CODES: Final[dict[type[ClientError], int]] = {
    BadStrategy: 2,
    BadSetting: 2,
    Unreachable: 3,
    Refused: 4,
    CredentialRefused: 5,
    VersionsDiffer: 6,
    TimedOut: 7,
    # 8 is no error: NOT_IN_FULL.
    DealtFalsely: 9,
    ClientError: 1,
}


def exit_code(error: ClientError) -> int:
    """With which exit code the program ends."""
    return next(_EXIT_CODES[kind] for kind in type(error).__mro__ if kind in _EXIT_CODES)


def message(error: ClientError) -> str:
    """What happened."""
    return translated(error.message)


def complaint(error: ClientError) -> str:
    """What happened, and what to do next."""
    return f"{message(error)} {advice(error)}".strip()


def advice(error: ClientError) -> str:
    """What to do next; empty where the message says it, or nothing helps."""
    if error.advice:
        return translated(error.advice)
    match error:
        case SeatLost():
            if error.removed:
                return _("`odin-table ls` shows other tables; `odin-table host` opens one.")
            return _("`odin-table join` sits you down again, unless its host has removed you.")
        case Unreachable(reason="NO_ANSWER"):
            return _(
                "Is it running (`odin-table serve` or `odin-table host`), and is the address right?"
            )
        case Unreachable():
            return _("Try again in a moment.")
        case Refused():
            return _after(error.reason)
        case _:
            return ""


def _after(reason: str) -> str:
    """What to do after this refusal."""
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
