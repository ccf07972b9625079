"""The page of a study's planned audit-trail reviews: plan, sample, marks, and the signed end."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from engines import trail_reviews
from engines.pages.decisions import signature
from engines.pages.layout import render_page, study_of
from engines.trail_reviews import MARKS, NotPossible, Review
from projects import actors, audit
from projects.models import AuditEntry, Project, Role

PER_PAGE = 50
ROLES = (Role.AUDITOR, Role.ADMIN)


@require_http_methods(["GET", "POST"])
@staff_member_required
def trail_review_view(request: HttpRequest) -> HttpResponse:
    """GET shows the open review of a study, its plan and the closed ones; POST does one step (`do`).

    For administrators and auditors of all sites; the plan says whose role reviews.
    """
    projects, project, member = study_of(request)
    if member and (member.site or member.role not in ROLES):
        raise PermissionDenied
    plan = trail_reviews.plan_of(project)
    may_review = member is None or bool(plan and member.role == plan.role)
    may_plan = member is None or member.role == Role.ADMIN
    if request.method == "POST":
        if not (may_plan if request.POST.get("do") == "plan" else may_review):
            raise PermissionDenied
        try:
            _do(request, project)
        except NotPossible as error:
            messages.error(request, str(error))
        asked = {"project": project.code, "page": request.GET.get("page", "1")}
        return redirect(f"{reverse('trail_reviews')}?{urlencode(asked)}")
    found = trail_reviews.reviews(project)
    shown = _open(request, project, next((one for one in found if one.closed_at is None), None))
    return render_page(
        request,
        "engines/trail_review.html",
        _("Audit-trail reviews"),
        AuditEntry,
        projects=projects,
        project=project,
        plan=plan,
        roles=[(role.value, role.label) for role in ROLES],
        role=Role(plan.role).label if plan else "",
        due=trail_reviews.due_at(project),
        overdue=trail_reviews.is_overdue(project),
        may_review=may_review,
        may_plan=may_plan,
        closed=[(one, actors.describe_actor(one.closed_by)) for one in found if one.closed_at],
        **shown,
    )


def _open(request: HttpRequest, project: Project, review: Review | None) -> dict[str, Any]:
    """The open review with a page of its sample, each entry in words."""
    if review is None:
        return {"review": None}
    page = Paginator(review.sample, PER_PAGE).get_page(request.GET.get("page"))
    entries = trail_reviews.entries_of(project, [*page.object_list])
    labels, critical = audit.actions(), {*review.critical}
    rows = []
    for number in page.object_list:
        entry, mark = entries.get(number), review.marks.get(number)
        label = _(labels.get(entry.action, entry.action)) if entry else ""
        who = actors.describe_actor(entry.actor) if entry else ""
        rows.append((number, entry, label, who, number in critical, mark))
    return {"review": review, "page": page, "rows": rows}


def _do(request: HttpRequest, project: Project) -> None:
    """One step. Raises NotPossible."""
    said = request.POST
    actor: Any = request.user
    key = said.get("key", "")
    match said.get("do"):
        case "plan":
            given = {name: said.get(name, "") for name in ("days", "role", "share")}
            trail_reviews.set_plan(project=project, given=given, actor=actor)
            messages.success(request, _("The plan was saved."))
        case "draw":
            trail_reviews.draw(project=project, actor=actor)
            messages.success(request, _("A sample was drawn."))
        case verdict if verdict in MARKS:
            chosen = [
                int(one) for one in said.getlist("entry") if one.isdecimal() and len(one) < 16
            ]
            note = said.get("note", "")
            trail_reviews.mark(
                project=project, key=key, entries=chosen, verdict=verdict, note=note, actor=actor
            )
        case "close":
            if refusal := signature(request).refusal_of(actor):
                raise NotPossible(refusal)
            conclusion = said.get("conclusion", "")
            trail_reviews.close_review(project=project, key=key, conclusion=conclusion, actor=actor)
            messages.success(request, _("The review was closed and signed."))
        case _other:
            raise NotPossible(_("Nothing was done."))
