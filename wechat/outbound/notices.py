"""Messages that wait in the outbox: held until their reader's time, checked before they go.

The row's key names run, step and recipient: a step that is tried again tells nobody twice.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.models import RunEvent, TaskRun, VisitReminder
from engines.sop import visit_reminders
from engines.sop.nodes.notify import Notice, Unreadable, renewed
from memory.visibility import may_know, told_to
from projects.members import headed, without_head
from projects.models import Member
from wechat.models import Card, OutboxMessage
from wechat.outbound import formats, outbox, pictures
from wechat.outbound.neutralise import neutralise
from wechat.outbound.outbox import TEXTS, Held, Payload
from wechat.outbound.splitting import LIMIT, cut_to_bytes

Status = OutboxMessage.Status
FRESH = timedelta(minutes=10)
"""What was read longer ago is asked for again before it is sent."""
ROOM = LIMIT - 200
"""A briefing is one message: what does not fit is for the console."""


def ready(event: RunEvent) -> None:
    """Put the message of a notify node, or what a workflow's model wrote, into the outbox."""
    run, notice = event.run, Notice.of(event)
    if run is None or notice is None or (notice.replaces and _was_replaced(event, run)):
        return
    member = notice.member
    if (record := notice.record) is not None:
        about, text = {"record": record}, notice.text
    else:
        about = {"run": str(run.pk), "skill": str(run.skill_id), "node": notice.node}
        text = cut_to_bytes(notice.text, ROOM)
    key = f"notify:{run.pk}:{notice.seq}:{member.wecom_userid}"
    held = Held(notice.not_before, about)
    told = outbox.tell(to=member, content=text, key=key, held=held)
    if told and notice.has_picture:
        # Behind the text in its lane, and replaced with it.
        pictures.enqueue(to=member, key=f"{key}#picture", held=held)
    if notice.replaces:
        _replace_older(member, about, key)


def _was_replaced(event: RunEvent, run: TaskRun) -> bool:
    """Whether a newer one of the same step was told its reader before: this one comes late."""
    told = RunEvent.objects.filter(kind=event.kind, pk__gt=event.pk, told_at__isnull=False)
    newer = told.filter(run__skill=run.skill_id).exclude(run=run)
    return any(_step(one) == _step(event) for one in newer)


def _step(event: RunEvent) -> tuple[str, str]:
    about = event.payload or {}
    return about["member"], about["node"]


def _replace_older(member: Member, about: dict[str, str], key: str) -> None:
    """Take back what the same workflow told before and nobody has been sent yet."""
    waiting = OutboxMessage.objects.filter(
        to_user=member.wecom_userid,
        status__in=(Status.HELD, Status.PENDING),
        is_ambiguous=False,
        notice__isnull=False,
    ).exclude(key__startswith=f"{key}#")
    older = [row.pk for row in waiting if _origin(row.notice) == _origin(about)]
    waiting.filter(pk__in=older).update(status=Status.WITHDRAWN)


def _origin(about: dict[str, str] | None) -> tuple[str, str]:
    return (about.get("skill", ""), about.get("node", "")) if about else ("", "")


def release(most: int) -> int:
    """Put what may be delivered now into its lane; how many."""
    held = OutboxMessage.objects.filter(status=Status.HELD, available_at__lte=now())
    due = [*held.order_by("available_at").values_list("pk", flat=True)[:most]]
    return held.filter(pk__in=due).update(status=Status.PENDING)


def is_withdrawn(row: OutboxMessage) -> bool:
    """Bring a message that has waited up to date; True when it was taken back: nothing is left to tell.

    Not inside a transaction: it may read REDCap. One that may have arrived stays as it is.
    """
    if row.notice is None or not _has_waited(row):
        return False
    text = _as_of_now(row, row.notice)
    mine = OutboxMessage.objects.filter(pk=row.pk, fence=row.fence, status=Status.PENDING)
    if not text:
        return mine.update(status=Status.WITHDRAWN, checked_at=now(), fence=F("fence") + 1) == 1
    # A picture is drawn when it is sent, a card asks what it asked: that it still holds is all they need.
    renewal = {"payload": _with_text(row, text)} if row.kind in TEXTS else {}
    mine.update(**renewal, checked_at=now())
    return False


def _as_of_now(row: OutboxMessage, about: dict[str, str]) -> str:
    """The text as it would read now, as far as its reader may still know it; a workflow's words stand.

    Of a card any text: it is still asked.
    """
    members = Member.objects.active_of(row.to_user).filter(project=row.project_id)
    member = members.first()
    if member is None:
        return ""
    if "visit" in about:
        return row.key if _is_still_asked(about["visit"], member) else ""
    if "run" not in about:
        own = without_head(_text(row), member)
        return headed(told_to(member, own), member) if may_know(member, about["record"]) else ""
    try:
        text = renewed(about["run"], about["node"], row.to_user)
    except Unreadable:
        if row.kind == OutboxMessage.Kind.IMAGE:
            return row.key  # it has no words, and is drawn of what is known when it is sent
        text = _unchecked(row)
    return headed(told_to(member, without_head(text, member)), member)


def _is_still_asked(key: str, member: Member) -> bool:
    """Whether a card about a visit still waits for its reader's answer."""
    if not Card.objects.filter(kind="visit", ref=key, state=Card.State.OPEN).exists():
        return False
    rows = VisitReminder.objects.select_related("project", "run__project", "run__skill")
    reminder = rows.filter(pk=key, member=member).first()
    if reminder is None or not may_know(member, reminder.record_id):
        return False
    return visit_reminders.is_still_asked(reminder, member)


def _has_waited(row: OutboxMessage) -> bool:
    at = now()
    if row.status != Status.PENDING or row.is_ambiguous or row.available_at > at:
        return False
    return (row.checked_at or row.created_at) < at - FRESH


def _text(row: OutboxMessage) -> str:
    message = Payload.model_validate_json(row.payload).message
    return str(message[message["msgtype"]]["content"])


def _with_text(row: OutboxMessage, text: str) -> str:
    markdown = row.kind == OutboxMessage.Kind.MARKDOWN
    shown = neutralise(text if markdown else formats.strip_marks(text), markdown=markdown)
    message = {"msgtype": row.kind, row.kind: {"content": cut_to_bytes(shown, LIMIT)}}
    return Payload(message=message).model_dump_json()


def _unchecked(row: OutboxMessage) -> str:
    """The old text, and that it could not be checked (design.md 9.8)."""
    member = Member.objects.filter(project=row.project_id, wecom_userid=row.to_user).first()
    with translation.override(member.language if member else translation.get_language()):
        note = _("REDCap could not be read again before this was sent; it may be outdated.")
    text = cut_to_bytes(_text(row).removesuffix(f"\n{note}"), ROOM)
    return f"{text}\n{note}"
