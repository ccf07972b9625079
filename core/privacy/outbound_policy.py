"""Which addresses REDCap, Dify, WeCom and the LLM are asked at: one policy for all clients (design.md 9.1).

Outside of the house only https. Private addresses, this machine's own among them, only as the environment
names them in `PRIVATE_HTTP_HOSTS`, then without TLS too. Never those of links and of a cloud's metadata.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_METADATA = [
    ipaddress.ip_network(text)
    for text in ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
]
"""Of clouds whose machines' own secrets are not at a link-local address."""
_EMBEDDING = [
    ipaddress.IPv6Network(text) for text in ("::/96", "64:ff9b::/96", "64:ff9b:1:ffff:ffff:ffff::/96")
]  # fmt: skip
"""IPv6 networks whose last four bytes are an IPv4 address that is reached through them."""
_NUMBERS = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+))*\.?", re.IGNORECASE)
_UNREADABLE = re.compile(r"[\x00-\x20\x7f\\]")


class PrivacyError(Exception):
    """The gate could not do its work: nothing may leave."""


class OutsideRefused(PrivacyError):
    """An address to which study data may not go."""


def check_url(url: str) -> None:
    """Refuse an address by what it says. What its name stands for is asked at connecting (`reachable`).

    Raises OutsideRefused.
    """
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise OutsideRefused("this is no address") from None
    if _UNREADABLE.search(url) or "%" in host:
        raise OutsideRefused("this is no address")
    if not host or parts.username is not None or parts.password is not None:
        raise OutsideRefused("an address has a host and no credentials")
    address = _literal(host)
    if address:
        _check(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_house(host, address)):
        raise OutsideRefused("outside of the house only https is allowed")


def reachable(host: str, port: int) -> list[str]:
    """The addresses behind `host` that may be connected to. Raises OutsideRefused, OSError.

    Who connects does so to one of these and asks no name server again, which might say something else then.
    """
    found = dict.fromkeys(
        str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    )
    allowed = [text for text in found if _may(ipaddress.ip_address(text))]
    if not allowed:
        raise OutsideRefused("the name stands for an address that is not allowed")
    return allowed


def _literal(host: str) -> Address | None:
    """The address that is written out; None for a name. Raises OutsideRefused for other spellings of one."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        if _NUMBERS.fullmatch(host):
            raise OutsideRefused("an address is written as four numbers") from None
        return None


def _is_house(host: str, address: Address | None) -> bool:
    """Whether plain http may go there: a named address, or this machine where its own address is named."""
    if host == "localhost":
        return any(_is_named(ipaddress.ip_address(own)) for own in ("127.0.0.1", "::1"))
    return address is not None and all(_is_named(one) for one in _behind(address))


def _may(address: Address) -> bool:
    try:
        _check(address)
    except OutsideRefused:
        return False
    return True


def _check(address: Address) -> None:
    for one in _behind(address):
        special = one.is_link_local or one.is_multicast or one.is_unspecified
        if special or any(one in network for network in _METADATA):
            raise OutsideRefused("this address is not a server's")
        if not _is_public(one) and not _is_named(one):
            raise OutsideRefused("an address inside the house is named in PRIVATE_HTTP_HOSTS")


def _behind(address: Address) -> Iterator[Address]:
    """The addresses that packets to this one reach: of IPv4 in IPv6 the inner ones."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if not address.is_loopback and not address.is_unspecified:
        low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        inner += [low for network in _EMBEDDING if address in network]
    found = [one for one in inner if one is not None]
    yield from found or [address]


def _is_public(address: Address) -> bool:
    return address.is_global and not getattr(address, "is_site_local", False)


def _is_named(address: Address) -> bool:
    networks = (_network(text) for text in settings.PRIVATE_HTTP_HOSTS)
    named = any(network and address in network for network in networks)
    return named and not _is_public(address)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
