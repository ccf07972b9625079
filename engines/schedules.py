"""Skills on a schedule: when they are due next, what came of their firings, running one out of turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db.models import Max
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import cron, cron_words
from core.house.models import CronFiring
from engines import sop
from engines.models import TaskRun
from engines.sop.firing import job
from engines.sop.nodes.notify import SCHEDULED
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


def listed_schedules(user: User) -> list[Schedule]:
    """All schedules of the user's studies, with their last firing; few statements however many."""
    skills = Skill.objects.for_user(user).filter(trigger_type=Skill.Trigger.CRON)
    rows = [*skills.select_related("project").order_by("project__code", "name")]
    jobs = {job(skill): skill for skill in rows}
    newest = CronFiring.objects.filter(job__in=jobs).order_by().values_list("job")
    told = newest.annotate(Max("due_at"), Max("fired_at"))
    firings = [(jobs[name], due, at) for name, due, at in told]
    fired = _with_runs(user, firings)
    last = {skill.pk: one for (skill, *_when), one in zip(firings, fired, strict=True)}
    return [_schedule(skill, last.get(skill.pk)) for skill in rows]


def schedule_of(skill: Skill) -> Schedule:
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


def history(user: User, skill: Skill) -> list[Fired]:
    """The newest firings with what they started, and runs out of turn, newest first."""
    firings = CronFiring.objects.filter(job=job(skill)).order_by("-due_at")[:HISTORY]
    found = _with_runs(user, [(skill, one.due_at, one.fired_at) for one in firings])
    own = TaskRun.objects.filter(skill=skill, record_id=None, cause=None).order_by("-created_at")
    for run in own.for_user(user)[:HISTORY]:
        found.append(Fired(_local(skill, run.created_at), None, run))
    return sorted(found, key=lambda one: one.due, reverse=True)[:HISTORY]


def _local(skill: Skill, at: datetime) -> datetime:
    return at.astimezone(ZoneInfo(skill.project.timezone))


def run_now(*, skill: Skill, actor: object) -> TaskRun:
    """Start a scheduled skill out of turn; its next firing stays. Raises engines.sop.Inactive."""
    if not (skill.is_active and skill.project.status != Project.Status.CLOSED):
        raise sop.Inactive(_("The schedule is paused: let it go on first."))
    who = audit.actor_name(actor)
    return sop.start(project=skill.project, skill=skill, record_id=None, triggered_by=who)
