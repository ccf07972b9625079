"""Writing to the outbox, the only way out to WeCom (issue 5; decisions.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict

from core.house import task_queue
from core.house.db import atomic, is_new, later, write_now
from memory.visibility import told_to
from projects import audit
from projects.members import headed
from projects.models import Member, Project
from wechat.models import OutboxMessage
from wechat.outbound import answers, formats
from wechat.outbound.neutralise import neutralise
from wechat.outbound.splitting import split

Kind = OutboxMessage.Kind
TEXTS = (Kind.TEXT, Kind.MARKDOWN)
SEND = "wechat.tasks.send_lane"
SURELY_ONE = 400
"""A text of so many characters fits into one message, whatever they are (`wechat.outbound.splitting`)."""


class Payload(BaseModel):
    """What a row holds: the message without recipient and agent, and the text that replaces it if refused.

    `uploaded_at`: since when WeCom has the picture that the message names.
    """

    model_config = ConfigDict(hide_input_in_errors=True)  # no text of a message in a log

    message: dict[str, Any]
    fallback: str = ""
    uploaded_at: datetime | None = None


@dataclass(frozen=True)
class Held:
    """A message that waits for its reader's time; `notice` says where from (wechat.outbound.notices)."""

    until: datetime
    notice: dict[str, str] | None = None

    def values(self) -> dict[str, Any]:
        """The columns of its rows: outside of the lane while it waits."""
        at = now()
        waits = {"status": OutboxMessage.Status.HELD, "available_at": self.until}
        return {"notice": self.notice, "checked_at": at} | (waits if self.until > at else {})


def enqueue(
    *,
    to_user: str,
    project: Project | None,
    kind: str,
    content: str | Mapping[str, Any],
    key: str,
    fallback: str = "",
    held: Held | None = None,
) -> None:
    """Insert a message once: where `key` is already there nothing happens. Call it in a transaction.

    `content` is a text (cut into numbered parts; over `WECOM_MOST_PARTS` the rest is a page of the console),
    a template card, or the body of the call. `fallback` is sent as text where WeCom refuses the message.
    `held` is for messages that nobody waits for.
    """
    if isinstance(content, str):
        if len(content) > SURELY_ONE and _is_there(key):
            return  # a second page of the console would belong to no message
        messages = _texts(kind, content, to_user.lower(), project)
    elif kind == Kind.CARD:
        messages = [{"msgtype": "template_card", "template_card": dict(content)}]
    else:
        messages = [dict(content)]
    _insert(
        to_user.lower(),
        project,
        kind,
        [Payload(message=m, fallback=fallback) for m in messages],
        key,
        held,
    )


def tell(*, to: Member, content: str, key: str, held: Held | None = None) -> bool:
    """What the house tells a member of a study, of its own accord; True where something is left to tell.

    Who has an account of the console only is told nothing: there is nobody to send it to.

    Whoever wrote the text: lines that name a record, a subject or a site that is not this reader's are left
    out (memory.visibility), and nothing says so.
    """
    text = told_to(to, content) if to.wecom_userid else ""
    if text.strip():
        enqueue_text(
            to_user=to.wecom_userid,
            project=to.project,
            content=headed(text, to),
            key=key,
            held=held,
        )
    return bool(text.strip())


def enqueue_text(
    *,
    to_user: str,
    project: Project | None,
    content: str,
    key: str,
    held: Held | None = None,
) -> None:
    """`enqueue` a text as this reader can see it: markdown where there is markup, else plain text.

    By itself for what was worked out for this reader, who asked, and for what is about no study.
    """
    kind, text = formats.choose(content, to_user=to_user, project=project)
    enqueue(to_user=to_user, project=project, kind=kind, content=text, key=key, held=held)


def _is_there(key: str) -> bool:
    return OutboxMessage.objects.filter(key=f"{key}#1").exists()


def _texts(kind: str, content: str, to_user: str, project: Project | None) -> list[dict[str, Any]]:
    if kind not in TEXTS:
        raise ValueError(f"{kind} needs a mapping")
    if not content.strip():
        return []
    parts = split(neutralise(content, markdown=kind == Kind.MARKDOWN))
    most = settings.WECOM_MOST_PARTS
    if len(parts) > most and "|" not in to_user:
        parts = _with_page(parts, most, content, to_user, project)
    return [{"msgtype": str(kind), str(kind): {"content": part}} for part in parts]


def _with_page(
    parts: list[str], most: int, content: str, to_user: str, project: Project | None
) -> list[str]:
    """The first parts and, as the last one, where the whole can be read."""
    path = answers.keep(text=content, to_user=to_user, project=project)
    link = f"{settings.PUBLIC_URL}{path}"
    kept = parts[: most - 1]
    last = f"({most}/{most}) " + _("The whole answer: %(link)s") % {"link": link}
    shown = [part.replace(f"/{len(parts)}) ", f"/{most}) ", 1) for part in kept]
    return [*shown, last]


def _insert(
    to_user: str,
    project: Project | None,
    kind: str,
    payloads: Sequence[Payload],
    key: str,
    held: Held | None,
) -> None:
    """All parts or none: whoever comes second finds the first part's key taken, and leaves it at that."""
    rows = [
        OutboxMessage(
            key=f"{key}#{number}",
            to_user=to_user,
            project_id=project.pk if project else None,
            kind=kind,
            payload=payload.model_dump_json(),
            **(held.values() if held else {}),
        )
        for number, payload in enumerate(payloads, 1)
    ]
    if len(rows) == 1:
        later(rows[0], ignore=True)
    elif rows:
        _insert_parts(rows)
    if rows:
        task_queue.wake_later(SEND, to_user)


def _insert_parts(rows: list[OutboxMessage]) -> None:
    """Insert all of them if the first one's key was free, behind what is still to be written."""
    write_now()
    with transaction.atomic():
        first, *others = rows
        if is_new(first):
            OutboxMessage.objects.bulk_create(others)


def resend(*, message: OutboxMessage, actor: object) -> bool:
    """Put a dead letter back into its lane; False where it is none (any more)."""
    with atomic():
        again = OutboxMessage.objects.filter(
            pk=message.pk, status__in=OutboxMessage.DEAD_LETTERS
        ).update(
            status=OutboxMessage.Status.PENDING,
            attempts=0,
            available_at=now(),
            possible_duplicate=message.is_ambiguous,
            error="",
            error_code=None,
        )
        if not again:
            return False
        audit.record("wechat.resent", actor=actor, project=message.project, subject=message)
        task_queue.wake_later(SEND, message.to_user)
    return True
