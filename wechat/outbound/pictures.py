"""The picture beside the weekly message: drawn for its reader and uploaded when its row is sent.

Self-built app: media/upload gives a media_id that holds for three days, and an image message names it
(documents 90253, 90236). The smart bot's callbacks can be answered with pictures, yet it cannot begin a talk
there (documents 101031, 101138): what nobody asked for goes by the app.

The id is kept in the row before the message is sent, so that a second try is the identical JSON.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.paper.typesetting import TypesetError
from core.integrations.wecom import Kind, SendError, WecomClient
from core.integrations.wecom.results import Result
from engines.weekly_picture import weekly_picture
from projects.members import headed
from projects.models import Member
from wechat.models import OutboxMessage
from wechat.outbound import outbox
from wechat.outbound.outbox import Held, Payload

LIFE = timedelta(days=3) - timedelta(hours=1)
"""A media_id is good for three days; what is left must be enough to send it again."""
INVALID_ID = 40007
_NAME = "weekly.png"
Status = OutboxMessage.Status


def enqueue(*, to: Member, key: str, held: Held) -> None:
    """A picture for a member; where WeCom refuses it, a text says where the charts stand."""
    query = urlencode({"project": to.project.code})
    link = f"{settings.PUBLIC_URL}{reverse('pictures')}?{query}"
    with translation.override(to.language):
        told = _("The charts of the week could not be sent as a picture; they stand here: %(link)s")
        fallback = headed(told % {"link": link}, to)
    outbox.enqueue(
        to_user=to.wecom_userid,
        project=to.project,
        kind=OutboxMessage.Kind.IMAGE,
        content={},
        key=key,
        fallback=fallback,
        held=held,
    )


def message_of(
    wecom: WecomClient, row: OutboxMessage, lease: timedelta
) -> dict[str, Any] | SendError | None:
    """The image message of a claimed row; None: there is nothing to show its reader (any more).

    Draws and uploads where that was not done, or too long ago; each step takes the row for another `lease`.
    """
    payload = Payload.model_validate_json(row.payload)
    if payload.uploaded_at and now() < payload.uploaded_at + LIFE:
        return payload.message
    reader = Member.objects.active_of(row.to_user).filter(project=row.project_id).first()
    try:
        drawn = weekly_picture(reader) if reader else None
    except TypesetError:
        return SendError(Kind.PERMANENT, 0, "the picture could not be drawn")
    if drawn is None or not _hold(row, lease):
        return None
    at, media_id = now(), wecom.upload_image(_NAME, drawn)
    if isinstance(media_id, SendError):
        return media_id
    message = {"msgtype": "image", "image": {"media_id": media_id}}
    kept = Payload(message=message, fallback=payload.fallback, uploaded_at=at)
    return message if _hold(row, lease, payload=kept.model_dump_json()) else None


def taken(row: OutboxMessage, result: Result) -> Result:
    """What came of sending it; an id that WeCom does not know (any more) is forgotten, to upload anew."""
    if not isinstance(result, SendError) or result.code != INVALID_ID:
        return result
    payload = Payload.model_validate_json(OutboxMessage.objects.get(pk=row.pk).payload)
    blank = Payload(message={}, fallback=payload.fallback)
    _mine(row).update(payload=blank.model_dump_json())
    return SendError(Kind.RETRY, result.code, result.detail)


def withdraw(row: OutboxMessage) -> None:
    """There is nothing to show."""
    gone = {"status": Status.WITHDRAWN, "checked_at": now(), "lease_until": None}
    _mine(row).update(**gone, fence=F("fence") + 1)


def _hold(row: OutboxMessage, lease: timedelta, **values: Any) -> bool:
    return _mine(row).update(lease_until=now() + lease, **values) == 1


def _mine(row: OutboxMessage) -> QuerySet[OutboxMessage]:
    """The row as this worker has it: none where another one took it."""
    return OutboxMessage.objects.filter(pk=row.pk, fence=row.fence, status=Status.SENDING)
