"""Suspending a run and asking a person (seed 001, 4.3; decisions.md, "who reviews").

One open review for one question about one subject (design.md 9.11): a run that would ask the same waits for the
open review, or follows what was decided on the same values. Whoever asks, decides or cancels changes the
review's row before it goes on: of what meets there one waits for the other. A review that waits too long is
brought to mind once, then put to the administrators (`on_timeout`), while people are not at rest.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Subquery
from django.utils.timezone import now

from core.house.alone import each
from core.house.db import atomic, is_new, write_now
from engines.models import FindingEvent, Review, TaskRun
from engines.sop import run_events, snapshot
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.journal import audited
from engines.sop.nodes.base import Question
from engines.sop.snapshot import Rows
from projects.models import Project, Role
from projects.quiet import Rest
from skills.graph import Graph, Node

SUSPENDED = "任务已挂起,等待人工复核"


def _newest(key: str) -> Review | None:
    rows = Review.objects.filter(question_key=key).exclude(status=Review.Status.WITHDRAWN)
    return rows.defer("values").order_by("-pk").first()


def question_key(run: TaskRun, node: Node, question: Question) -> str:
    """What makes two questions the same: project, skill, node, subject, findings, words and reviewers.

    (contracts.md, HTTP; words and roles beyond it: another version of a workflow may ask something else at a
    node of the same name.) A run about no subject asks a question of its own.
    """
    place = [str(run.project_id), run.skill.skill_type, run.current_node, run.record_id]
    asked = [question.open_keys, question.text, sorted(node.reviewers)]
    own = [] if run.record_id else [str(run.pk), run.seq]
    return snapshot.fingerprint([*place, *asked, *own])


def meet(run: TaskRun) -> Review | None:
    """The open review of the run's question, which it now waits for too, or the decision that stands.

    None where it has to be asked. Inside the transaction that suspends the run.
    """
    if not run.record_id:
        return None
    while found := _newest(run.question_key):
        found.project = run.project
        if found.status == Review.Status.OPEN:
            if _join(found, run):
                return found
        else:
            is_same = found.digest == snapshot.data_digest(run)
            return found if is_same and not _is_contested(found) else None
    return None


def _is_contested(review: Review) -> bool:
    """Whether somebody took up again, after the decision, a finding that it was about."""
    reopened = FindingEvent.objects.filter(what="reopen", at__gt=review.decided_at)
    about = reopened.filter(finding__project=review.project_id)
    return about.filter(finding__open_key__in=review.open_keys).exists()


def _join(review: Review, run: TaskRun) -> bool:
    """Let the run wait for an open review; False: it is not what was read any more.

    On other values than those shown it is asked anew.
    """
    if review.digest != snapshot.data_digest(run):
        is_held = _raise_version(review, snapshot.rows(run), run.is_complete)
    else:
        is_held = _as_read(review).update(version=F("version")) == 1
    if not is_held:
        return False
    audited("review.ask", review, new={"run": str(run.pk), "seen": review.seen})
    run_events.keep_event(run_events.Kind.REVIEW_JOINED, run, review)
    return True


def _as_read(review: Review) -> QuerySet[Review]:
    """The review, if it is as it was read."""
    return Review.objects.filter(pk=review.pk, version=review.version, status=Review.Status.OPEN)


def ask_reviewers(run: TaskRun, node: Node, question: Question) -> None:
    """Put the question to those who decide.

    Inside the transaction that suspends the run. Two that ask the same in the same instant ask it once.
    """
    hours = node.on_timeout.remind_hours
    review = Review(
        project=run.project,
        task_run=run,
        record_id=run.record_id,
        node=run.current_node or "",
        question=question.text,
        reviewers=node.reviewers,
        values=run.data or "[]",
        is_complete=run.is_complete or not run.record_id,
        remind_at=now() + timedelta(hours=hours) if hours else None,
        question_key=run.question_key,
        open_keys=question.open_keys,
        digest=snapshot.data_digest(run),
        unblinds=run.unblinds,
    )
    review.seen = shown_hash(review)
    write_now()
    while not is_new(review):
        met = meet(run)
        if met and met.status == Review.Status.OPEN:
            return
    _put(review, new={"question": review.question, "seen": review.seen})


def shown_hash(review: Review) -> str:
    """Hash of what the reviewer is shown; the number of the version is part of it."""
    content = [str(review.task_run_id), review.node, review.version, review.question, review.digest]
    return snapshot.fingerprint(content)


def _put(review: Review, **said: Any) -> None:
    audited("review.ask", review, **said)
    run_events.keep_event(run_events.Kind.REVIEW_REQUESTED, review.task_run, review)


def read_again(review: Review) -> tuple[Rows, bool] | None:
    """The subject's rows as they stand now, [] when it is gone, and whether these are all; None: unreadable."""
    if not review.record_id:
        return None
    try:
        data = snapshot.read_subject(review.project, review.record_id)
    except NoSuchSubject:
        return [], True
    except Fault:
        return None
    read = snapshot.as_read_by(review, data)
    return [dict(row) for row in read.rows], read.complete


def ask_anew(review: Review, values: Rows, is_complete: bool) -> None:
    """Put the question again on the new values; once, whoever notices first."""
    with atomic():
        _raise_version(review, values, is_complete)
    review.refresh_from_db()


def _raise_version(review: Review, values: Rows, is_complete: bool) -> bool:
    """Ask on other values; False: the review is not what was read any more."""
    old = {"seen": review.seen}
    same = _as_read(review)
    review.version += 1
    new = {
        "version": review.version,
        "values": json.dumps(values, ensure_ascii=False),
        "is_complete": is_complete,
        "digest": snapshot.fingerprint(values),
        "brief": None,
    }
    for name, value in new.items():
        setattr(review, name, value)
    review.seen = shown_hash(review)
    if same.update(seen=review.seen, **new) != 1:
        return False
    _put(review, old=old, new={"version": review.version, "seen": review.seen})
    return True


def hold(run: TaskRun) -> Review | None:
    """The review a suspended run waits for, kept as it is until this transaction ends."""
    if not _waited_for(run.pk).update(version=F("version")):
        return None
    return _waited_for(run.pk).select_related("project").first()


def _waited_for(run: UUID) -> QuerySet[Review]:
    waiting = TaskRun.objects.filter(pk=run, status=TaskRun.Status.SUSPENDED)
    key = Subquery(waiting.values("question_key")[:1])
    return Review.objects.filter(status=Review.Status.OPEN, question_key=key)


def open_review(run: TaskRun) -> Review | None:
    """The question a suspended run waits on."""
    return _waited_for(run.pk).order_by("-pk").first()


def waiting_for(review: Review) -> QuerySet[TaskRun]:
    """The runs that an open review suspends, oldest first."""
    rows = TaskRun.objects.filter(status=TaskRun.Status.SUSPENDED, question_key=review.question_key)
    return rows.select_related("project", "skill").order_by("created_at", "pk")


def orderers(review: Review) -> set[str]:
    """Who ordered the runs that wait for a review (`Member.names`)."""
    others = waiting_for(review).order_by().values_list("triggered_by", flat=True)
    return {review.task_run.triggered_by, *others}


def remind_and_escalate() -> None:
    """Act on every open review whose time has come; safe to call at any time, by several at once.

    One that cannot be worked out, as its node has left the graph, is told and stops no other.
    """
    rows = Review.objects.filter(status=Review.Status.OPEN)
    rows = rows.exclude(project__status=Project.Status.CLOSED)
    rows = rows.select_related("project", "task_run__project", "task_run__skill")
    each("reviews", rows.filter(remind_at__lte=now()), _remind)
    each("reviews", rows.filter(escalated_at__isnull=True), _escalate)


def may_recall(review: Review) -> bool:
    """Whether a review may be brought to mind now: not while its people rest, nor once its study is closed.

    What is urgent waits for nothing.
    """
    if review.project.status == Project.Status.CLOSED:
        return False
    is_rest = Rest.of(review.project).covers(now())
    return not is_rest or Graph.model_validate(review.task_run.config).urgent


def _remind(review: Review) -> None:
    if may_recall(review):
        _act(review, run_events.Kind.REVIEW_REMINDED, "reminded", remind_at=None)


def _escalate(review: Review) -> None:
    graph = Graph.model_validate(review.task_run.config)
    hours = graph.nodes[review.node].on_timeout.escalate_hours
    is_late = hours and review.created_at + timedelta(hours=hours) <= now()
    if is_late and may_recall(review):
        reviewers = [*dict.fromkeys([*review.reviewers, Role.ADMIN.value])]
        told = {"escalated_at": now(), "reviewers": reviewers}
        _act(review, run_events.Kind.REVIEW_ESCALATED, "escalated", **told)


def _act(review: Review, kind: run_events.Kind, what: str, **values: object) -> None:
    """One transaction: the mark that makes it happen once, the audit entry, the event."""
    same = Review.objects.filter(
        pk=review.pk,
        status=Review.Status.OPEN,
        remind_at=review.remind_at,
        escalated_at=review.escalated_at,
    )
    with atomic():
        if same.update(**values) != 1:
            return
        for name, value in values.items():
            setattr(review, name, value)
        audited("review.ask", review, new={what: True, "reviewers": review.reviewers})
        run_events.keep_event(kind, review.task_run, review)
