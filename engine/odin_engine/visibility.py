"""Who may know which part of an event, and from when on (R17): each event class declares it.

There is no default: a class of events without a declaration fails at import (`require`).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_args

if TYPE_CHECKING:
    from odin_engine.views import Own

_Event = TypeVar("_Event")
_Class = TypeVar("_Class", bound=type[Any])


class Until(Enum):
    """What has to be over before everybody may see a hidden part."""

    DEAL_IS_OVER = 1
    GAME_IS_OVER = 2


class Parts(NamedTuple):
    """The parts of an event, each a function that makes it. See `show`."""

    everybody: Callable[[Any], Any]
    one_seat: Callable[[Any, Own], Any] | None = None
    each_seat: Callable[[Any, Own], Any] | None = None
    hidden: tuple[Until, Callable[[Any], Any]] | None = None


_PARTS: Final[dict[type, Parts]] = {}


def show(
    kind: type[_Event],
    *,
    everybody: Callable[[_Event], Any],
    one_seat: Callable[[_Event, Own], Any] | None = None,
    each_seat: Callable[[_Event, Own], Any] | None = None,
    hidden: tuple[Until, Callable[[_Event], Any]] | None = None,
) -> None:
    """Declares the parts of this class of events. What no part holds is shown to nobody, ever.

    `one_seat` is for the seat that the event names, `each_seat` for each its own: both may use what
    that seat sees besides the public. `hidden` is shown to nobody until something is over, and then
    to everybody; a deal that was broken off never is.
    """
    _PARTS[kind] = Parts(everybody, one_seat, each_seat, hidden)


def public(kind: _Class) -> _Class:
    """Declares that the whole event is for everybody."""
    show(kind, everybody=_whole)
    return kind


def _whole(event: Any) -> Any:
    return event


def parts_of(kind: type) -> Parts:
    """What this class of events has declared."""
    return _PARTS[kind]


def require(events: Any) -> None:
    """Raises TypeError unless each class of this union has declared who may know it."""
    for kind in get_args(events):
        if kind not in _PARTS:
            raise TypeError(f"{kind.__name__} does not declare who may know which part of it.")
