"""The callback of the smart bot: check, store, answer with what is there now (wecom.md 5).

As strict as that of the app (wechat.inbound.request_verification); the receiveid is blank, the
answer carries the nonce.
"""

from __future__ import annotations

import json
import time
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from core.integrations.wecom import Crypt
from projects.models import Member
from wechat.aibot import streams
from wechat.aibot.parse import envelope, parse_json
from wechat.inbound.callback import quarantine, store
from wechat.inbound.parse import BadCallback, Incoming, is_for_all
from wechat.inbound.request_verification import Door, verify_request
from wechat.models import Card, InboxMessage
from wechat.outbound import gateway, welcome
from wechat.outbound.cards import fit_card
from wechat.reviews import review_cards

CHANNEL = InboxMessage.Channel.AIBOT
CARD = "template_card_event"
ENTER = "enter_chat"


@csrf_exempt
def callback(request: HttpRequest) -> HttpResponse:
    """GET verifies the URL, POST delivers a message, an event or a poll."""
    return verify_request(request, Door(CHANNEL, gateway.aibot_crypts(), envelope, _receive))


def _receive(plain: bytes, crypt: Crypt, nonce: str) -> HttpResponse:
    said = _answer(plain)
    return HttpResponse(
        seal(said, crypt, nonce) if said else "",
        content_type="application/json" if said else None,
    )


def _answer(plain: bytes) -> dict[str, Any]:
    """What the response says, before it is sealed; nothing for what needs no words."""
    try:
        text = plain.decode()
        incoming = parse_json(text)
        _refuse_others(incoming)
    except (UnicodeDecodeError, BadCallback) as error:
        quarantine(plain, error, CHANNEL)
        return {}
    if incoming.msg_type == "stream":
        with translation.override(_language(incoming)):
            return streams.poll(incoming.from_user, incoming.stream_id)
    row = store(incoming, text, CHANNEL)
    if not incoming.is_event:
        return streams.first(row)
    if incoming.event == ENTER:
        return _greeting(incoming)
    return _receipt(incoming) if incoming.event == CARD else {}


def _refuse_others(incoming: Incoming) -> None:
    """BadCallback for what names another bot; where none is named, the keys tell that it is ours."""
    if settings.WECOM_AIBOT_ID and incoming.to_user != settings.WECOM_AIBOT_ID:
        raise BadCallback("addressed to another bot")
    ours = (settings.WECOM_AIBOT_ID or incoming.to_user,)
    if not is_for_all(incoming, settings.WECOM_CORP_ID, ("", str(settings.WECOM_AGENT_ID)), ours):
        raise BadCallback("a field names another corp or bot")


def _language(incoming: Incoming) -> str:
    found = Member.objects.active_of(incoming.from_user).first()
    return found.language if found else translation.get_language() or "zh-hans"


def _greeting(incoming: Incoming) -> dict[str, Any]:
    member = Member.objects.active_of(incoming.from_user).first()
    if member is None:
        return {}
    with translation.override(member.language):
        return {"msgtype": "text", "text": {"content": welcome.text(member)}}


def _receipt(incoming: Incoming) -> dict[str, Any]:
    """The clicked card without its buttons, for the member who clicked; nothing for a card not ours.

    WeCom delivers a click once and waits five seconds, too short for a decision that reads REDCap.
    A click that is asked for its reason leaves the buttons: nothing was decided.
    """
    card = Card.objects.filter(task_id=incoming.task_id).first()
    member = Member.objects.active_of(incoming.from_user).first()
    if card is None or member is None or member.wecom_userid not in card.to_user.split("|"):
        return {}
    if card.kind == review_cards.KIND and review_cards.lacks_reason(incoming):
        return {}
    with translation.override(member.language):
        shown = {**json.loads(card.content), "replace_text": fit_card(_("Received"), "button")}
    return {
        "response_type": "update_template_card",
        "userids": [incoming.from_user],
        "template_card": {**shown, "task_id": card.task_id},
    }


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
