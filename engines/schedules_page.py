"""The console's pages of schedules: the list, and one with its next firings, its past ones and its switches."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from engines import schedules, sop
from engines.models import TaskRun
from projects.access import has_role
from projects.models import Role
from projects.scoping import memberships
from skills import services
from skills.models import Skill

LIST, PAGE = "admin:engines_schedules", "admin:engines_schedule"


@require_GET
def list_view(request: HttpRequest, page: ModelAdmin) -> HttpResponse:
    """The schedules of the reader's studies."""
    if not (request.user.is_superuser or memberships(request.user).exists()):
        raise Http404
    rows = [_row(one) for one in schedules.listed(request.user)]
    context = page.admin_site.each_context(request) | {
        "title": _("Schedules"),
        "opts": page.model._meta,
        "rows": rows,
    }
    return render(request, "engines/schedules.html", context)


@require_http_methods(["GET", "POST"])
def one_view(request: HttpRequest, page: ModelAdmin, pk: UUID) -> HttpResponse:
    """GET shows one schedule; POST runs it now (`run`), pauses it (`pause`) or lets it go on (`resume`)."""
    rows = Skill.objects.for_user(request.user).select_related("project")
    skill = rows.filter(pk=pk, trigger_type=Skill.Trigger.CRON).first()
    if skill is None:
        raise Http404
    may_switch = has_role(request.user, skill.project_id, Role.ADMIN)
    if request.method == "POST":
        if not may_switch:
            messages.error(request, _("Your role does not allow this."))
        else:
            _do(request, skill)
        return redirect(PAGE, skill.pk)
    past = [{"fired": one, **_state(one)} for one in schedules.history(request.user, skill)]
    context = page.admin_site.each_context(request) | {
        "title": skill.name,
        "opts": page.model._meta,
        "one": schedules.of(skill),
        "past": past,
        "may_switch": may_switch,
    }
    return render(request, "engines/schedule.html", context)


def _do(request: HttpRequest, skill: Skill) -> None:
    try:
        if "run" in request.POST:
            schedules.run_now(skill=skill, actor=request.user)
            messages.success(request, _("Started out of turn; the next firing stays as it is."))
        elif "pause" in request.POST:
            services.switch(skill=skill, is_active=False, actor=request.user)
            messages.success(request, _("The schedule is paused."))
        elif "resume" in request.POST:
            services.switch(skill=skill, is_active=True, actor=request.user)
            messages.success(
                request, _("The schedule goes on; what was due meanwhile is not made up for.")
            )
    except sop.Inactive as error:
        messages.error(request, str(error))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))


def _row(one: schedules.Schedule) -> dict[str, Any]:
    return {"one": one, "last": one.last, **(_state(one.last) if one.last else {})}


def _state(fired: schedules.Fired) -> dict[str, Any]:
    """What came of a firing, in words with a colour."""
    if fired.is_hidden:
        return {"label": _("started; its run is not for your role or site"), "colour": "info"}
    if fired.run is None:
        return {"label": _("nothing started"), "colour": ""}
    status = TaskRun.Status(fired.run.status)
    return {"label": status.label, "colour": TaskRun.COLOURS[status]}
