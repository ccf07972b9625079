"""Two pages about the rules: their false alarms with advice, and what they could not evaluate; each as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.http import content_disposition_header
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from core.house import spreadsheet
from core.house.db import atomic
from engines import labels
from engines.models import PendingAction
from engines.pages.finding_words import rule_name
from engines.pages.layout import paged, render_page
from engines.sop.checks.kinds import kind_of
from engines.sop.finding_reports import LEAST, Advice, rates, undecided
from projects import audit
from projects.models import Project

ADVICE: dict[Advice, tuple[str, Promise]] = {
    Advice.TOO_FEW: ("", gettext_lazy("Too few decisions to say something.")),
    Advice.BAD: (
        "danger",
        gettext_lazy(
            "Half or more are false alarms: correct the rule, narrow where it applies, or switch it off."
        ),
    ),
    Advice.DOUBTFUL: (
        "warning",
        gettext_lazy(
            "One in five or more is a false alarm: look at its limits and at the reasons."
        ),
    ),
    Advice.GOOD: ("success", gettext_lazy("It works: leave it as it is.")),
}


@require_GET
def rates_view(request: HttpRequest) -> HttpResponse:
    """How often people rejected what each rule found."""
    rows, cells = [], list[list[str]]()
    for one in rates(_rows(request)):
        (colour, advice), key = ADVICE[one.advice], one.rule_key
        kind = kind_of(key)
        row: dict[str, Any] = {
            "rate": one,
            "colour": colour,
            "advice": advice,
            "rule": _rule(key),
            "filter": f"std.{kind}." if kind else key,  # as the list's filter of rules takes it
            "percent": None if one.share is None else round(100 * one.share),
        }
        rows.append(row)
        share = "" if row["percent"] is None else f"{row['percent']}%"
        figures = [one.found, one.decided, one.rejected, share, advice]
        cells.append([one.code, row["rule"], key, one.skill_type, *map(str, figures)])
    if "csv" in request.GET:
        head = [_("Project"), _("Rule"), _("rule key"), _("Workflow"), _("Found"), _("Judged")]
        head += [_("False alarms"), _("Share"), _("Advice")]
        return _csv(request, "rates", head, cells)
    return _page(request, "rates", _("False alarms by rule"), rows, least=LEAST)


@require_GET
def undecided_view(request: HttpRequest) -> HttpResponse:
    """Why rules were not evaluated: by rule, site and reason."""
    rows: list[dict[str, Any]] = [
        {
            "line": one,
            "rule": _rule(one.rule_key),
            "reason": labels.name(labels.REASONS, one.reason) or _("Error"),
        }
        for one in undecided(_rows(request))
    ]
    if "csv" in request.GET:
        head = [_("Project"), _("Rule"), _("rule key"), _("Site"), _("Reason"), _("Times")]
        lines = [(row, row["line"]) for row in rows]
        cells = [
            [one.code, row["rule"], one.rule_key, one.site, row["reason"], str(one.count)]
            for row, one in lines
        ]
        return _csv(request, "undecided", head, cells)
    total = sum(row["line"].count for row in rows)
    return _page(request, "undecided", _("Why was this not evaluated?"), rows, total=total)


def _rows(request: HttpRequest) -> QuerySet[PendingAction]:
    """The reader's own, without what only the list's words need."""
    page = admin.site.get_model_admin(PendingAction)
    if not page.has_view_permission(request):
        raise PermissionDenied
    rows = PendingAction.objects.filter(pk__in=page.get_queryset(request).order_by().values("pk"))
    return rows.order_by()


def _page(
    request: HttpRequest, name: str, title: str, lines: Sequence[Any], **more: Any
) -> HttpResponse:
    template, rows = f"engines/findings/{name}.html", paged(request, lines)
    return render_page(request, template, title, PendingAction, rows=rows, **more)


def _rule(key: str) -> str:
    name = rule_name(key)
    return f"{name} · {key.split('.', 2)[-1]}" if kind_of(key) else name


def _csv(
    request: HttpRequest, name: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> HttpResponse:
    """The lines as a file; each study's trail says that they left."""
    codes = [row[0] for row in rows]
    with atomic():
        for project in Project.objects.filter(code__in=codes):
            told = {"model": f"findings.{name}", "rows": codes.count(project.code), "filter": {}}
            audit.record("rows.export", actor=request.user, project=project, new=told)
    title = f"findings_{name}_{localdate():%Y-%m-%d}.csv"
    headers = {
        "Content-Disposition": str(content_disposition_header(True, title)),
        "Cache-Control": "no-store",
    }
    content = "".join(spreadsheet.csv_lines([head, *rows]))
    return HttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)
