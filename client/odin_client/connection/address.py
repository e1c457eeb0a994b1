"""The name of a table: `[HANDLE@]HOST[:PORT]`."""

from __future__ import annotations

import re
import socket
import unicodedata
from dataclasses import dataclass
from typing import Final

from odin_client.errors import ClientError
from odin_client.translatable import Translatable
from odin_contract.texts import handle_as_kept

DEFAULT_PORT: Final = 7711

_FORM: Final = re.compile(
    r"(?:(?P<handle>[A-Za-z0-9-]{1,24})@)?"
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.%A-Za-z0-9]+)\]|(?P<host>[A-Za-z0-9._-]+))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


class BadAddress(ClientError):
    """A text that names no table."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and perhaps which of its tables is meant."""

    host: str
    port: int = DEFAULT_PORT
    handle: str = ""

    @staticmethod
    def parse(text: str) -> Address:
        """Reads `[HANDLE@]HOST[:PORT]`, HOST a name, an IPv4 address or an [IPv6 address].

        >>> Address.parse("K7QF@192.168.1.20")
        Address(host='192.168.1.20', port=7711, handle='K7QF')

        Raises BadAddress.
        """
        typed = unicodedata.normalize("NFKC", text).strip().strip("\"'")
        found = _FORM.fullmatch(typed)
        port = int(found["port"] or DEFAULT_PORT) if found else 0
        if not found or not 1 <= port <= 65535:
            raise BadAddress(
                Translatable(
                    "{text} is no address. It has the form [HANDLE@]HOST[:PORT].", text=repr(text)
                )
            )
        handle = handle_as_kept(found["handle"] or "")
        return Address(found["host"] or found["ipv6"], port, handle)

    def at(self, handle: str) -> Address:
        """The same server, this table."""
        return Address(self.host, self.port, handle)

    @property
    def server(self) -> str:
        """HOST:PORT, as gRPC takes it."""
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def typed(self) -> str:
        """As it is typed in a shell: in quotes where one would take brackets for a pattern."""
        return f'"{self}"' if ":" in self.host else str(self)

    def __str__(self) -> str:
        """As short as it can be typed."""
        handle = f"{self.handle}@" if self.handle else ""
        port = "" if self.port == DEFAULT_PORT else f":{self.port}"
        return f"{handle}{_bracketed(self.host)}{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def is_this_machine(host: str) -> bool:
    """Whether the host is this machine, under whichever of its names and addresses.

    An address is ours exactly when a socket can be bound to it. False when the name is unknown.
    """
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return any(_can_bind(family, address) for family, *_other, address in found)


def _can_bind(family: int, address: tuple[str | int, ...] | tuple[int, bytes]) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True
