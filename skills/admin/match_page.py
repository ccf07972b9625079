"""The page that tries a text on the form templates, and takes over drafts of forms that have none."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.house.db import atomic
from core.integrations.redcap import RedcapError
from projects.admin_base import ScopedAdmin
from projects.models import Project
from skills import form_templates
from skills.admin.base import asked_study
from skills.form_templates import Draft
from skills.models import FormTemplate
from study.client import NotConfiguredError

PAGE = "admin:skills_formtemplate_match_text"
MOST_SIGNS = 100_000


def match_view(
    request: HttpRequest, page: ScopedAdmin, projects: QuerySet[Project]
) -> HttpResponse:
    """GET shows the page; POST tries the text (`try`) or stores the ticked drafts (`take`)."""
    projects = projects.order_by("code")
    project = asked_study(request, projects)
    drafts = _drafts(project)
    if "take" in request.POST:
        _take(request, project, drafts or [])
        return redirect(f"{reverse(PAGE)}?project={project.code}")
    text = request.POST.get("text", "")[:MOST_SIGNS]
    context: dict[str, Any] = page.admin_site.each_context(request) | {
        "title": _("Try a text, propose forms"),
        "opts": page.model._meta,
        "project": project,
        "projects": projects,
        "text": text,
        "is_tried": "try" in request.POST,
        "found": form_templates.matching_templates(project, text) if text.strip() else [],
        "failed": drafts is None,
        "drafts": drafts or [],
    }
    return render(request, "skills/match.html", context)


def _drafts(project: Project) -> list[Draft] | None:
    """None where nothing could be read."""
    try:
        return form_templates.drafts(project)
    except (RedcapError, NotConfiguredError):
        return None


def _take(request: HttpRequest, project: Project, drafts: list[Draft]) -> None:
    chosen = {*request.POST.getlist("form")}
    rows = [draft for draft in drafts if draft.form_name in chosen]
    if not rows:
        messages.error(request, _("Nothing was ticked."))
        return
    with atomic():
        for draft in rows:
            template = FormTemplate(
                project=project,
                form_name=draft.form_name,
                field_schema=draft.field_schema,
                keywords=[*draft.keywords],
            )
            form_templates.save_template(template=template, actor=request.user)
    told = ngettext("%d form template stored.", "%d form templates stored.", len(rows))
    messages.success(request, told % len(rows))
