"""What an operator has to mend: a log line for the watch, a row for the console (wecom.md 9.8)."""

from __future__ import annotations

import logging
from collections.abc import Collection

from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from core.house.db import atomic
from core.integrations.wecom import Kind, SendError
from core.integrations.wecom.results import TOKEN_CODES
from projects import audit
from wechat.models import Alert

logger = logging.getLogger(__name__)

Code = Alert.Code
_CODES = {
    60020: Code.ADDRESS,
    45009: Code.LIMIT,
    **dict.fromkeys(TOKEN_CODES, Code.SECRET),  # still refused with a token fetched anew
}
# WeCom's words for "this person cannot be reached" (wecom.md 3.6; O10, O11, A13).
UNREACHABLE = frozenset({81013, 60011, 60111, 40003})
# What a call that works proves wrong.
_OF_CALLS = (Code.ADDRESS, Code.SECRET, Code.LIMIT, Code.REFUSED)


def sound(code: Alert.Code, detail: str = "", subject: str = "") -> None:
    """Note a trouble. `detail` carries no secret and no text of a message."""
    logger.error("ALERT %s %s: %s", code.value, subject, detail)
    Alert.objects.bulk_create(
        [Alert(code=code, subject=subject[:64], times=0)], ignore_conflicts=True
    )
    Alert.objects.filter(code=code, subject=subject[:64]).update(
        detail=detail[:300], last_at=now(), times=F("times") + 1, cleared_at=None
    )


def sweep_failed(sender: str, detail: str, **_signal: object) -> None:
    """A step of a sweep, or a row of it, failed (`core.house.alone`): somebody has to look at it."""
    sound(Code.SWEEP, detail, subject=sender)


def code_of(error: SendError) -> Alert.Code | None:
    """The trouble of the whole app that refused a call; None where it is one of this call."""
    if error.kind in (Kind.ALERT, Kind.WAIT) or error.code in TOKEN_CODES:
        return _CODES.get(error.code, Code.REFUSED)
    return None


def sound_for(error: SendError) -> None:
    """Note a call that was refused for a reason of the whole app."""
    if code := code_of(error):
        sound(code, f"{error.code} {error.detail}")


def mend(alert: Alert, actor: object) -> bool:
    """A person says that a trouble is over, which no call of ours can prove; False where it was."""
    with atomic():
        if not Alert.objects.filter(pk=alert.pk, cleared_at=None).update(cleared_at=now()):
            return False
        audit.record("wechat.mended", actor=actor, subject=alert, new={"alert": alert.code})
    return True


def clear(*codes: Alert.Code, subject: str = "") -> None:
    """It works again."""
    _clear(Alert.objects.filter(code__in=codes, subject=subject))


def _clear(rows: QuerySet[Alert]) -> None:
    still = rows.filter(cleared_at=None)
    if still.exists():
        still.update(cleared_at=now())


def heard(userid: str, channel: str) -> None:
    """A callback of this person could be read: they are reached again, and the channel's key is right."""
    proved = Q(code=Code.UNREACHABLE, subject=userid) | Q(code=Code.KEY, subject=channel)
    _clear(Alert.objects.filter(proved))


def calls_work(reached: Collection[str] = ()) -> None:
    """WeCom took a call of ours and brought it to `reached`."""
    proved = Q(code__in=_OF_CALLS, subject="") | Q(code=Code.UNREACHABLE, subject__in=reached)
    _clear(Alert.objects.filter(proved))


def unreachable() -> set[str]:
    """Userids that WeCom does not deliver to."""
    rows = Alert.objects.filter(code=Code.UNREACHABLE, cleared_at=None)
    return set(rows.values_list("subject", flat=True))
