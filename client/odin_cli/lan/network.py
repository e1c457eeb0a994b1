"""The addresses of this machine, and which of them others on the network may find it by.

Addresses of virtual networks (containers, virtual machines, tunnels) lead nobody here, so they are
left out. Which interface is virtual is told by its name, which systems and programs choose from a
small set, and on Linux also by the kernel, which knows a tunnel under any name. When nothing is
left, as inside a container, every address counts. Whoever knows better names the addresses.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LOOPBACK: Final = "127.0.0.1"

_VIRTUAL: Final = re.compile(
    "(br-|cali|cni|docker|dummy|flannel|ifb|kube|lxc|lxd|ovs|podman|tailscale|tap|tun|utun|vbox|"
    "veth|virbr|vmnet|vnet|wg|zt|awdl|llw|vethernet)",
    re.IGNORECASE,
)
"""How the names of virtual interfaces begin."""

_EVERYWHERE: Final = ("", "0.0.0.0", "::")
"""What a server listens on to be reached by every address; gRPC takes each as IPv4 and IPv6."""


def own_addresses(only: Sequence[str] = ()) -> list[str]:
    """The addresses under which others on the network may find this machine, best one first.

    `only` names the addresses to take instead, those of virtual networks included; what is not an
    address of this machine is left out.
    """
    import ifaddr  # noqa: PLC0415 -- most commands need no addresses

    real: list[str] = []
    virtual: list[str] = []
    for adapter in ifaddr.get_adapters():
        for ip in adapter.ips:
            text = ip.ip if isinstance(ip.ip, str) else ip.ip[0]
            address = ipaddress.ip_address(text.partition("%")[0])
            if text in only:
                real.append(text)
            elif not (address.is_loopback or address.is_link_local or address.is_unspecified):
                (virtual if is_virtual(adapter.name) else real).append(text)
    if only:
        return [address for address in only if address in real]
    preferred = _on_the_way_out()
    return sorted(dict.fromkeys(real or virtual), key=lambda a: (":" in a, a not in preferred))


def addresses_of(host: str, only: Sequence[str] = ()) -> list[str]:
    """The addresses by which others reach a server that listens on this host, best one first."""
    host = host.strip("[]")
    return own_addresses(only) if host in _EVERYWHERE else [host]


def spoken_by(addresses: Sequence[str]) -> list[str]:
    """The addresses by which to talk about all of these: one language for each interface.

    IPv4 where an interface has it, otherwise IPv6: a network may have nothing else.
    """
    import ifaddr  # noqa: PLC0415 -- most commands need no addresses

    left = list(dict.fromkeys(addresses))
    spoken: list[str] = []
    for adapter in ifaddr.get_adapters():
        texts = [ip.ip if isinstance(ip.ip, str) else ip.ip[0] for ip in adapter.ips]
        own = [text for text in left if text in texts]
        spoken += [text for text in own if ":" not in text] or own[:1]
        left = [text for text in left if text not in own]
    return [text for text in addresses if text in {*spoken, *left}]


def is_virtual(name: str, devices: Path = Path("/sys/class/net")) -> bool:
    """Whether an interface of this name leads to containers, virtual machines or a tunnel."""
    return bool(_VIRTUAL.match(name)) or (devices / name / "tun_flags").exists()


def _on_the_way_out() -> list[str]:
    """The addresses that this machine itself would use to go far away."""
    addresses: list[str] = []
    # Connecting a datagram socket sends nothing; it only asks which way the system would go.
    for family, far_away in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((far_away, 9))
                addresses.append(str(probe.getsockname()[0]))
        except OSError:
            continue
    return addresses
