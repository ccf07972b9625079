"""Charts of one study of the reader's: enrolment with a forecast, visits, findings by week, events by grade."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from engines.pages.layout import UNREADABLE, render_page, study_of, why_unreadable
from engines.pages.plots import Form, Plot, Series, plot
from engines.pages.visit_board import LABELS
from engines.site_figures import NEVER_CHECKED, SiteFigures, site_figures
from study.enrolment_forecast import LEAST_DAYS, Forecast, at_month_ends, forecast
from study.visits.calendar import State

WEEKS, SITES = 12, 6
_VISITS = (State.IN_WINDOW, State.EARLY, State.LATE, State.OVERDUE)


@dataclass(frozen=True)
class Part:
    """One subject matter with its charts; `empty` is said where there is none."""

    key: str
    title: str
    plots: list[Plot]
    empty: str
    note: str = ""


@require_GET
@staff_member_required
def pictures_view(request: HttpRequest) -> HttpResponse:
    """The charts, of all the reader's sites or of the one that the address names."""
    projects, project, member = study_of(request)
    shown: dict[str, Any] = {"project": project, "projects": projects}
    try:
        found = site_figures(project, member, request.user)
    except UNREADABLE as error:
        shown["problem"] = why_unreadable(error)
    else:
        codes = sorted({*found.schedule.sites.values()})
        site = request.GET.get("site", "")
        is_whole = (member is None or not member.site) and not site
        part = _of_site(found, site) if site else found
        shown |= {
            "sites_offered": [(one, found.site_name(one)) for one in codes],
            "site": site,
            "read_at": found.schedule.read_on,
            "parts": [
                enrolment(part, project.start_date, project.target_enrolment if is_whole else 0),
                _visits(part),
                findings(part),
                _safety(part),
            ],
        }
    return render_page(request, "engines/pictures/page.html", _("Charts"), **shown)


def _of_site(found: SiteFigures, site: str) -> SiteFigures:
    """The part of a site of the reader's; nothing for one that is not theirs."""
    sites = {who: one for who, one in found.schedule.sites.items() if one == site}
    schedule = replace(
        found.schedule,
        sites=sites,
        visits=tuple(one for one in found.schedule.visits if one.subject in sites),
    )
    return replace(
        found,
        schedule=schedule,
        enrolled={who: day for who, day in found.enrolled.items() if who in sites},
        events=None
        if found.events is None
        else [one for one in found.events if one.subject in sites],
        findings=[one for one in found.findings if one.subject in sites],
        checked=found.checked & {site},
    )


def enrolment(found: SiteFigures, start: date, target: int) -> Part:
    """Enrolled month by month with the forecast, and by site; `target` 0: none that is the reader's."""
    days = [day for day in found.enrolled.values() if day <= found.today]
    ahead = forecast(days, today=found.today, target=target)
    first = min([start, *days]) if days else start
    ends = at_month_ends(first, ahead.ends[-1] if ahead.ends else found.today, found.today)
    past = [end for end in ends if end <= found.today]
    # The forecast begins where the curve ends.
    blank: list[float | None] = [None] * (len(past) - 1)
    told: list[float | None] = [float(sum(day <= end for day in days)) for end in past]
    rest: list[float | None] = [None] * len(ahead.ends)
    series = [Series(_("Enrolled"), told + rest)]
    if ahead.ends:
        series += [
            Series(_("Forecast"), [*blank, told[-1], *ahead.likely], Form.DASHED),
            Series(_("Forecast, low"), [*blank, told[-1], *ahead.low], Form.EDGE),
            Series(_("Forecast, high"), [*blank, told[-1], *ahead.high], Form.EDGE),
        ]
    if target:
        series.append(Series(_("Target"), [float(target)] * len(ends), Form.GOAL))
    names = [f"{end:%Y-%m}" if end != found.today else end.isoformat() for end in ends]
    plots = (
        [plot("enrolment", _("Enrolled in total"), _("By the end of"), names, series)]
        if days
        else []
    )
    by_site = _by_site(found, past)
    if len(by_site) > 1:
        names = names[: len(past)]
        plots.append(
            plot("enrolment_sites", _("Enrolled by site"), _("By the end of"), names, by_site)
        )
    return Part(
        "enrolment",
        _("Enrolment"),
        [one for one in plots if one],
        _("Nobody is enrolled yet, or the enrolment date is not known."),
        _words(ahead, target),
    )


def _by_site(found: SiteFigures, ends: list[date]) -> list[Series]:
    """The curves of the sites with most subjects."""
    by_site: dict[str, list[date]] = {}
    for who, day in found.enrolled.items():
        by_site.setdefault(found.schedule.sites.get(who, ""), []).append(day)
    most = sorted(by_site, key=lambda one: (-len(by_site[one]), one))[:SITES]
    return [
        Series(
            found.site_name(one), [float(sum(day <= end for day in by_site[one])) for end in ends]
        )
        for one in sorted(most)
    ]


def _words(ahead: Forecast, target: int) -> str:
    """What the forecast rests on and when the target is reached."""
    if not ahead.recent:
        return _("Nobody was enrolled in the last %(days)d days: nothing is forecast.") % {
            "days": ahead.over
        }
    if ahead.is_too_early:
        return _(
            "Less than %(days)d days since the first enrolment: too early to say how it goes on."
        ) % {"days": LEAST_DAYS}
    if not ahead.ends:
        return _("The target of %(target)d is reached: nothing is forecast.") % {"target": target}
    told = _(
        "The forecast carries on the %(count)d enrolled in the last %(days)d days; "
        "its range holds what chance alone allows in 95 of 100 cases."
    ) % {"count": ahead.recent, "days": ahead.over}
    if not target:
        return told
    months = {
        name: f"{day:%Y-%m}" if day else _("not in five years")
        for name, day in (("early", ahead.early), ("likely", ahead.reached), ("late", ahead.late))
    }
    return told + _(
        " The target of %(target)d is reached in %(likely)s "
        "(%(early)s at the earliest, %(late)s at the latest)."
    ) % {"target": target, **months}


def _visits(found: SiteFigures) -> Part:
    counts: dict[str, Counter[State]] = {}
    for one in found.schedule.visits:
        has_left = one.left is not None and one.close is not None and one.left <= one.close
        if one.state in _VISITS and not (one.state is State.OVERDUE and has_left):
            counts.setdefault(one.visit, Counter())[one.state] += 1
    order = [
        name for name in dict.fromkeys(v.visit for v in found.schedule.visits) if name in counts
    ]
    series = [
        Series(str(LABELS[state]), [float(counts[name][state]) for name in order], Form.BAR)
        for state in _VISITS
    ]
    drawn = plot("visits", _("Visits by state"), _("Visit"), order, series)
    return Part(
        "visits",
        _("Visit compliance"),
        [drawn] if drawn else [],
        _("No visit was done or is overdue yet."),
        "" if drawn is None else _compliance(counts),
    )


def _compliance(counts: Mapping[str, Counter[State]]) -> str:
    done = sum(one[State.IN_WINDOW] for one in counts.values())
    whole = sum(one.total() for one in counts.values())
    return _("In the window: %(done)d of %(whole)d (%(share)d%%).") % {
        "done": done,
        "whole": whole,
        "share": round(100 * done / whole),
    }


def findings(found: SiteFigures) -> Part:
    """Findings opened and closed by week, and how old the open ones were."""
    monday = found.today - timedelta(days=found.today.weekday())
    weeks = [monday - timedelta(days=7 * n) for n in range(WEEKS - 1, -1, -1)]
    names = [f"{one:%m-%d}" for one in weeks]
    series = [
        Series(_("Opened"), _per_week(weeks, (one.opened for one in found.findings))),
        Series(_("Closed"), _per_week(weeks, (o.closed for o in found.findings if o.closed))),
    ]
    median = Series(_("Median age in days"), [_median_age(found, one) for one in weeks])
    plots = [
        plot("findings", _("Findings by week"), _("Week from"), names, series),
        plot("findings_age", _("Median age of open findings"), _("Week from"), names, [median]),
    ]
    return Part(
        "findings",
        _("Findings"),
        [one for one in plots if one] if found.findings else [],
        _("No finding was opened yet.") if found.checked else str(NEVER_CHECKED),
        _("The age is that of the findings open at the end of the week.") if found.findings else "",
    )


def _per_week(weeks: list[date], days: Iterable[date]) -> list[float | None]:
    counts = Counter(day - timedelta(days=day.weekday()) for day in days)
    return [float(counts[week]) for week in weeks]


def _median_age(found: SiteFigures, week: date) -> float | None:
    end = min(week + timedelta(days=6), found.today)
    ages = [
        (end - one.opened).days
        for one in found.findings
        if one.opened <= end and (one.closed is None or one.closed > end)
    ]
    return float(statistics.median(ages)) if ages else None


def _safety(found: SiteFigures) -> Part:
    plots: list[Plot | None] = []
    if found.events:
        grades = [*found.grades]
        others = {one.grade for one in found.events} - {*grades}
        keys = [*grades, *sorted(others)]
        names = [found.grades.get(one, one) or _("without a grade") for one in keys]
        counts = Counter((one.is_serious, one.grade) for one in found.events)
        told = {is_serious for is_serious, _grade in counts}
        names_of = {
            False: _("Not serious"),
            True: _("Serious"),
            None: _("Not known whether serious"),
        }
        if told == {None}:
            names_of = {None: _("Adverse events")}
        elif None not in told:
            del names_of[None]
        series = [
            Series(name, [float(counts[which, one]) for one in keys], Form.BAR)
            for which, name in names_of.items()
        ]
        plots = [plot("safety", _("Adverse events by grade"), _("Grade"), names, series)]
    known = found.events is not None
    return Part(
        "safety",
        _("Safety"),
        [one for one in plots if one],
        _("No adverse event is known.")
        if known
        else _("Not known: the dictionary has no such field, or it is hidden from you."),
    )
