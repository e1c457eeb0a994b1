"""Declares each option once: as a field of a frozen dataclass, which the command is handed.

    @dataclass(frozen=True)
    class Rules:
        numbers: bool = option("--numbers", is_flag=True, help=_("..."))

    @command_with(Rules, _("Print how the game is played."))
    def command(asked: Rules) -> int: ...

Options that several commands share are a class of their own, which is a field (`group`) or a base
class. What is made without a command line, such as `Rules()`, has the same defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields
from typing import Any, Final, TypeVar

import click

Options = TypeVar("Options")

_PARAMETER: Final = "parameter"
_GROUP: Final = "group"


def option(*names: str, **attributes: Any) -> Any:
    """A field that is this option. `attributes` are those of click.Option.

    A `default` that is a function is called each time a value is made.
    """
    usual = () if attributes.get("multiple") else False if attributes.get("is_flag") else None
    return _field(
        lambda name: click.Option([name, *names], **attributes), attributes.get("default", usual)
    )


def argument(**attributes: Any) -> Any:
    """A field that is an argument. `attributes` are those of click.Argument."""
    usual = () if attributes.get("nargs") == -1 else None
    return _field(lambda name: click.Argument([name], **attributes), usual)


def group(kind: type[Any]) -> Any:
    """A field that holds the options of another class."""
    return field(default_factory=kind, metadata={_GROUP: kind})


def command_with(
    kind: type[Options], *help_paragraphs: str
) -> Callable[[Callable[[Options], int]], click.Command]:
    """Makes a function a command, which is called with a `kind` of what was typed."""

    def decorated(function: Callable[[Options], int]) -> click.Command:
        def called(**values: Any) -> int:
            return function(_made(kind, values))

        return click.Command(
            "command",
            params=list(_parameters(kind)),
            callback=called,
            help="\n\n".join(help_paragraphs),
        )

    return decorated


def _field(parameter: Callable[[str], click.Parameter], default: Any) -> Any:
    metadata = {_PARAMETER: parameter}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def _parameters(kind: type[Any]) -> Iterator[click.Parameter]:
    for each in fields(kind):
        if _GROUP in each.metadata:
            yield from _parameters(each.metadata[_GROUP])
        else:
            yield each.metadata[_PARAMETER](each.name)


def _made(kind: type[Any], values: Mapping[str, Any]) -> Any:
    return kind(
        **{
            each.name: _made(each.metadata[_GROUP], values)
            if _GROUP in each.metadata
            else values[each.name]
            for each in fields(kind)
        }
    )
