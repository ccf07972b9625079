"""One connection pool a process, shared by the outward clients."""

import atexit
import os
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx


@cache
def _pool(pid: int) -> httpx.Client:
    # An explicit transport keeps HTTP_PROXY out: study data go to the configured host alone.
    client = httpx.Client(
        transport=httpx.HTTPTransport(verify=True),
        follow_redirects=False,
        cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
    )
    atexit.register(client.close)
    return client


def http() -> httpx.Client:
    """The pool of this process: no cookies, no proxies, no redirects, certificates checked.

    Keyed by process id because a forked worker must not share its parent's sockets.
    """
    return _pool(os.getpid())
