"""Anchors the audit trail, looks whether it holds, and tells who must know when it does not (design.md 9.9).

Nothing clears the alarm by itself: that a trail holds now does not say what was done to it before.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import translation
from django.utils.timezone import localdate
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit_anchors, audit_watch
from projects.audit_anchors import FILE, Break
from projects.models import Member, Role
from wechat.outbound import alerts, outbox


def watch() -> int:
    """Write the anchors, then look shortly; how many faults there are."""
    unwritten = []
    try:
        audit_anchors.take()
    except OSError as error:
        unwritten = [Break(FILE, 0, f"anchor not written: {type(error).__name__}")]
    return _sound([*unwritten, *audit_watch.look()])


def verify_trail() -> int:
    """Walk all of the trail, as `manage.py audit verify`; how many faults there are."""
    return _sound([*audit_watch.verify()])


def _sound(faults: Sequence[Break]) -> int:
    if faults:
        first = faults[0]
        places = f"{first.chain} {first.number} {first.what}"
        alerts.sound(alerts.Code.AUDIT, f"{places} (+{len(faults) - 1})")
        _tell_administrators(len(faults))
    return len(faults)


def _tell_administrators(count: int) -> None:
    """Once a day and person; those of one site are not told of what concerns all."""
    people = Member.objects.filter(role=Role.ADMIN, is_active=True, site="")
    with atomic():
        for admin in people.exclude(wecom_userid="").order_by("wecom_userid"):
            with translation.override(admin.language):
                outbox.enqueue_text(
                    to_user=admin.wecom_userid,
                    project=None,
                    content=_(
                        "The audit trail does not hold: %(count)d faults. Have the operator run "
                        "manage.py audit verify at once."
                    )
                    % {"count": count},
                    key=f"audit-alarm:{localdate():%Y%m%d}:{admin.wecom_userid}",
                )
