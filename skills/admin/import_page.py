"""Taking skills into a study: from a text or a file as seed 002 prints one, and the standard ones."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from projects.admin_base import ScopedAdmin
from projects.models import Project
from skills import skill_exchange
from skills.models import Skill

LIST = "admin:skills_skill_changelist"


class ImportForm(forms.Form):
    """A study, and what it takes: the text, a file, or standard skills by their names."""

    text = forms.CharField(
        max_length=skill_exchange.MOST_SIGNS,
        required=False,
        label=_("JSON text"),
        widget=forms.Textarea(
            attrs={"rows": 18, "class": "iit-input iit-code", "spellcheck": "false"}
        ),
    )
    file = forms.FileField(required=False, label=_("or a file"))

    def __init__(self, projects: QuerySet[Project], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(one.name, str(one.title)) for one in skill_exchange.STANDARD]
        self.fields["project"] = forms.ModelChoiceField(
            queryset=projects, label=_("project"), to_field_name="code"
        )
        self.fields["standard"] = forms.MultipleChoiceField(
            choices=choices, required=False, label=_("Standard skills")
        )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if file := cleaned.get("file"):
            try:
                cleaned["text"] = file.read(skill_exchange.MOST_SIGNS).decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("file", gettext("The file is no text in UTF-8."))
        if not self.errors and not (cleaned.get("text") or "").strip() and not cleaned["standard"]:
            self.add_error("text", gettext("Give a text or a file, or tick a standard skill."))
        return cleaned


def import_view(
    request: HttpRequest, page: ScopedAdmin, projects: QuerySet[Project]
) -> HttpResponse:
    """GET shows the form; POST stores all that was given, or nothing and says why."""
    projects = projects.order_by("code")
    first = projects.first()
    if first is None:
        raise PermissionDenied
    asked = request.GET.get("project") or first.code
    form = ImportForm(
        projects, request.POST or None, request.FILES or None, initial={"project": asked}
    )
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
        "opts": page.model._meta,
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
