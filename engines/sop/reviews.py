"""Suspending for a person, and the person's decision (seed 001, 4.3; decisions.md, "who reviews").

Approve and reject are one compare-and-set on `status='SUSPENDED'`: of two people who click in the same
second one decides and the other is told so.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from django.contrib.auth.models import AbstractBaseUser
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.models import PendingAction, Review, TaskRun
from engines.signals import review_decided, review_requested
from engines.sop import snapshot
from engines.sop.errors import Fault, NotAllowed, NotSuspended, ReasonRequired, ValuesChanged
from engines.sop.study import Study
from projects import audit
from projects.access import memberships
from projects.db import after_commit, atomic
from projects.models import Member, Role

if TYPE_CHECKING:
    from engines.sop.drive import Chain

Decision = Literal["approve", "reject"]
SUSPENDED = "任务已挂起,等待人工复核"
WRONG_STATE = "任务不在挂起状态"
UNSTATED = "未说明"
Status = TaskRun.Status


def suspend(
    chain: Chain,
    question: str,
    reviewers: list[str],
    result: Any = None,
    edges: tuple[str, str] = ("on_approve", "on_reject"),
) -> None:
    """Stop the run at its node and ask a person; no worker is held meanwhile."""
    run, node = chain.run, chain.node
    key = run.current_node or ""
    chain.journal.add(key, node.type, "waiting", result)
    run.status = Status.SUSPENDED
    run.suspended_at = now()
    run.message = SUSPENDED
    run.resume_callback, run.reject_callback = node.target(edges[0]), node.target(edges[1])
    values = snapshot.rows(run)
    review = Review(
        project=run.project,
        task_run=run,
        record_id=run.record_id,
        node=key,
        question=question,
        reviewers=reviewers,
        values=json.dumps(values, ensure_ascii=False),
        remind_at=_remind_at(node.on_timeout.remind_hours),
    )
    review.seen = shown_hash(review, values)
    review.save()
    audit.record(
        "review.ask",
        actor="system",
        project=run.project,
        subject=review,
        record_id=run.record_id or "",
        new={"question": question, "seen": review.seen},
    )
    review_requested.send(sender=TaskRun, run=run, review=review)


def _remind_at(hours: float | None) -> Any:
    return now() + timedelta(hours=hours) if hours else None


def shown_hash(review: Review, values: object) -> str:
    """Hash of what the reviewer is shown; the number of the version is part of it."""
    content = [str(review.task_run_id), review.node, review.version, review.question, values]
    return snapshot.fingerprint(content)


def open_review(run: TaskRun) -> Review | None:
    """The question a suspended run waits on."""
    return run.reviews.filter(status=Review.Status.OPEN).order_by("-pk").first()


def reviewer(actor: Member | AbstractBaseUser, review: Review) -> Member | None:
    """The membership with which `actor` may decide: role and site (decisions.md, "who reviews").

    CRC of the subject's site or ADMIN; a PI only where the node names PI.
    """
    if isinstance(actor, Member):
        candidates = [actor] if actor.is_active and actor.project_id == review.project_id else []
    else:
        candidates = [*memberships(actor).filter(project_id=review.project_id)]
    for member in candidates:
        named = member.role in review.reviewers or member.role == Role.ADMIN
        if named and Review.objects.for_member(member).filter(pk=review.pk).exists():
            return member
    return None


def decide(
    *,
    review_id: int,
    actor: Member | AbstractBaseUser,
    decision: Decision,
    reason: str = "",
    seen: str = "",
) -> TaskRun:
    """Approve or reject; the run goes on at once as far as it can without the network.

    `seen` is the hash of what the person was shown ("" where the channel cannot know it). The subject is
    read again first: on changed values the question is asked anew and ValuesChanged is raised.
    Raises NotSuspended, ValuesChanged, NotAllowed, ReasonRequired (each carries the review as it stands).
    """
    from engines.sop.drive import Chain

    review = _load(review_id)
    member = reviewer(actor, review)
    if member is None or _is_own(member, review):
        raise NotAllowed(_("You have no say in this review."), review)
    _check_open(review)
    if decision == "reject" and not reason.strip():
        raise ReasonRequired(_("Please give the reason of the rejection."), review)
    reread = _ask_anew_if_changed(review)
    if seen and seen != review.seen:
        raise ValuesChanged(_("The values changed since they were shown."), review)
    study = Study.load(review.project)
    with atomic():
        run = _take(review, decision)
        _settle(review, member, decision, reason.strip() or UNSTATED, reread)
        chain = Chain(run, study)
        outcome = "approved" if decision == "approve" else "rejected"
        said = {"review": review.pk, "by": member.identity}
        chain.journal.add(review.node, "decision", outcome, said)
        chain.go((run.resume_callback if decision == "approve" else run.reject_callback) or "end")
        chain.run_local()
        if not chain.save():
            raise NotSuspended(WRONG_STATE, review)
        review_decided.send(sender=TaskRun, run=run, review=review)
        if run.status == Status.RUNNING:
            after_commit(lambda: _wake(run))
    return run


def _wake(run: TaskRun) -> None:
    from engines.tasks import drive_run

    drive_run.delay(str(run.pk))


def _load(review_id: int) -> Review:
    rows = Review.objects.select_related("project", "task_run__skill", "task_run__project")
    review = rows.filter(pk=review_id).first()
    if review is None:
        raise NotSuspended(WRONG_STATE)
    return review


def _is_own(member: Member, review: Review) -> bool:
    return review.project.four_eyes and review.task_run.triggered_by == member.identity


def _check_open(review: Review) -> None:
    if review.status != Review.Status.OPEN or review.task_run.status != Status.SUSPENDED:
        raise NotSuspended(WRONG_STATE, review)


def _ask_anew_if_changed(review: Review) -> bool:
    """Read the subject again; True when it could be read. Raises ValuesChanged with the new question."""
    if not review.record_id:
        return False
    try:
        data = snapshot.read(review.project, review.record_id)
    except Fault:
        return False
    values = [dict(row) for row in data.rows]
    if snapshot.fingerprint(values) == snapshot.fingerprint(json.loads(review.values)):
        return True
    with atomic():
        newer = Review(
            task_run_id=review.task_run_id,
            node=review.node,
            version=review.version + 1,
            question=review.question,
        )
        changed = Review.objects.filter(
            pk=review.pk, version=review.version, status=Review.Status.OPEN
        ).update(
            version=newer.version,
            values=json.dumps(values, ensure_ascii=False),
            seen=shown_hash(newer, values),
        )
        if changed:
            audit.record(
                "review.ask",
                actor="system",
                project=review.project,
                subject=review,
                record_id=review.record_id,
                old={"seen": review.seen},
                new={"version": newer.version},
            )
            review.refresh_from_db()
            review_requested.send(sender=TaskRun, run=review.task_run, review=review)
    review.refresh_from_db()
    raise ValuesChanged(_("The values changed since they were shown."), review)


def _take(review: Review, decision: Decision) -> TaskRun:
    """The compare-and-set; returns the run, now ours. Raises NotSuspended."""
    won = Review.objects.filter(
        pk=review.pk, status=Review.Status.OPEN, version=review.version
    ).update(status=Review.Status.APPROVED if decision == "approve" else Review.Status.REJECTED)
    freed = TaskRun.objects.filter(pk=review.task_run_id, status=Status.SUSPENDED).update(
        status=Status.RUNNING, resumed_at=now(), lease_until=None, available_at=None
    )
    if not (won and freed):
        raise NotSuspended(WRONG_STATE, review)
    return TaskRun.objects.select_related("project", "skill").get(pk=review.task_run_id)


def _settle(review: Review, member: Member, decision: Decision, reason: str, reread: bool) -> None:
    review.status = Review.Status.APPROVED if decision == "approve" else Review.Status.REJECTED
    review.decided_by, review.decided_at, review.reason = member.identity, now(), reason
    Review.objects.filter(pk=review.pk).update(
        decided_by=review.decided_by, decided_at=review.decided_at, reason=reason
    )
    findings = PendingAction.objects.filter(task_run=review.task_run, open_key__isnull=False)
    audit.record(
        "review.approve" if decision == "approve" else "review.reject",
        actor=member,
        project=review.project,
        subject=review,
        record_id=review.record_id or "",
        new={
            "seen": review.seen,
            "version": review.version,
            "values_read_again": reread,
            "open_findings": [str(pk) for pk in findings.values_list("pk", flat=True)],
        },
        reason=reason,
    )
