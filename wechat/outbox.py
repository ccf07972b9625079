"""Writing to the outbox, the only way out to WeCom (issue 5; decisions.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _
from pydantic import BaseModel

from projects import audit
from projects.db import after_commit, atomic
from projects.models import Project
from wechat import answers, formats
from wechat.models import OutboxMessage
from wechat.neutralise import neutralise
from wechat.splitting import split

Kind = OutboxMessage.Kind
TEXTS = (Kind.TEXT, Kind.MARKDOWN)
MOST_PARTS = 8  # 30 messages a minute reach a member: a book goes to the console


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

    `content` is a text (cut into numbered parts; over `WECOM_MOST_PARTS` the rest is a page of the console),
    a template card, or the body of the call. `fallback` is sent as text where WeCom refuses the message.
    """
    if _is_there(key):
        return
    if isinstance(content, str):
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
    )


def tell(
    *, to_user: str, project: Project | None, content: str, key: str, fallback: str = ""
) -> None:
    """`enqueue` a text as this reader can see it: markdown where there is markup, else plain text."""
    kind, text = formats.choose(content, to_user=to_user, project=project)
    enqueue(to_user=to_user, project=project, kind=kind, content=text, key=key, fallback=fallback)


def _is_there(key: str) -> bool:
    return OutboxMessage.objects.filter(key=f"{key}#1").exists()


def _texts(kind: str, content: str, to_user: str, project: Project | None) -> list[dict[str, Any]]:
    if kind not in TEXTS:
        raise ValueError(f"{kind} needs a mapping")
    if not content.strip():
        return []
    parts = split(neutralise(content, markdown=kind == Kind.MARKDOWN))
    most = int(getattr(settings, "WECOM_MOST_PARTS", MOST_PARTS))
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
    if not rows:
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
