"""Starting, repeating and cancelling runs."""

from __future__ import annotations

import logging
from copy import copy
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic, write_now
from engines.models import Review, TaskRun
from engines.models.runs import Batch
from engines.sop import run_events, snapshot
from engines.sop.asking import hold, open_review, waiting_for
from engines.sop.chain import Chain, announce
from engines.sop.drive import load_study
from engines.sop.errors import Inactive, NotEnded, NotSuspended
from engines.sop.journal import audited
from engines.sop.lease import wake as wake_run
from engines.sop.reviews import has_say, no_say
from projects import audit
from projects.models import Member, Project
from skills.models import Skill
from study.blinding.mask import names_blinded
from study.records import RecordData

log = logging.getLogger(__name__)
Status = TaskRun.Status
OPEN = (Status.RUNNING, Status.SUSPENDED)
DECIDERS = ("PI", "CRC", "ADMIN")
"""Roles that order, repeat and cancel runs, and close findings."""


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
    config: dict[str, Any] | None = None,
) -> TaskRun:
    """Create a run with the skill as it is now; a worker goes on with it.

    `cause` makes it unique per skill: the second caller gets the run of the first, inside a transaction as
    well. `data` saves a reading that was just made, and lets the run's first local nodes share the
    transaction that creates it.
    `config`: a part of the skill's own.
    `rerun_of` and `batch` say where the run comes from. `wake=False` is for callers that drive the run
    themselves.
    """
    run = TaskRun(
        id=id_in(batch.pk, record_id) if batch else uuid4(),
        status=Status.RUNNING,
        project=project,
        skill=skill,
        record_id=record_id,
        triggered_by=triggered_by,
        cause=cause,
        rerun_of=rerun_of,
        batch=batch,
        skill_version=skill.version,
        config=config or skill.config,
        current_node=(config or skill.config)["start_node"],
        trace=[],
        unblinds=names_blinded(project, skill.config),
    )
    if data is not None:
        snapshot.keep_in_run(run, data)
    chain = _ahead(run) if data is not None and wake else Chain(run)
    try:
        with atomic():
            run = _create(chain, wake)
            if cause:
                # One that is taken has to show here, not at the end of a transaction around this one.
                write_now()
            return run
    except IntegrityError:
        existing = TaskRun.objects.filter(skill=skill, cause=cause).first() if cause else None
        if existing is None:
            raise
        return existing


def start_once_changed(
    skill: Skill, data: RecordData, mark: str, *, actor: str, kind: str, **how: Any
) -> TaskRun | None:
    """Start a workflow on changed data, once for each content `mark`; None where that was noticed before.

    The number in the cause makes a change back to earlier values a change of its own; two that notice the same
    change at once count the same number.
    """
    mine = TaskRun.objects.filter(skill=skill, record_id=data.record_id, triggered_by=actor)
    last = mine.order_by("-created_at").first()
    if last and (last.cause or "").endswith(f":{mark}"):
        return None
    if last and last.read_at and last.read_at >= data.read_at:
        return None
    return start(
        project=skill.project,
        skill=skill,
        record_id=data.record_id,
        triggered_by=actor,
        cause=f"{kind}:{data.record_id}:{mine.count()}:{mark}",
        data=data,
        **how,
    )


def id_in(batch_id: UUID, record_id: str | None) -> UUID:
    """The id of a batch's run for a subject, whether it has been started or not."""
    return uuid5(batch_id, record_id or "")


def _ahead(run: TaskRun) -> Chain:
    """The run moved as far as it goes without the network; nothing is stored yet.

    A run that breaks its worker is counted and given up by `drive`: here it is left as it was.
    """
    moved = copy(run)
    moved.fence = moved.attempts = 1
    try:
        chain = Chain(moved, load_study(run.project))
        if chain.study is None or chain.is_slow:
            return Chain(run)
        chain.run_local()
    except Exception:
        log.exception("run %s is left to a worker", run.pk)
        return Chain(run)
    return chain


def _create(chain: Chain, wake: bool) -> TaskRun:
    run = chain.run
    chain.meet()
    chain.store()
    links = {"rerun_of": run.rerun_of_id, "batch": run.batch_id}
    origin = {name: str(key) for name, key in links.items() if key}
    told = {"skill": run.skill.skill_type, "version": run.skill_version}
    audited("run.start", run, actor=run.triggered_by, new=origin | told)
    chain.tell()
    if wake and run.status == Status.RUNNING:
        wake_run(run)
    return run


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
    """End a running or suspended run; who has no say in its review does not make the question go away.

    Raises NotSuspended when it ended already, NotAllowed. A job names itself by a text as `actor`.
    """
    while not cancel_running(run=run, actor=actor, reason=reason):
        review = open_review(run)
        if review and isinstance(actor, Member | AbstractBaseUser) and not has_say(actor, review):
            raise no_say(review)
        if _cancel_in(Status.SUSPENDED, run, actor, reason):
            break
        if not TaskRun.objects.filter(pk=run.pk, status__in=OPEN).exists():
            raise NotSuspended(_("The run has already ended."))
    return run


def cancel_running(*, run: TaskRun, actor: object, reason: str) -> bool:
    """End a run that waits for nobody; False: it does not run (any more)."""
    return _cancel_in(Status.RUNNING, run, actor, reason)


def _cancel_in(status: TaskRun.Status, run: TaskRun, actor: object, reason: str) -> bool:
    with atomic():
        review = hold(run) if status == Status.SUSPENDED else None
        key = {"question_key": review.question_key} if review else {}
        ended = TaskRun.objects.filter(pk=run.pk, status=status, **key).update(
            status=Status.CANCELLED,
            final_state="cancelled",
            completed_at=now(),
            lease_until=None,
            message=reason,
            question_key="",
        )
        if not ended:
            return False
        run.refresh_from_db()
        # The question goes on with the oldest run that still waits for it.
        heir = waiting_for(review).first() if review else None
        withdrawn = review if heir is None else None
        if review and heir and review.task_run_id == run.pk:
            Review.objects.filter(pk=review.pk).update(task_run=heir)
        if withdrawn:
            Review.objects.filter(pk=withdrawn.pk).update(status=Review.Status.WITHDRAWN)
            withdrawn.status = Review.Status.WITHDRAWN
            run_events.keep_event(run_events.Kind.REVIEW_DECIDED, run, withdrawn)
        audited("run.cancel", run, actor=actor, reason=reason)
        announce(run, withdrawn)
    return True
