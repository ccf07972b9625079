"""Answers over the long connection: rows of the outbox as frames, and what WeCom says of them (wecom.md 5).

The answer replaces "querying" in the stream of its question, so the same frame twice is one answer. Where the
request or the stream is over it is a message of its own, and so is what was asked in a group and is told alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils.timezone import now

from core.house.db import atomic
from core.integrations.wecom import Kind, SendError, Sent
from core.integrations.wecom import socket as protocol
from core.integrations.wecom.results import classify
from core.integrations.wecom.socket import Frame
from projects.models import Project
from wechat.aibot import lease, streams
from wechat.aibot.parse import parse_json
from wechat.models import InboxMessage, OutboxMessage, Stream
from wechat.outbound import outbox, sender
from wechat.outbound.outbox import Payload

AT_ONCE = 50
SINGLE = 1  # chat_type
QUICK = 6
"""An answer whose connection broke goes out on the next one; one that breaks so many waits, as others do."""
BUSY_S = 30.0
STRANDED = timedelta(minutes=10)
"""What was due for so long while nobody held the connection goes by the app."""
DOUBTFUL = timedelta(minutes=30)
"""What may have arrived is left to who may come for longer; then twice is better than not at all."""
_OURS = Q(inbox__channel=InboxMessage.Channel.SOCKET)


@dataclass(frozen=True)
class Posting:
    """A claimed row as the frame that carries it."""

    row: OutboxMessage
    cmd: str
    req_id: str
    body: dict[str, Any]


def finish(
    row: InboxMessage, text: str, project: Project | None, conversation_id: str | None
) -> bool:
    """Put the row's answer into the outbox, in the caller's transaction; False where it has no stream."""
    stream = Stream.objects.filter(inbox=row).first()
    if stream is None:
        return False
    content = streams.fitted(text, row.from_user, project) or streams.LATE
    at = now()
    Stream.objects.filter(pk=stream.pk, finished_at=None).update(
        conversation_id=conversation_id, project=project, finished_at=at, delivered_at=at
    )
    _enqueue(row, content, project, stream.stream_id, f"stream:{stream.pk}")
    return True


def tell_alone(row: InboxMessage, text: str, project: Project | None) -> None:
    """Put a message to the row's sender into the outbox that the bot pushes to their single chat."""
    _enqueue(row, streams.fitted(text, row.from_user, project), project, "", f"inbox:{row.pk}")


def _enqueue(
    row: InboxMessage, content: str, project: Project | None, stream: str, key: str
) -> None:
    """What WeCom refuses for good goes by the app."""
    outbox.enqueue(
        to_user=row.from_user,
        project=project,
        kind=OutboxMessage.Kind.STREAM,
        content={
            "stream": stream,
            "chatid": parse_json(row.raw).from_user,
            "markdown": {"content": content},
        },
        key=key,
        fallback=content,
    )


def due(busy: frozenset[str] = frozenset(), under_way: Collection[int] = ()) -> Iterator[Posting]:
    """Claim what can go out now: of each recipient the first row, none under a req_id of `busy`.

    `under_way`: rows whose frames WeCom has not said anything of, however long ago they were claimed.
    """
    taken = set(busy)
    for to_user in sender.due_streams(AT_ONCE):
        head = sender.current_head(to_user, sender.STREAM)
        if head is None or head.pk in under_way or _is_busy(head, taken):
            continue
        if row := sender.take(head):
            posting = _posting(row)
            taken.add(posting.req_id)
            yield posting


def strand() -> int:
    """Let the app tell what nobody is there to post; how many."""
    if lease.stands():
        return 0
    told = 0
    for head in sender.stranded(STRANDED, DOUBTFUL, AT_ONCE):
        if row := sender.take(head):
            _note_doubt(row)
            sender.settle(row, SendError(Kind.PERMANENT, 0, "nobody holds the long connection"))
            told += 1
    return told


def _is_busy(row: OutboxMessage, busy: set[str]) -> bool:
    """Whether something else of the same request waits for WeCom: one would be taken for the other."""
    stream = _stream(row)
    return stream is not None and stream.req_id in busy


def _stream(row: OutboxMessage) -> Stream | None:
    named = Payload.model_validate_json(row.payload).message["stream"]
    return Stream.objects.filter(stream_id=named).first()


def _posting(row: OutboxMessage) -> Posting:
    message, stream = Payload.model_validate_json(row.payload).message, _stream(row)
    markdown = message["markdown"]
    if stream and stream.req_id and not is_over(stream):
        body: dict[str, Any] = {
            "id": stream.stream_id,
            "finish": True,
            "content": markdown["content"],
        }
        if stream.opened_at is None:
            body["feedback"] = {"id": stream.stream_id}
        said = {"msgtype": "stream", "stream": body}
        return Posting(row, protocol.RESPOND, stream.req_id, said)
    _note_doubt(row)
    pushed = {
        "chatid": message["chatid"],
        "chat_type": SINGLE,
        "msgtype": "markdown",
        "markdown": markdown,
    }
    return Posting(row, protocol.SEND, protocol.new_id("send"), pushed)


def _note_doubt(row: OutboxMessage) -> None:
    """Note that it goes out another way than before: WeCom cannot tell that both are the same."""
    if row.is_ambiguous:
        OutboxMessage.objects.filter(pk=row.pk).update(possible_duplicate=True)


def is_over(stream: Stream) -> bool:
    """Whether WeCom shows nothing more in this stream."""
    return bool(stream.expired_at) or now() - stream.created_at > streams.PATIENCE


def settle_posting(posting: Posting, said: Frame) -> None:
    """Note what WeCom says of a frame."""
    row, code = posting.row, said.code or 0
    if code == 0:
        sender.settle(row, Sent())
    elif code in protocol.OVER and posting.cmd == protocol.RESPOND:
        with atomic():
            if sender.put_back(row):
                named = posting.body["stream"]["id"]
                Stream.objects.filter(stream_id=named, expired_at=None).update(expired_at=now())
    elif code == protocol.NOT_SUBSCRIBED:
        sender.put_back(row)
    elif code in protocol.BUSY:
        sender.settle(row, SendError(Kind.WAIT, 0, f"{code} {said.detail}", BUSY_S))
    else:
        sender.settle(row, classify(code, said.detail))


def lose(posting: Posting) -> None:
    """The connection ended before WeCom said anything: the frame may have arrived."""
    if posting.row.attempts < QUICK:
        sender.put_back(posting.row, ambiguous=True)
    else:
        sender.settle(posting.row, SendError(Kind.AMBIGUOUS, 0, "no answer"))


def unopened() -> list[Stream]:
    """Questions whose first answer WeCom does not have, and whose last one is not there yet."""
    fresh = Q(created_at__gt=now() - streams.PATIENCE, finished_at=None, expired_at=None)
    rows = Stream.objects.filter(_OURS, fresh, opened_at=None).exclude(req_id="")
    return list(rows.select_related("inbox").order_by("pk")[:AT_ONCE])


def overdue() -> Iterator[Stream]:
    """Claim the streams that are about to be over without an answer."""
    old = Q(created_at__lt=now() - streams.PATIENCE, finished_at=None, expired_at=None)
    # Much older ones are over, whatever we say.
    recent = Q(created_at__gt=now() - timedelta(minutes=10))
    rows = Stream.objects.filter(_OURS, old, recent).exclude(req_id="")
    for stream in rows.select_related("inbox").order_by("pk")[:AT_ONCE]:
        # Either a worker finishes it or we end it, never both.
        mine = Stream.objects.filter(pk=stream.pk, finished_at=None, expired_at=None)
        if mine.update(expired_at=now()):
            stream.refresh_from_db()
            yield stream
