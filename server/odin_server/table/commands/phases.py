"""The life of a table as data: in which phase each call is allowed, and its refusal otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from odin_contract.enums import Phase
from odin_server.errors import Reason, Refusal
from odin_server.table.state import TableState


class _No(NamedTuple):
    """How a call is refused in a phase."""

    reason: Reason
    message: str


_Cell: TypeAlias = _No | None

_YES: Final = None
_ENDED: Final = _No(Reason.GAME_OVER, "This table has ended. Open another one.")
_OVER: Final = _No(Reason.GAME_OVER, "This game is over.")
_AGAIN: Final = _No(Reason.GAME_OVER, "This game is over. Ask for a rematch.")
_IN_GAME: Final = _No(Reason.ALREADY_STARTED, "A game is being played already.")
_IN_DEAL: Final = _No(Reason.ALREADY_STARTED, "A deal is being played already.")
_EARLY: Final = _No(Reason.NOT_STARTED, "The game has not started yet.")
_STALE: Final = _No(
    Reason.STALE_DECISION,
    "That decision is not open any more. Look at the table again, then decide.",
)

PHASES: Final = tuple(phase for phase in Phase if phase is not Phase.UNKNOWN)

# fmt: off
LIFE: Final[Mapping[str, tuple[_Cell, _Cell, _Cell, _Cell, _Cell]]] = {
    #               WAITING  PLAYING   BETWEEN_DEALS  GAME_OVER  CLOSED
    "take_seat":   (_YES,    _YES,     _YES,          _YES,      _ENDED),
    "leave_seat":  (_YES,    _YES,     _YES,          _YES,      _YES),
    "remove_seat": (_YES,    _IN_GAME, _IN_GAME,      _AGAIN,    _ENDED),
    "add_bot":     (_YES,    _IN_GAME, _IN_GAME,      _AGAIN,    _ENDED),
    "remove_bot":  (_YES,    _IN_GAME, _IN_GAME,      _AGAIN,    _ENDED),
    "set_ready":   (_YES,    _IN_DEAL, _YES,          _AGAIN,    _ENDED),
    "give_nonce":  (_YES,    _IN_DEAL, _YES,          _YES,      _ENDED),
    "start_game":  (_YES,    _IN_DEAL, _YES,          _AGAIN,    _ENDED),
    "rematch":     (_YES,    _IN_GAME, _IN_GAME,      _YES,      _ENDED),
    "act":         (_EARLY,  _YES,     _STALE,        _OVER,     _OVER),
    "send_chat":   (_YES,    _YES,     _YES,          _YES,      _ENDED),
    "close_table": (_YES,    _YES,     _YES,          _YES,      _ENDED),
}
# fmt: on
"""For each call that changes a table: its answer in each phase, in the order of `PHASES`."""


def check_phase(call: str, state: TableState) -> None:
    """Raises the refusal that `LIFE` has for this call in the table's phase, if there is one."""
    no = LIFE[call][PHASES.index(state.phase)]
    if no is not None:
        facts = {"phase": state.phase.name} if no.reason is Reason.NOT_STARTED else None
        raise Refusal(no.reason, no.message, facts=facts)
