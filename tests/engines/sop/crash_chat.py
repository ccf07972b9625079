"""One message of a member, from WeCom's callback to the reply on the phone, as processes see it."""

from __future__ import annotations

import re
from datetime import timedelta

from django.test import Client
from django.utils.timezone import now

from core.llm.models import LlmUsage
from engines.models import AgentTrace
from engines.sop import run_events
from memory.models import ConversationHistory
from projects import audit
from tests.engines.sop.crash_control import control
from tests.wechat.callback_kit import Callback, plaintext
from wechat import tasks
from wechat.inbound import inbox
from wechat.models import InboxMessage, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import Payload

MESSAGE_ID = "7459035031717794886"
CREATED = 1_770_000_000
PAST = timedelta(hours=1)
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


def forget() -> None:
    """The stand-ins know nothing of earlier courses."""
    control("reset", {})
    control("llm/script", [])


def deliver(user: str, text: str) -> int:
    """WeCom delivers the message; the number of its row."""
    content = {"Content": f"<![CDATA[{text}]]>", "MsgId": MESSAGE_ID, "CreateTime": CREATED}
    plain = plaintext(FromUserName=user, **content)
    answer = Callback(plain).post(Client(HTTP_HOST="localhost"))
    assert answer.status_code == 200, answer.content
    pk: int = InboxMessage.objects.values_list("pk", flat=True).get()
    return pk


def converse(user: str, text: str) -> None:
    """Callback, worker, sender."""
    tasks.process_inbox(deliver(user, text))
    tasks.send_lane(user)


def sweep() -> None:
    """Time goes by, and the sweeper finds what was left behind."""
    past = now() - PAST
    for model in (InboxMessage, OutboxMessage):
        rows = model._default_manager.all()
        rows.filter(lease_until__isnull=False).update(lease_until=past)
        rows.update(available_at=past)
    for pk in inbox.due(100):
        tasks.process_inbox(pk)
    for lane in run_events.lanes_due(100):
        run_events.tell_lane(lane)
    for to_user in sender.due_lanes(100):
        tasks.send_lane(to_user)


def left() -> list[str]:
    """What the message left behind and what the phones show; moments and numbers that may differ blanked."""
    row = InboxMessage.objects.get()
    lines = [f"inbox {row.status} {row.from_user}"]
    log = ConversationHistory.objects.order_by("role")
    lines += [f"flow log {entry.role} {entry.user_id} {entry.content}" for entry in log]
    lines += [f"trace {trace.success} {trace.intent_type}" for trace in AgentTrace.objects.all()]
    uses = LlmUsage.objects.order_by("pk")
    lines += [f"usage {number} {use.purpose} {use.ok}" for number, use in enumerate(uses)]
    outgoing = OutboxMessage.objects.order_by("pk")
    lines += [f"outbox {_lane(row)} {row.status} {_text(row)}" for row in outgoing]
    shown = [message for message in control("sent") if not message["dropped"]]
    lines += [f"sent {n} {m['to']} {m['content']}" for n, m in enumerate(shown)]
    return [KEY.sub("ID", MOMENT.sub("MOMENT", line)) for line in lines]


def _lane(row: OutboxMessage) -> str:
    return re.sub(r"(?<=inbox:)\d+", "ID", f"{row.key} {row.to_user}")


def _text(row: OutboxMessage) -> str:
    message = Payload.model_validate_json(row.payload).message
    return str(message.get("text", {}).get("content", row.kind))


def check(expected: list[str]) -> None:
    """One reply, one row of each kind, everything that was written went out, once."""
    found = left()
    assert found == expected, (found, expected)
    used = sum(use.input_tokens + use.output_tokens for use in LlmUsage.objects.all())
    assert used == sum(trace.token_usage for trace in AgentTrace.objects.all())
    assert [*audit.verify()] == []
