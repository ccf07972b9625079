"""Starting, cancelling and firing runs."""

from __future__ import annotations

from typing import Any, TypedDict

from django.db import IntegrityError
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.models import Review, TaskRun
from engines.models.runs import Batch
from engines.signals import review_decided
from engines.sop import snapshot
from engines.sop.chain import announce
from engines.sop.errors import Inactive, NotEnded, NotSuspended
from engines.sop.waking import wake as wake_run
from projects import audit, cron
from projects.db import atomic
from projects.models import Project
from projects.records import RecordData
from skills.models import Skill

Status = TaskRun.Status
OPEN = (Status.RUNNING, Status.SUSPENDED)


def start(
    *,
    project: Project,
    skill: Skill,
    record_id: str | None,
    triggered_by: str,
    cause: str | None = None,
    data: RecordData | None = None,
    rerun_of: TaskRun | None = None,
    batch: Batch | None = None,
    wake: bool = True,
) -> TaskRun:
    """Create a run with the skill as it is now; a worker goes on with it.

    `cause` makes it unique per skill: the second caller gets the run of the first. `data` saves a reading
    that was just made. `rerun_of` and `batch` say where the run comes from. `wake=False` is for callers that
    drive the run themselves.
    """
    run = TaskRun(
        project=project,
        skill=skill,
        record_id=record_id,
        triggered_by=triggered_by,
        cause=cause,
        rerun_of=rerun_of,
        batch=batch,
        skill_version=skill.version,
        config=skill.config,
        current_node=skill.config["start_node"],
        trace=[],
    )
    if data is not None:
        snapshot.keep(run, data)
    try:
        with atomic():
            run.save(force_insert=True)
            audit.record(
                "run.start",
                actor=triggered_by,
                project=project,
                subject=run,
                record_id=record_id or "",
                new=_origin(run) | {"skill": skill.skill_type, "version": skill.version},
            )
            if wake:
                wake_run(run)
    except IntegrityError:
        existing = TaskRun.objects.filter(skill=skill, cause=cause).first() if cause else None
        if existing is None:
            raise
        return existing
    return run


def _origin(run: TaskRun) -> dict[str, str]:
    links = {"rerun_of": run.rerun_of_id, "batch": run.batch_id}
    return {name: str(key) for name, key in links.items() if key}


def rerun(run: TaskRun, actor: object, data: RecordData | None = None) -> TaskRun:
    """Start an ended run anew: the skill's current version, the subject as it is now.

    Pressed twice it is one run: while a repetition goes on, it is returned instead of a second one.
    `data` saves a reading that was just made. Raises NotEnded, Inactive.
    """
    if TaskRun.objects.filter(pk=run.pk, status__in=OPEN).exists():
        raise NotEnded(_("The run has not ended yet."))
    skill = Skill.objects.select_related("project").get(pk=run.skill_id)
    if not skill.is_active:
        raise Inactive(_("The workflow is switched off."))
    done = run.reruns.exclude(status__in=OPEN).count()
    return start(
        project=skill.project,
        skill=skill,
        record_id=run.record_id,
        triggered_by=audit.actor_name(actor),
        cause=f"rerun:{run.pk}:{done}",
        data=data,
        rerun_of=run,
    )


def cancel(*, run: TaskRun, actor: object, reason: str) -> TaskRun:
    """End a running or suspended run. Raises NotSuspended when it ended already."""
    with atomic():
        ended = TaskRun.objects.filter(pk=run.pk, status__in=OPEN).update(
            status=Status.CANCELLED,
            final_state="cancelled",
            completed_at=now(),
            lease_until=None,
            message=reason,
        )
        if not ended:
            raise NotSuspended(_("The run has already ended."))
        run.refresh_from_db()
        for review in run.reviews.filter(status=Review.Status.OPEN):
            Review.objects.filter(pk=review.pk).update(status=Review.Status.WITHDRAWN)
            review_decided.send(sender=TaskRun, run=run, review=review)
        audit.record(
            "run.cancel",
            actor=actor,
            project=run.project,
            subject=run,
            record_id=run.record_id or "",
            reason=reason,
        )
        announce(run)
    return run


def fire(skill: Skill) -> TaskRun | None:
    """Start a cron skill for its last due time, once (decisions.md, "cron skills")."""
    if not (skill.is_active and skill.trigger_type == Skill.Trigger.CRON and skill.cron_schedule):
        return None
    due_at = cron.last_due(skill.cron_schedule, zone=skill.project.timezone, at=now())
    if due_at is None:
        return None
    with atomic():
        if not cron.claim(f"skill:{skill.pk}", due_at):
            return None
        return start(
            project=skill.project,
            skill=skill,
            record_id=None,
            triggered_by="system_scheduler",
            cause=f"cron:{due_at.isoformat()}",
        )


class SopResult(TypedDict):
    """What came of a run so far (seed 001, 4.2; decisions.md, "SopResult")."""

    status: str
    final_state: str
    trace: list[dict[str, Any]]
    task_run_id: str
    message: str


def result_of(run: TaskRun) -> SopResult:
    """The run in the form of the seed; while it is suspended or running `final_state` is its node."""
    return {
        "status": run.status,
        "final_state": run.final_state or run.current_node or "",
        "trace": run.trace or [],
        "task_run_id": str(run.pk),
        "message": run.message,
    }
