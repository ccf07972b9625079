"""The console's page of the auto-mapper: proposals to tick (issue 3, Tools)."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.integrations.redcap import RedcapError
from projects.models import Project
from skills import automap
from skills.admin.base import asked_study
from study.client import NotConfiguredError

PAGE = "admin:skills_fieldmapping_propose"
WHY: dict[str, Promise] = {
    automap.LABEL: gettext_lazy("The field's label"),
    automap.PART: gettext_lazy("A part of the label"),
    automap.CLINICAL: gettext_lazy("What clinicians call it"),
}


def propose_view(
    request: HttpRequest, page: ModelAdmin, projects: QuerySet[Project]
) -> HttpResponse:
    """GET shows the proposals of one of `projects`, POST stores the ticked ones."""
    project = asked_study(request, projects)
    if request.method == "POST":
        _accept(request, project)
        return redirect(f"{reverse(PAGE)}?project={project.code}")
    context = page.admin_site.each_context(request) | {
        "title": _("Field mappings from the REDCap dictionary"),
        "opts": page.model._meta,
        "project": project,
        "projects": projects.order_by("code"),
        **_offer(project),
    }
    return render(request, "skills/propose.html", context)


def _offer(project: Project) -> dict[str, Any]:
    try:
        found = automap.current_proposals(project)
    except (RedcapError, NotConfiguredError):
        return {"failed": True}
    rows = [
        {
            "alias": row.alias,
            "field": row.field,
            "label": row.label,
            "why": WHY[row.why],
            "sure": row.why == automap.LABEL,
        }
        for row in found.rows
    ]
    # A whole label says what is meant; a part of one, or another word for it, may mean something else.
    parts = [
        {"rows": [row for row in rows if row["sure"]], "doubtful": False},
        {"rows": [row for row in rows if not row["sure"]], "doubtful": True},
    ]
    return {
        "rows": rows,
        "parts": [part for part in parts if part["rows"]],
        "read_at": found.read_at,
        "is_old": found.is_old,
    }


def _accept(request: HttpRequest, project: Project) -> None:
    chosen = request.POST.getlist("alias")
    if not chosen:
        messages.error(request, _("Nothing was ticked."))
        return
    try:
        stored = automap.store_proposals(project, chosen, request.user)
    except (RedcapError, NotConfiguredError):
        messages.error(request, _("REDCap could not be read."))
    except (ValidationError, IntegrityError):
        messages.error(
            request, _("Somebody stored one of these names just now. Please look again.")
        )
    else:
        messages.success(request, _("%d field mappings stored.") % len(stored))
        if len(stored) < len({*chosen}):
            messages.warning(request, _("Some of them are not proposed any more."))
