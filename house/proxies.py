"""Whom a request comes from: what a proxy says counts only where the operator named it (TRUSTED_PROXIES).

Everybody can send `X-Forwarded-For`. Behind a proxy that is not named all people share one address; if any
sender were believed, anybody could lock out anybody and nobody's attempts would add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Address = IPv4Address | IPv6Address
Networks = tuple[IPv4Network | IPv6Network, ...]


class TrustedProxies:
    """Middleware: behind a named proxy `REMOTE_ADDR` is the client's; of others `X-Forwarded-…` is dropped.

    Whatever looks at the address or asks for https comes after it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Django's middleware protocol."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request as its client's."""
        peer, said = request.META.get("REMOTE_ADDR", ""), request.META
        forwarded = said.pop("HTTP_X_FORWARDED_FOR", "")
        trusted = networks(tuple(settings.TRUSTED_PROXIES))
        if is_named(peer, trusted):
            said["REMOTE_ADDR"] = client(peer, forwarded.split(","), trusted)
        else:
            said.pop("HTTP_X_FORWARDED_PROTO", None)
        return self.get_response(request)


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
