"""A person's decision on a suspended run (seed 001, 4.3; decisions.md, "who reviews").

Approve and reject are one compare-and-set on review and run: of two people who click in the same second one
decides and the other is told so. A decision is for every run that waits for the review.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import Review, TaskRun
from engines.sop import run_events
from engines.sop.asking import ask_anew, orderers, read_again, waiting_for
from engines.sop.brief import kept_brief, overrides
from engines.sop.chain import Chain
from engines.sop.drive import load_study
from engines.sop.errors import (
    NotAllowed,
    NotShown,
    NotSuspended,
    Overtaken,
    ReasonRequired,
    SignatureRequired,
    SignatureWrong,
    SopError,
    ValuesChanged,
)
from engines.sop.findings import witnesses_of
from engines.sop.journal import audited
from engines.sop.lease import wake
from engines.sop.snapshot import fingerprint
from projects.access import sees, tells_arm
from projects.login import signing
from projects.models import Member
from projects.scoping import memberships
from study.models import Subject
from study.roster import with_site

Decision = Literal["approve", "reject"]
WRONG_STATE = "任务不在挂起状态"
UNSTATED = "未说明"
Status = TaskRun.Status
STATUS: dict[Decision, Review.Status] = {
    "approve": Review.Status.APPROVED,
    "reject": Review.Status.REJECTED,
}
_OF_MEMBER = ("wecom_userid", "role", "site", "is_active")
"""What of a member decides whether they may."""


class Signature:
    """The password that came with a request; it is checked once, however many reviews it signs."""

    def __init__(self, request: HttpRequest, password: str) -> None:
        """`password` is blank where none was given."""
        self._request = request
        self._password = password
        self._signed_by: AbstractBaseUser | None = None

    def check(self, user: AbstractBaseUser, review: Review | None = None) -> None:
        """Raises SignatureRequired, SignatureWrong unless it is the password of `user`."""
        if self._signed_by == user:
            return
        refusal = self.refusal_of(user)
        if not self._password:
            raise _required(review)
        if refusal:
            raise SignatureWrong(refusal, review)
        self._signed_by = user

    def refusal_of(self, user: AbstractBaseUser) -> str:
        """Why it is neither the password of `user` nor their app's code; "" where it is."""
        return signing.refusal(self._request, user, self._password)


def sign(review: Review, actor: object, signature: Signature | None) -> bool:
    """Whether the decision is signed; it has to be where the project asks for it.

    Raises SignatureRequired, SignatureWrong. A channel without passwords gives no `signature`.
    """
    if not review.project.requires_signature:
        return False
    if signature is None or not isinstance(actor, AbstractBaseUser):
        raise _required(review)
    signature.check(actor, review)
    return True


def _required(review: Review | None) -> SignatureRequired:
    text = _("This project wants decisions signed: please give your password.")
    if review is None:
        text = _("Please give your password: it stands for your signature.")
    return SignatureRequired(text, review)


@dataclass(frozen=True)
class Said:
    """A decision with who took it and why.

    `reread`: on values that were just read again; `signed`: with the password.
    """

    decision: Decision
    member: Member
    reason: str
    reread: bool
    signed: bool
    door: str

    def answer(self) -> dict[str, Any]:
        """What the review keeps of it."""
        return {
            "status": STATUS[self.decision],
            "decided_by": self.member.identity,
            "decided_at": now(),
            "reason": self.reason,
            "door": self.door,
        }

    def go_on(self, run: TaskRun, review: Review, *, locally: bool = False) -> Chain:
        """A run that follows the decision, `locally` through its local nodes; nothing is stored yet."""
        chain = Chain(run)
        chain.answer(STATUS[self.decision], {"review": review.pk, "by": self.member.identity})
        if locally and run.status == Status.RUNNING:
            chain.study = load_study(review.project)
            chain.run_local()
        return chain


def reviews_of(run: TaskRun) -> QuerySet[Review]:
    """What was asked about a run and is decided or withdrawn, newest first."""
    said = run.steps.filter(kind="decision").values_list("result", flat=True)
    mine = Q(task_run=run) | Q(pk__in=[one["review"] for one in said if one])
    return Review.objects.filter(mine).exclude(status=Review.Status.OPEN).order_by("-pk")


def reviewer(actor: Member | AbstractBaseUser, review: Review) -> Member | None:
    """The membership with which `actor` may decide: role and site (decisions.md, "who reviews").

    CRC of the subject's site or ADMIN; a PI only where the node names PI.
    """
    return _who_may(_memberships(actor, review.record_id), review)


def has_say(actor: Member | AbstractBaseUser, review: Review) -> bool:
    """Whether `actor` may decide: a reviewer, and where four eyes are wanted not who ordered the run."""
    member = reviewer(actor, review)
    return member is not None and not _is_own(member, review)


def _who_may(members: Iterable[Member], review: Review) -> Member | None:
    record, owner = review.record_id, review.task_run.triggered_by
    for member in members:
        site: str | None = member.subject_site  # type: ignore[attr-defined]
        ours = review.asks(member) and member.project_id == review.project_id
        if ours and sees(
            member, record_id=record, site=site, owner=owner, unblinds=tells_arm(review)
        ):
            return member
    return None


def _memberships(actor: Member | AbstractBaseUser, record: str | None) -> Iterable[Member]:
    if isinstance(actor, Member):
        return with_site(Member.objects.filter(pk=actor.pk).order_by(), record)
    return with_site(memberships(actor), record)


def decide(
    *,
    review_id: int,
    actor: Member | AbstractBaseUser,
    decision: Decision,
    seen: str,
    reason: str = "",
    signature: Signature | None = None,
    door: str = "",
) -> TaskRun:
    """Approve or reject; the run goes on at once as far as it can without the network.

    `seen` is the hash of what the person was shown; any other is refused. `door` (Review.Door) is where, which
    tells what of it. The subject is read again first: on changed values the question is asked anew and
    ValuesChanged is raised. A rejection says why, and so does an approval that goes over something found.
    Raises NotSuspended, ValuesChanged (NotShown where `seen` is blank), NotAllowed, ReasonRequired,
    SignatureRequired, SignatureWrong (each carries the review as it stands).
    """
    while True:
        review = _load(review_id, actor)
        member = _who_may(_as_stored(actor, review), review)
        if member is None or _is_own(member, review):
            raise no_say(review)
        if not _is_open(review):
            raise NotSuspended(WRONG_STATE, review)
        signed = sign(review, actor, signature)
        if not seen:
            raise NotShown(_("You have not been shown this review."), review)
        if decision == "reject" and not reason.strip():
            raise ReasonRequired(_("Please give the reason of the rejection."), review)
        read = read_again(review)
        is_changed = read is not None and fingerprint(read[0]) != review.digest
        if read is not None and is_changed:
            ask_anew(review, *read)
        if is_changed or seen != review.seen:
            raise _refusal(review)
        if decision == "approve" and not reason.strip() and overrides(review):
            raise ReasonRequired(_("Please say why it is let pass all the same."), review)
        why = reason.strip() or UNSTATED
        said = Said(decision, member, why, read is not None, signed, door)
        chain = said.go_on(review.task_run, review, locally=True)
        try:
            with atomic():
                return _settle(chain, review, said)
        except Overtaken:
            run_before = review.task_run_id
            review.refresh_from_db()
            is_same = _is_open(review) and review.seen == seen
            if is_same and review.task_run_id != run_before:
                continue  # the run was taken out, and the question goes on with another
            still = reviewer(member, review)
            if still is None or still.identity != member.identity:
                raise no_say(review) from None
            raise _refusal(review) from None


def _load(review_id: int, actor: Member | AbstractBaseUser) -> Review:
    """The question, and what a member is in its project; NULLs where they are none of its members.

    Without the subject's data, which are read where a decision leads to rules or is on changed values.
    """
    member = actor.pk if isinstance(actor, Member) else None
    rows = Review.objects.select_related("project", "task_run__skill").order_by()
    rows = rows.defer("values", "task_run__data", "task_run__skill__config").filter(pk=review_id)
    asked = FilteredRelation("project__members", condition=Q(project__members__pk=member))
    of_member = {f"member_{name}": F(f"asked__{name}") for name in _OF_MEMBER}
    found = with_site(rows.annotate(asked=asked, **of_member), OuterRef("record_id"))
    review: Review | None = found.first()
    if review is None:
        raise NotSuspended(WRONG_STATE)
    review.task_run.project = review.project
    return review


def _as_stored(actor: Member | AbstractBaseUser, review: Any) -> Iterable[Member]:
    """The memberships as they stand now; a member's were read with the review."""
    if not isinstance(actor, Member):
        return _memberships(actor, review.record_id)
    if review.member_role is None:
        return []
    member: Any = copy(actor)
    member.subject_site = review.subject_site
    for name in _OF_MEMBER:
        setattr(member, name, getattr(review, f"member_{name}"))
    return [member]


def no_say(review: Review) -> NotAllowed:
    """Why somebody may not decide."""
    return NotAllowed(_("You have no say in this review."), review)


def _is_own(member: Member, review: Review) -> bool:
    """Whether four eyes are wanted, and the member ordered one of the runs that wait."""
    return review.project.four_eyes and not member.names.isdisjoint(orderers(review))


def _is_open(review: Review) -> bool:
    return review.status == Review.Status.OPEN and review.task_run.status == Status.SUSPENDED


def _refusal(review: Review) -> SopError:
    """Why a decision came too late, from the review as it stands now."""
    if _is_open(review):
        return ValuesChanged(_("The values changed since they were shown."), review)
    return NotSuspended(WRONG_STATE, review)


def _settle(chain: Chain, review: Review, said: Said) -> TaskRun:
    """The decision and what follows locally, in the caller's transaction. Raises NotAllowed, Overtaken.

    Review before runs, as whoever asks or cancels does: no deadlock. Other runs that waited go on as jobs of
    their own.
    """
    answer = said.answer()
    chain.meet()
    chain.store(lambda: _close(review, said.member, answer))
    for name, value in answer.items():
        setattr(review, name, value)
    _record(review, said, chain)
    chain.tell(review)
    chain.settle(review, said.member, said.reason)
    run_events.keep_event(run_events.Kind.REVIEW_DECIDED, chain.run, review)
    others = [*waiting_for(review)]
    for run in others:
        if review.project.four_eyes and run.triggered_by in said.member.names:
            raise no_say(review)  # it came while the decision was on its way
        other = said.go_on(run, review)
        other.store()
        other.tell()
    for run in (chain.run, *others):
        if run.status == Status.RUNNING:
            wake(run)
    return chain.run


def _close(review: Review, member: Member, answer: dict[str, Any]) -> bool:
    """Answer the question if it is still the one that was decided on, and still this member's to answer.

    Nothing may have changed of who the member is, role and site, and of the subject's site: as of the instant
    at which the decision is stored, or begins to wait for somebody who holds the review.
    """
    mine: dict[str, Any] = {name: getattr(member, name) for name in _OF_MEMBER}
    still = Member.objects.filter(pk=member.pk, project=review.project_id, **mine).order_by()
    same = Review.objects.filter(pk=review.pk, status=Review.Status.OPEN, version=review.version)
    subjects = Subject.objects.filter(project=review.project_id, record_id=review.record_id)
    moved = subjects.exclude(site=member.subject_site or "").order_by()  # type: ignore[attr-defined]
    return same.filter(Exists(still), ~Exists(moved)).update(**answer) == 1


def _record(review: Review, said: Said, chain: Chain) -> None:
    brief = kept_brief(review)
    skill = chain.run.skill.skill_type
    about = [row for row in chain.open.values() if skill in {one[0] for one in witnesses_of(row)}]
    told = {
        "seen": review.seen,
        "version": review.version,
        "values_read_again": said.reread,
        "signed": said.signed,
        "door": said.door,
        # What the record calls shown.
        "shown": fingerprint(brief.model_dump(mode="json")) if brief else "",
        "open_findings": [str(row.pk) for row in about],
    }
    action = f"review.{said.decision}"
    audited(action, review, actor=said.member, new=told, reason=said.reason)
