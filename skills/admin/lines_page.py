"""The page that takes many field mappings at once, and the box above their list that takes one."""

from __future__ import annotations

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
from skills.admin.base import GivenForm
from skills.mapping_lines import Outcome, Taken

LIST = "admin:skills_fieldmapping_changelist"


class LinesForm(GivenForm):
    """Mappings, one a line."""

    most = mapping_lines.MOST_SIGNS

    def __init__(self, projects: QuerySet[Project], request: HttpRequest) -> None:
        super().__init__(projects, request)
        self.fields["text"].label = _(
            "One mapping a line: the name, a tab or comma, the REDCap field"
        )
        self.fields["file"].label = _("or a CSV file")


def lines_view(
    request: HttpRequest, page: ScopedAdmin, projects: QuerySet[Project]
) -> HttpResponse:
    """GET shows the form; POST stores line by line and reports on each; `one` comes from the list's box."""
    if "one" in request.POST:
        return _one(request, projects)
    form = LinesForm(projects, request)
    taken: list[Taken] = []
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            taken = mapping_lines.take(
                project=given["project"], text=given["text"], actor=request.user
            )
        except mapping_lines.TooManyLines as error:
            form.add_error("text", str(error))
    context = page.admin_site.each_context(request) | {
        "title": gettext("Several field mappings"),
        "opts": page.opts,
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
