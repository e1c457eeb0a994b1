"""The file of credentials: one per server and name, readable by its owner only.

A credential is worth a seat. It is kept per *server*, so that no server ever sees the credential
of another, and per *name*, so that two people on one machine have two seats at one table and each
finds their own seat again. This machine is one server whatever it is called (localhost, its
address in the network), so that a host who comes back by another address keeps the seat.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Final

from odin_cli.local.state_folder import replace_file, state_folder
from odin_cli.speech.languages import _
from odin_client.connection.address import Address, is_this_machine
from odin_client.connection.credential import Credential
from odin_client.errors import ClientError

ENVIRONMENT: Final = "ODIN_CREDENTIAL_FILE"
"""The variable that names another file."""


class CredentialFileError(ClientError):
    """The file of credentials cannot be read or written."""


def default_path() -> Path:
    """`ODIN_CREDENTIAL_FILE`, or seats.json where the system keeps the state of programs."""
    if named := os.environ.get(ENVIRONMENT):
        return Path(named)
    return state_folder() / "seats.json"


def _lock(descriptor: int) -> None:
    """Waits until no other client holds the file; closing it gives it back."""
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 -- Windows has none, and goes without

        fcntl.flock(descriptor, fcntl.LOCK_EX)


class CredentialStore:
    """One file: `{"seats": {SERVER: {NAME: CREDENTIAL}}}`."""

    def __init__(self, path: Path | None = None) -> None:
        """Touches nothing yet."""
        self.path: Final = path or default_path()

    def credential_for(self, address: Address, name: str) -> Credential:
        """The credential for this name at this server; the same one each time, made when needed.

        Case does not tell names apart, as at a table. Raises CredentialFileError.
        """
        server = f"this machine:{address.port}" if is_this_machine(address.host) else address.server
        try:
            with self._locked():
                seats = self._read()
                known = seats.setdefault(server.casefold(), {})
                secret = known.get(name.casefold())
                if secret is None:
                    secret = known[name.casefold()] = Credential.new().secret
                    self._write(seats)
                return Credential(secret)
        except OSError as error:
            raise CredentialFileError(
                _("The file of credentials {path} cannot be used: {problem}.").format(
                    path=self.path, problem=error.strerror
                ),
                _("Name another one with --credential-file."),
            ) from error

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Two clients that start at once must not overwrite each other's credential."""
        folder = self.path.parent
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True)
        lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(lock)
            yield
        finally:
            os.close(lock)

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        try:
            content = json.loads(text)
            return {
                str(server): {str(name): str(secret) for name, secret in known.items()}
                for server, known in content["seats"].items()
            }
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise CredentialFileError(
                _("{path} is not a file of credentials.").format(path=self.path),
                _("Move it away; the seats it held cannot be taken back without it."),
            ) from error

    def _write(self, seats: dict[str, dict[str, str]]) -> None:
        replace_file(self.path, json.dumps({"seats": seats}, indent=1))
