"""The page that takes many field mappings at once, and the box above their list that takes one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from projects.admin_base import ScopedAdmin
from projects.models import Project
from skills import mapping_lines
from skills.mapping_lines import Outcome, Taken
from study.protocol import index
from study.protocol.index import DocumentError

LIST = "admin:skills_fieldmapping_changelist"


class LinesForm(forms.Form):
    """A study, and its mappings as a text or a file; cleaned to `text`."""

    text = forms.CharField(
        max_length=mapping_lines.MOST_SIGNS,
        required=False,
        strip=False,
        label=_("One mapping a line: the name, a tab or comma, the REDCap field"),
        widget=forms.Textarea(
            attrs={"rows": 12, "class": "iit-input iit-code", "spellcheck": "false"}
        ),
    )
    file = forms.FileField(required=False, label=_("or a CSV file"))

    def __init__(self, projects: QuerySet[Project], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"] = forms.ModelChoiceField(
            queryset=projects, label=_("project"), to_field_name="code"
        )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if file := cleaned.get("file"):
            try:
                cleaned["text"] = index.decoded_document(file.read(index.MAX_BYTES + 1))
            except DocumentError as error:
                self.add_error("file", str(error))
        if not self.errors and not (cleaned.get("text") or "").strip():
            self.add_error("text", gettext("Give a file or a text, one of the two."))
        return cleaned


def lines_view(
    request: HttpRequest, page: ScopedAdmin, projects: QuerySet[Project]
) -> HttpResponse:
    """GET shows the form; POST stores line by line and reports on each; `one` comes from the list's box."""
    projects = projects.order_by("code")
    first = projects.first()
    if first is None:
        raise PermissionDenied
    if "one" in request.POST:
        return _one(request, projects)
    initial = {"project": request.GET.get("project") or first.code}
    form = LinesForm(projects, request.POST or None, request.FILES or None, initial=initial)
    taken: list[Taken] = []
    if request.method == "POST" and form.is_valid():
        try:
            taken = mapping_lines.take(
                project=form.cleaned_data["project"],
                text=form.cleaned_data["text"],
                actor=request.user,
            )
        except mapping_lines.TooManyLines as error:
            form.add_error("text", str(error))
    context = page.admin_site.each_context(request) | {
        "title": gettext("Several field mappings"),
        "opts": page.model._meta,
        "form": form,
        "taken": taken,
        "counts": _counts(taken),
        "left": _left(taken) if taken else form["text"].value() or "",
    }
    return render(request, "skills/lines.html", context)


def _counts(taken: list[Taken]) -> list[tuple[Outcome, str, int]]:
    counted = ((one, sum(line.outcome == one for line in taken)) for one in Outcome)
    return [(one, mapping_lines.COLOURS[one], count) for one, count in counted if count]


def _left(taken: list[Taken]) -> str:
    """What was refused stays in the box, to be mended there."""
    rows = (line for line in taken if line.outcome == Outcome.REFUSED)
    return "\n".join(f"{line.alias}\t{line.field}" for line in rows)


def _one(request: HttpRequest, projects: QuerySet[Project]) -> HttpResponse:
    project = projects.filter(code=request.POST.get("project", "")).first()
    if project is None:
        raise PermissionDenied
    # A tab within the name would be a second column.
    alias, field = (" ".join(request.POST.get(name, "").split()) for name in ("alias", "field"))
    text = f"{alias}\t{field}"[: mapping_lines.MOST_SIGNS]
    for line in mapping_lines.take(project=project, text=text, actor=request.user):
        told = " ".join(
            filter(None, [f"{line.alias} → {line.field}:", str(line.outcome.label), line.why])
        )
        level = messages.ERROR if line.outcome == Outcome.REFUSED else messages.SUCCESS
        messages.add_message(request, level, told)
    return redirect(LIST)
