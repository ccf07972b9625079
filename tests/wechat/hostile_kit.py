"""Requests that a stranger, or a broken proxy, could send to the callbacks."""

from __future__ import annotations

import base64
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from Crypto.Cipher import AES
from django.http import HttpResponse
from django.test import Client

from core.integrations.wecom.crypto import decode_key
from tests.wechat.callback_kit import AES_KEY, CORP, CRYPT, TOKEN, URL, envelope, plaintext

KEY = decode_key(AES_KEY)


def encrypt(plain: bytes) -> str:
    """Exactly these bytes, padding included, as ciphertext."""
    return base64.b64encode(AES.new(KEY, AES.MODE_CBC, iv=KEY[:16]).encrypt(plain)).decode()


def frame(
    message: bytes = b"", *, length: bytes | None = None, receive_id: bytes = CORP.encode()
) -> bytes:
    """Random head, length, message, receiveid: what is padded and encrypted."""
    text = message or plaintext().encode()
    size = len(text).to_bytes(4, "big") if length is None else length
    return b"0123456789abcdef" + size + text + receive_id


def padded(plain: bytes, *, last: int | None = None, block: int = 32, even: bool = True) -> bytes:
    """PKCS#7, or something like it."""
    pad = block - len(plain) % block
    value = pad if last is None else last
    filler = bytes([value]) * pad if even else bytes([value ^ 1]) * (pad - 1) + bytes([value])
    return plain + filler


def stamp(away: float = 0) -> str:
    return str(int(time.time() + away))


@dataclass
class Attempt:
    """One request; what is not given is as WeCom sends it."""

    encrypted: str = ""
    method: str = "POST"
    path: str = URL
    body: bytes | None = None
    timestamp: str = ""
    nonce: str = "1372623149"
    token: str = TOKEN
    signature: str | None = None
    signed: tuple[str, ...] | None = None
    """What the signature is made of, in this order; None: as it should be."""
    query: dict[str, str | None] = field(default_factory=dict)
    raw_query: str | None = None
    content_type: str = "text/xml"
    environ: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.encrypted = self.encrypted or CRYPT.encrypt(plaintext().encode())
        self.timestamp = self.timestamp or stamp()

    def parameters(self) -> dict[str, str]:
        parts = self.signed or sorted((self.token, self.timestamp, self.nonce, self.encrypted))
        made = hashlib.sha1("".join(parts).encode()).hexdigest()
        usual: dict[str, str | None] = {
            "msg_signature": made if self.signature is None else self.signature,
            "timestamp": self.timestamp,
            "nonce": self.nonce,
            **({"echostr": self.encrypted} if self.method == "GET" else {}),
        }
        return {name: value for name, value in (usual | self.query).items() if value is not None}

    def send(self, client: Client) -> HttpResponse:
        body = envelope(self.encrypted) if self.body is None else self.body
        query = urlencode(self.parameters()) if self.raw_query is None else self.raw_query
        return client.generic(  # type: ignore[return-value]
            self.method,
            self.path,
            b"" if self.method == "GET" else body,
            content_type=self.content_type,
            QUERY_STRING=query,
            **self.environ,
        )
