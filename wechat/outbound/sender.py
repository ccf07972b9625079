"""Sends the outbox: one lane per recipient, in order, each message once (wecom.md 3.6, 8.2; issue 5).

What goes over the long connection is a lane of its own: neither waits for the other.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError
from django.db.models import F, Min, Q, QuerySet
from django.utils.timezone import now
from pydantic import ValidationError

from core.house import machine
from core.house.db import atomic
from core.integrations.wecom import Kind, SendError, Sent, WecomClient
from core.integrations.wecom.results import Result
from wechat.models import Alert, Card, OutboxMessage
from wechat.models.cards import CODE_CHARS
from wechat.outbound import alerts, formats, gateway, notices, pictures
from wechat.outbound.outbox import Payload, enqueue_text

logger = logging.getLogger(__name__)

Status = OutboxMessage.Status
Found = TypeVar("Found")
# Longer than a call may take, shorter than the least duplicate interval: a row whose worker was killed is
# sent again while WeCom still knows it.
LEASE = timedelta(seconds=25)
INTERVAL_LEAST, INTERVAL_STEPS = 60, 600
# Each limit of 3.2 over its window; what exceeds it WeCom drops without a word.
LIMITS = ((30, timedelta(minutes=1)), (1000, timedelta(hours=1)))
BATCH = 50
STREAM = Q(kind=OutboxMessage.Kind.STREAM)
CODE_RETRIES = 3  # "at most three" where WeCom answers busy (3.6)
TRANSPORT_RETRIES = 12  # about half an hour where WeCom does not answer
MOST_RETRIES = 40  # however the failures alternate
LONGEST_S = 300.0
LONGEST_WAIT_S = 3600.0
# How long after its row was taken a call may still reach WeCom: the token and the send wait 10 s each.
ARRIVES_WITHIN_S = 20
WINDOW_MARGIN_S = 5
# Codes by which WeCom says that the first, unanswered call had worked.
_USED_UP = {
    OutboxMessage.Kind.CARD_UPDATE: frozenset({60140, 42022}),
    OutboxMessage.Kind.CARD: frozenset({42014, 42022}),
    OutboxMessage.Kind.RESPONSE: frozenset({60140, 42022}),
}


def send_lane(to_user: str, client: WecomClient | None = None) -> datetime | None:
    """Send what is due in a lane; the time its next row is due, or None when it is empty.

    Ends at the first row that could not be sent: nothing overtakes it.
    """
    wecom = client or gateway.client()
    for _ in range(BATCH):
        head = _head(to_user, ~STREAM)
        if head is None:
            return None
        withdrawn = _alone(notices.is_withdrawn, head, Kind.RETRY)
        if withdrawn is True:
            continue
        row = take(head)
        if row is None:
            break
        if isinstance(withdrawn, SendError):
            settle(row, withdrawn)
            continue
        result = _alone(partial(_deliver, wecom), row, Kind.AMBIGUOUS)  # it may have been sent
        if result is None:
            pictures.withdraw(row)
        else:
            settle(row, result)
    return next_due(to_user)


def _alone(
    step: Callable[[OutboxMessage], Found], row: OutboxMessage, kind: Kind
) -> Found | SendError:
    """What a step finds; one that fails at its row, whatever it is, must not hold up the lane behind it.

    `kind`: what is known of the row after that.
    """
    try:
        return step(row)
    except (OperationalError, InterfaceError, SoftTimeLimitExceeded):
        raise  # not of this row
    except Exception as error:
        name = type(error).__name__
        logger.exception("outbox %s cannot be sent: %s", row.pk, name)
        alerts.sound(Alert.Code.SWEEP, f"{name} {row.pk}", subject="outbox")
        return SendError(kind, 0, name)


def next_due(to_user: str) -> datetime | None:
    """When the first unsent row of a lane may be tried."""
    head = _head(to_user, ~STREAM)
    if head is None:
        return None
    leased = head.lease_until if head.status == Status.SENDING else None
    return max(head.available_at, leased) if leased else head.available_at


def due_lanes(limit: int) -> Iterator[str]:
    """Lanes with a first row that a worker can try now (the sweeper's question)."""
    return _due(~STREAM, limit)


def due_streams(limit: int) -> Iterator[str]:
    """Lanes with a first row that the holder of the long connection can try now."""
    return _due(STREAM, limit)


def stranded(after: timedelta, doubtful_after: timedelta, limit: int) -> list[OutboxMessage]:
    """First rows of lanes due for the long connection for so long; of what may have arrived, for longer."""
    at = now()
    sure = Q(status=Status.PENDING, is_ambiguous=False, available_at__lt=at - after)
    put_back = Q(status=Status.PENDING, available_at__lt=at - doubtful_after)
    under_way = Q(status=Status.SENDING, lease_until__lt=at - doubtful_after)
    rows = OutboxMessage.objects.filter(sure | put_back | under_way, pk__in=_heads(STREAM))
    return list(rows.order_by("pk")[:limit])


def _due(which: Q, limit: int) -> Iterator[str]:
    due = OutboxMessage.objects.filter(_claimable(now()), pk__in=_heads(which)).order_by("pk")
    return due.values_list("to_user", flat=True)[:limit].iterator()


def _heads(which: Q) -> QuerySet[OutboxMessage, int]:
    """The first unsent row of each lane."""
    unsent = OutboxMessage.objects.filter(which, status__in=OutboxMessage.UNSENT).order_by()
    return unsent.values("to_user").annotate(head=Min("pk")).values_list("head", flat=True)


def _head(to_user: str, which: Q) -> OutboxMessage | None:
    unsent = OutboxMessage.objects.filter(which, to_user=to_user, status__in=OutboxMessage.UNSENT)
    return unsent.order_by("pk").first()


def _claimable(at: datetime) -> Q:
    free = Q(status=Status.PENDING) | Q(status=Status.SENDING, lease_until__lt=at)
    return free & Q(available_at__lte=at)


def current_head(to_user: str, which: Q = ~STREAM) -> OutboxMessage | None:
    """The lane's first row that still has something to tell; `which`: STREAM, or what workers send."""
    head = _head(to_user, which)
    while head is not None and notices.is_withdrawn(head):
        head = _head(to_user, which)
    return head


def take(head: OutboxMessage) -> OutboxMessage | None:
    """Lease the row; None where it is not due or another worker was faster."""
    if _throttle(head):
        return None
    at, by_database = now(), machine.database_now()
    interval = head.duplicate_interval or _next_interval(head)
    # By a worker on another machine, perhaps: only the database's clock tells how long ago that was.
    first = head.first_tried_at or by_database
    resent = head.is_ambiguous or head.status == Status.SENDING
    late = resent and by_database - first >= timedelta(seconds=interval - ARRIVES_WITHIN_S)
    if head.kind == OutboxMessage.Kind.STREAM:
        late = False  # the stream's id tells WeCom, however late
    # Two workers see the same head: the fencing number lets one of them have it.
    claimed = OutboxMessage.objects.filter(_claimable(at), pk=head.pk, fence=head.fence).update(
        status=Status.SENDING,
        lease_until=at + LEASE,
        fence=F("fence") + 1,
        attempts=F("attempts") + 1,
        duplicate_interval=interval,
        first_tried_at=first,
        tried_at=at,
        is_ambiguous=resent,
        possible_duplicate=head.possible_duplicate or late,
    )
    return OutboxMessage.objects.get(pk=head.pk) if claimed else None


def _next_interval(row: OutboxMessage) -> int:
    """A duplicate-check interval unlike the lane's last ones: two different sends never are the same JSON."""
    tried = OutboxMessage.objects.filter(to_user=row.to_user, first_tried_at__isnull=False)
    latest = tried.order_by("-first_tried_at", "-pk")
    last = latest.values_list("duplicate_interval", flat=True).first()
    if last is None:
        return INTERVAL_LEAST
    return INTERVAL_LEAST + (last - INTERVAL_LEAST + 1) % INTERVAL_STEPS


def _throttle(row: OutboxMessage) -> bool:
    """Whether a recipient has had enough for now; the row then waits for the window to open."""
    at = now()
    full = [until for one in row.to_user.split("|") if (until := _full_until(one, row, at))]
    if full:
        mine = OutboxMessage.objects.filter(pk=row.pk, fence=row.fence)
        mine.update(available_at=max(full))
    return bool(full)


def _full_until(userid: str, row: OutboxMessage, at: datetime) -> datetime | None:
    """When a member who has had too many may get one more; None where it is now."""
    times = _times_tried(userid, row, at - max(window for _most, window in LIMITS))
    for most, window in LIMITS:
        oldest = next(iter(times[most - 1 : most]), None)
        if oldest is None:  # less than the least limit in the widest window: one query tells
            return None
        if oldest > at - window:
            return oldest + window + timedelta(seconds=1)
    return None


def _times_tried(
    userid: str, row: OutboxMessage, since: datetime
) -> QuerySet[OutboxMessage, datetime | None]:
    """When something else was sent to a member, newest first: alone, or by a card to several."""
    rows = OutboxMessage.objects.filter(tried_at__gt=since).exclude(pk=row.pk).order_by()
    first, last = Q(to_user__startswith=f"{userid}|"), Q(to_user__endswith=f"|{userid}")
    among = first | last | Q(to_user__contains=f"|{userid}|")
    shared = rows.filter(OutboxMessage.TO_SEVERAL, among).values_list("tried_at", flat=True)
    alone = rows.filter(to_user=userid).values_list("tried_at", flat=True)
    return alone.union(shared, all=True).order_by("-tried_at")


def _deliver(wecom: WecomClient, row: OutboxMessage) -> Result | None:
    """The call, outside of any transaction. The same row makes the same bytes each time (O14).

    None: there is no picture to show.
    """
    if row.kind == OutboxMessage.Kind.IMAGE:
        picture = pictures.message_of(wecom, row, LEASE)
        if not isinstance(picture, dict):
            return picture
        return pictures.taken(row, wecom.send(body(row, picture)))
    payload = Payload.model_validate_json(row.payload)
    if row.kind == OutboxMessage.Kind.RESPONSE:
        return gateway.respond_to_bot(payload.message)
    if row.kind != OutboxMessage.Kind.CARD_UPDATE:
        return wecom.send(body(row, payload.message))
    update = _with_code(payload.message)
    if not update["response_code"]:
        return SendError(Kind.PERMANENT, 0, "the card was never delivered: nothing to update")
    return wecom.update_template_card(update)


def _with_code(message: dict[str, Any]) -> dict[str, Any]:
    """An update by `task_id` takes the card's code as it is now: the card has gone out before it."""
    update = {name: value for name, value in message.items() if name != "task_id"}
    if not update.get("response_code"):
        card = Card.objects.filter(task_id=message.get("task_id", "")).first()
        update["response_code"] = card.response_code if card else ""
    return update


def body(row: OutboxMessage, message: dict[str, Any]) -> dict[str, Any]:
    """message/send without agentid; ids in model text are never translated (enable_id_trans 0)."""
    return {
        "touser": row.to_user,
        **message,
        "safe": 0,
        "enable_id_trans": 0,
        "enable_duplicate_check": 1,
        "duplicate_check_interval": row.duplicate_interval,
    }


def settle(row: OutboxMessage, result: Result) -> None:
    """Write the result under the row's fencing number; a worker that lost its lease writes nothing."""
    if isinstance(result, SendError) and _had_worked(row, result):
        result = Sent()
    with atomic():
        values = _accepted(result) if isinstance(result, Sent) else _refused(row, result)
        mine = OutboxMessage.objects.filter(pk=row.pk, fence=row.fence, status=Status.SENDING)
        if not mine.update(lease_until=None, **values):
            logger.warning("outbox %s: lease lost, its result is left to the next worker", row.pk)
            return
        if row.kind != OutboxMessage.Kind.STREAM:
            _note_reach(row, result)
        if isinstance(result, Sent):
            _note_card(row, result)
        elif values["status"] in OutboxMessage.DEAD_LETTERS:
            _fall_back(row)


def put_back(row: OutboxMessage, *, ambiguous: bool = False) -> bool:
    """Let a claimed row be due again, at once; False where it is not ours any more."""
    mine = OutboxMessage.objects.filter(pk=row.pk, fence=row.fence, status=Status.SENDING)
    values = {"status": Status.PENDING, "lease_until": None, "available_at": now()}
    return bool(mine.update(**values, is_ambiguous=row.is_ambiguous or ambiguous))


def release_streams() -> None:
    """What an earlier holder of the long connection had under way is due at once."""
    OutboxMessage.objects.filter(STREAM, status=Status.SENDING).update(lease_until=now())


def _note_reach(row: OutboxMessage, result: Result) -> None:
    """Alerts for people and for the app, set and cleared by what came of the call."""
    readers = set(row.to_user.split("|"))
    if isinstance(result, SendError):
        alerts.sound_for(result)
        named = "not delivered" in result.detail
        missed = readers if result.code in alerts.UNREACHABLE or named else set()
    else:
        missed = set(result.undelivered)
        # An update says nothing about who can be reached.
        alerts.calls_work(readers - missed if row.kind != OutboxMessage.Kind.CARD_UPDATE else ())
    for userid in sorted(missed):
        alerts.sound(Alert.Code.UNREACHABLE, f"outbox {row.pk}", subject=userid)


def _had_worked(row: OutboxMessage, error: SendError) -> bool:
    kind = OutboxMessage.Kind(row.kind)
    return row.is_ambiguous and error.code in _USED_UP.get(kind, frozenset())


def _accepted(sent: Sent) -> dict[str, Any]:
    if sent.undelivered:
        logger.warning("WeCom did not reach %s of the recipients", len(sent.undelivered))
    return {
        "status": Status.SENT,
        "msgid": sent.msgid[:128],
        "response_code": sent.response_code[:CODE_CHARS],
        "undelivered": "|".join(sent.undelivered)[:1000],
        "sent_at": now(),
        "error": "",
        "error_code": None,
    }


def _refused(row: OutboxMessage, error: SendError) -> dict[str, Any]:
    noted: dict[str, Any] = {"error": error.detail[:300], "error_code": error.code}
    if error.kind is Kind.PERMANENT:
        logger.error("ALERT outbox %s refused: %s %s", row.pk, error.code, error.detail)
        return {"status": Status.FAILED, **noted}
    if error.kind is Kind.ALERT:
        # Kept until an operator acts; these tries do not count (O9).
        return _later(row, error.wait_s, attempts=row.attempts - 1, **noted)
    # Each trouble has a patience of its own: one busy answer after a long outage is the first one.
    alike = row.alike + 1 if row.error_code == error.code else 1
    noted["alike"] = alike
    is_busy = error.kind is Kind.RETRY and error.code
    if alike > (CODE_RETRIES if is_busy else TRANSPORT_RETRIES) or row.attempts > MOST_RETRIES:
        logger.error("ALERT outbox %s given up after %s attempts", row.pk, row.attempts)
        return {"status": Status.DEAD, **noted}
    if error.kind is Kind.WAIT:
        return _later(row, min(error.wait_s * 2 ** (alike - 1), LONGEST_WAIT_S), **noted)
    ambiguous = row.is_ambiguous or error.kind is Kind.AMBIGUOUS
    delay = backoff(row.attempts)
    return _later(row, _in_time(row, delay) if ambiguous else delay, ambiguous, **noted)


def backoff(attempts: int) -> float:
    """2, 4, 8 … seconds with jitter (45033 asks for it), short enough for the duplicate check."""
    return min(2.0**attempts, LONGEST_S) * random.uniform(0.75, 1.0)


def _in_time(row: OutboxMessage, delay: float) -> float:
    """Rather a little early than after WeCom has forgotten the first try: then it would deliver twice."""
    if row.first_tried_at is None or row.duplicate_interval is None:
        return delay
    window = timedelta(seconds=row.duplicate_interval - ARRIVES_WITHIN_S - WINDOW_MARGIN_S)
    left = (row.first_tried_at + window - machine.database_now()).total_seconds()
    return min(delay, left) if left > 1.0 else delay


def _later(
    row: OutboxMessage, delay: float, ambiguous: bool = False, **values: Any
) -> dict[str, Any]:
    return {
        "status": Status.PENDING,
        "available_at": now() + timedelta(seconds=delay),
        "is_ambiguous": row.is_ambiguous or ambiguous,
        **values,
    }


def _note_card(row: OutboxMessage, sent: Sent) -> None:
    """Keep the code that changes the card later (3.4)."""
    if row.kind != OutboxMessage.Kind.CARD or not sent.response_code:
        return
    card = Payload.model_validate_json(row.payload).message["template_card"]
    # A click may have come first and left a newer code (A15).
    unknown = Card.objects.filter(task_id=card.get("task_id"), response_code="")
    unknown.update(response_code=sent.response_code[:CODE_CHARS])


def _fall_back(row: OutboxMessage) -> None:
    """A text to each recipient, as they can see it, in place of what was refused (A8)."""
    try:
        payload = Payload.model_validate_json(row.payload)
    except ValidationError:  # then it was never sent, and given up for that
        return
    for userid in row.to_user.split("|") if payload.fallback else ():
        if row.kind == OutboxMessage.Kind.CARD and formats.reads_plain(userid, row.project):
            continue  # who sees no cards has been told in words
        enqueue_text(
            to_user=userid,
            project=row.project,
            content=payload.fallback,
            key=f"fallback:{row.pk}:{userid}",
        )
