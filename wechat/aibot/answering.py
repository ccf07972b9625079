"""What the smart bot says at once to a callback, however it came: stored first, then answered (wecom.md 5)."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from projects.models import Member
from wechat.aibot import streams
from wechat.aibot.parse import parse_json
from wechat.inbound.callback import quarantine, store
from wechat.inbound.parse import BadCallback, Incoming, is_for_all
from wechat.models import Card, InboxMessage, Stream
from wechat.outbound import welcome
from wechat.outbound.cards import fit_card
from wechat.reviews import review_cards

SOCKET = InboxMessage.Channel.SOCKET
CARD = "template_card_event"
ENTER = "enter_chat"


def answer(plain: bytes, channel: str, req_id: str = "") -> dict[str, Any]:
    """The body of the answer; nothing for what needs no words. `req_id`: of a frame of the long connection."""
    try:
        text = plain.decode()
        incoming = parse_json(text)
        _refuse_others(incoming)
    except (UnicodeDecodeError, BadCallback) as error:
        quarantine(plain, error, channel)
        return {}
    if incoming.msg_type == "stream":
        with translation.override(language_of(incoming.from_user)):
            return streams.poll(incoming.from_user, incoming.stream_id)
    row = store(incoming, text, channel, req_id=req_id)
    if not incoming.is_event:
        return _opened(row, req_id) if channel == SOCKET else streams.first(row)
    if incoming.event == ENTER:
        return _greeting(incoming)
    return _receipt(incoming) if incoming.event == CARD else {}


def _opened(row: InboxMessage, req_id: str) -> dict[str, Any]:
    """The first answer over the long connection; nothing where WeCom has it, or the last one is on its way.

    A frame that comes again may have another id: what was not opened yet is answered under the newest.
    """
    unopened = Stream.objects.filter(inbox=row, opened_at=None)
    unopened.exclude(req_id=req_id).update(req_id=req_id)
    found = unopened.filter(finished_at=None, expired_at=None).first()
    return streams.opening(found) if found else {}


def _refuse_others(incoming: Incoming) -> None:
    """BadCallback for what names another bot; where none is named, the keys tell that it is ours."""
    if settings.WECOM_AIBOT_ID and incoming.to_user != settings.WECOM_AIBOT_ID:
        raise BadCallback("addressed to another bot")
    ours = (settings.WECOM_AIBOT_ID or incoming.to_user,)
    if not is_for_all(incoming, settings.WECOM_CORP_ID, ("", str(settings.WECOM_AGENT_ID)), ours):
        raise BadCallback("a field names another corp or bot")


def language_of(userid: str) -> str:
    """The language of a reader, of the house for a stranger."""
    found = Member.objects.active_of(userid).first()
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
    if card.kind == review_cards.KIND and review_cards.lacks_reason(incoming, card):
        return {}
    with translation.override(member.language):
        shown = {**json.loads(card.content), "replace_text": fit_card(_("Received"), "button")}
    return {
        "response_type": "update_template_card",
        "userids": [incoming.from_user],
        "template_card": {**shown, "task_id": card.task_id},
    }
