"""Taking skills into a study: from a text or a file as seed 002 prints one, and the standard ones."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from projects.admin_base import ScopedAdmin
from projects.models import Project
from skills import skill_exchange
from skills.admin.base import GivenForm
from skills.models import Skill

LIST = "admin:skills_skill_changelist"


class ImportForm(GivenForm):
    """Skills as a JSON text, or standard ones by their names."""

    most = skill_exchange.MOST_SIGNS
    needed = _("Give a text or a file, or tick a standard skill.")

    def __init__(self, projects: QuerySet[Project], request: HttpRequest) -> None:
        super().__init__(projects, request)
        self.fields["text"].label = _("JSON text")
        self.fields["file"].label = _("or a file")
        choices = [(one.name, str(one.title)) for one in skill_exchange.STANDARD]
        self.fields["standard"] = forms.MultipleChoiceField(
            choices=choices, required=False, label=_("Standard skills")
        )

    def is_given(self, cleaned: dict[str, Any]) -> bool:
        """A standard skill is enough."""
        return bool(cleaned.get("standard")) or super().is_given(cleaned)


def import_view(
    request: HttpRequest, page: ScopedAdmin, projects: QuerySet[Project]
) -> HttpResponse:
    """GET shows the form; POST stores all that was given, or nothing and says why."""
    form = ImportForm(projects, request)
    if request.method == "POST" and form.is_valid():
        try:
            stored = _take(form.cleaned_data, request.user)
        except ValidationError as error:
            form.add_error("text" if form.cleaned_data["text"] else "standard", error.messages)
        else:
            told = ngettext("%d skill imported.", "%d skills imported.", len(stored)) % len(stored)
            messages.success(request, told)
            return redirect(LIST)
    context = page.admin_site.each_context(request) | {
        "title": gettext("Import skills"),
        "opts": page.opts,
        "form": form,
        "standard": skill_exchange.STANDARD,
        "ticked": form["standard"].value() or [],
    }
    return render(request, "skills/import.html", context)


def _take(cleaned: dict[str, Any], actor: object) -> list[Skill]:
    project, text = cleaned["project"], cleaned["text"]
    given = skill_exchange.parse_json(text) if text.strip() else []
    rows = [
        *skill_exchange.standard_rows(cleaned["standard"]),
        *(given if isinstance(given, list) else [given]),
    ]
    return skill_exchange.import_rows(project=project, given=rows, actor=actor)
