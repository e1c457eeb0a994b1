"""The name of a table, as it is typed."""

import pytest

from odin_cli.lan.network import own_addresses
from odin_client.connection.address import Address, BadAddress, is_this_machine


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("host.example", Address("host.example", 7711)),
        ("K7QF@192.168.1.20", Address("192.168.1.20", 7711, "K7QF")),
        ("k7qf@localhost:9000", Address("localhost", 9000, "K7QF")),
        ("o6aq@localhost", Address("localhost", 7711, "06AQ")),
        ("il-oL@Lilo.local", Address("Lilo.local", 7711, "1101")),
        ("\N{FULLWIDTH DIGIT ZERO}6aq@localhost", Address("localhost", 7711, "06AQ")),
        ("[::1]", Address("::1", 7711)),
        ('"K7QF@[::1]"', Address("::1", 7711, "K7QF")),
        ("K7QF@[fe80::1%eth0]:7712", Address("fe80::1%eth0", 7712, "K7QF")),
    ],
)
def test_an_address_is_read_and_written(text: str, address: Address) -> None:
    assert Address.parse(text) == address
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize(
    "text", ["", "@", "a@", "@host", "a b", "host:0", "host:65536", "a@b@c", "::1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress, match="HANDLE"):
        Address.parse(text)


def test_the_usual_port_is_not_written() -> None:
    assert str(Address("10.0.0.1", 7711, "ABCD")) == "ABCD@10.0.0.1"
    assert str(Address("::1", 1234)) == "[::1]:1234"


def test_this_machine_is_known_by_all_its_names() -> None:
    assert is_this_machine("localhost")
    assert is_this_machine("127.0.0.1")
    assert all(is_this_machine(address) for address in own_addresses())
    assert not is_this_machine("192.0.2.1")
