"""The callback of the smart bot: check, store, answer with what is there now (wecom.md 5).

As strict as that of the app (wechat.inbound.request_verification); the receiveid is blank, the
answer carries the nonce.
"""

from __future__ import annotations

import json
import time
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from core.integrations.wecom import Crypt
from wechat.aibot.answering import answer
from wechat.aibot.parse import envelope
from wechat.inbound.request_verification import Door, verify_request
from wechat.models import InboxMessage
from wechat.outbound import gateway

CHANNEL = InboxMessage.Channel.AIBOT


@csrf_exempt
def bot_callback(request: HttpRequest) -> HttpResponse:
    """GET verifies the URL, POST delivers a message, an event or a poll."""
    return verify_request(request, Door(CHANNEL, gateway.aibot_crypts(), envelope, _receive))


def _receive(plain: bytes, crypt: Crypt, nonce: str) -> HttpResponse:
    said = answer(plain, CHANNEL)
    return HttpResponse(
        seal(said, crypt, nonce) if said else "",
        content_type="application/json" if said else None,
    )


def seal(said: dict[str, Any], crypt: Crypt, nonce: str) -> str:
    """The answer's envelope: lower-case keys, a whole timestamp, the nonce of the callback."""
    timestamp = int(time.time())
    encrypted = crypt.encrypt(json.dumps(said, ensure_ascii=False).encode())
    return json.dumps(
        {
            "encrypt": encrypted,
            "msgsignature": crypt.sign(str(timestamp), nonce, encrypted),
            "timestamp": timestamp,
            "nonce": nonce,
        }
    )
