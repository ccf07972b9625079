"""Two pages about the rules: their false alarms with advice, and what they could not evaluate; each as CSV."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
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
from engines.sop.findings import UNDECIDED
from projects import audit
from projects.downloads import file_of
from projects.models import Project
from study.models import Subject

LEAST = 10
"""Fewer decisions advise nothing."""
_STATE = PendingAction.State
_JUDGED = (_STATE.CONFIRMED, _STATE.CLOSED, _STATE.REJECTED)
_NAMED = 5
# From which share of false alarms on: the colour and the advice.
_ADVICE = (
    (
        0.5,
        "danger",
        gettext_lazy(
            "Half or more are false alarms: correct the rule, narrow where it applies, or switch it off."
        ),
    ),
    (
        0.2,
        "warning",
        gettext_lazy(
            "One in five or more is a false alarm: look at its limits and at the reasons."
        ),
    ),
    (0.0, "success", gettext_lazy("It works: leave it as it is.")),
)
Line = dict[str, Any]


@require_GET
def rates_view(request: HttpRequest) -> HttpResponse:
    """How often people rejected what each rule found, the worst first.

    What waits, was asked about or resolved itself is not judged: it says nothing yet.
    """
    counted = (
        _rows(request)
        .values("skill_type", "rule_key", code=F("project__code"))
        .annotate(
            found=Count("pk"),
            judged=Count("pk", filter=Q(state__in=_JUDGED)),
            rejected=Count("pk", filter=Q(state=_STATE.REJECTED)),
        )
    )
    columns = {
        "code": _("Project"),
        "rule": _("Rule"),
        "rule_key": _("rule key"),
        "skill_type": _("Workflow"),
        "found": _("Found"),
        "judged": _("Judged"),
        "rejected": _("False alarms"),
        "share": _("Share"),
        "advice": _("Advice"),
    }
    rows = sorted(map(_advised, counted), key=lambda row: row["order"])
    return _answer(request, "rates", _("False alarms by rule"), rows, columns, least=LEAST)


def _advised(line: Line) -> Line:
    """A rule's figures with its name, its share of false alarms and what that suggests."""
    judged, key = line["judged"], line["rule_key"]
    share = line["rejected"] / judged if judged else 0.0
    colour, advice = "", _("Too few decisions to say something.")
    if judged >= LEAST:
        colour, advice = next(
            (colour, str(say)) for least, colour, say in _ADVICE if share >= least
        )
    kind = kind_of(key)
    return line | {
        "rule": _rule(key),
        "filter": f"std.{kind}." if kind else key,  # as the list's filter of rules takes it
        "share": f"{round(100 * share)}%" if judged else "",
        "colour": colour,
        "advice": advice,
        "order": (judged < LEAST, -share, -judged, line["code"], key),
    }


@require_GET
def undecided_view(request: HttpRequest) -> HttpResponse:
    """Open findings that say "could not be evaluated", by rule, site and reason, the most frequent first."""
    subject = Subject.objects.filter(
        project=OuterRef("project_id"), record_id=OuterRef("record_id")
    )
    rows = _rows(request).unclosed().filter(outcome__in=UNDECIDED).order_by("record_id")
    rows = rows.annotate(site=Subquery(subject.values("site")))
    found: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    names = ("project__code", "rule_key", "site", "reason", "record_id")
    for *place, record in rows.values_list(*names).iterator():
        found[tuple(one or "" for one in place)].append(record or "")
    lines: list[Line] = [
        {
            "code": code,
            "rule": _rule(key),
            "rule_key": key,
            "site": site,
            "reason": labels.name(labels.REASONS, reason) or _("Error"),
            "count": len(records),
            "subjects": [*dict.fromkeys(filter(None, records))][:_NAMED],
            "order": (-len(records), code, key, site, reason),
        }
        for (code, key, site, reason), records in found.items()
    ]
    columns = {
        "code": _("Project"),
        "rule": _("Rule"),
        "rule_key": _("rule key"),
        "site": _("Site"),
        "reason": _("Reason"),
        "count": _("Times"),
    }
    lines.sort(key=lambda row: row["order"])
    total, title = sum(row["count"] for row in lines), _("Why was this not evaluated?")
    return _answer(request, "undecided", title, lines, columns, total=total)


def _rows(request: HttpRequest) -> Any:
    """The reader's own, without what only the list's words need."""
    page = admin.site.get_model_admin(PendingAction)
    if not page.has_view_permission(request):
        raise PermissionDenied
    rows: QuerySet[PendingAction] = page.get_queryset(request).order_by()
    return PendingAction.objects.filter(pk__in=rows.values("pk")).order_by()


def _rule(key: str) -> str:
    name = rule_name(key)
    return f"{name} · {key.split('.', 2)[-1]}" if kind_of(key) else name


def _answer(
    request: HttpRequest,
    name: str,
    title: str,
    rows: Sequence[Line],
    columns: Mapping[str, str],
    **more: Any,
) -> HttpResponse:
    """The page, or its `columns` as a file; each study's trail says that they left."""
    if "csv" not in request.GET:
        template, shown = f"engines/findings/{name}.html", paged(request, rows)
        return render_page(request, template, title, PendingAction, rows=shown, **more)
    codes = [row["code"] for row in rows]
    with atomic():
        for project in Project.objects.filter(code__in=codes):
            told = {"model": f"findings.{name}", "rows": codes.count(project.code), "filter": {}}
            audit.record("rows.export", actor=request.user, project=project, new=told)
    lines = [[*columns.values()], *([str(row[key]) for key in columns] for row in rows)]
    file = f"findings_{name}_{localdate():%Y-%m-%d}.csv"
    return file_of("".join(spreadsheet.csv_lines(lines)), file, "text/csv; charset=utf-8")
