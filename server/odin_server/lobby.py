"""The tables of this server: opening, finding, listing, and letting go of them."""

from __future__ import annotations

from typing import Final

from odin_server import table_commands as commands
from odin_server.errors import malformed, table_not_found
from odin_server.events import RequestKey, TableOptions
from odin_server.limits import Held
from odin_server.table import Listener, Table, World
from odin_server.table_state import TablePhase, TableState

CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Letters and digits that are hard to confuse, for what people read out and type."""
HANDLE_LENGTH: Final = 4
CODE_LENGTH: Final = 8
_CONFUSED: Final = str.maketrans({"O": "0", "I": "1", "L": "1", " ": None, "-": None})


def typed(text: str) -> str:
    """A handle or code as somebody may have typed it, in the form in which it is kept."""
    return text.upper().translate(_CONFUSED)


class Lobby:
    """All tables, by handle and by code, oldest first."""

    def __init__(self, world: World) -> None:
        self._world: Final = world
        self._tables: Final[dict[str, Table]] = {}
        self._by_code: Final[dict[str, Table]] = {}
        self._numbers: Final[dict[Table, int]] = {}
        self._closed: Final[dict[Table, None]] = {}
        self._opened_by: Final[dict[Table, tuple[bytes, str]]] = {}
        self._seated_from: Final[dict[tuple[Table, bytes], str]] = {}
        self._count = 0
        self.listeners: Final[list[Listener]] = [self]
        """Whoever is told of every change of every table."""
        limits = world.settings.limits
        self._all: Final = Held("tables", limits.tables)
        self._of_host: Final = Held("tables_per_credential", limits.tables_per_credential)
        self._of_address: Final = Held("tables_per_address", limits.tables_per_address)

    async def open(
        self, options: TableOptions, host: bytes, address: str, request: RequestKey
    ) -> Table:
        """Opens a table. Raises a Refusal, or Conflict when the request is known by now."""
        commands.check_options(options)
        self._all.check(None)
        self._of_host.check(host)
        self._of_address.check(address)
        handle = self._free_handle()
        code = self._random(CODE_LENGTH) if options.private else ""
        table = Table(handle, self._world, self.listeners)
        # Held from here on, so that many at the same time cannot pass the checks together.
        self._hold(table, host, address)
        log_id = f"{self._world.names.getrandbits(64):016x}"
        try:
            await table.submit(
                lambda draft: commands.open_table(draft, options, host, code, log_id), request
            )
        except BaseException:
            self._let_go(table)
            table.forget_timer()
            del self._tables[handle]
            raise
        self._show(table)
        return table

    async def restore(self) -> None:
        """Takes up the tables that the log holds already."""
        handles = await self._world.log.heads()
        tables = [Table(handle, self._world, self.listeners) for handle in handles]
        for table in tables:
            await table.catch_up()
        for table in sorted(tables, key=lambda table: table.opened):
            # From where it was opened is not in the log: no address is charged for it.
            self._hold(table, table.state.host, "")
            self._show(table)
            table.changed()

    def _show(self, table: Table) -> None:
        self._count += 1
        self._numbers[table] = self._count
        if table.state.code:
            self._by_code[table.state.code] = table

    def find(self, handle: str, code: str, caller: bytes | None) -> Table:
        """The table that somebody may enter.

        A private table needs its code, or a caller who is its host or sits there. Raises
        TABLE_NOT_FOUND, the same for one that is missing and one that may not be entered.
        """
        code = typed(code)
        by_code = self._by_code.get(code)
        table = self._tables.get(typed(handle)) if handle else by_code
        if table is None or table not in self._numbers:
            raise table_not_found()
        if table.state.options.private and table is not by_code:
            viewer = table.viewer(caller)
            if viewer.seat is None and not viewer.is_host:
                raise table_not_found()
        return table

    def table(self, handle: str) -> Table:
        """The table with exactly this handle; raises TABLE_NOT_FOUND."""
        table = self._tables.get(handle)
        if table is None:
            raise table_not_found()
        return table

    def page(
        self, size: int, token: str, phase: TablePhase | None, *, joinable: bool, for_bots: bool
    ) -> tuple[list[Table], str]:
        """Public tables, newest first, and the token of the next page. Raises MALFORMED."""
        if token and not (token.isascii() and token.isdigit() and len(token) < 10):
            raise malformed("page_token", "This is no token of this server.")
        before = int(token) if token else self._count + 1
        found: list[Table] = []
        for table, number in reversed(self._numbers.items()):
            if number >= before or not _is_listed(table.state, phase, joinable, for_bots):
                continue
            if len(found) == size:
                return found, str(self._numbers[found[-1]])
            found.append(table)
        return found, ""

    def tables(self) -> list[Table]:
        """Every table, also those that have ended."""
        return list(self._tables.values())

    @property
    def is_empty(self) -> bool:
        """Whether no table is open."""
        return len(self._closed) == len(self._tables)

    def check_seats(self, holder: bytes, address: str) -> None:
        """Raises RATE_LIMITED when this caller, or its address, holds as many seats as it may."""
        self._forget_seats()
        limits = self._world.settings.limits
        of_holder = Held("seats_per_credential", limits.seats_per_credential)
        of_address = Held("seats_per_address", limits.seats_per_address)
        for (_, other), taken_from in self._seated_from.items():
            of_holder.add(other)
            of_address.add(taken_from)
        of_holder.check(holder)
        of_address.check(address)

    def seated(self, table: Table, holder: bytes, address: str) -> None:
        """Somebody has taken a seat from this address."""
        self._seated_from[table, holder] = address

    def _forget_seats(self) -> None:
        """Forgets the seats that have been left, and those at tables that have ended."""
        for table, holder in list(self._seated_from):
            if table in self._closed or table.state.seat_held_by(holder) is None:
                del self._seated_from[table, holder]

    def table_changed(self, table: Table) -> None:
        """See `table.Listener`: lets go of tables that have ended, the oldest first."""
        if table.state.phase is not TablePhase.CLOSED or table in self._closed:
            return
        self._closed[table] = None
        self._let_go(table)
        self._by_code.pop(table.state.code, None)

    async def forget_old(self) -> None:
        """Forgets the tables that ended longest ago, beyond those that are kept."""
        while len(self._closed) > self._world.settings.closed_tables_kept:
            table = next(iter(self._closed))
            del self._closed[table], self._numbers[table], self._tables[table.handle]
            await self._world.log.forget(table.handle)

    def _hold(self, table: Table, host: bytes, address: str) -> None:
        self._tables[table.handle] = table
        self._opened_by[table] = (host, address)
        self._all.add(None)
        self._of_host.add(host)
        self._of_address.add(address)

    def _let_go(self, table: Table) -> None:
        host, address = self._opened_by.pop(table)
        self._all.remove(None)
        self._of_host.remove(host)
        self._of_address.remove(address)

    def _free_handle(self) -> str:
        length = HANDLE_LENGTH
        while True:
            # A crowded server takes longer handles instead of searching for a gap.
            for _ in range(8):
                handle = self._random(length)
                if handle not in self._tables:
                    return handle
            length += 1

    def _random(self, length: int) -> str:
        return "".join(self._world.names.choices(CROCKFORD, k=length))


def _is_listed(state: TableState, phase: TablePhase | None, joinable: bool, for_bots: bool) -> bool:
    if state.options.private:
        return False
    if phase is None and state.phase is TablePhase.CLOSED:
        return False
    return (
        (phase is None or state.phase is phase)
        and (not joinable or (state.phase is TablePhase.WAITING and None in state.seats))
        and (not for_bots or state.options.open_to_bots)
    )
