"""Sends one allowed question to REDCap and returns its answer as text or JSON, never anything else.

Contract: reference/redcap_dify.md 2.1, errors 1.8. Only exports exist here; there is no way to ask
for an import, a delete or a rename.
"""

import json
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from core.integrations.pool import http
from core.integrations.redcap.errors import (
    RedcapError,
    RedcapPermissionError,
    RedcapProtocolError,
    RedcapUnavailable,
)
from core.integrations.redcap.limiter import Limiter
from core.privacy.outbound_policy import OutsideRefused

logger = logging.getLogger(__name__)

Params = Mapping[str, str | Sequence[str]]

ALLOWED: Mapping[str, str | None] = {
    "record": "export",
    "project": None,
    "metadata": None,
    "event": None,
    "formEventMapping": None,
    "instrument": None,
    "repeatingFormsEvents": None,
    "exportFieldNames": None,
    "dag": None,
    "log": None,
    "version": None,
}
"""Every question the client may ask: content and its one action (None where REDCap takes none)."""

QUERIES = "dataQuality"
QUERIES_PAGE = "?prefix=vanderbilt_dataQuality&page=export&type=module&NOAUTH&pid="
"""Of the external module data_quality_api (1.12). Its page that writes is named nowhere."""

CONNECT_S, READ_S = 5.0, 120.0
TRIES, PAUSE_S = 3, 0.5
RETRIED = frozenset({408, 500, 502, 503, 504})
_TIMEOUT = httpx.Timeout(READ_S, connect=CONNECT_S)


class Transport:
    """One REDCap project behind its URL and token; the token is shown nowhere."""

    def __init__(
        self,
        url: str,
        token: str,
        limiter: Limiter,
        sleep: Callable[[float], None] = time.sleep,
        pause: float = PAUSE_S,
    ) -> None:
        self.url = url
        self._token = token
        self._limiter = limiter
        self._sleep, self._pause = sleep, pause

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def ask_json(self, content: str, params: Params | None = None) -> Any:
        """The decoded JSON body; an `{"error": …}` of any status and everything else raises."""
        return self._json(content, self._answer(content, self._form(content, params or {})))

    def ask_queries(self, pid: str) -> Any:
        """The decoded JSON body of the module's export of open queries; raises as `ask_json` does.

        `pid`: REDCap's number of the project, digits only, so that it can name no other page.
        """
        if not (pid.isascii() and pid.isdigit()):
            raise RedcapProtocolError(0, "REDCap's number of the project is not known", QUERIES)
        form = {"format": "json", "returnFormat": "json", "pid": pid, "status": "OPEN"}
        return self._json(QUERIES, self._answer(QUERIES, form, f"{self.url}{QUERIES_PAGE}{pid}"))

    def ask_text(self, content: str) -> str:
        """The body of the few contents that answer with plain text (version)."""
        response = self._answer(content, self._form(content, {}))
        self._refuse_error(response.status_code, content, self._decode(response))
        return response.text

    def _json(self, content: str, response: httpx.Response) -> Any:
        body = self._decode(response)
        self._refuse_error(response.status_code, content, body)
        if body is _NOT_JSON:
            raise RedcapProtocolError(response.status_code, "the answer is not JSON", content)
        return body

    def _answer(self, content: str, form: dict[str, str], url: str = "") -> httpx.Response:
        """The first answer worth reading; raises after TRIES."""
        failure: httpx.Response | str = ""
        for attempt in range(TRIES):
            if attempt:
                self._sleep(2**attempt * random.uniform(0.5, 1.0) * self._pause)
            failure = self._send(content, form, url or self.url)
            if not isinstance(failure, str) and failure.status_code not in RETRIED:
                return failure
            logger.warning("REDCap try %s of content %s failed", attempt + 1, content)
        if isinstance(failure, str):
            raise RedcapUnavailable(0, failure, content)
        raise RedcapUnavailable(failure.status_code, _error_text(self._decode(failure)), content)

    def _send(self, content: str, form: dict[str, str], url: str) -> httpx.Response | str:
        """One try. A network error comes back as its name: httpx's exception holds the token.

        The token joins the body in this frame only, so that no traceback's locals show it.
        """
        self._limiter.acquire()
        try:
            return http().post(url, data={"token": self._token, **form}, timeout=_TIMEOUT)
        except OutsideRefused as error:
            raise RedcapUnavailable(0, str(error), content) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            return type(error).__name__

    def _form(self, content: str, params: Params) -> dict[str, str]:
        """The body: arrays as name[i], because comma lists fail on some versions (1.1)."""
        if content not in ALLOWED:
            raise ValueError(f"content {content!r} is not among the questions this client may ask")
        form = {"content": content, "format": "json", "returnFormat": "json"}
        action = ALLOWED[content]
        if action is not None:
            form["action"] = action
        for name, value in params.items():
            if name in form or name in ("action", "token"):
                raise ValueError(f"parameter {name!r} is set by the client")
            if isinstance(value, str):
                form[name] = value
            else:
                form.update({f"{name}[{i}]": item for i, item in enumerate(value)})
        return form

    def _refuse_error(self, status: int, content: str, body: object) -> None:
        text = _error_text(body)
        if status == 403:
            raise RedcapPermissionError(status, text, content)
        if status == 429:
            raise RedcapUnavailable(status, text, content)
        if text or (isinstance(body, dict) and "error" in body):
            raise RedcapError(status, text, content)
        if status != 200:
            raise RedcapProtocolError(status, "", content)

    def _decode(self, response: httpx.Response) -> Any:
        """The JSON value of a body, or _NOT_JSON (HTML, cut, empty, wrong charset)."""
        try:
            text = response.content.decode("utf-8-sig")
            if self._token:
                text = text.replace(self._token, "***")
            return json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return _NOT_JSON


_NOT_JSON = object()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _error_text(body: object) -> str:
    return str(body["error"]) if isinstance(body, dict) and "error" in body else ""
