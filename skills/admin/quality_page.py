"""Uploading REDCap's Data Quality rules, and what of the dictionary's own logic is worked out here."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from core.integrations.redcap import RedcapError
from projects.models import Project
from skills import dq
from skills.models import QualityRule, Skill
from study import dictionary
from study.client import NotConfiguredError
from study.metadata import branching, calculations


class UploadForm(forms.Form):
    """The file."""

    file = forms.FileField(max_length=255)


def offer(_request: HttpRequest, project: Project) -> dict[str, Any]:
    """What was taken over and whether it runs, and what of the dictionary's own logic does."""
    listed = reverse("admin:skills_qualityrule_changelist")
    return {
        "columns": format_html("<code>{}</code>", ",".join(dq.COLUMNS)),
        "list": f"{listed}?project__id__exact={project.pk}",
        **_standing(project),
    }


def apply_chosen(request: HttpRequest, project: Project) -> str:
    """Take over a file, or switch the skill."""
    if "on" in request.POST:
        on = request.POST["on"] == "1"
        dq.switch_skill(project=project, on=on, actor=request.user)
        return _("The rules are run now.") if on else _("The rules are not run any more.")
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        raise ValidationError(str(form.errors["file"][0]))
    content = form.cleaned_data["file"].read(dq.MOST_BYTES + 1)
    done = dq.take_over(project=project, content=content, actor=request.user)
    if not done.changed:
        return _("This file was taken over before; nothing has changed.")
    about = {"taken": done.taken, "refused": done.refused}
    return _("%(taken)d rules taken over, %(refused)d not.") % about


def _standing(project: Project) -> dict[str, Any]:
    states = QualityRule.State
    counts = QualityRule.objects.filter(project=project).aggregate(
        taken=Count("pk", filter=Q(state=states.TAKEN)),
        on=Count("pk", filter=Q(state=states.TAKEN, is_on=True)),
        refused=Count("pk", filter=Q(state=states.REFUSED)),
    )
    rows = QualityRule.objects.filter(project=project)
    skill = Skill.objects.filter(project=project, skill_type=dq.SKILL_TYPE).first()
    refused = rows.filter(state=states.REFUSED)[:10]
    told = {"counts": counts, "skill": skill, "refused": refused, "newest": rows.first()}
    return told | {"own": _own_logic(project)}


def _own_logic(project: Project) -> dict[str, Any] | None:
    """The dictionary's branching and calculations; None where no dictionary was ever read."""
    try:
        metadata = dictionary.load(project)
    except (RedcapError, NotConfiguredError):
        return None
    found = [*calculations(metadata), *branching(metadata)]
    calculated = sum(one.is_calculation for one in found)
    missing = [
        {"label": metadata.label(one.field), "text": one.text, "why": one.why_not}
        for one in found
        if one.why_not
    ]
    return {"calculations": calculated, "branching": len(found) - calculated, "missing": missing}
