"""Which table of a server is meant, when its handle was not given."""

from __future__ import annotations

from collections.abc import Iterable

from odin_client.address import Address
from odin_client.connection import Connection
from odin_client.errors import ClientError
from odin_client.values import Occupant, TableSummary
from odin_client.wire import summary_of
from odin_table.v1 import lobby_pb2


async def list_tables(connection: Connection) -> list[TableSummary]:
    """All public tables of a server that have not ended, newest first."""
    return [summary_of(table) for table in (await listing(connection)).tables]


async def listing(connection: Connection) -> lobby_pb2.ListTablesResponse:
    """All pages of the list in one message."""
    whole = lobby_pb2.ListTablesResponse()
    token = ""
    while True:
        page = await connection.call(
            connection.lobby.ListTables,
            lobby_pb2.ListTablesRequest(page_size=100, page_token=token),
        )
        whole.tables.extend(page.tables)
        token = page.next_page_token
        if not token:
            return whole


async def find_to_join(connection: Connection, name: str) -> str:
    """The handle of the table at which one already sits, else of the only one that can be joined.

    Raises ClientError, with what to type, when there is none or more than one.
    """
    tables = await list_tables(connection)
    mine = [table for table in tables if _sits_at(table, name)]
    return _only(mine or [table for table in tables if table.joinable], tables, connection, "join")


async def find_to_watch(connection: Connection) -> str:
    """The handle of the only table; raises ClientError when there is none or more than one."""
    tables = await list_tables(connection)
    return _only(tables, tables, connection, "watch")


def _only(
    wanted: list[TableSummary], all_tables: list[TableSummary], connection: Connection, verb: str
) -> str:
    server = connection.address
    if len(wanted) == 1:
        return wanted[0].table
    if wanted:
        raise ClientError(
            f"There are {len(wanted)} tables at {server} to {verb}. Say which:",
            "\n".join(f"  odin-table {verb} {server.at(table.table)}" for table in wanted),
        )
    if all_tables:
        raise ClientError(
            f"No table at {server} has a free seat now. Watch one:",
            "\n".join(f"  odin-table watch {server.at(table.table)}" for table in all_tables),
        )
    raise ClientError(
        f"There is no table at {server}.",
        "Open one with `odin-table host` on that machine; a private one needs --code.",
    )


def _sits_at(table: TableSummary, name: str) -> bool:
    return any(
        seat.occupant is Occupant.PERSON and seat.name.casefold() == name.casefold()
        for seat in table.seats
    )


def describe(tables: Iterable[TableSummary], server: Address) -> list[str]:
    """The tables as lines of text, with what to type."""
    rows = [("TABLE", "PLAYERS", "STATE", "TO", "TITLE", "")]
    rows += [_row(table, server) for table in tables]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True)).rstrip() for r in rows
    ]


def _row(table: TableSummary, server: Address) -> tuple[str, str, str, str, str, str]:
    taken = sum(not seat.free for seat in table.seats)
    options = table.options
    verb = "join" if table.joinable else "watch"
    return (
        table.table,
        f"{taken}/{len(table.seats)}",
        f"deal {table.deal}" if table.deal else table.phase.name.lower().replace("_", " "),
        "1 deal" if options.threshold is None else str(options.threshold),
        options.title,
        f"odin-table {verb} {server.at(table.table)}",
    )
