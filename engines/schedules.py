"""Skills on a schedule: when they are due next, what came of their firings, running one out of turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db.models import Max
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines import sop
from engines.models import TaskRun
from engines.sop.firing import job
from engines.sop.notify import SCHEDULED
from house import cron, cron_words
from house.models import CronFiring
from projects import audit
from projects.models import Project
from projects.scoping import User
from skills.models import Skill

NEXT = 5
HISTORY = 50


@dataclass(frozen=True)
class Fired:
    """One firing, or a run out of turn (`fired_at` None).

    `run` None where nothing was started for it, or what was is not for this reader (`is_hidden`).
    """

    due: datetime
    fired_at: datetime | None
    run: TaskRun | None
    is_hidden: bool = False


@dataclass(frozen=True)
class Schedule:
    """A skill with its schedule in words; `coming` and `last` in the study's zone."""

    skill: Skill
    words: str
    coming: tuple[datetime, ...]
    last: Fired | None = None

    @property
    def goes(self) -> bool:
        """Whether it will fire."""
        return self.skill.is_active and self.skill.project.status != Project.Status.CLOSED


def listed(user: User) -> list[Schedule]:
    """All schedules of the user's studies, with their last firing; three statements however many."""
    skills = Skill.objects.for_user(user).filter(trigger_type=Skill.Trigger.CRON)
    rows = [*skills.select_related("project").order_by("project__code", "name")]
    last = _last(user, rows)
    return [_schedule(skill, last.get(skill.pk)) for skill in rows]


def of(skill: Skill) -> Schedule:
    """One schedule with the firings to come."""
    return _schedule(skill, None, NEXT)


def _schedule(skill: Skill, last: Fired | None, most: int = 1) -> Schedule:
    expression, zone = skill.cron_schedule or "", skill.project.timezone
    try:
        words = cron_words.in_words(expression)
        coming = cron.next_dues(expression, zone=zone, after=now(), most=most)
    except ValidationError:
        return Schedule(skill, expression, (), last)
    return Schedule(skill, words, tuple(coming), last)


def _last(user: User, skills: Sequence[Skill]) -> dict[UUID, Fired]:
    jobs = {job(skill): skill for skill in skills}
    fired = CronFiring.objects.filter(job__in=jobs).order_by().values_list("job")
    found: dict[UUID, tuple[datetime, datetime]] = {}
    for name, due, at in fired.annotate(Max("due_at"), Max("fired_at")):
        found[jobs[name].pk] = (due, at)
    by_pk = {skill.pk: skill for skill in skills}
    causes = {pk: _cause(by_pk[pk], due) for pk, (due, _at) in found.items()}
    runs = TaskRun.objects.filter(skill__in=causes, cause__in=causes.values())
    there = {*runs.values_list("skill_id", "cause")}
    started = {(run.skill_id, run.cause or ""): run for run in runs.for_user(user)}
    return {
        pk: _fired(by_pk[pk], due, at, started.get((pk, causes[pk])), (pk, causes[pk]) in there)
        for pk, (due, at) in found.items()
    }


def _fired(skill: Skill, due: datetime, at: datetime, run: TaskRun | None, there: bool) -> Fired:
    return Fired(_local(skill, due), at, run, is_hidden=there and run is None)


def history(user: User, skill: Skill) -> list[Fired]:
    """The newest firings with what they started, and runs out of turn, newest first."""
    firings = [*CronFiring.objects.filter(job=job(skill)).order_by("-due_at")[:HISTORY]]
    of_skill = TaskRun.objects.filter(skill=skill, record_id=None).order_by("-created_at")
    there = {*of_skill.values_list("cause", flat=True)[: 2 * HISTORY]}
    runs = [*of_skill.for_user(user)[: 2 * HISTORY]]
    started = {run.cause: run for run in runs if run.cause}
    causes = ((one, _cause(skill, one.due_at)) for one in firings)
    found = [
        _fired(skill, one.due_at, one.fired_at, started.get(cause), cause in there)
        for one, cause in causes
    ]
    found += [Fired(_local(skill, run.created_at), None, run) for run in runs if not run.cause]
    return sorted(found, key=lambda one: one.due, reverse=True)[:HISTORY]


def _local(skill: Skill, at: datetime) -> datetime:
    return at.astimezone(ZoneInfo(skill.project.timezone))


def _cause(skill: Skill, due: datetime) -> str:
    return f"{SCHEDULED}{_local(skill, due).isoformat()}"


def run_now(*, skill: Skill, actor: object) -> TaskRun:
    """Start a scheduled skill out of turn; its next firing stays. Raises engines.sop.Inactive."""
    if not (skill.is_active and skill.project.status != Project.Status.CLOSED):
        raise sop.Inactive(_("The schedule is paused: let it go on first."))
    who = audit.actor_name(actor)
    return sop.start(project=skill.project, skill=skill, record_id=None, triggered_by=who)
