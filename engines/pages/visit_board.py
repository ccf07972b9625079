"""The visit board of one study of the reader's: subjects by visits, the week, the month, a calendar file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET

from core.house import clock
from engines.pages import safety
from engines.pages.layout import UNREADABLE, paged, render_page, study_of, why_unreadable
from projects import reads
from projects.models import Member, Project
from study.models import Subject
from study.visits import due
from study.visits.calendar import State, is_to_do
from study.visits.due import Schedule, SubjectVisit, Unscheduled

# Sign, colour and word, in the order of the legend: what asks for something first.
_STATES: dict[State, tuple[str, str, Any]] = {
    State.OVERDUE: ("!", "danger", gettext_lazy("overdue")),
    State.DUE: ("●", "info", gettext_lazy("can be done")),
    State.NOT_DUE: ("○", "", gettext_lazy("not yet open")),
    State.IN_WINDOW: ("✓", "success", gettext_lazy("done in the window")),
    State.EARLY: ("✓−", "warning", gettext_lazy("done early")),
    State.LATE: ("✓+", "warning", gettext_lazy("done late")),
    State.NOT_APPLICABLE: ("–", "", gettext_lazy("not applicable")),
    State.UNKNOWN: ("?", "", gettext_lazy("unknown")),
}
LABELS = {state: label for state, (_sign, _colour, label) in _STATES.items()}


PER_PAGE = 25
AHEAD = timedelta(days=5 * 366)
VIEWS = {
    "board": gettext_lazy("Board"),
    "week": gettext_lazy("Week"),
    "month": gettext_lazy("Month"),
}
_FIRST, _LAST = date(1900, 1, 1), date(2199, 12, 31)


@dataclass(frozen=True)
class Mark:
    """One visit as the board shows it; `text` is what is asked of it, or what became of it.

    `pk`: of the subject's page, None where it has none.
    """

    visit: SubjectVisit
    sign: str
    label: str
    colour: str
    text: str
    pk: int | None = None


def mark(visit: SubjectVisit, today: date, keys: Mapping[str, int] | None = None) -> Mark:
    """Sign, word, colour and days of a visit; one of who withdrew asks for nothing."""
    pk = (keys or {}).get(visit.subject)
    has_left = visit.left is not None and visit.left <= today
    if has_left and visit.state in (State.DUE, State.OVERDUE, State.NOT_DUE):
        told = _("withdrawn on %(day)s") % {"day": visit.left}
        sign, _colour, _label = _STATES[State.NOT_APPLICABLE]
        return Mark(visit, sign, _("withdrawn"), "", told, pk)
    sign, colour, label = _STATES[visit.state]
    return Mark(visit, sign, str(label), colour, _text(visit, today), pk)


def _text(visit: SubjectVisit, today: date) -> str:
    if visit.planned:
        return _("planned for %(day)s") % {"day": visit.planned}
    if visit.state is State.DUE and visit.close:
        left = (visit.close - today).days
        return ngettext("%(days)d day left", "%(days)d days left", left) % {"days": left}
    if visit.open is None:
        return _("no date to count from")
    texts = {
        State.OVERDUE: ngettext("%(days)d day overdue", "%(days)d days overdue", visit.days),
        State.NOT_DUE: ngettext("opens in %(days)d day", "opens in %(days)d days", visit.days),
        State.EARLY: ngettext("%(days)d day early", "%(days)d days early", visit.days),
        State.LATE: ngettext("%(days)d day late", "%(days)d days late", visit.days),
    }
    if visit.state in texts:
        return texts[visit.state] % {"days": visit.days}
    return str(visit.actual or "")


def legend() -> list[tuple[str, str, str]]:
    """(sign, colour, word) of each state."""
    return [(sign, colour, str(label)) for sign, colour, label in _STATES.values()]


@dataclass(frozen=True)
class Chosen:
    """Filters, view and the day it is about; what an address says wrongly chooses nothing."""

    today: date
    project: str = ""
    site: str = ""
    state: str = ""
    visit: str = ""
    view: str = "board"
    day: date = date.min

    @classmethod
    def of(cls, given: Mapping[str, str], project: str, today: date) -> Chosen:
        """From the query of an address, with the study that it chose."""
        try:
            day = date.fromisoformat(given.get("day", ""))
        except ValueError:
            day = today
        said = {name: given.get(name, "") for name in ("site", "state", "visit")}
        view = given.get("view", "")
        return cls(
            today=today,
            project=project,
            view=view if view in VIEWS else "board",
            day=day if _FIRST <= day <= _LAST else today,
            **said,
        )

    def keeps(self, one: SubjectVisit) -> bool:
        """Whether the filters leave a visit; a state that is none leaves nothing."""
        is_in = (
            one.planned is not None if self.state == "planned" else self.state == one.state.value
        )
        return (
            (not self.state or is_in)
            and self.site in ("", one.site)
            and self.visit in ("", one.visit)
        )

    @property
    def span(self) -> tuple[date, date]:
        """First and last day of the week or of the month's weeks."""
        first = last = self.day
        if self.view == "month":
            first = first.replace(day=1)
            last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        first -= timedelta(days=first.weekday())
        return first, last + timedelta(days=6 - last.weekday())

    def moved(self, step: int) -> Chosen:
        """The week or month before (-1) or after (1)."""
        if self.view != "month":
            return replace(self, day=self.day + timedelta(days=7 * step))
        first = self.day.replace(day=1)
        day = first - timedelta(days=1) if step < 0 else first + timedelta(days=31)
        return replace(self, day=day.replace(day=1))

    def query(self, **changed: Any) -> str:
        """The address's query with something chosen otherwise; what is usual is left out."""
        one = replace(self, **changed)
        given = {name: getattr(one, name) for name in ("project", "site", "state", "visit")}
        given["view"] = "" if one.view == "board" else one.view
        given["day"] = "" if one.day == one.today or one.view == "board" else one.day.isoformat()
        return f"?{urlencode({name: value for name, value in given.items() if value})}"


def _asked(request: HttpRequest) -> tuple[list[Project], Project, Member | None, Chosen]:
    """The reader's studies, the one that the address names, else the first, and what was chosen of it.

    Raises Http404: for nobody's study as for one that is not theirs.
    """
    projects, project, member = study_of(request)
    chosen = Chosen.of(request.GET, project.code, clock.today(project.timezone))
    return projects, project, member, chosen


@require_GET
@staff_member_required
def board_view(request: HttpRequest) -> HttpResponse:
    """Subjects by visits, or a week or month of them."""
    projects, project, member, chosen = _asked(request)
    shown: dict[str, Any] = {
        "project": project,
        "chosen": chosen,
        "query": chosen.query(),
        "projects": projects,
        "views": [(name, label, chosen.query(view=name)) for name, label in VIEWS.items()],
        "legend": legend(),
    }
    keys = dict(Subject.objects.filter(project=project).values_list("record_id", "pk"))
    shown["clocks"] = safety.shown(safety.clocks_of(project, member, request.user), keys)
    try:
        found = due.schedule(project, member)
    except UNREADABLE as error:
        shown["problem"] = why_unreadable(error)
    else:
        shown |= _filters(found, chosen)
        view = _table if chosen.view == "board" else _days
        more, subjects = view(request, found, chosen, keys)
        _note(request, project, subjects)
        shown |= more
    return render_page(request, "engines/board/board.html", _("Visit board"), **shown)


@require_GET
@staff_member_required
def calendar_view(request: HttpRequest) -> HttpResponse:
    """What is to be done, as a calendar file with the board's filters."""
    _projects, project, member, chosen = _asked(request)
    try:
        found = due.schedule(project, member)
    except UNREADABLE as error:
        raise Http404 from error
    visits = found.due(found.today, found.today + AHEAD, overdue=True)
    kept = [one for one in visits if chosen.keeps(one)]
    _note(request, project, [one.subject for one in kept])
    return HttpResponse(
        due.calendar_file(project, kept, now()),
        content_type=due.CONTENT_TYPE,
        headers={"Content-Disposition": 'attachment; filename="visits.ics"'},
    )


def _note(request: HttpRequest, project: Project, subjects: list[str]) -> None:
    reads.note(actor=request.user, project=project, record_ids=subjects, door="console")


def _visits_of(found: Schedule) -> list[str]:
    """Names of the visits, in the order of the plan."""
    return [*dict.fromkeys(one.visit for one in found.visits)]


def _filters(found: Schedule, chosen: Chosen) -> dict[str, Any]:
    """What can be chosen; sites are those of the reader's own subjects."""
    states = [
        ("planned", _("has a planned day")),
        *((one.value, label) for one, label in LABELS.items()),
    ]
    sites = sorted({site for site in found.sites.values() if site})
    visits = _visits_of(found)
    return {
        "filters": [
            ("site", _("Site"), [*zip(sites, sites, strict=True)], chosen.site),
            ("state", _("State"), states, chosen.state),
            ("visit", _("Visit"), [*zip(visits, visits, strict=True)], chosen.visit),
        ],
        "read_at": found.read_on,
        "is_filtered": bool(chosen.site or chosen.state or chosen.visit),
    }


def _table(
    request: HttpRequest, found: Schedule, chosen: Chosen, keys: Mapping[str, int]
) -> tuple[dict[str, Any], list[str]]:
    """The subjects of whom the filters leave something by visits, and who stands on the page."""
    columns = [name for name in _visits_of(found) if chosen.visit in ("", name)]
    by_subject: dict[str, dict[str, SubjectVisit]] = defaultdict(dict)
    for one in filter(chosen.keeps, found.visits):
        by_subject[one.subject][one.visit] = one
    extra: dict[str, list[date]] = defaultdict(list)
    for other in found.unscheduled:
        extra[other.subject].append(other.day)
    rows = [
        {
            "subject": subject,
            "pk": keys.get(subject),
            "site": found.sites.get(subject, ""),
            "cells": [mark(own[name], found.today) if name in own else None for name in columns],
            "unscheduled": sorted(extra[subject]),
        }
        for subject, own in sorted(by_subject.items())
    ]
    page = paged(request, rows, PER_PAGE)
    shown = {"columns": columns, "rows": page, "has_unscheduled": bool(found.unscheduled)}
    return shown, [str(row["subject"]) for row in page]


def _days(
    request: HttpRequest, found: Schedule, chosen: Chosen, keys: Mapping[str, int]
) -> tuple[dict[str, Any], list[str]]:
    """The days of the week or month and what is to be done in it, and who stands on the page.

    What is overdue is to be done where today lies in it.
    """
    today, (first, last) = found.today, chosen.span
    marks: dict[date, list[Mark]] = defaultdict(list)
    for one in filter(chosen.keeps, found.visits):
        if one.day and (is_to_do(one, today) or one.actual):
            marks[one.day].append(mark(one, today, keys))
    extra: dict[date, list[Unscheduled]] = defaultdict(list)
    for other in found.unscheduled:
        if chosen.site in ("", other.site) and not chosen.state and not chosen.visit:
            extra[other.day].append(other)
    spread = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    days = [
        {
            "day": day,
            "is_today": day == today,
            "is_outside": chosen.view == "month" and day.month != chosen.day.month,
            "marks": marks[day],
            "unscheduled": extra[day],
        }
        for day in spread
    ]
    to_do = filter(chosen.keeps, found.due(first, last, overdue=first <= today <= last))
    listed = paged(request, [mark(one, today, keys) for one in to_do], PER_PAGE)
    shown = {
        "days": days,
        "rows": listed,
        "earlier": chosen.moved(-1).query(),
        "later": chosen.moved(1).query(),
        "now": chosen.query(day=today),
        "span": chosen.span,
    }
    seen: Iterable[Mark] = (one for day in spread for one in marks[day])
    return shown, [
        *(one.visit.subject for one in (*seen, *listed)),
        *(other.subject for day in spread for other in extra[day]),
    ]
