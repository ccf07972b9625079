"""Ordering a workflow on a subject: console, API, command and chat come through here.

A decision is taken back within the run's rules: it stays in the trail with its reason and stands no longer.
What it closed is open again, and the run is repeated on the subject as it is now, which asks anew.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines import sop
from engines.models import PendingAction, Review, TaskRun
from engines.models.runs import Batch
from engines.sop import finding_life
from engines.sop.errors import NotAllowed, NotSuspended, ReasonRequired
from engines.sop.journal import audited
from engines.sop.reviews import STATUS, Signature, reviewer, reviews_of, sign
from engines.sop.runs import OPEN, rerun
from projects import audit
from projects.access import member_in
from projects.models import Member, Project
from skills import chat
from skills.models import Skill
from study import records
from study.blinding.mask import names_blinded
from study.records import RecordData

Person = Member | AbstractBaseUser | AnonymousUser


class RecordNotFound(Exception):
    """There is no such subject, or not for this person: both read the same (design.md 9.7)."""


class OnSchedule(sop.SopError):
    """The workflow writes to the whole study at its times: there is nothing to order, and no subject."""


class ShapesChat(OnSchedule):
    """The skill is no workflow at all."""

    code = "no_workflow"


class ReadsBlinded(OnSchedule):
    """What the workflow comes to may tell an arm: the blinded neither order it nor see what came of it."""


def check_order(skill: Skill) -> None:
    """Whether a person may order this workflow for a subject. Raises OnSchedule."""
    if chat.is_chat(skill):
        raise ShapesChat(_("This skill shapes the chat and cannot be ordered."))
    if skill.trigger_type == Skill.Trigger.CRON:
        raise OnSchedule(_("This workflow runs on its schedule and cannot be ordered."))


def start_for(
    person: Person,
    project: Project,
    skill: Skill,
    record_id: str,
) -> TaskRun:
    """Read the subject with the person's rights and start.

    Raises RecordNotFound, RedcapError, OnSchedule.
    """
    check_order(skill)
    member = _member(person, project)
    check_blinding(skill, project, member)
    return sop.start(
        project=project,
        skill=skill,
        record_id=record_id,
        triggered_by=audit.actor_name(member or person),
        data=_read(project, record_id, member),
    )


def rerun_for(person: Person, run: TaskRun) -> TaskRun:
    """Repeat an ended run with the person's rights.

    Raises RecordNotFound, RedcapError, OnSchedule, engines.sop.NotEnded, engines.sop.Inactive.
    """
    data = reading_for(person, run)
    return sop.rerun(run, _member(person, run.project) or person, data)


def reading_for(person: Person, run: TaskRun) -> RecordData | None:
    """The subject of an ended run as the person may have it repeated; None: it is about none.

    Raises RecordNotFound, RedcapError, OnSchedule.
    """
    if run.record_id:
        check_order(run.skill)
    member = _member(person, run.project)
    check_blinding(run.skill, run.project, member)
    return _read(run.project, run.record_id, member) if run.record_id else None


def start_batch_for(
    person: Person, project: Project, skill: Skill, record_ids: list[str] | None, *, cap: int
) -> Batch:
    """Order a workflow for subjects the person may see; None: for all of them.

    Raises RecordNotFound when one of them is not there, RedcapError, OnSchedule, engines.sop.NothingToDo.
    """
    check_order(skill)
    member = _member(person, project)
    check_blinding(skill, project, member)
    found = records.list_records(project=project, member=member, record_ids=record_ids)
    seen = [ref.record_id for ref in found]
    missing = [one for one in record_ids or () if one not in seen]
    if missing:
        raise RecordNotFound(", ".join(missing))
    wanted = seen if record_ids is None else record_ids
    return sop.start_batch(
        project=project, skill=skill, record_ids=wanted, actor=member or person, cap=cap
    )


def dry_run_for(
    person: Person, project: Project, config: dict[str, Any], record_id: str, *, ask_llm: bool
) -> sop.DryRun:
    """Walk a workflow over a subject the person may see. Raises RecordNotFound, RedcapError, ReadsBlinded."""
    member = _member(person, project)
    if member is None:  # a superuser's reading is not masked, a member's is
        check_blinding(Skill(project=project, config=config), project, member)
    try:
        return sop.dry_run(
            project=project,
            config=config,
            record_id=record_id,
            member=member,
            ask_llm=ask_llm,
        )
    except sop.NoSuchSubject as error:
        raise RecordNotFound from error


def _member(person: Person, project: Project) -> Member | None:
    """The membership the person reads with; None: a superuser, who reads all (`projects.access`)."""
    if isinstance(person, Member):
        return person
    member = member_in(person, project.pk)
    if member is None and not getattr(person, "is_superuser", False):
        raise RecordNotFound
    return member


def check_blinding(skill: Skill, project: Project, member: Member | None) -> None:
    """Raises ReadsBlinded; a superuser who is no unblinded member is blinded, too."""
    is_open = project.blinded_since is None or (member is not None and member.is_unblinded)
    if not is_open and names_blinded(project, skill.config):
        raise ReadsBlinded(_("This workflow reads blinded fields: only the unblinded order it."))


def _read(project: Project, record_id: str, member: Member | None) -> RecordData:
    data = records.read_record(project=project, record_id=record_id, member=member)
    if data is None:
        raise RecordNotFound
    return data


def may_take_back(actor: AbstractBaseUser, review: Review) -> bool:
    """Whether the decision is the person's own, nothing was asked after it, and its run has ended."""
    member = reviewer(actor, review)
    return _stands(review) and member is not None and review.decided_by in member.names


def _stands(review: Review) -> bool:
    """Decided, the newest of its question, and no run that it let go on is still on its way."""
    if review.status not in STATUS.values() or review.task_run.status in OPEN:
        return False
    later = Review.objects.filter(question_key=review.question_key, pk__gt=review.pk)
    if review.question_key and later.exists():
        return False
    going = TaskRun.objects.filter(record_id=review.record_id, status__in=OPEN)
    going = going.filter(project=review.project_id, skill=review.task_run.skill_id)
    return not any(reviews_of(run).filter(pk=review.pk).exists() for run in going)


def take_back(
    *, review: Review, actor: AbstractBaseUser, reason: str, signature: Signature | None = None
) -> TaskRun:
    """The run that asks again.

    Raises NotAllowed for another's decision, NotSuspended where something came after it, ReasonRequired,
    SignatureRequired, SignatureWrong, NotEnded, Inactive; RecordNotFound, RedcapError as ordering does.
    """
    member = reviewer(actor, review)
    if member is None or review.decided_by not in member.names:
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
