"""Risk by site of one study of the reader's, and the limits that its administrator sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from core.house.db import atomic
from engines.pages.layout import UNREADABLE, render_page, study_of, why_unreadable
from engines.site_figures import (
    AGE_DAYS,
    LAG_DAYS,
    NEVER_CHECKED,
    RESTS_ON_CHECKS,
    SiteFigures,
    site_figures,
)
from projects import audit, reads
from projects.access import has_role
from projects.models import Project, Role
from study import site_risk
from study.models import Subject
from study.site_risk import Assessment, Indicator, SiteRow, assess

_LABELS: dict[Indicator, tuple[Promise, Promise]] = {
    Indicator.ADVERSE: (
        gettext_lazy("Adverse events"),
        gettext_lazy(
            "Adverse events by days in the study, for 100 days. Few are suspicious, too: are they reported?"
        ),
    ),
    Indicator.MISSING: (
        gettext_lazy("Missing data"),
        gettext_lazy("Blank required fields of forms that were begun, in per cent."),
    ),
    Indicator.QUERY_AGE: (
        gettext_lazy("Old findings"),
        gettext_lazy("Findings that were or have been open for more than 14 days, in per cent."),
    ),
    Indicator.ENTRY_LAG: (
        gettext_lazy("Late entry"),
        gettext_lazy(
            "Visits entered more than 7 days after they took place, in per cent of those entered "
            "since this study is read here."
        ),
    ),
    Indicator.SCREEN_FAILURE: (
        gettext_lazy("Screen failures"),
        gettext_lazy("Subjects that failed screening, in per cent of those whose status is known."),
    ),
    Indicator.VISITS: (
        gettext_lazy("Visit deviations"),
        gettext_lazy("Visits early, late or missed, in per cent of those done or overdue."),
    ),
    Indicator.DEVIATIONS: (
        gettext_lazy("Protocol deviations"),
        gettext_lazy(
            "Deviations of the register that nobody rejected, by days in the study, for 100 days."
        ),
    ),
}
_UNKNOWN = gettext_lazy("Not known: the dictionary has no such field, or it is hidden from you.")
_FLAGS: dict[int, tuple[str, str, Promise]] = {
    2: ("▲▲", "danger", gettext_lazy("far above the others")),
    1: ("▲", "warning", gettext_lazy("above the others")),
    0: ("○", "", gettext_lazy("like the others")),
    -1: ("▼", "warning", gettext_lazy("below the others: are events reported?")),
    -2: ("▼▼", "danger", gettext_lazy("far below the others: are events reported?")),
}


@dataclass(frozen=True)
class Line:
    """A site's figures of an indicator as the page tells them."""

    name: str
    row: SiteRow | None
    rate: str
    score: str
    sign: str
    colour: str
    word: str
    outliers: tuple[tuple[str, int | None, str], ...] = ()
    """Subject, the key of its page, its figures."""
    is_unknown: bool = False


@dataclass(frozen=True)
class Table:
    """An indicator: what it is, its sites, all sites together, and its limit."""

    key: str
    label: str
    help: str
    told: Assessment | None
    lines: list[Line]
    rate: str
    note: str = ""
    """Why nothing is told, or what was left out."""


class LimitsForm(forms.Form):
    """A quality tolerance limit for each indicator; blank: none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for one in Indicator:
            most = None if one.is_by_exposure else 100
            self.fields[one.value] = forms.FloatField(
                label=str(_LABELS[one][0]), min_value=0, max_value=most, required=False
            )
            self.fields[one.value].widget.attrs["class"] = "iit-input"

    def limits(self) -> dict[str, float]:
        """Those that were given."""
        return {name: one for name, one in self.cleaned_data.items() if one is not None}


def set_limits(*, project: Project, limits: dict[str, float], actor: object) -> None:
    """Store the quality tolerance limits of a study, with what they were in the trail."""
    with atomic():
        before = Project.objects.get(pk=project.pk).quality_limits
        if before == limits:
            return
        Project.objects.filter(pk=project.pk).update(quality_limits=limits)
        audit.record(
            "project.limits", actor=actor, project=project, subject=project, old=before, new=limits
        )


@require_http_methods(["GET", "POST"])
@staff_member_required
def site_risk_view(request: HttpRequest) -> HttpResponse:
    """GET shows the figures, POST stores the limits."""
    projects, project, member = study_of(request)
    may_set = has_role(request.user, project.pk, Role.ADMIN)
    form = LimitsForm(request.POST or None, initial=project.quality_limits)
    if request.method == "POST":
        if not may_set:
            raise PermissionDenied
        if form.is_valid():
            set_limits(project=project, limits=form.limits(), actor=request.user)
            messages.success(request, _("The limits of the study are stored."))
            return redirect(f"{reverse('site_risk')}?{urlencode({'project': project.code})}")
    is_whole = member is None or not member.site
    shown: dict[str, Any] = {
        "project": project,
        "projects": projects,
        "is_whole": is_whole,
        "form": form if may_set else None,
        "legend": [(sign, colour, str(word)) for sign, colour, word in _FLAGS.values()],
        "thresholds": _thresholds(),
    }
    try:
        found = site_figures(project, member, request.user)
    except UNREADABLE as error:
        shown["problem"] = why_unreadable(error)
    else:
        subjects = Subject.objects.for_user(request.user).filter(project=project)
        keys = dict(subjects.values_list("record_id", "pk"))
        tables = tables_of(project, found, keys, is_whole=is_whole)
        named = {who for one in tables for line in one.lines for who, _pk, _told in line.outliers}
        reads.note(actor=request.user, project=project, record_ids=sorted(named), door="console")
        shown |= {
            "tables": tables,
            "breaches": [one for one in tables if one.told and one.told.is_breached],
            "sites": [*zip(*(one.lines for one in tables), strict=True)],
            "read_at": found.schedule.read_on,
        }
    return render_page(request, "engines/risk/page.html", _("Risk by site"), **shown)


def tables_of(
    project: Project, found: SiteFigures, keys: Mapping[str, int], *, is_whole: bool
) -> list[Table]:
    """All indicators, with the study's limits for who sees all sites; `keys`: of the pages of subjects."""
    limits = project.quality_limits if is_whole else {}
    return [_table(one, found, keys, limits.get(one.value), is_whole) for one in Indicator]


def _thresholds() -> dict[str, Any]:
    return {
        "amber": f"{site_risk.AMBER:g}",
        "red": f"{site_risk.RED:g}",
        "subjects": site_risk.LEAST_SUBJECTS,
        "days": site_risk.LEAST_DAYS,
        "sites": site_risk.LEAST_FOR_PHI,
        "outlying": f"{site_risk.OUTLYING:g}",
        "hits": site_risk.LEAST_HITS,
        "age": AGE_DAYS,
        "lag": LAG_DAYS,
    }


def _table(
    indicator: Indicator,
    found: SiteFigures,
    keys: Mapping[str, int],
    limit: float | None,
    is_whole: bool,
) -> Table:
    label, about = map(str, _LABELS[indicator])
    codes = sorted({*found.schedule.sites.values()})
    rests = indicator in RESTS_ON_CHECKS
    if indicator not in found.units:
        why = str(NEVER_CHECKED if rests else _UNKNOWN)
        lines = [_unknown(found.site_name(one), is_unchecked=rests) for one in codes]
        return Table(indicator, label, about, None, lines, "–", why)
    spans = found.exposure(indicator)
    told = assess(indicator, found.units[indicator], spans, today=found.today, limit=limit)
    rows = {row.site: row for row in told.rows}
    lines = [
        _unknown(found.site_name(one), is_unchecked=True)
        if rests and one not in found.checked
        else _line(found.site_name(one), rows.get(one), keys, is_whole)
        for one in codes
    ]
    note = _left_out(found) if indicator is Indicator.ENTRY_LAG else _without_exposure(told)
    return Table(indicator, label, about, told, lines, _rate(told.shown), note)


def _unknown(name: str, *, is_unchecked: bool) -> Line:
    word = _("never checked") if is_unchecked else _("not known")
    return Line(name, None, "–", "–", "", "", word, is_unknown=True)


def _left_out(found: SiteFigures) -> str:
    """Of how many visits it is not known when they were entered."""
    done = sum(one.actual is not None for one in found.schedule.visits)
    counted = len(found.units[Indicator.ENTRY_LAG])
    if done <= counted:
        return ""
    return _(
        "When a visit was entered is known only since this study is read here: "
        "%(left)d of %(done)d visits done were entered before and are not counted."
    ) % {"left": done - counted, "done": done}


def _without_exposure(told: Assessment) -> str:
    """How many events no day in the study stands beside."""
    if not told.left_out:
        return ""
    return ngettext(
        "%(count)d is not counted: outside the days in the study, or of a subject never enrolled.",
        "%(count)d are not counted: outside the days in the study, or of subjects never enrolled.",
        told.left_out,
    ) % {"count": told.left_out}


def _line(name: str, row: SiteRow | None, keys: Mapping[str, int], is_whole: bool) -> Line:
    if row is None or not row.of:
        return Line(name, row, "–", "–", "", "", _("nothing to count yet"))
    rate, score = _rate(row.shown), "–"
    if row.is_few:
        sign, colour, word = "…", "info", _("too few to say")
    elif row.score is None:
        sign, colour = "", ""
        word = _("no other site to compare with") if is_whole else _("not compared")
    else:
        score = f"{row.score:+.2f}"
        sign, colour, told = _FLAGS[row.flag]
        word = str(told)
    outliers = tuple((o.subject, keys.get(o.subject), f"{o.hits} / {o.of}") for o in row.outliers)
    return Line(name, row, rate, score, sign, colour, word, outliers)


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
