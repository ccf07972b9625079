"""The board's page and its calendar file, of one study of the reader's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.decorators import staff_member_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from pydantic import ValidationError

from engines.board import grid
from engines.board.chosen import VIEWS, Chosen
from engines.board.marks import LABELS, legend
from house import clock
from integrations.redcap import RedcapError
from projects import reads
from projects.access import member_in
from projects.models import Member, Project
from study.client import NotConfiguredError
from study.models import Subject
from study.visits import due, ics

PER_PAGE = 25
AHEAD = timedelta(days=5 * 366)


@dataclass
class Asked:
    """The study that the address names, else the reader's first one, and what was chosen of it."""

    projects: list[Project]
    project: Project
    member: Member | None
    chosen: Chosen

    @classmethod
    def of(cls, request: HttpRequest) -> Asked:
        """Raises Http404: for nobody's study as for one that is not theirs."""
        projects = [*Project.objects.for_user(request.user).order_by("code")]
        code = request.GET.get("project", "")
        project = next((one for one in projects if code in ("", one.code)), None)
        if project is None:
            raise Http404
        member = member_in(request.user, project.pk)
        today = clock.today(project.timezone)
        return cls(projects, project, member, Chosen.of(request.GET, project.code, today))


@require_GET
@staff_member_required
def board_view(request: HttpRequest) -> HttpResponse:
    """Subjects by visits, or a week or month of them."""
    asked = Asked.of(request)
    chosen = asked.chosen
    context: dict[str, Any] = admin.site.each_context(request) | {
        "title": _("Visit board"),
        "project": asked.project,
        "chosen": chosen,
        "query": chosen.query(),
        "projects": asked.projects,
        "views": [(name, _views()[name], chosen.query(view=name)) for name in VIEWS],
        "legend": legend(),
    }
    try:
        found = due.schedule(asked.project, asked.member)
    except (RedcapError, NotConfiguredError):
        context["problem"] = _("REDCap could not be read: visits are unknown.")
    except ValidationError:
        context["problem"] = _(
            "The visit plan cannot be followed: visits are unknown. "
            "Please have it corrected in the console."
        )
    else:
        context |= _filters(found, chosen)
        context |= _shown(request, asked, found)
    return render(request, "engines/board/board.html", context)


@require_GET
@staff_member_required
def calendar_view(request: HttpRequest) -> HttpResponse:
    """What is to be done, as a calendar file with the board's filters."""
    asked = Asked.of(request)
    try:
        found = due.schedule(asked.project, asked.member)
    except (RedcapError, NotConfiguredError, ValidationError) as error:
        raise Http404 from error
    visits = found.due(found.today, found.today + AHEAD, overdue=True)
    kept = [one for one in visits if asked.chosen.keeps(one)]
    _note(request, asked.project, [one.subject for one in kept])
    answer = HttpResponse(
        ics.calendar_file(asked.project, kept, now()), content_type=ics.CONTENT_TYPE
    )
    answer["Content-Disposition"] = 'attachment; filename="visits.ics"'
    return answer


def _views() -> dict[str, str]:
    return {"board": _("Board"), "week": _("Week"), "month": _("Month")}


def _filters(found: due.Schedule, chosen: Chosen) -> dict[str, Any]:
    """What can be chosen; sites are those of the reader's own subjects."""
    states = [
        ("planned", _("has a planned day")),
        *((one.value, label) for one, label in LABELS.items()),
    ]
    sites = sorted({site for site in found.sites.values() if site})
    return {
        "filters": [
            ("site", _("Site"), [(site, site) for site in sites], chosen.site),
            ("state", _("State"), states, chosen.state),
            ("visit", _("Visit"), [(name, name) for name in grid.visits_of(found)], chosen.visit),
        ],
        "read_at": found.read_on,
        "is_filtered": bool(chosen.site or chosen.state or chosen.visit),
    }


def _shown(request: HttpRequest, asked: Asked, found: due.Schedule) -> dict[str, Any]:
    chosen, columns = asked.chosen, grid.visits_of(found)
    keys = dict(Subject.objects.filter(project=asked.project).values_list("record_id", "pk"))
    if chosen.view == "board":
        names = [name for name in columns if chosen.visit in ("", name)]
        rows = grid.rows(found, chosen, names, keys)
        page = Paginator(rows, PER_PAGE).get_page(request.GET.get("p"))
        _note(request, asked.project, [row.subject for row in page])
        has_extra = bool(found.unscheduled)
        return {"columns": names, "rows": page, "has_unscheduled": has_extra}
    days, to_do = grid.days(found, chosen, keys), grid.to_do(found, chosen, keys)
    listed = Paginator(to_do, PER_PAGE).get_page(request.GET.get("p"))
    shown = [one.visit.subject for day in days for one in day.marks]
    shown += [one.visit.subject for one in listed]
    _note(request, asked.project, [*shown, *(o.subject for day in days for o in day.unscheduled)])
    return {
        "days": days,
        "rows": listed,
        "earlier": chosen.moved(-1).query(),
        "later": chosen.moved(1).query(),
        "now": chosen.query(day=found.today),
        "span": chosen.span,
    }


def _note(request: HttpRequest, project: Project, subjects: list[str]) -> None:
    reads.note(actor=request.user, project=project, record_ids=subjects, door="console")
