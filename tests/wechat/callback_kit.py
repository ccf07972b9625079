"""Callbacks as WeCom makes them, for the test client. Keys: the DEBUG values, given by `settings`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from core.integrations.wecom import Crypt
from wechat.inbound.parse import read_xml

URL = "/wechat/callback/"
CORP, TOKEN = "ww00000000000000de", "demoToken"
AES_KEY = "demo0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc"
OLD = Crypt("oldToken", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C", CORP)
CRYPT = Crypt(TOKEN, AES_KEY, CORP)


def plaintext(kind: str = "text", **elements: Any) -> str:
    """The decrypted XML of a message; an element given as None is left out."""
    values: dict[str, Any] = {
        "ToUserName": CORP,
        "FromUserName": "ZhangYi",
        "CreateTime": int(time.time()),
        "MsgType": kind,
        "AgentID": 1000002,
    }
    if kind == "text":
        values |= {"Content": "P001 入组了吗?", "MsgId": "7459035031717794886"}
    values |= elements
    inner = "".join(
        f"<{name}>{value}</{name}>" for name, value in values.items() if value is not None
    )
    return f"<xml>{inner}</xml>"


def event(name: str, **elements: Any) -> str:
    return plaintext("event", **{"Event": name, "EventKey": "", **elements})


@dataclass
class Callback:
    """One POST; every part can be spoiled."""

    plain: str | bytes
    crypt: Crypt = CRYPT
    timestamp: str = ""
    nonce: str = "1372623149"
    body: bytes | None = None
    encrypted: str | None = None

    def __post_init__(self) -> None:
        raw = self.plain.encode() if isinstance(self.plain, str) else self.plain
        self.timestamp = self.timestamp or str(int(time.time()))
        self.encrypted = self.encrypted or self.crypt.encrypt(raw)

    @property
    def query(self) -> dict[str, str]:
        assert self.encrypted
        signature = self.crypt.sign(self.timestamp, self.nonce, self.encrypted)
        return {"msg_signature": signature, "timestamp": self.timestamp, "nonce": self.nonce}

    def post(self, client: Client, **query: str) -> HttpResponse:
        body = self.body
        if body is None:
            body = envelope(self.encrypted or "")
        return post(client, body, {**self.query, **query})


def envelope(encrypted: str) -> bytes:
    parts = f"<ToUserName>{CORP}</ToUserName><Encrypt><![CDATA[{encrypted}]]></Encrypt>"
    return f"<xml>{parts}<AgentID>1</AgentID></xml>".encode()


def post(client: Client, body: bytes, query: dict[str, str]) -> HttpResponse:
    url = f"{URL}?{urlencode(query)}"
    return client.post(url, body, content_type="text/xml")  # type: ignore[return-value]


def open_reply(response: HttpResponse, crypt: Crypt = CRYPT) -> dict[str, str]:
    """The decrypted passive reply; its signature must be right."""
    sealed = {item.tag: item.text or "" for item in read_xml(response.content)}
    parts = sealed["TimeStamp"], sealed["Nonce"], sealed["Encrypt"]
    assert crypt.is_signed(sealed["MsgSignature"], *parts)
    inner = read_xml(crypt.decrypt(sealed["Encrypt"]))
    return {item.tag: item.text or "" for item in inner}
