"""The page that tries a text on the form templates, and takes over drafts of forms that have none."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.house.db import atomic
from projects.models import Project
from skills import form_templates
from skills.admin.base import UNREAD
from skills.models import FormTemplate
from study.blinding.mask import unnamed_for

MOST_SIGNS = 100_000


def offer(request: HttpRequest, project: Project) -> dict[str, Any]:
    """The templates whose keywords stand in the text that is tried, and drafts where they can be read."""
    text = request.POST.get("text", "")[:MOST_SIGNS]
    shown = {
        "text": text,
        "is_tried": "try" in request.POST,
        "found": form_templates.matching_templates(project, text) if text.strip() else [],
    }
    try:
        hidden = unnamed_for(project, request.user)
        return {**shown, "drafts": form_templates.drafts(project, hidden)}
    except UNREAD:
        return {**shown, "failed": True}


def apply_chosen(request: HttpRequest, project: Project) -> str:
    """Store the ticked drafts."""
    chosen = {*request.POST.getlist("form")}
    drafts = form_templates.drafts(project, unnamed_for(project, request.user))
    rows = [draft for draft in drafts if draft.form_name in chosen]
    if not rows:
        raise ValidationError(_("Nothing was ticked."))
    with atomic():
        for draft in rows:
            template = FormTemplate(
                project=project,
                form_name=draft.form_name,
                field_schema=draft.field_schema,
                keywords=[*draft.keywords],
            )
            form_templates.save_template(template=template, actor=request.user)
    return ngettext("%d form template stored.", "%d form templates stored.", len(rows)) % len(rows)
