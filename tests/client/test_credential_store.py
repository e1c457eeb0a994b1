"""The file of credentials."""

import base64
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from odin_cli.local.credential_store import CredentialFileError, CredentialStore, default_path
from odin_client.connection.address import Address
from odin_client.connection.credential import Credential

SERVER = Address("192.0.2.7", 7711)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "seats.json"


def test_a_credential_is_32_bytes_and_not_shown() -> None:
    credential = Credential.new()
    assert len(base64.urlsafe_b64decode(credential.secret + "=")) == 32
    assert "=" not in credential.secret
    assert credential.secret not in repr(credential)


def test_the_same_name_gets_the_same_credential_again(path: Path) -> None:
    first = CredentialStore(path).credential_for(SERVER, "Zoe")
    assert CredentialStore(path).credential_for(SERVER.at("ABCD"), "zoe") == first


def test_names_and_servers_have_credentials_of_their_own(path: Path) -> None:
    store = CredentialStore(path)
    credentials = {
        store.credential_for(server, name).secret
        for server in (SERVER, Address("192.0.2.8", 7711), Address("192.0.2.7", 7712))
        for name in ("Zoe", "Bob")
    }
    assert len(credentials) == 6


def test_this_machine_is_one_server_whatever_it_is_called(path: Path) -> None:
    store = CredentialStore(path)
    by_name = store.credential_for(Address("localhost", 7711), "Zoe")
    assert store.credential_for(Address("127.0.0.1", 7711), "Zoe") == by_name


def test_only_the_owner_can_read_it(path: Path) -> None:
    old = os.umask(0)
    try:
        CredentialStore(path).credential_for(SERVER, "Zoe")
        CredentialStore(path).credential_for(SERVER, "Bob")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(p.name for p in path.parent.iterdir()) == ["seats.json", "seats.json.lock"]


def test_clients_that_start_at_once_do_not_lose_each_others_credentials(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from odin_client.connection.address import Address\n"
        "from odin_cli.local.credential_store import CredentialStore\n"
        "store = CredentialStore(Path(sys.argv[1]))\n"
        "for n in range(20): store.credential_for(Address('192.0.2.7'), f'{sys.argv[2]}{n}')\n"
    )
    clients = [
        subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in "abcd"
    ]
    assert [client.wait(60) for client in clients] == [0, 0, 0, 0]
    assert len(json.loads(path.read_text())["seats"]["192.0.2.7:7711"]) == 80


@pytest.mark.parametrize("content", ["", "{", "[]", '{"seats": 3}', '{"seats": {"a": "b"}}'])
def test_a_file_that_is_something_else_is_left_alone(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(CredentialFileError, match="Move it away"):
        CredentialStore(path).credential_for(SERVER, "Zoe")
    assert path.read_text() == content


def test_a_place_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CredentialFileError, match="--credential-file"):
        CredentialStore(tmp_path / "file" / "seats.json").credential_for(SERVER, "Zoe")


def test_the_environment_can_name_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ODIN_CREDENTIAL_FILE", str(tmp_path / "mine.json"))
    assert default_path() == tmp_path / "mine.json"
    monkeypatch.delenv("ODIN_CREDENTIAL_FILE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "odin-table" / "seats.json"
