"""Whom a request comes from: what a proxy says counts only where the operator named it (TRUSTED_PROXIES).

Everybody can send `X-Forwarded-For`. Behind a proxy that is not named all people share one address; if any
sender were believed, anybody could lock out anybody and nobody's attempts would add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Networks = tuple[IPv4Network | IPv6Network, ...]


@lru_cache
def networks(names: tuple[str, ...]) -> Networks:
    """Addresses and networks as the setting names them. Raises ValueError."""
    return tuple(ip_network(name, strict=False) for name in names)


def is_named(text: str, trusted: Networks) -> bool:
    """Whether this is the address of a named proxy."""
    address = _address(text)
    return address is not None and any(address in network for network in trusted)


def client(peer: str, forwarded: Sequence[str], trusted: Networks) -> str:
    """The nearest address that is no named proxy; `forwarded` are those before `peer`, the nearest last.

    What stands before it, its owner may have made up. Where somebody wrote no address, the proxy that passed
    it on is all that is known.
    """
    found = peer
    for text in reversed(forwarded):
        address = _address(text)
        if address is None:
            break
        found = str(address)
        if not is_named(found, trusted):
            break
    return found


def _address(text: str) -> Address | None:
    """An address as proxies write it: also with a port, an IPv6 one then in brackets."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
