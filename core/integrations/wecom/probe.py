"""What WeCom does when the callback URL is saved, done by ourselves (wecom.md 1.4, 9.9)."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

import httpx

from core.integrations.wecom.crypto import Crypt

TIMEOUT_S = 5.0
VERIFY_S = 1.0  # WeCom waits no longer


@dataclass(frozen=True)
class Answer:
    """What came back: `status` 0 where nobody answered, `error` its name, `seconds` it took."""

    status: int
    body: bytes = b""
    seconds: float = 0.0
    error: str = ""


def reach(url: str) -> Answer:
    """A bare GET: a callback of ours refuses it with 400."""
    return _get(url, {})


def verify(url: str, crypt: Crypt) -> tuple[bool, Answer]:
    """An encrypted GET; whether the plaintext came back byte for byte, and the answer."""
    plain = str(secrets.randbelow(9 * 10**18) + 10**18).encode()
    echo, timestamp, nonce = crypt.encrypt(plain), str(int(time.time())), secrets.token_hex(8)
    query = {
        "msg_signature": crypt.sign(timestamp, nonce, echo),
        "timestamp": timestamp,
        "nonce": nonce,
        "echostr": echo,
    }
    answer = _get(url, query)
    return answer.status == 200 and answer.body == plain, answer


def _get(url: str, query: dict[str, str]) -> Answer:
    start = time.perf_counter()
    try:
        # Our own address, and nothing of a study in it: it may be one inside the house.
        response = httpx.get(url, params=query, timeout=TIMEOUT_S, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Answer(0, error=type(error).__name__, seconds=time.perf_counter() - start)
    return Answer(response.status_code, response.content, time.perf_counter() - start)
