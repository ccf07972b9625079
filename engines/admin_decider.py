"""The base of lists whose rows somebody decides about."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from engines import sop
from projects.admin_base import roles
from study.admin.export import ExportAdmin


class DeciderAdmin(ExportAdmin):
    """Actions of those who decide; an auditor only looks on."""

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A role that decides, in any study; the row's own is asked for each."""
        return bool(set(sop.DECIDERS) & roles(request))
