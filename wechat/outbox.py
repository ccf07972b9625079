"""Writing to the outbox, the only way out to WeCom (issue 5; decisions.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.timezone import now
from pydantic import BaseModel

from projects import audit
from projects.db import after_commit, atomic
from projects.models import Project
from wechat.models import OutboxMessage
from wechat.neutralise import neutralise
from wechat.splitting import split

Kind = OutboxMessage.Kind
TEXTS = (Kind.TEXT, Kind.MARKDOWN)


class Payload(BaseModel):
    """What a row holds: the message without recipient and agent, and the text that replaces it if refused."""

    message: dict[str, Any]
    fallback: str = ""


def enqueue(
    *,
    to_user: str,
    project: Project | None,
    kind: str,
    content: str | Mapping[str, Any],
    key: str,
    fallback: str = "",
) -> None:
    """Insert a message once: where `key` is already there nothing happens. Call it in a transaction.

    `content` is a text (cut into numbered parts), a template card, or for `card_update` the call's body.
    `fallback` is sent as text where WeCom refuses a card or its update.
    """
    if isinstance(content, str):
        messages = _texts(kind, content)
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
    )


def _texts(kind: str, content: str) -> list[dict[str, Any]]:
    if kind not in TEXTS:
        raise ValueError(f"{kind} needs a mapping")
    parts = split(neutralise(content, markdown=kind == Kind.MARKDOWN)) if content.strip() else []
    return [{"msgtype": str(kind), str(kind): {"content": part}} for part in parts]


def _insert(
    to_user: str, project: Project | None, kind: str, payloads: Sequence[Payload], key: str
) -> None:
    """All parts or none: whoever comes second finds the first part's key taken."""
    rows = [
        OutboxMessage(
            key=f"{key}#{number}",
            to_user=to_user,
            project=project,
            kind=kind,
            payload=payload.model_dump_json(),
        )
        for number, payload in enumerate(payloads, 1)
    ]
    if not rows or OutboxMessage.objects.filter(key=rows[0].key).exists():
        return
    try:
        with transaction.atomic():
            OutboxMessage.objects.bulk_create(rows)
    except IntegrityError:
        return
    after_commit(lambda: wake(to_user))


def wake(to_user: str) -> None:
    """Tell a worker; a lost wake is found by the sweeper."""
    from wechat.tasks import send_lane

    send_lane.delay(to_user)


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
        after_commit(lambda: wake(message.to_user))
    return True
