"""The pusher: delivers callbacks as WeCom does (reference/wecom.md 1.4 to 1.6, section 4)."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import httpx

from demo.simulators.wecom import xml
from demo.simulators.wecom.config import Config, Switches
from demo.simulators.wecom.crypto import Crypt, CryptoError, signature

IGNORED_BODIES = ("", "success")


@dataclass
class Outcome:
    """What came of one push: every delivery, and the decrypted passive reply if there was one."""

    deliveries: list[dict[str, Any]] = field(default_factory=list)
    reply: Element | None = None


@dataclass(frozen=True)
class Envelope:
    """One ciphertext with its signature."""

    params: dict[str, str]
    body: str


class Pusher:
    """Encrypts, POSTs, retries and reads the passive reply."""

    def __init__(self, config: Config, switches: Switches) -> None:
        self._config, self._switches = config, switches
        self._lock = threading.Lock()
        self._last_msgid = 0
        # WeCom opens a connection for each callback; a kept one could be stale.
        self._client = httpx.Client(
            trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def next_msgid(self) -> int:
        """A fresh 64-bit MsgId."""
        with self._lock:
            self._last_msgid = max(time.time_ns() << 2, self._last_msgid + 1)
            return self._last_msgid

    def push(
        self, plain: str, *, deliveries: int | None = None, reuse_nonce: bool | None = None
    ) -> Outcome:
        """Deliver `plain` and retry as WeCom does; `deliveries` forces a number of them."""
        same = self._switches.retry_reuse_nonce if reuse_nonce is None else reuse_nonce
        total = deliveries or self._switches.deliveries_total
        outcome, sealed = Outcome(), self.seal(plain)
        for attempt in range(total):
            if attempt and not same:
                sealed = self.seal(plain)
            row, answer = self._deliver(sealed)
            outcome.deliveries.append(row)
            if answer is not None and answer.status_code == 200 and outcome.reply is None:
                outcome.reply = self._read_reply(answer.text, plain, row)
            if deliveries is None and not self._again(answer):
                break
        return outcome

    def _again(self, answer: httpx.Response | None) -> bool:
        if answer is None:
            return True
        return answer.status_code != 200 and self._switches.retry_on_non200

    def seal(self, plain: str) -> Envelope:
        """Encrypt and sign with a fresh nonce; the timestamp is real time, whatever the clock."""
        encrypted = self._crypt().encrypt(plain)
        body = xml.envelope(self._config.corp_id, self._config.agent_id, encrypted)
        return Envelope(self._signed(encrypted), body)

    def _crypt(self) -> Crypt:
        return Crypt(self._config.aes_key, self._config.corp_id)

    def _signed(self, encrypted: str) -> dict[str, str]:
        timestamp, nonce = str(int(time.time())), str(secrets.randbelow(10**10))
        signed = signature(self._config.token, timestamp, nonce, encrypted)
        return {"msg_signature": signed, "timestamp": timestamp, "nonce": nonce}

    def _deliver(self, sealed: Envelope) -> tuple[dict[str, Any], httpx.Response | None]:
        def post() -> httpx.Response:
            return self._client.post(
                self._config.callback_url,
                params=sealed.params,
                content=sealed.body.encode(),
                headers={"Content-Type": "text/xml"},
                timeout=self._config.push_timeout_s,
            )

        return _timed(post)

    def _read_reply(self, body: str, plain: str, row: dict[str, Any]) -> Element | None:
        if body.strip() in IGNORED_BODIES:
            return None
        try:
            return self._open_reply(body, plain)
        except ValueError as error:
            row["reply_error"] = str(error)
            return None

    def _open_reply(self, body: str, plain: str) -> Element:
        sealed = xml.parse(body)
        names = ("TimeStamp", "Nonce", "Encrypt")
        timestamp, nonce, encrypted = (xml.child(sealed, name) for name in names)
        expected = signature(self._config.token, timestamp, nonce, encrypted)
        if xml.child(sealed, "MsgSignature") != expected:
            raise CryptoError(-40001, "MsgSignature of the passive reply is wrong")
        reply, asked = xml.parse(self._crypt().decrypt(encrypted)), xml.parse(plain)
        for mine, theirs in (("ToUserName", "FromUserName"), ("FromUserName", "ToUserName")):
            if xml.child(reply, mine).lower() != xml.child(asked, theirs).lower():
                raise ValueError(f"{mine} of the passive reply must be the {theirs} of the message")
        return reply

    def verify(self) -> dict[str, Any]:
        """The GET that saving the URL sends: the plaintext must come back within 1 s (1.4)."""
        plain = str(secrets.randbelow(9 * 10**18) + 10**18)
        encrypted = self._crypt().encrypt(plain)
        params = {**self._signed(encrypted), "echostr": encrypted}

        def get() -> httpx.Response:
            timeout = self._config.verify_timeout_s
            return self._client.get(self._config.callback_url, params=params, timeout=timeout)

        row, answer = _timed(get)
        in_time = row["ms"] <= self._config.verify_timeout_s * 1000
        ok = answer is not None and answer.status_code == 200 and in_time
        return {"ok": ok and answer is not None and answer.content == plain.encode(), **row}


def _timed(call: Callable[[], httpx.Response]) -> tuple[dict[str, Any], httpx.Response | None]:
    start = time.perf_counter()
    answer, error = None, ""
    try:
        answer = call()
    except httpx.HTTPError as problem:
        error = type(problem).__name__
    row: dict[str, Any] = {
        "status": None if answer is None else answer.status_code,
        "ms": round((time.perf_counter() - start) * 1000, 1),
        "body": answer.text if answer is not None else "",
    }
    return ({**row, "error": error} if error else row), answer
