"""Receiving and working off messages in one process, as callback, worker and sender do."""

from __future__ import annotations

import itertools
import time
from typing import Any

from django.test import Client
from django.utils import translation

from tests.engines.sop.kit import tell
from tests.wechat.callback_kit import Callback, event, plaintext
from wechat.inbound import inbox
from wechat.models import InboxMessage, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import Payload

_ids = itertools.count(1000)


def said(message: str) -> str:
    """What a Chinese reader gets for a message id of ours."""
    with translation.override("zh-hans"):
        return translation.gettext(message)


def receive(text: str = "你好", user: str = "zhangyi", **elements: Any) -> InboxMessage:
    """A text arrives through the callback; its row."""
    values = {"Content": f"<![CDATA[{text}]]>", "FromUserName": user, "MsgId": next(_ids)}
    return _post(plaintext(**{**values, **elements}))


def receive_kind(kind: str, user: str = "zhangyi", **elements: Any) -> InboxMessage:
    return _post(plaintext(kind, FromUserName=user, MsgId=next(_ids), **elements))


def receive_event(name: str, user: str = "zhangyi", **elements: Any) -> InboxMessage:
    created = int(time.time()) - 100_000 + next(_ids)
    return _post(event(name, FromUserName=user, **{"CreateTime": created, **elements}))


def click(
    task_id: str, key: str, user: str, *, code: str = "", selected: str = "", **elements: Any
) -> InboxMessage:
    """A tap on a card; `selected` is the option of the question `reason`."""
    item = "<SelectedItem><QuestionKey>reason</QuestionKey><OptionIds><OptionId>"
    chosen = f"{item}{selected}</OptionId></OptionIds></SelectedItem>" if selected else None
    values = {
        "EventKey": key,
        "TaskId": task_id,
        "ResponseCode": code or f"code-{next(_ids)}",
        "CardType": "button_interaction",
        "SelectedItems": chosen,
    }
    return receive_event("template_card_event", user, **{**values, **elements})


def _post(plain: str) -> InboxMessage:
    assert Callback(plain).post(Client()).status_code == 200
    return InboxMessage.objects.order_by("-pk")[0]


def work() -> None:
    """Process what is due in the inbox, in order."""
    rows = InboxMessage.objects.filter(status__in=InboxMessage.UNFINISHED).order_by("pk")
    for pk in list(rows.values_list("pk", flat=True)):
        inbox.process(pk)
    tell()


def claim(lane: str) -> OutboxMessage | None:
    """Lease the lane's first row, as a worker does before its call; None where it is not due."""
    head = sender.current_head(lane)
    return sender.take(head) if head else None


def deliver() -> None:
    """Send every lane."""
    tell()
    for lane in set(OutboxMessage.objects.values_list("to_user", flat=True)):
        sender.send_lane(lane)


def outgoing(user: str = "", kind: str = "text") -> list[str]:
    """Texts in the outbox, oldest first."""
    rows = OutboxMessage.objects.filter(kind=kind).order_by("pk")
    return [
        Payload.model_validate_json(row.payload).message["text"]["content"]
        for row in rows
        if user in ("", row.to_user)
    ]


def payloads(kind: str) -> list[dict[str, Any]]:
    """Messages of a kind in the outbox, oldest first."""
    rows = OutboxMessage.objects.filter(kind=kind).order_by("pk")
    return [Payload.model_validate_json(row.payload).message for row in rows]
