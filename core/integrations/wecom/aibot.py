"""The one outward call of the smart bot: an answer to its response_url (wecom.md 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from core.integrations.pool import http
from core.integrations.wecom.client import REFUSED_S, encode, read_answer
from core.integrations.wecom.results import Kind, Result, SendError, Sent
from core.privacy.outbound_policy import OutsideRefused

_TIMEOUT = httpx.Timeout(10.0, connect=3.0)


def respond(base: str, url: str, body: Mapping[str, Any]) -> Result:
    """POST `body` once. The address comes with a message, so it must be of WeCom's own host `base`."""
    if _origin(url) != _origin(base):
        return SendError(Kind.PERMANENT, 0, "the response_url is not an address of WeCom")
    try:
        response = http().post(
            url,
            content=encode(body),
            headers={"Content-Type": "application/json; charset=utf-8"},
            timeout=_TIMEOUT,
        )
    except OutsideRefused as error:
        return SendError(Kind.ALERT, 0, str(error), REFUSED_S)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        return SendError(Kind.RETRY, 0, type(error).__name__)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return SendError(Kind.AMBIGUOUS, 0, type(error).__name__)
    # The address holds a code: it is no text for a log.
    answer = read_answer(response, urlsplit(url).query)
    return answer if isinstance(answer, SendError) else Sent()


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        return "", url, None
