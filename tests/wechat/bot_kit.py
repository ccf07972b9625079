"""Callbacks of the smart bot as WeCom makes them, for the test client (wecom.md 5)."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client

from core.integrations.wecom import Crypt

URL = "/wechat/aibot/"
TOKEN, AES_KEY = "botToken", "kWxPEV2UEDyxWpmPdKC3F4dgPDmOvfKX1HGnEUDS1aR"
BOT = Crypt(TOKEN, AES_KEY, "")
_ids = itertools.count(1)


def message(text: str = "P001 入组了吗?", user: str = "ZhangYi", **more: Any) -> dict[str, Any]:
    return {
        "msgid": f"CAIQ{next(_ids)}",
        "aibotid": "AIBOTID",
        "chattype": "single",
        "from": {"userid": user},
        "response_url": "https://qyapi.weixin.qq.com/cgi-bin/aibot/response?response_code=RC",
        "msgtype": "text",
        "text": {"content": text},
        **more,
    }


def poll_of(stream_id: str, user: str = "ZhangYi") -> dict[str, Any]:
    return message(user=user, msgtype="stream", stream={"id": stream_id})


def event(name: str, user: str = "ZhangYi", **values: Any) -> dict[str, Any]:
    return message(
        user=user,
        msgtype="event",
        create_time=int(time.time()),
        event={"eventtype": name, name: values},
    )


def post(plain: Any, *, crypt: Crypt = BOT, nonce: str = "88", **query: str) -> HttpResponse:
    """One genuine POST unless `crypt` or `query` spoil it."""
    raw = plain if isinstance(plain, bytes) else json.dumps(plain, ensure_ascii=False).encode()
    encrypted, stamp = crypt.encrypt(raw), str(int(time.time()))
    signed = {
        "msg_signature": crypt.sign(stamp, nonce, encrypted),
        "timestamp": stamp,
        "nonce": nonce,
        **query,
    }
    body = json.dumps({"encrypt": encrypted}).encode()
    return Client().post(  # type: ignore[return-value]
        f"{URL}?{urlencode(signed)}", body, content_type="application/json"
    )


def opened(answer: HttpResponse, nonce: str = "88") -> dict[str, Any]:
    """The decrypted answer; envelope and signature must be right. Blank for an empty body."""
    assert answer.status_code == 200
    if not answer.content:
        return {}
    sealed = json.loads(answer.content)
    assert set(sealed) == {"encrypt", "msgsignature", "timestamp", "nonce"}
    assert type(sealed["timestamp"]) is int
    assert sealed["nonce"] == nonce
    parts = sealed["msgsignature"], str(sealed["timestamp"]), nonce, sealed["encrypt"]
    assert BOT.is_signed(*parts)
    found: dict[str, Any] = json.loads(BOT.decrypt(sealed["encrypt"]))
    return found


def say(plain: Any, **more: Any) -> dict[str, Any]:
    return opened(post(plain, **more))


def stream_of(reply: dict[str, Any]) -> tuple[str, bool, str]:
    """Id, finished, content."""
    assert reply["msgtype"] == "stream"
    stream = reply["stream"]
    assert len(stream["content"].encode()) <= 20480
    return stream["id"], stream["finish"], stream["content"]
