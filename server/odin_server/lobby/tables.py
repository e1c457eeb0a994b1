"""The tables of this server, by handle and by code: opening, finding and closing them.

A table is folded when somebody asks for it. Those that have not ended are waked soon after the
start, since something may be due there by itself; those that have ended stay in the log, and only
the last ones that somebody looked at stay in memory.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from odin_contract.enums import Phase
from odin_contract.texts import handle_as_kept
from odin_contract.values import Options as TableOptions
from odin_engine.fair_deal import CROCKFORD
from odin_server.errors import table_damaged, table_not_found
from odin_server.event_log import Entry, StoreUnavailable, TableDamaged
from odin_server.lobby.quotas import Quotas
from odin_server.table import commands
from odin_server.table.events import RequestKey
from odin_server.table.table import Listener, Table, World

_log: Final = logging.getLogger(__name__)

HANDLE_LENGTH: Final = 4
CODE_LENGTH: Final = 8
_TRY_AGAIN: Final = 1.0
"""Seconds until a table is read again, when the log could not be read."""


class Lobby:
    """All tables, by handle and by code."""

    def __init__(self, world: World) -> None:
        self._world: Final = world
        self._open: Final[dict[str, Entry]] = {}
        """The tables that have not ended, oldest first."""
        self._by_code: Final[dict[str, str]] = {}
        self._tables: Final[dict[str, Table]] = {}
        """The tables in memory; of those that have ended the last used ones, at the end."""
        self._opening: Final[set[str]] = set()
        self._reading: Final[dict[str, asyncio.Task[Table | None]]] = {}
        self._waking: asyncio.Task[None] | None = None
        self.listeners: Final[list[Listener]] = [self]
        """Whoever is told of every change of every table."""
        self.quotas: Final = Quotas(world.environment.settings.limits)

    # Starting and stopping

    async def start(self) -> None:
        """Takes up the tables that the log holds already, and wakes them one after the other."""
        for entry in await self._world.log.open_tables():
            self._list(entry)
        self._waking = asyncio.create_task(self._wake(list(self._open)))

    async def stop(self) -> None:
        """Nothing happens by itself any more at any table."""
        if self._waking:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)
        for table in self._tables.values():
            table.forget_timer()

    async def _wake(self, handles: list[str]) -> None:
        while handles:
            unread: list[str] = []
            for handle in handles:
                try:
                    await self.table(handle)
                except StoreUnavailable:
                    # It may be this table alone: the others do not wait for it.
                    unread.append(handle)
                except TableDamaged:
                    _log.debug("table %s was reported when it was read", handle)
            handles = unread
            if handles:
                await asyncio.sleep(_TRY_AGAIN)
        self._world.standstill.took_over()

    # Opening

    async def open(
        self, options: TableOptions, host: bytes, address: str, request: RequestKey
    ) -> Table:
        """Opens a table. Raises a Refusal, or Conflict when the request is known by now."""
        commands.check_options(options)
        self.quotas.check_table(host, address)
        handle = self._free_handle()
        code = self._random(CODE_LENGTH) if options.private else ""
        table = Table(handle, self._world, self.listeners)
        # Held from here on, so that many at the same time cannot pass the checks together.
        self._opening.add(handle)
        self.quotas.hold_table(handle, host, address)
        log_id = f"{self._world.environment.rng.names.getrandbits(64):016x}"
        try:
            await table.submit(
                lambda draft: commands.open_table(draft, options, host, code, log_id), request
            )
            entry = await self._world.log.entry(handle)
            assert entry is not None, "a table that was opened is in the log"
        except BaseException:
            self.quotas.release_table(handle)
            table.forget_timer()
            raise
        finally:
            self._opening.discard(handle)
        self._tables[handle] = table
        self._open[handle] = entry
        if entry.code:
            self._by_code[entry.code] = handle
        _log.info("table %s opened", handle)
        return table

    def _list(self, entry: Entry) -> None:
        """Lists a table that the log holds. Its address is unknown, so it is charged to none."""
        self.quotas.hold_table(entry.handle, entry.host, "")
        self._open[entry.handle] = entry
        if entry.code:
            self._by_code[entry.code] = entry.handle

    # Finding

    async def find(self, handle: str, code: str, caller: bytes | None) -> Table:
        """The table that somebody may enter.

        A private table needs its code, or a caller who is its host or sits there. Raises
        TABLE_NOT_FOUND, the same for one that is missing and one that may not be entered; or
        StoreUnavailable, or TABLE_DAMAGED.
        """
        by_code = self._by_code.get(handle_as_kept(code))
        table = await self.known(handle or by_code or "")
        if table.state.options.private and table.handle != by_code:
            viewer = table.viewer(caller)
            if viewer.seat is None and not viewer.is_host:
                raise table_not_found()
        return table

    def is_code_of(self, code: str, handle: str) -> bool:
        """Whether this is the code of this table, or of any if no handle is named."""
        by_code = self._by_code.get(handle_as_kept(code))
        return by_code is not None and handle_as_kept(handle) in ("", by_code)

    async def known(self, handle: str) -> Table:
        """The table with this handle, as somebody may have typed it, private or not.

        Raises TABLE_NOT_FOUND, TABLE_DAMAGED, or StoreUnavailable.
        """
        try:
            table = await self.table(handle_as_kept(handle)) if handle else None
        except TableDamaged:
            raise table_damaged() from None
        if table is None:
            raise table_not_found()
        return table

    async def table(self, handle: str) -> Table | None:
        """The table with exactly this handle, read from the log if need be.

        Raises StoreUnavailable or TableDamaged.
        """
        table = self._tables.get(handle)
        if table is not None:
            if handle not in self._open:
                self._tables[handle] = self._tables.pop(handle)
            return table
        if handle in self._opening:
            return None
        reading = self._reading.get(handle)
        if reading is None:
            reading = self._reading[handle] = asyncio.create_task(self._read(handle))
            reading.add_done_callback(lambda _: self._reading.pop(handle))
        # Others may wait for the same table: whoever goes away does not stop it.
        return await asyncio.shield(reading)

    async def _read(self, handle: str) -> Table | None:
        table = Table(handle, self._world, self.listeners)
        try:
            await table.restore()
            entry = await self._unlisted(table)
        except StoreUnavailable:
            raise
        except TableDamaged as error:
            _log.error("%s", error)
            raise
        except Exception as error:
            # Records that can be read but not folded: as bad as if they could not be read.
            _log.exception("table %s makes no sense", handle)
            raise TableDamaged(f"table {handle} makes no sense") from error
        if table.state.seq == 0:
            return None
        if entry is not None:
            self._list(entry)
        self._tables[handle] = table
        self._forget_unused()
        table.changed()
        return table

    async def _unlisted(self, table: Table) -> Entry | None:
        """The entry of a table that has not ended and yet is not listed. Raises TableDamaged.

        It was opened here, and the log took it although it could not say so.
        """
        state = table.state
        if state.seq == 0 or state.phase is Phase.CLOSED or table.handle in self._open:
            return None
        entry = await self._world.log.entry(table.handle)
        if entry is None:
            raise TableDamaged(f"table {table.handle} is missing in the list of tables")
        return entry

    def _forget_unused(self) -> None:
        """Of the tables that have ended only the last used ones stay in memory."""
        most = self._world.environment.settings.ended_in_memory
        ended = [handle for handle in self._tables if handle not in self._open]
        for handle in ended[: max(0, len(ended) - most)]:
            del self._tables[handle]

    def open_tables(self) -> list[Entry]:
        """Every table that has not ended, oldest first."""
        return list(self._open.values())

    def give_back_time(self) -> None:
        """Nobody could act for a while: every table extends its deadline."""
        for table in self.tables():
            table.give_back_time()

    def tables(self) -> list[Table]:
        """Every table in memory, also those that have ended."""
        return list(self._tables.values())

    @property
    def is_empty(self) -> bool:
        """Whether no table is open."""
        return not self._open and not self._opening

    # Letting go

    def table_changed(self, table: Table) -> None:
        """See `table.Listener`: a table that has ended is no longer listed."""
        self.quotas.forget_seats(table)
        if table.state.phase is not Phase.CLOSED or table.handle not in self._open:
            return
        entry = self._open.pop(table.handle)
        self._by_code.pop(entry.code, None)
        self.quotas.release_table(table.handle)
        # Now it is the last used one of those that have ended.
        self._tables[table.handle] = self._tables.pop(table.handle)
        self._forget_unused()

    def forget(self, handles: list[str]) -> None:
        """These have changed in the log: they are read again, if they are still there."""
        for handle in handles:
            self._tables.pop(handle, None)

    def seated(self, handle: str, holder: bytes, address: str) -> None:
        """Counts a seat that was taken at this table from this address."""
        # A table that has ended meanwhile would never release it.
        if handle in self._open:
            self.quotas.seated(handle, holder, address)

    def _free_handle(self) -> str:
        length = HANDLE_LENGTH
        while True:
            # A crowded server takes longer handles instead of searching for a gap.
            for _ in range(8):
                handle = self._random(length)
                if handle not in self._open and handle not in self._opening:
                    return handle
            length += 1

    def _random(self, length: int) -> str:
        return "".join(self._world.environment.rng.names.choices(CROCKFORD, k=length))
