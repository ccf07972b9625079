"""Taking a decision back within the run's rules: no run changes, the question is put once more.

The decision stays in the trail with its reason and stands no longer; what it closed is open again, and the run
is repeated on the subject as it is now, which asks anew. Messages that left stay sent.
"""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import PendingAction, Review, TaskRun
from engines.sop import finding_life
from engines.sop.errors import NotAllowed, NotSuspended, ReasonRequired
from engines.sop.journal import audited
from engines.sop.order_run import reading_for
from engines.sop.reviews import STATUS, Signature, reviewer, sign
from engines.sop.runs import OPEN, rerun
from projects.models import Member


def may_take_back(actor: AbstractBaseUser, review: Review) -> bool:
    """Whether the decision is the person's own, nothing was asked after it, and its run has ended."""
    member = reviewer(actor, review)
    return _stands(review) and member is not None and member.identity == review.decided_by


def _stands(review: Review) -> bool:
    """Decided, the newest of its question, and no run that it let go on is still on its way."""
    if review.status not in STATUS.values() or review.task_run.status in OPEN:
        return False
    later = Review.objects.filter(question_key=review.question_key, pk__gt=review.pk)
    return not (review.question_key and later.exists())


def take_back(
    *, review: Review, actor: AbstractBaseUser, reason: str, signature: Signature | None = None
) -> TaskRun:
    """The run that asks again.

    Raises NotAllowed for another's decision, NotSuspended where something came after it, ReasonRequired,
    SignatureRequired, SignatureWrong, NotEnded, Inactive; RecordNotFound, RedcapError as ordering does.
    """
    member = reviewer(actor, review)
    if member is None or member.identity != review.decided_by:
        raise NotAllowed(_("Only who decided takes a decision back."), review)
    if not _stands(review):
        raise _too_late(review)
    if not reason.strip():
        raise ReasonRequired(_("Please say why the decision is taken back."), review)
    signed = sign(review, actor, signature)
    data = reading_for(actor, review.task_run)
    with atomic():
        _withdraw(review, member, reason.strip(), signed)
        return rerun(review.task_run, member, data)


def _withdraw(review: Review, member: Member, reason: str, signed: bool) -> None:
    before = review.status
    same = Review.objects.filter(pk=review.pk, status=before, decided_at=review.decided_at)
    if same.update(status=Review.Status.WITHDRAWN) != 1:
        raise _too_late(review)
    review.status = Review.Status.WITHDRAWN
    for finding in PendingAction.objects.filter(review=review, open_key__isnull=True):
        finding_life.move(finding=finding, step="reopen", actor=member, reason=reason)
    told = {"status": review.status, "signed": signed}
    old = {"status": before}
    audited("review.take_back", review, actor=member, old=old, new=told, reason=reason)


def _too_late(review: Review) -> NotSuspended:
    return NotSuspended(_("The decision cannot be taken back any more."), review)
