"""Calls to WeCom's server API (wecom.md 3): raw UTF-8 JSON, time limits, typed results, no secrets in them."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from core.integrations.pool import http
from core.integrations.wecom.results import (
    NOT_SEEN,
    STANDINGS,
    TOKEN_CODES,
    Kind,
    Result,
    SendError,
    Sent,
    Standing,
    classify,
)
from core.integrations.wecom.tokens import Token, TokenRefused, TokenStore
from core.privacy.outbound_policy import OutsideRefused

Message = Mapping[str, Any]
Answer = dict[str, Any]

_DETAIL_CHARS = 300
_SECRETS = re.compile(r"(access_token|corpsecret)=[^&\s\"']*")
REFUSED_S = 600.0
"""An address that is not allowed waits for an operator."""
_JSON = "application/json; charset=utf-8"
# The request had not left: nothing can have been delivered.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class _Sendable:
    """What a POST carries."""

    content: bytes
    content_type: str = _JSON


class WecomClient:
    """One self-built app of one corp."""

    def __init__(
        self,
        base: str,
        corp_id: str,
        agent_id: int,
        secret: str,
        token_store: TokenStore,
        *,
        connect_s: float = 3.0,
        read_s: float = 10.0,
    ) -> None:
        self.base = base.rstrip("/")
        self.corp_id = corp_id
        self.agent_id = agent_id
        self._secret = secret
        self._tokens = token_store
        self._timeout = httpx.Timeout(read_s, connect=connect_s)

    def __repr__(self) -> str:
        return f"WecomClient({self.base!r}, agent {self.agent_id})"

    def send(self, message: Message) -> Result:
        """message/send; `message` without agentid. Recipients that WeCom names as bad are undelivered."""
        answer = self._post("message/send", {**message, "agentid": self.agent_id})
        if isinstance(answer, SendError):
            return answer
        missed = _names(answer.get("invaliduser")) | _names(answer.get("unlicenseduser"))
        wanted = _names(message.get("touser"))
        if wanted and wanted <= missed:
            return SendError(Kind.PERMANENT, 0, f"not delivered to {', '.join(sorted(missed))}")
        return Sent(
            str(answer.get("msgid") or ""),
            str(answer.get("response_code") or ""),
            tuple(sorted(wanted & missed)),
        )

    def update_template_card(self, update: Message) -> Result:
        """message/update_template_card; `update` has the response_code, which works once."""
        answer = self._post("message/update_template_card", {**update, "agentid": self.agent_id})
        return answer if isinstance(answer, SendError) else Sent()

    def upload_image(self, name: str, image: bytes) -> str | SendError:
        """media/upload (document 90253): the media_id of a PNG or JPG up to 10 MB, good for three days.

        Nothing is delivered by it, so that whatever failed may be tried again.
        """
        answer = self._call("media/upload", _form(name, image), {"type": "image"})
        if isinstance(answer, SendError):
            return replace(answer, kind=Kind.RETRY) if answer.kind is Kind.AMBIGUOUS else answer
        media_id = answer.get("media_id")
        if not isinstance(media_id, str) or not media_id:
            return SendError(Kind.RETRY, 0, "media/upload answered without a media_id")
        return media_id

    def check_token(self) -> SendError | None:
        """Whether an access token is to be had (gettoken, or the stored one)."""
        try:
            self._tokens.get(self._fetch_token)
        except TokenRefused as refused:
            return refused.error
        return None

    def getcallbackip(self) -> list[str] | SendError:
        """Addresses that callbacks come from: exact, with a trailing `*`, or CIDR (1.7)."""
        answer = self._call("getcallbackip", None)
        if isinstance(answer, SendError):
            return answer
        found = answer.get("ip_list")
        return [str(item) for item in found] if isinstance(found, list) else []

    def standing(self, userid: str) -> Standing | SendError:
        """user/get: whether the app sees somebody of this userid; nothing else of the answer is kept."""
        answer = self._call("user/get", None, {"userid": userid})
        if isinstance(answer, SendError):
            return NOT_SEEN.get(answer.code, answer)
        # An app that may not know it is told no status: then the userid is there, and that is all.
        return STANDINGS.get(_number(answer.get("status")), Standing.ACTIVE)

    def scanned(self, code: str) -> str | SendError:
        """auth/getuserinfo (document 91023): the userid of who scanned; "" for one who is not of the corp."""
        answer = self._call("auth/getuserinfo", None, {"code": code})
        if isinstance(answer, SendError):
            return answer
        userid = answer.get("userid")
        return userid if isinstance(userid, str) else ""

    def _post(self, path: str, body: Message) -> Answer | SendError:
        return self._call(path, _Sendable(encode(body)))

    def _call(
        self, path: str, body: _Sendable | None, query: Mapping[str, str] | None = None
    ) -> Answer | SendError:
        """One call; where the token is not taken a second one with another token, never a third."""
        first, token = self._once(path, body, query or {}, "")
        if not isinstance(first, SendError) or first.code not in TOKEN_CODES or not token:
            return first
        second, token = self._once(path, body, query or {}, token)
        if token and isinstance(second, SendError) and second.code in TOKEN_CODES:
            return SendError(Kind.PERMANENT, second.code, second.detail)
        return second

    def _once(
        self, path: str, body: _Sendable | None, query: Mapping[str, str], stale: str
    ) -> tuple[Answer | SendError, str]:
        """The answer and the token it was asked with; a blank token means nothing was asked."""
        try:
            token = self._tokens.get(self._fetch_token, stale)
        except TokenRefused as refused:
            return refused.error, ""
        return self._request(path, {"access_token": token, **query}, body, token), token

    def _fetch_token(self) -> Token:
        params = {"corpid": self.corp_id, "corpsecret": self._secret}
        answer = self._request("gettoken", params, None, self._secret)
        if isinstance(answer, SendError):
            raise TokenRefused(_of_gettoken(answer))
        value = answer.get("access_token")
        if not isinstance(value, str) or not value:
            raise TokenRefused(SendError(Kind.RETRY, 0, "gettoken answered without a token"))
        return Token(value, _seconds(answer.get("expires_in")))

    def _request(
        self, path: str, params: Mapping[str, str], body: _Sendable | None, secret: str
    ) -> Answer | SendError:
        unclear = Kind.RETRY if body is None else Kind.AMBIGUOUS
        try:
            response = http().request(
                "GET" if body is None else "POST",
                f"{self.base}/{path}",
                params=params,
                content=body.content if body else None,
                headers={"Content-Type": body.content_type if body else _JSON},
                timeout=self._timeout,
            )
        except OutsideRefused as error:
            return SendError(Kind.ALERT, 0, str(error), REFUSED_S)
        except _NOT_SENT as error:
            return SendError(Kind.RETRY, 0, type(error).__name__)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # httpx's own text and request hold the address with the token: only the name leaves.
            return SendError(unclear, 0, type(error).__name__)
        return read_answer(response, secret, unclear)


def _form(name: str, image: bytes) -> _Sendable:
    """multipart/form-data as document 90253 shows it, with the `filelength` that it asks for."""
    boundary = secrets.token_hex(16)
    about = f'form-data; name="media"; filename="{name}"; filelength={len(image)}'
    head = f"--{boundary}\r\nContent-Disposition: {about}\r\nContent-Type: image/png\r\n\r\n"
    content = head.encode() + image + f"\r\n--{boundary}--\r\n".encode()
    return _Sendable(content, f"multipart/form-data; boundary={boundary}")


def encode(body: Message) -> bytes:
    """Raw UTF-8 JSON, the same bytes for the same message (errcode 40033; O14, O20)."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def read_answer(
    response: httpx.Response, secret: str, unclear: Kind = Kind.AMBIGUOUS
) -> Answer | SendError:
    """The JSON of an answer, or what its status or errcode stands for; `secret` is masked.

    A gateway in trouble (5xx) and an answer that cannot be read do not tell whether the call worked: that is
    `unclear`.
    """
    if response.status_code != 200:
        kind = unclear if response.status_code >= 500 else Kind.RETRY
        return SendError(kind, 0, f"HTTP {response.status_code}")
    try:
        answer = json.loads(response.content)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        return SendError(unclear, 0, "the answer is not a JSON object")
    code = _errcode(answer)
    if code is None:
        return SendError(unclear, 0, "the errcode is no number")
    if code:
        return classify(code, redact(str(answer.get("errmsg") or ""), secret))
    return answer


def _errcode(answer: Answer) -> int | None:
    """Missing, 0, "0" and 0.0 are success (3; O12); None for what is no number."""
    value = answer.get("errcode")
    if value is None:
        return 0
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def redact(text: str, secret: str = "") -> str:
    """`text` without tokens and secrets, cut to a length that fits a table (O21)."""
    cleaned = text.replace(secret, "***") if secret else text
    return _SECRETS.sub(r"\1=***", cleaned)[:_DETAIL_CHARS]


def _of_gettoken(error: SendError) -> SendError:
    """A limit on gettoken is the ban of our address: stop and call somebody (3.6, 45009)."""
    if error.kind is Kind.WAIT:
        return SendError(Kind.ALERT, error.code, error.detail, 3600.0)
    return error


def _names(value: object) -> set[str]:
    """`a|b` (message/send) or a list (update), lower-cased: WeCom compares without case (3.2, 3.4)."""
    parts = value if isinstance(value, list) else str(value or "").split("|")
    return {str(part).strip().lower() for part in parts if str(part).strip()}


def _number(value: object) -> int:
    try:
        return int(float(str(value)))
    except (ValueError, OverflowError):
        return 0


def _seconds(value: object) -> int:
    try:
        return max(int(float(str(value))), 0)
    except ValueError:
        return 7200
