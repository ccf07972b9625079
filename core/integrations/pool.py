"""One connection pool a process, shared by the outward clients."""

from __future__ import annotations

import atexit
import os
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from core.privacy.outbound_policy import check_url, reachable


class _Guarded(httpcore.NetworkBackend):
    """Connects to addresses that the policy allows; a name is looked up here and nowhere else."""

    def __init__(self, plain: httpcore.NetworkBackend) -> None:
        self._plain = plain

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **kwargs: Any
    ) -> httpcore.NetworkStream:
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for address in _addresses(host, port):
            try:
                return self._plain.connect_tcp(address, port, timeout, *args, **kwargs)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError(f"no address of {host}")

    def sleep(self, seconds: float) -> None:
        self._plain.sleep(seconds)


def _addresses(host: str, port: int) -> list[str]:
    try:
        return reachable(host, port)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(type(error).__name__) from error


@cache
def _pool(pid: int) -> httpx.Client:
    # An explicit transport keeps HTTP_PROXY out: study data go to the configured host alone.
    transport = httpx.HTTPTransport(verify=True)
    # httpx hands no backend on; without it a name could stand for one address when it is checked and for
    # another when it is connected to.
    pool: Any = transport._pool
    pool._network_backend = _Guarded(pool._network_backend)
    client = httpx.Client(
        transport=transport,
        follow_redirects=False,
        cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
        event_hooks={"request": [lambda request: check_url(str(request.url))]},
    )
    atexit.register(client.close)
    return client


def http() -> httpx.Client:
    """The pool of this process: no cookies, no proxies, no redirects, certificates and addresses checked.

    Keyed by process id because a forked worker must not share its parent's sockets. Requests raise
    OutsideRefused beside httpx's own errors.
    """
    return _pool(os.getpid())
