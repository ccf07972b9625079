"""The console's pages of schedules: the list, and one with its next firings, its past ones and its switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from core.house import cron, cron_words
from core.house.models import CronFiring
from engines import sop
from engines.models import TaskRun
from engines.pages.layout import render_page
from engines.sop.events import job
from engines.sop.nodes.notify import SCHEDULED
from projects import audit
from projects.access import has_role
from projects.models import Project, Role
from projects.scoping import User, memberships
from skills import services
from skills.models import Skill

NEXT, HISTORY = 5, 50


@dataclass(frozen=True)
class Fired:
    """One firing, or a run out of turn (`fired_at` None).

    `run` None where nothing was started for it, or what was is not for this reader (`is_hidden`).
    """

    due: datetime
    fired_at: datetime | None
    run: TaskRun | None
    is_hidden: bool = False

    @property
    def label(self) -> str:
        """What came of it."""
        if self.run:
            return str(TaskRun.Status(self.run.status).label)
        if self.is_hidden:
            return _("started; its run is not for your role or site")
        return _("nothing started")

    @property
    def colour(self) -> str:
        """Of the tag that tells it."""
        hidden = "info" if self.is_hidden else ""
        return TaskRun.COLOURS[TaskRun.Status(self.run.status)] if self.run else hidden


@require_GET
def list_view(request: HttpRequest) -> HttpResponse:
    """All schedules of the reader's studies, with their last firing; few statements however many."""
    user = request.user
    if not (user.is_superuser or memberships(user).exists()):
        raise Http404
    skills = Skill.objects.for_user(user).filter(trigger_type=Skill.Trigger.CRON)
    found = [*skills.select_related("project").order_by("project__code", "name")]
    jobs = {job(skill): skill for skill in found}
    newest = CronFiring.objects.filter(job__in=jobs).order_by().values_list("job")
    told = newest.annotate(Max("due_at"), Max("fired_at"))
    firings = [(jobs[name], due, at) for name, due, at in told]
    pairs = zip(firings, _with_runs(user, firings), strict=True)
    last = {skill.pk: fired for (skill, _due, _at), fired in pairs}
    rows = [_schedule(skill) | {"last": last.get(skill.pk)} for skill in found]
    return render_page(request, "engines/schedules.html", _("Schedules"), TaskRun, rows=rows)


@require_http_methods(["GET", "POST"])
def one_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """GET shows one schedule; POST runs it now (`run`), pauses it (`pause`) or lets it go on (`resume`)."""
    rows = Skill.objects.for_user(request.user).select_related("project")
    skill = get_object_or_404(rows, pk=pk, trigger_type=Skill.Trigger.CRON)
    may_switch = has_role(request.user, skill.project_id, Role.ADMIN)
    if request.method == "POST":
        if not may_switch:
            raise PermissionDenied
        _do(request, skill)
        return redirect("admin:engines_schedule", skill.pk)
    past = _history(request.user, skill)
    shown = {"one": _schedule(skill, NEXT), "past": past, "may_switch": may_switch}
    return render_page(request, "engines/schedule.html", skill.name, TaskRun, **shown)


def _do(request: HttpRequest, skill: Skill) -> None:
    told = {
        "run": _("Started out of turn; the next firing stays as it is."),
        "pause": _("The schedule is paused."),
        "resume": _("The schedule goes on; what was due meanwhile is not made up for."),
    }
    act = next((name for name in told if name in request.POST), None)
    if act is None:
        return
    try:
        if act == "run":
            if not _goes(skill):
                raise sop.Inactive(_("The schedule is paused: let it go on first."))
            who = audit.actor_name(request.user)
            sop.start(project=skill.project, skill=skill, record_id=None, triggered_by=who)
        else:
            services.switch(skill=skill, is_active=act == "resume", actor=request.user)
    except sop.Inactive as error:
        messages.error(request, str(error))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, told[act])


def _goes(skill: Skill) -> bool:
    return skill.is_active and skill.project.status != Project.Status.CLOSED


def _schedule(skill: Skill, most: int = 1) -> dict[str, Any]:
    """A skill with its schedule in words, whether it will fire, and when next, in the study's zone."""
    expression, zone = skill.cron_schedule or "", skill.project.timezone
    try:
        words = cron_words.in_words(expression)
        coming = cron.next_dues(expression, zone=zone, after=now(), most=most)
    except ValidationError:
        words, coming = expression, []
    return {"skill": skill, "words": words, "coming": coming, "goes": _goes(skill)}


def _with_runs(user: User, firings: Sequence[tuple[Skill, datetime, datetime]]) -> list[Fired]:
    """(skill, due, fired at) with what each started, as far as the user sees it."""
    keys = [
        (skill.pk, f"{SCHEDULED}{_local(skill, due).isoformat()}") for skill, due, _at in firings
    ]
    runs = TaskRun.objects.filter(
        skill__in={pk for pk, _cause in keys}, cause__in={cause for _pk, cause in keys}
    )
    there = {*runs.values_list("skill_id", "cause")}
    seen = {(run.skill_id, run.cause): run for run in runs.for_user(user)}
    return [
        Fired(_local(skill, due), at, seen.get(key), is_hidden=key in there and key not in seen)
        for (skill, due, at), key in zip(firings, keys, strict=True)
    ]


def _history(user: User, skill: Skill) -> list[Fired]:
    """The newest firings with what they started, and runs out of turn, newest first."""
    firings = CronFiring.objects.filter(job=job(skill)).order_by("-due_at")[:HISTORY]
    found = _with_runs(user, [(skill, one.due_at, one.fired_at) for one in firings])
    own = TaskRun.objects.filter(skill=skill, record_id=None, cause=None).order_by("-created_at")
    found += [Fired(_local(skill, r.created_at), None, r) for r in own.for_user(user)[:HISTORY]]
    return sorted(found, key=lambda one: one.due, reverse=True)[:HISTORY]


def _local(skill: Skill, at: datetime) -> datetime:
    return at.astimezone(ZoneInfo(skill.project.timezone))
