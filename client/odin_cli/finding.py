"""Which table is meant, when its handle or its whole address was not given."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import click

from odin_cli.lan.discovery import (
    WAIT,
    Answer,
    FoundServer,
    answers,
    found_servers,
    found_tables,
    known_servers,
    tables_of,
)
from odin_cli.options import Looking
from odin_cli.speech.languages import _
from odin_cli.terminal.views.cells import clip, pad, width
from odin_client.connection.address import Address
from odin_client.connection.connection import Connection
from odin_client.errors import ClientError, TimedOut
from odin_client.session.lobby import list_tables
from odin_contract.enums import Occupant, Phase
from odin_contract.texts import handle_as_kept
from odin_contract.values import Options, TableSummary

_HANDLE: Final = re.compile("[0-9A-TV-Z]{4,8}", re.IGNORECASE)
"""What the handle of a table looks like when it is typed; few machines are called so."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A table, and where it is."""

    address: Address
    table: TableSummary


async def find_to_join(connection: Connection, name: str) -> str:
    """The handle of the table at which one already sits, else of the only one that can be joined.

    Raises ClientError, with what to type, when there is none or more than one.
    """
    seen = await _tables_at(connection)
    wanted = _to_join(seen, name)
    return _only(wanted, seen, "join", _at(connection)).address.handle


async def find_to_watch(connection: Connection) -> str:
    """The handle of the only table; raises ClientError when there is none or more than one."""
    seen = await _tables_at(connection)
    return _only(seen, seen, "watch", _at(connection)).address.handle


async def find_on_network(
    given: Address | None, looking: Looking, *, verb: str, name: str = "", code: str = ""
) -> Address:
    """Where the table is that somebody wants to join or watch, having given this much.

    An address is taken as it is. A handle alone is looked for on the network, and taken as the name
    of a machine when no table there has it, but a machine does. Without either: the table at which
    `name` sits, else the only one that can be joined or watched. Raises ClientError when that is
    not one table, and TimedOut when there is none until the time to look is over.
    """
    if given is not None:
        found = await _with_handle(given, looking)
        if found is None and _looks_like_a_handle(given) and not await _is_a_machine(given.host):
            raise _no_such_table(handle_as_kept(given.host), verb)
        return found or given
    if code:
        raise click.UsageError(_("A private table is not on the network: say where it is as well."))
    end = time.monotonic() + looking.wait
    once = replace(looking, wait=min(looking.wait, WAIT))
    while True:
        seen = [
            _Seen(found.address, found.table)
            for answer in await look(once)
            for found in tables_of(answer)
        ]
        wanted = _to_join(seen, name) if verb == "join" else seen
        if wanted:
            return _only(wanted, seen, verb, _on_this_network()).address
        if time.monotonic() >= end:
            raise _nothing_found(seen, verb)


async def servers(looking: Looking) -> AsyncGenerator[FoundServer]:
    """The servers that one has been at, then those that are found on the network."""
    async for server in known_servers():
        yield server
    if looking.discovery:
        found = found_servers(wait=looking.wait, only=looking.interfaces, report=_complain)
        async with contextlib.aclosing(found) as on_the_network:
            async for server in on_the_network:
                yield server


async def look(looking: Looking) -> list[Answer]:
    """What the servers say that are known or found."""
    async with contextlib.aclosing(answers(servers(looking))) as given:
        return [answer async for answer in given]


def _looks_like_a_handle(given: Address) -> bool:
    return not given.handle and _HANDLE.fullmatch(given.host) is not None


async def _is_a_machine(host: str) -> bool:
    """Whether a machine has this name."""
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None)
    except OSError:
        return False
    return True


def _no_such_table(handle: str, verb: str) -> TimedOut:
    return TimedOut(
        _("There is no table {handle} on this network.").format(handle=handle),
        _(
            "If it is elsewhere, say where: odin-table {verb} {handle}@HOST. `odin-table ls` lists "
            "the tables that are found here; a private one needs its address and --code."
        ).format(verb=verb, handle=handle),
    )


async def _with_handle(given: Address, looking: Looking) -> Address | None:
    """Where the table is whose handle was given in the place of an address."""
    if not _looks_like_a_handle(given):
        return None
    async with contextlib.aclosing(found_tables(servers(looking))) as tables:
        async for table in tables:
            if table.address.handle == handle_as_kept(given.host):
                return table.address
    return None


async def _tables_at(connection: Connection) -> list[_Seen]:
    tables = await list_tables(connection)
    return [_Seen(connection.address.at(table.table), table) for table in tables]


def _complain(problem: str) -> None:
    click.echo(problem, err=True)


def _to_join(seen: Sequence[_Seen], name: str) -> list[_Seen]:
    mine = [one for one in seen if _sits_at(one.table, name)]
    return mine or [one for one in seen if one.table.joinable]


def _only(wanted: Sequence[_Seen], seen: Sequence[_Seen], verb: str, where: str) -> _Seen:
    if len(wanted) == 1:
        return wanted[0]
    if wanted:
        raise ClientError(
            _("There are {count} tables {where}. Say which:").format(
                count=len(wanted), where=where
            ),
            "\n".join(f"  odin-table {verb} {one.address.typed}" for one in wanted),
        )
    if seen:
        raise ClientError(*_all_are_full(seen, where))
    raise ClientError(
        _("There is no table {where}.").format(where=where),
        _("Open one with `odin-table host` on that machine; a private one needs --code."),
    )


def _nothing_found(seen: Sequence[_Seen], verb: str) -> TimedOut:
    if seen and verb == "join":
        return TimedOut(*_all_are_full(seen, _on_this_network()))
    return TimedOut(
        _("No table was found on this network."),
        _(
            "If there is one, its host sees the line to type: odin-table {verb} HANDLE@HOST. "
            "`odin-table host` opens one; `odin-table play` needs nobody else."
        ).format(verb=verb),
    )


def _at(connection: Connection) -> str:
    return _("at {server}").format(server=connection.address)


def _on_this_network() -> str:
    return _("on this network")


def _all_are_full(seen: Sequence[_Seen], where: str) -> tuple[str, str]:
    return (
        _("Every table {where} is full or in the middle of a game. Watch one:").format(where=where),
        "\n".join(f"  odin-table watch {one.address.typed}" for one in seen),
    )


def _sits_at(table: TableSummary, name: str) -> bool:
    return any(
        seat.occupant is Occupant.PERSON and seat.name.casefold() == name.casefold()
        for seat in table.seats
    )


def state(table: TableSummary) -> str:
    """Where a table is in its life, in a word or two."""
    if table.deal:
        return _("deal {deal}").format(deal=table.deal)
    match table.phase:
        case Phase.WAITING:
            return _("waiting")
        case Phase.GAME_OVER:
            return _("game over")
        case Phase.CLOSED:
            return _("ended")
        case _:
            return _("playing")


def describe(
    tables: Iterable[tuple[Address, TableSummary]], columns: int | None = None
) -> list[str]:
    """The tables as lines of text, the first column with what to type after `odin-table`.

    In a terminal of so many columns no line is longer.
    """
    rows = [("odin-table ...", _("PLAYERS"), _("STATE"), _("TO"), _("CLOCK"), _("TITLE"))]
    rows += [_row(address, table) for address, table in tables]
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(map(pad, row, widths)).rstrip() for row in rows]
    return lines if columns is None else [clip(one, columns) for one in lines]


def _row(address: Address, table: TableSummary) -> tuple[str, str, str, str, str, str]:
    taken = sum(not seat.free for seat in table.seats)
    options = table.options
    verb = "join" if table.joinable else "watch"
    return (
        f"{verb} {address.typed}",
        f"{taken}/{len(table.seats)}",
        state(table),
        _("1 deal") if options.threshold is None else str(options.threshold),
        _clock(options),
        options.title,
    )


def _clock(options: Options) -> str:
    """How long a seat may think, in seconds: `45 s`, `45 s + 600 s`, or `none`."""
    if not options.turn_time:
        return _("none")
    return f"{options.turn_time} s" + (f" + {options.bank} s" if options.bank else "")
