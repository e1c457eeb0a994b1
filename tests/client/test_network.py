"""Which addresses of this machine lead others to it."""

import ipaddress
from pathlib import Path

import pytest

from odin_client.network import addresses_of, is_virtual, own_addresses, spoken_by


def test_own_addresses_are_for_others() -> None:
    for address in own_addresses():
        ip = ipaddress.ip_address(address)
        assert not ip.is_loopback
        assert not ip.is_link_local


def test_only_what_is_named_and_ours_is_taken() -> None:
    assert own_addresses(["127.0.0.1"]) == ["127.0.0.1"]
    assert own_addresses(["203.0.113.77"]) == []


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::", "[::]", ""])
def test_a_server_that_listens_everywhere_is_found_by_every_address(everywhere: str) -> None:
    assert addresses_of(everywhere) == own_addresses()


def test_a_server_that_listens_on_one_address_is_found_by_that_one() -> None:
    assert addresses_of("127.0.0.1") == ["127.0.0.1"]
    assert addresses_of("[::1]") == ["::1"]


@pytest.mark.parametrize("name", ["docker0", "br-1f2e3d", "veth12", "virbr0", "tun0", "vmnet8"])
def test_networks_of_containers_machines_and_tunnels_are_virtual(name: str) -> None:
    assert is_virtual(name)


@pytest.mark.parametrize("name", ["eth0", "enp3s0", "wlan0", "wlp2s0", "en0", "bond0", "br0"])
def test_networks_of_cards_are_not_virtual(name: str) -> None:
    assert not is_virtual(name)


def test_a_tunnel_under_any_name_is_virtual(tmp_path: Path) -> None:
    tunnel = tmp_path / "home"
    tunnel.mkdir()
    assert not is_virtual("home", tmp_path)
    (tunnel / "tun_flags").write_text("0x1001\n")
    assert is_virtual("home", tmp_path)


def test_what_can_be_said_by_ipv4_is() -> None:
    assert spoken_by(["192.0.2.1", "2001:db8::1"]) == ["192.0.2.1"]
    assert spoken_by(["2001:db8::1"]) == ["2001:db8::1"]
