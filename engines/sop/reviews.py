"""A person's decision on a suspended run (seed 001, 4.3; decisions.md, "who reviews").

Approve and reject are one compare-and-set on `status='SUSPENDED'`: of two people who click in the same
second one decides and the other is told so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.models import AbstractBaseUser
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.models import Review, TaskRun
from engines.signals import review_decided
from engines.sop import findings
from engines.sop.asking import ask_anew, is_changed, read_again
from engines.sop.chain import Chain
from engines.sop.drive import load_study
from engines.sop.errors import (
    NotAllowed,
    NotSuspended,
    Overtaken,
    ReasonRequired,
    SopError,
    ValuesChanged,
)
from engines.sop.study import Study
from engines.sop.waking import wake
from projects import audit
from projects.access import memberships
from projects.db import atomic
from projects.models import Member, Role
from skills.graph import is_end

Decision = Literal["approve", "reject"]
WRONG_STATE = "任务不在挂起状态"
UNSTATED = "未说明"
Status = TaskRun.Status
STATUS: dict[Decision, Review.Status] = {
    "approve": Review.Status.APPROVED,
    "reject": Review.Status.REJECTED,
}


@dataclass(frozen=True)
class Said:
    """A decision with who took it and why; `reread`: on values that were just read again."""

    decision: Decision
    member: Member
    reason: str
    reread: bool


def open_review(run: TaskRun) -> Review | None:
    """The question a suspended run waits on."""
    return run.reviews.filter(status=Review.Status.OPEN).order_by("-pk").first()


def reviewer(actor: Member | AbstractBaseUser, review: Review) -> Member | None:
    """The membership with which `actor` may decide: role and site (decisions.md, "who reviews").

    CRC of the subject's site or ADMIN; a PI only where the node names PI.
    """
    mine = Member.objects.filter(pk=actor.pk) if isinstance(actor, Member) else memberships(actor)
    candidates: list[Member] = [*mine.filter(project_id=review.project_id, is_active=True)]
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
    review = _load(review_id)
    member = _check(review, actor)
    if decision == "reject" and not reason.strip():
        raise ReasonRequired(_("Please give the reason of the rejection."), review)
    values = read_again(review)
    if values is not None and is_changed(review, values):
        ask_anew(review, values)
        raise _refusal(review)
    if seen and seen != review.seen:
        raise _refusal(review)
    said = Said(decision, member, reason.strip() or UNSTATED, values is not None)
    target = _target(review.task_run, decision)
    study = None if is_end(target) else load_study(review.project)
    try:
        with atomic():
            return _settle(review, said, study)
    except Overtaken:
        review.refresh_from_db()
        raise _refusal(review) from None


def _load(review_id: int) -> Review:
    rows = Review.objects.select_related("project", "task_run__skill", "task_run__project")
    review = rows.filter(pk=review_id).first()
    if review is None:
        raise NotSuspended(WRONG_STATE)
    return review


def _check(review: Review, actor: Member | AbstractBaseUser) -> Member:
    member = reviewer(actor, review)
    if member is None or _is_own(member, review):
        raise NotAllowed(_("You have no say in this review."), review)
    if not _is_open(review):
        raise NotSuspended(WRONG_STATE, review)
    return member


def _is_own(member: Member, review: Review) -> bool:
    return review.project.four_eyes and review.task_run.triggered_by == member.identity


def _is_open(review: Review) -> bool:
    return review.status == Review.Status.OPEN and review.task_run.status == Status.SUSPENDED


def _refusal(review: Review) -> SopError:
    """Why a decision came too late, from the review as it stands now."""
    if _is_open(review):
        return ValuesChanged(_("The values changed since they were shown."), review)
    return NotSuspended(WRONG_STATE, review)


def _settle(review: Review, said: Said, study: Study | None) -> TaskRun:
    """The decision and what follows locally, in the caller's transaction. Raises Overtaken, NotAllowed."""
    if reviewer(said.member, review) is None:
        raise NotAllowed(_("You have no say in this review."), review)
    run = _take(review, said)
    _record(review, said)
    run.message = ""
    chain = Chain(run, study)
    answer = {"review": review.pk, "by": said.member.identity}
    chain.journal.add(review.node, "decision", STATUS[said.decision].value, answer)
    chain.go(_target(run, said.decision))
    chain.run_local()
    chain.save()
    review_decided.send(sender=TaskRun, run=run, review=review)
    if run.status == Status.RUNNING:
        wake(run)
    return run


def _target(run: TaskRun, decision: Decision) -> str:
    return (run.resume_callback if decision == "approve" else run.reject_callback) or "end"


def _take(review: Review, said: Said) -> TaskRun:
    """The compare-and-set; returns the run, now ours. Run before review, as `cancel` does: no deadlock."""
    freed = TaskRun.objects.filter(pk=review.task_run_id, status=Status.SUSPENDED)
    if freed.update(status=Status.RUNNING, resumed_at=now(), lease_until=None) != 1:
        raise Overtaken
    still = Review.objects.filter(pk=review.pk, status=Review.Status.OPEN, version=review.version)
    values = {
        "status": STATUS[said.decision],
        "decided_by": said.member.identity,
        "decided_at": now(),
        "reason": said.reason,
    }
    if still.update(**values) != 1:
        raise Overtaken
    for name, value in values.items():
        setattr(review, name, value)
    return TaskRun.objects.select_related("project", "skill").get(pk=review.task_run_id)


def _record(review: Review, said: Said) -> None:
    shown = findings.open_of(review.task_run)
    audit.record(
        "review.approve" if said.decision == "approve" else "review.reject",
        actor=said.member,
        project=review.project,
        subject=review,
        record_id=review.record_id or "",
        new={
            "seen": review.seen,
            "version": review.version,
            "values_read_again": said.reread,
            "open_findings": [str(row.pk) for row in shown],
        },
        reason=said.reason,
    )
