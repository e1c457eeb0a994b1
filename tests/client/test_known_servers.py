"""The servers that one has been at."""

from pathlib import Path

import pytest

from odin_cli.lan.known_servers import MOST, KnownServers
from odin_client.connection.address import Address


def test_the_last_one_is_first_and_each_is_there_once(tmp_path: Path) -> None:
    known = KnownServers(tmp_path / "new" / "servers.json")
    assert known.all() == []
    for text in ("K7QF@192.0.2.1", "odin.example:7712", "M2ZD@192.0.2.1"):
        known.remember(Address.parse(text))
    assert known.all() == [Address("192.0.2.1"), Address("odin.example", 7712)]


def test_only_a_few_are_remembered(tmp_path: Path) -> None:
    known = KnownServers(tmp_path / "servers.json")
    for port in range(1, MOST + 4):
        known.remember(Address("192.0.2.1", port))
    assert [address.port for address in known.all()] == list(range(MOST + 3, 3, -1))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"servers": 3}', '{"servers": ["a b"]}'])
def test_a_file_that_makes_no_sense_holds_nothing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "servers.json"
    file.write_text(content)
    known = KnownServers(file)
    assert known.all() == []
    known.remember(Address("192.0.2.1"))
    assert known.all() == [Address("192.0.2.1")]


def test_a_folder_that_cannot_be_written_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    known = KnownServers(tmp_path / "file" / "servers.json")
    known.remember(Address("192.0.2.1"))
    assert known.all() == []
