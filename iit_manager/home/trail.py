"""The audit trail for those who audit: what was done last, and whether the nightly check holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils.timezone import now
from django.utils.translation import gettext

from projects import audit
from projects.models import AuditEntry
from projects.scoping import User
from wechat.models import Alert

DAYS, SHOWN = 7, 6


def newest(user: User) -> dict[str, Any]:
    """The newest entries in the reader's scope, how many of the last days, and the fault that stands."""
    rows = AuditEntry.objects.for_user(user)
    labels = audit.actions()
    return {
        "count": rows.filter(at__gte=now() - timedelta(days=DAYS)).count(),
        "rows": [
            (row, gettext(labels.get(row.action, row.action)))
            for row in rows.order_by("-at")[:SHOWN]
        ],
        "fault": Alert.objects.filter(code=Alert.Code.AUDIT, cleared_at=None).first(),
    }
