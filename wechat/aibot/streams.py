"""The life of a stream: opened with the callback, fetched by WeCom, finished by a worker (wecom.md 5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils.timezone import now
from django.utils.translation import gettext as _

from projects.models import Project
from wechat.models import InboxMessage, OutboxMessage, Stream
from wechat.outbound import answers, outbox
from wechat.outbound.neutralise import neutralise
from wechat.outbound.splitting import cut_to_bytes
from wechat.texts import QUERYING

LIMIT = 20480
ROOM_FOR_LINK = 480
# WeCom asks for six minutes; it is told in time that the answer comes another way.
PATIENCE = timedelta(minutes=5, seconds=30)
URL_LIFE = timedelta(minutes=55)  # one hour
UNFETCHED = timedelta(seconds=60)
LATE = "……"


def first(row: InboxMessage) -> dict[str, Any]:
    """The first answer; only here a feedback id can be set."""
    found = Stream.objects.filter(inbox=row).first()
    return opening(_shown(found)) if found else {}


def opening(stream: Stream) -> dict[str, Any]:
    """What is shown now, as the first answer."""
    body = stream_body(stream)
    body["stream"]["feedback"] = {"id": stream.stream_id}
    return body


def poll(userid: str, asked: str) -> dict[str, Any]:
    """What WeCom is shown now; nothing for a stream that is not this person's."""
    streams = Stream.objects.filter(stream_id=asked, inbox__from_user=userid.lower())
    found = streams.first()
    if found is None:
        return {}
    if found.finished_at is None and now() - found.created_at > PATIENCE:
        # Either the worker finishes it or we expire it, never both.
        streams.filter(finished_at=None, expired_at=None).update(expired_at=now())
        found.refresh_from_db()
    return stream_body(_shown(found))


def _shown(stream: Stream) -> Stream:
    """The stream as WeCom is told of it now: an answer is either shown in it or sent apart, never both."""
    if stream.finished_at and not stream.delivered_at:
        _open_to_both(stream).update(delivered_at=now())
        stream.refresh_from_db()
    return stream


def _open_to_both(stream: Stream) -> QuerySet[Stream]:
    """The row while its answer was neither shown nor sent apart."""
    return Stream.objects.filter(pk=stream.pk, delivered_at=None, expired_at=None)


def stream_body(stream: Stream) -> dict[str, Any]:
    """A stream answer: cumulative content, and whether more will come."""
    ends = bool(stream.finished_at or stream.expired_at)
    content = QUERYING
    if stream.expired_at:
        content = _("This takes longer. The answer follows in a message of its own.")
    elif stream.finished_at:
        content = stream.content or LATE
    return {
        "msgtype": "stream",
        "stream": {"id": stream.stream_id, "finish": ends, "content": content},
    }


def finish(
    row: InboxMessage, text: str, project: Project | None, conversation_id: str | None
) -> bool:
    """End the row's stream with `text`, in the caller's transaction; False where it has none.

    An expired stream is answered by its `response_url`.
    """
    stream = Stream.objects.filter(inbox=row).first()
    if stream is None:
        return False
    content = fitted(text, row.from_user, project)
    Stream.objects.filter(pk=stream.pk, finished_at=None).update(
        content=content,
        conversation_id=conversation_id,
        project=project,
        finished_at=now(),
    )
    stream.refresh_from_db()
    if stream.expired_at:
        _enqueue(stream)
        Stream.objects.filter(pk=stream.pk).update(delivered_at=now())
    return True


def fitted(text: str, userid: str, project: Project | None) -> str:
    """Harmless markdown of at most 20480 bytes; what is longer ends with the link to its page."""
    content = neutralise(text, markdown=True)
    if len(content.encode()) <= LIMIT:
        return content
    path = answers.keep(text=text, to_user=userid, project=project)
    link = _("The whole answer: %(link)s") % {"link": f"{settings.PUBLIC_URL}{path}"}
    return f"{cut_to_bytes(content, LIMIT - ROOM_FOR_LINK)}\n\n{link}"


def send_apart(stream: Stream) -> None:
    """Queue a finished answer that nobody fetched as a message of its own, and say so to later polls."""
    at = now()
    if _open_to_both(stream).update(delivered_at=at, expired_at=at):
        _enqueue(stream)


def _enqueue(stream: Stream) -> None:
    """By response_url within its hour, else by the app."""
    content = stream.content or LATE
    fresh = stream.response_url and now() - stream.created_at < URL_LIFE
    if fresh:
        markdown = {"content": content, "feedback": {"id": stream.stream_id}}
        outbox.enqueue(
            to_user=stream.inbox.from_user,
            project=stream.project,
            kind=OutboxMessage.Kind.RESPONSE,
            content={
                "url": stream.response_url,
                "body": {"msgtype": "markdown", "markdown": markdown},
            },
            key=f"stream:{stream.pk}",
            fallback=content,
        )
    else:
        outbox.enqueue_text(
            to_user=stream.inbox.from_user,
            project=stream.project,
            content=content,
            key=f"stream:{stream.pk}",
        )


def unfetched() -> list[Stream]:
    """Finished answers that WeCom has not asked for: the client went away, or the polls were lost."""
    waiting = Stream.objects.filter(finished_at__lt=now() - UNFETCHED, delivered_at=None)
    return list(waiting.select_related("inbox", "project").order_by("pk")[:200])
