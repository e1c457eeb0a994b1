"""Which addresses of this machine lead others to it."""

import ipaddress
from pathlib import Path

import ifaddr
import pytest

from odin_cli.lan.network import addresses_of, is_virtual, own_addresses, spoken_by


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


def test_each_interface_speaks_ipv4_if_it_has_that_and_otherwise_ipv6(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = ifaddr.Adapter(
        "eth0", "eth0", [ifaddr.IP("192.0.2.1", 24, ""), ifaddr.IP(("2001:db8::1", 0, 0), 64, "")]
    )
    only = ifaddr.Adapter(
        "wlan0", "wlan0", [ifaddr.IP((f"fd77::{end}", 0, 0), 64, "") for end in (1, 2)]
    )
    own = ifaddr.Adapter("lo", "lo", [ifaddr.IP("127.0.0.1", 8, "")])
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: [own, both, only])
    assert spoken_by(["192.0.2.1", "2001:db8::1", "127.0.0.1"]) == ["192.0.2.1", "127.0.0.1"]
    # A network with IPv6 alone, as a machine looks at it: the loopback's IPv4 leads nowhere.
    assert spoken_by(["fd77::1", "fd77::2", "127.0.0.1"]) == ["fd77::1", "127.0.0.1"]
    assert spoken_by(["203.0.113.7"]) == ["203.0.113.7"], "not one of ours: left as it is"
