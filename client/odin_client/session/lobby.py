"""The tables of a server, as its lobby lists them."""

from __future__ import annotations

from odin_client.connection.connection import Connection
from odin_contract.limits import TABLES_PER_PAGE
from odin_contract.reading import summary_of
from odin_contract.values import TableSummary
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
            lobby_pb2.ListTablesRequest(page_size=TABLES_PER_PAGE, page_token=token),
        )
        whole.tables.extend(page.tables)
        token = page.next_page_token
        if not token:
            return whole
