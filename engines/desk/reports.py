"""Two pages about the rules: their false alarms with advice, and what they could not evaluate; each as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.http import content_disposition_header
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from engines import labels
from engines.desk.finding_words import rule_name
from engines.models import PendingAction
from engines.sop.checks.kinds import kind_of
from engines.sop.finding_reports import LEAST, Advice, Rate, Undecided, rates, undecided
from house.db import atomic
from projects import audit
from projects.models import Project
from study.admin.export import harmless

PER_PAGE = 50
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
def rates_view(request: HttpRequest, page: ModelAdmin) -> HttpResponse:
    """How often people rejected what each rule found."""
    found = rates(_rows(request, page))
    if "csv" in request.GET:
        head = [_("Project"), _("Rule"), _("rule key"), _("Workflow"), _("Found"), _("Judged")]
        head += [_("False alarms"), _("Share"), _("Advice")]
        return _csv(request, "rates", head, [_rate_cells(one) for one in found])
    more = {"title": _("False alarms by rule"), "least": LEAST}
    return _page(request, page, "rates", [_rate(one) for one in found], more)


@require_GET
def undecided_view(request: HttpRequest, page: ModelAdmin) -> HttpResponse:
    """Why rules were not evaluated: by rule, site and reason."""
    found = undecided(_rows(request, page))
    if "csv" in request.GET:
        head = [_("Project"), _("Rule"), _("rule key"), _("Site"), _("Reason"), _("Times")]
        return _csv(request, "undecided", head, [_undecided_cells(one) for one in found])
    more = {"title": _("Why was this not evaluated?"), "total": sum(one.count for one in found)}
    return _page(request, page, "undecided", [_line(one) for one in found], more)


def _rows(request: HttpRequest, page: ModelAdmin) -> QuerySet[PendingAction]:
    """The reader's own, without what only the list's words need."""
    if not page.has_view_permission(request):
        raise PermissionDenied
    rows = PendingAction.objects.filter(pk__in=page.get_queryset(request).order_by().values("pk"))
    return rows.order_by()


def _page(
    request: HttpRequest, page: ModelAdmin, name: str, lines: Sequence[Any], more: dict[str, Any]
) -> HttpResponse:
    context = page.admin_site.each_context(request) | {
        "opts": page.model._meta,
        "rows": Paginator(lines, PER_PAGE).get_page(request.GET.get("p")),
        **more,
    }
    return render(request, f"engines/findings/{name}.html", context)


def _rule(key: str) -> str:
    name = rule_name(key)
    return f"{name} · {key.split('.', 2)[-1]}" if kind_of(key) else name


def _start(key: str) -> str:
    """What the list's filter of rules takes for this rule."""
    kind = kind_of(key)
    return f"std.{kind}." if kind else key


def _rate(one: Rate) -> dict[str, Any]:
    colour, text = ADVICE[one.advice]
    share = None if one.share is None else round(100 * one.share)
    shown = {"rule": _rule(one.rule_key), "filter": _start(one.rule_key), "percent": share}
    return {"rate": one, "colour": colour, "advice": text, **shown}


def _rate_cells(one: Rate) -> list[str]:
    shown = _rate(one)
    share = "" if shown["percent"] is None else f"{shown['percent']}%"
    figures = [str(one.found), str(one.decided), str(one.rejected), share, str(shown["advice"])]
    return [one.code, shown["rule"], one.rule_key, one.skill_type, *figures]


def _line(one: Undecided) -> dict[str, Any]:
    reason = labels.name(labels.REASONS, one.reason) or _("Error")
    return {"line": one, "rule": _rule(one.rule_key), "reason": reason}


def _undecided_cells(one: Undecided) -> list[str]:
    shown = _line(one)
    return [one.code, shown["rule"], one.rule_key, one.site, shown["reason"], str(one.count)]


def _csv(
    request: HttpRequest, name: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> HttpResponse:
    """The lines as a file; each study's trail says that they left."""
    codes = {row[0] for row in rows}
    with atomic():
        for project in Project.objects.filter(code__in=codes):
            count = sum(row[0] == project.code for row in rows)
            told = {"model": f"findings.{name}", "rows": count, "filter": {}}
            audit.record("rows.export", actor=request.user, project=project, new=told)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(head)
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    title = f"findings_{name}_{localdate():%Y-%m-%d}.csv"
    headers = {
        "Content-Disposition": str(content_disposition_header(True, title)),
        "Cache-Control": "no-store",
    }
    content = "\ufeff" + file.getvalue()
    return HttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)
