"""One order for many subjects, worked off a few at a time (issue B, "batch start").

The runs of a batch are its progress: `advance` counts them and starts what may be started. It is safe to call
at any time and by several at once. Whoever reads the same state starts the same runs, and a run exists once a
record; who reads an older state wants no more than who reads a newer one. So the cap holds without a lock;
only a person's decision, which sets a suspended run going again, may pass it for a while.

A batch has ended when nothing is left to start and nothing runs: what waits for a person then is the
reviewers' matter. The end is noticed after the commit of the last run's end, never in it: two runs that end
in the same instant do not see each other. Who ordered the batch is told then, once, instead of once a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.request_cache import once
from engines.models import Batch, TaskRun
from engines.sop import run_events
from engines.sop.errors import Inactive, NotSuspended, SopError
from engines.sop.journal import audited
from engines.sop.runs import DECIDERS, cancel_running, id_in, start
from projects import audit
from projects.access import has_role, sees_all_sites
from projects.models import Project
from projects.scoping import BlindingRule, User, held, hidden_from
from skills.models import Skill
from study.blinding.mask import names_blinded
from study.models import Subject

Status = TaskRun.Status
TELLING = BlindingRule(made="created_at", marked="unblinds")
CAP = 4
MAX_CAP = 32


class NothingToDo(SopError):
    """The order names no subject."""


def start_batch(
    *,
    project: Project,
    skill: Skill,
    record_ids: Iterable[str],
    actor: object,
    cap: int = CAP,
    key: UUID | None = None,
) -> Batch:
    """Order `skill` for subjects, at most `cap` (1 to MAX_CAP) running at once; the first start now.

    Subjects named twice count once. `key` is the order's own: given a second time, nothing more is ordered.
    Raises NothingToDo, Inactive, ValueError for another cap.
    """
    if not 1 <= cap <= MAX_CAP:
        raise ValueError("cap")
    wanted = [*dict.fromkeys(record_ids)]
    batch = Batch.objects.filter(pk=key, project=project).first() if key else None
    if batch is None:
        if not wanted:
            raise NothingToDo(_("There are no subjects to check."))
        if not skill.is_active:
            raise Inactive(_("The workflow is switched off."))
        batch = Batch(
            id=key or uuid4(),
            project=project,
            skill=skill,
            record_ids=wanted,
            cap=cap,
            created_by=audit.actor_name(actor),
            unblinds=names_blinded(project, skill.config),
        )
        with atomic():
            batch.save()
            told = {"skill": skill.skill_type, "subjects": len(wanted), "cap": cap}
            audited("run.start", batch, actor=batch.created_by, new=told)
    advance(batch.pk)
    return batch


def start_together(*, record_ids: Iterable[str], **order: Any) -> list[TaskRun]:
    """As `start_batch`, for as many subjects as MAX_CAP all at once, for more of them a few at a time.

    For an order whose answer names its runs: those that have to wait are not stored yet. Raises NothingToDo,
    Inactive.
    """
    wanted = [*dict.fromkeys(record_ids)]
    cap = len(wanted) if 1 <= len(wanted) <= MAX_CAP else CAP
    with atomic():
        batch = start_batch(record_ids=wanted, cap=cap, **order)
        made = {run.record_id: run for run in batch.runs.select_related("skill")}
    return [made.get(record_id) or _waiting(batch, record_id) for record_id in wanted]


def _waiting(batch: Batch, record_id: str) -> TaskRun:
    return TaskRun(
        id=id_in(batch.pk, record_id),
        project=batch.project,
        skill=batch.skill,
        batch=batch,
        record_id=record_id,
        triggered_by=batch.created_by,
        status=Status.RUNNING,
    )


def advance(batch_id: UUID) -> None:
    """Start what the cap leaves room for; notice the end."""
    batch = _open().select_related("project", "skill").filter(pk=batch_id).first()
    if batch and batch.skill.is_active:
        _fill(batch)
    _end(batch_id)


def _fill(batch: Batch) -> None:
    # One query: a count and a list that are read apart do not belong together.
    made = dict(batch.runs.values_list("record_id", "status"))
    waiting = [record_id for record_id in batch.record_ids if record_id not in made]
    room = max(batch.cap - Counter(made.values())[Status.RUNNING], 0)
    for record_id in waiting[:room]:
        if not _start(batch, record_id):
            return
    if len(waiting) <= room:
        _open().filter(pk=batch.pk).update(filled_at=now())


def _end(batch_id: UUID) -> None:
    """Say once that a batch is worked off, or that what ran when it was cancelled has stopped."""
    running = TaskRun.objects.filter(batch=OuterRef("pk"), status=Status.RUNNING)
    over = Batch.objects.filter(~Exists(running), pk=batch_id, ended_at__isnull=True)
    with atomic():
        if over.exclude(filled_at=None, cancelled_at=None).update(ended_at=now()) == 1:
            batch = Batch.objects.select_related("project", "skill").get(pk=batch_id)
            run_events.keep_end(batch)


def _start(batch: Batch, record_id: str) -> bool:
    """Start one run of a batch; False: it was cancelled."""
    with atomic():
        # Holds the row: whoever cancels waits, and then finds this run too.
        if not _open().filter(pk=batch.pk).update(cap=F("cap")):
            return False
        start(
            project=batch.project,
            skill=batch.skill,
            record_id=record_id,
            triggered_by=batch.created_by,
            cause=f"batch:{batch.pk}:{record_id}",
            batch=batch,
        )
    return True


def _open() -> QuerySet[Batch]:
    return Batch.objects.filter(cancelled_at__isnull=True, filled_at__isnull=True)


def unfinished() -> list[str]:
    """Ids of batches that have not ended, for the sweeper."""
    rows = Batch.objects.filter(ended_at__isnull=True).order_by("created_at")
    return [str(pk) for pk in rows.values_list("pk", flat=True)]


def cancel_batch(*, batch: Batch, actor: object, reason: str = "") -> Batch:
    """Start no more, and end what is running; what waits for a person still does.

    Raises NotSuspended when the batch was cancelled before.
    """
    with atomic():
        live = Batch.objects.filter(pk=batch.pk, cancelled_at__isnull=True)
        if live.update(cancelled_at=now()) != 1:
            raise NotSuspended(_("The batch is cancelled already."))
        told = {"subjects": len(batch.record_ids)}
        audited("run.cancel", batch, actor=actor, new=told, reason=reason)
    for run in batch.runs.filter(status=Status.RUNNING).select_related("project", "skill"):
        cancel_running(run=run, actor=actor, reason=reason)
    _end(batch.pk)
    batch.refresh_from_db()
    return batch


def visible_to(user: User) -> QuerySet[Batch]:
    """Batches with at least one subject that a console user may see."""
    batches = Batch.objects.exclude(hidden_from(user, TELLING))
    if getattr(user, "is_superuser", False) and user.is_active:
        return batches
    mine = held(user)
    whole = [one.project_id for one in mine if not one.site]
    by_site = [one.project_id for one in mine if one.site]
    some = once(("batches", user.pk), lambda: _of_sites(user, by_site))
    return batches.filter(Q(project_id__in=whole) | Q(pk__in=some))


def _of_sites(user: User, projects: list[UUID]) -> list[UUID]:
    """Batches of these projects, of which the user sees some sites, with a subject that the user sees."""
    if not projects:
        return []
    subjects = Subject.objects.for_user(user).filter(project_id__in=projects)
    seen = {*subjects.values_list("project_id", "record_id")}
    batches = Batch.objects.filter(project_id__in=projects)
    return [
        pk
        for pk, project_id, record_ids in batches.values_list("pk", "project_id", "record_ids")
        if any((project_id, record_id) in seen for record_id in record_ids)
    ]


def visible(user: User, batch: Batch) -> list[str]:
    """The subjects of the batch that a console user may see, in its order."""
    if sees_all_sites(user, batch.project_id):
        return [*batch.record_ids]
    subjects = Subject.objects.for_user(user).filter(project_id=batch.project_id)
    seen = {*subjects.values_list("record_id", flat=True)}
    return [record_id for record_id in batch.record_ids if record_id in seen]


def may_cancel_batch(user: User, batch: Batch) -> bool:
    """Whether a console user decides in the study and sees every subject of the batch."""
    whole = len(visible(user, batch)) == len(batch.record_ids)
    return whole and has_role(user, batch.project_id, *DECIDERS, of_site=True)


def progress(batch: Batch, record_ids: Iterable[str] | None = None) -> dict[str, int]:
    """How far the batch is, over `record_ids` (all of its own where not given).

    Keys: total, running, suspended, completed, failed, cancelled, waiting; the six add up to total. What a
    cancelled batch never started counts as cancelled.
    """
    mine = [*batch.record_ids] if record_ids is None else [*record_ids]
    made = dict(batch.runs.values_list("record_id", "status"))
    states = Counter(made[record_id] for record_id in mine if record_id in made)
    counts = {status.lower(): states[status] for status in Status.values}
    left = len(mine) - states.total()
    if batch.cancelled_at:
        counts["cancelled"] += left
        left = 0
    return {"total": len(mine), **counts, "waiting": left}
