"""Quotas: how many tables and seats each credential and each address holds."""

from __future__ import annotations

from typing import Final

from odin_contract.enums import Phase
from odin_server.edge.limits import Held, Reserved
from odin_server.settings import Limits
from odin_server.table.table import Table


class Quotas:
    """What each credential and each address holds at the moment."""

    def __init__(self, limits: Limits) -> None:
        self._tables: Final = Held("tables", limits.tables)
        self._tables_of_host: Final = Held("tables_per_credential", limits.tables_per_credential)
        self._tables_of_address: Final = Held("tables_per_address", limits.tables_per_address)
        self._seats_of_holder: Final = Held("seats_per_credential", limits.seats_per_credential)
        self._seats_of_address: Final = Held("seats_per_address", limits.seats_per_address)
        self._opened: Final[dict[str, tuple[bytes, str]]] = {}
        """Of each table: who opened it, and from which address."""
        self._seated: Final[dict[str, dict[bytes, str]]] = {}
        """Of each table: who took a seat there, and from which address."""

    def check_table(self, host: bytes, address: str) -> None:
        """Raises RATE_LIMITED when nobody, or not this caller, may open another table."""
        self._tables.check(None)
        self._tables_of_host.check(host)
        self._tables_of_address.check(address)

    def hold_table(self, handle: str, host: bytes, address: str) -> None:
        """Counts a table until `release_table`. An empty address stands for an unknown one."""
        self._opened[handle] = host, address
        self._tables.add(None)
        self._tables_of_host.add(host)
        self._tables_of_address.add(address)

    def release_table(self, handle: str) -> None:
        """Counts a table no more."""
        host, address = self._opened.pop(handle)
        self._tables.remove(None)
        self._tables_of_host.remove(host)
        self._tables_of_address.remove(address)

    def reserve_seat(self, holder: bytes, address: str) -> Reserved:
        """Counts a seat that is about to be taken, until it is `seated` or was refused.

        Raises RATE_LIMITED when this caller, or its address, holds as many seats as it may.
        """
        return Reserved((self._seats_of_holder, holder), (self._seats_of_address, address))

    def seated(self, handle: str, holder: bytes, address: str) -> None:
        """Counts a seat at this table, until it is left or the table ends."""
        seats = self._seated.setdefault(handle, {})
        if holder not in seats:
            seats[holder] = address
            self._seats_of_holder.add(holder)
            self._seats_of_address.add(address)

    def forget_seats(self, table: Table) -> None:
        """Forgets the seats that have been left at a table, and all of one that has ended."""
        ended = table.state.phase is Phase.CLOSED
        seats = self._seated.get(table.handle, {})
        for holder, address in list(seats.items()):
            if ended or table.state.seat_held_by(holder) is None:
                del seats[holder]
                self._seats_of_holder.remove(holder)
                self._seats_of_address.remove(address)
        if ended:
            self._seated.pop(table.handle, None)
