"""Lists of tables, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from odin_contract.enums import Phase
from odin_server.errors import malformed
from odin_server.event_log import Entry, EventLog, TableDamaged
from odin_server.lobby.tables import Lobby
from odin_server.table.state import TableState
from odin_server.table.table import Table


def page_start(token: str) -> int:
    """The number below which the numbers of a page lie. Raises MALFORMED for no token of ours."""
    if token and not (token.isascii() and token.isdigit() and len(token) < 10):
        raise malformed("page_token", "This page token is not from this server.")
    return int(token) if token else 10**9


async def page(
    lobby: Lobby,
    log: EventLog,
    size: int,
    token: str,
    phase: Phase | None,
    *,
    joinable: bool,
    for_bots: bool,
) -> tuple[list[Table], str]:
    """Public tables, newest first, and the token of the next page. Raises MALFORMED."""
    before = page_start(token)
    found: list[Table] = []
    number = before
    async for entry in _entries(lobby, log, before, size, phase):
        try:
            table = await lobby.table(entry.handle)
        except TableDamaged:
            continue
        if table is None or not _is_listed(table.state, phase, joinable, for_bots):
            continue
        if len(found) == size:
            return found, str(number)
        found.append(table)
        number = entry.number
    return found, ""


async def _entries(
    lobby: Lobby, log: EventLog, before: int, size: int, phase: Phase | None
) -> AsyncGenerator[Entry]:
    """The public tables that have, or have not, ended; newest first."""
    if phase is not Phase.CLOSED:
        for entry in reversed(lobby.open_tables()):
            if entry.number < before and not entry.code:
                yield entry
        return
    while entries := await log.ended_tables(before, size + 1, private=False):
        for entry in entries:
            yield entry
        before = entries[-1].number


def _is_listed(state: TableState, phase: Phase | None, joinable: bool, for_bots: bool) -> bool:
    if phase is None and state.phase is Phase.CLOSED:
        return False
    return (
        (phase is None or state.phase is phase)
        and (not joinable or _is_joinable(state))
        and (not for_bots or state.options.open_to_bots)
    )


def _is_joinable(state: TableState) -> bool:
    if state.in_game:
        return bool(state.abandoned())
    return state.phase is Phase.WAITING and None in state.seats
