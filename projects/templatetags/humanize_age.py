"""How long ago something was."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils.timesince import timesince
from django.utils.timezone import now
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def age(moment: datetime | None) -> str:
    """`3 minutes ago`; below a minute `just now`; "" for None."""
    if moment is None:
        return ""
    if (now() - moment).total_seconds() < 60:
        return _("just now")
    return _("%s ago") % timesince(moment, depth=1)
