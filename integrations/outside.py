"""Addresses outside of this machine to which not even de-identified text may go (design.md 9.1)."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit


class PrivacyError(Exception):
    """The gate could not do its work: nothing may leave."""


class OutsideRefused(PrivacyError):
    """An address to which study data may not go."""


def require_local(url: str) -> None:
    """Refuse an address to which not even de-identified text may go. Raises OutsideRefused.

    Outside of this machine only https. Plain http goes to this machine, and to a private address that
    the environment allows: `PRIVATE_HTTP_HOSTS`, a comma list of addresses or networks.
    """
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise OutsideRefused("this is no address") from None
    address = _address(host)
    if not host or parts.username is not None or parts.password is not None:
        raise OutsideRefused("an address has a host and no credentials")
    if parts.scheme in ("http", "https") and (
        host == "localhost" or (address and address.is_loopback)
    ):
        return
    if address and (address.is_link_local or address.is_multicast or address.is_unspecified):
        raise OutsideRefused("this address is not a server's")
    if parts.scheme == "https" or (parts.scheme == "http" and address and _is_allowed(address)):
        return
    raise OutsideRefused("outside of this machine only https is allowed")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_allowed(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    listed = os.environ.get("PRIVATE_HTTP_HOSTS", "").split(",")
    networks = (_network(text.strip()) for text in listed if text.strip())
    return address.is_private and any(network and address in network for network in networks)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
