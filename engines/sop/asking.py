"""Suspending a run and asking a person (seed 001, 4.3; decisions.md, "who reviews")."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils.timezone import now

from engines.models import Review, TaskRun
from engines.signals import review_requested
from engines.sop import snapshot
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.snapshot import Rows
from projects import audit
from projects.db import atomic, write_now
from projects.statements import Condition
from skills.graph import Node

if TYPE_CHECKING:
    from engines.sop.chain import Chain

SUSPENDED = "任务已挂起,等待人工复核"


@dataclass(frozen=True)
class Question:
    """What a person is asked, and the edges that approval and rejection follow."""

    text: str
    edges: tuple[str, str]
    result: Any = None
    started: datetime | None = None


def suspend(chain: Chain, question: Question) -> None:
    """Stop the run at its node and ask; no worker is held meanwhile."""
    run, node = chain.run, chain.node
    chain.journal.add(chain.key, node.type, "waiting", question.result, question.started)
    run.status = TaskRun.Status.SUSPENDED
    run.suspended_at = now()
    run.message = SUSPENDED
    run.attempts, run.available_at, run.sub_status = 0, None, ""
    run.resume_callback, run.reject_callback = map(node.target, question.edges)
    chain.question = question


def ask(run: TaskRun, node: Node, question: Question, asked: Condition) -> bool:
    """Put the question to those who decide; whether what is `asked` holds as it is stored.

    Inside the transaction that suspends the run.
    """
    values = snapshot.rows(run)
    review = Review(
        project=run.project,
        task_run=run,
        record_id=run.record_id,
        node=run.current_node or "",
        question=question.text,
        reviewers=node.reviewers,
        values=run.data or "[]",
        remind_at=_remind_at(node.on_timeout.remind_hours),
    )
    review.seen = shown_hash(review, values)
    holds = write_now(review, asked)
    _note(review, run, None, {"question": review.question, "seen": review.seen})
    return holds


def _remind_at(hours: float | None) -> datetime | None:
    return now() + timedelta(hours=hours) if hours else None


def shown_hash(review: Review, values: object) -> str:
    """Hash of what the reviewer is shown; the number of the version is part of it."""
    content = [str(review.task_run_id), review.node, review.version, review.question, values]
    return snapshot.fingerprint(content)


def _note(review: Review, run: TaskRun, old: Any, new: Any) -> None:
    audit.record(
        "review.ask",
        actor="system",
        project=run.project,
        subject=review,
        record_id=run.record_id or "",
        old=old,
        new=new,
    )
    review_requested.send(sender=TaskRun, run=run, review=review)


def read_again(review: Review) -> Rows | None:
    """The subject's rows as they stand now, [] when it is gone; None: REDCap could not be read."""
    if not review.record_id:
        return None
    try:
        data = snapshot.read(review.project, review.record_id)
    except NoSuchSubject:
        return []
    except Fault:
        return None
    return [dict(row) for row in data.rows]


def is_changed(review: Review, values: Rows) -> bool:
    """Whether `values` are not what the reviewer was shown."""
    return snapshot.fingerprint(values) != snapshot.fingerprint(json.loads(review.values))


def ask_anew(review: Review, values: Rows) -> None:
    """Put the question again on the new values; once, whoever notices first."""
    old = {"seen": review.seen}
    same = Review.objects.filter(pk=review.pk, version=review.version, status=Review.Status.OPEN)
    review.version += 1
    review.values = json.dumps(values, ensure_ascii=False)
    review.seen = shown_hash(review, values)
    with atomic():
        if same.update(version=review.version, values=review.values, seen=review.seen):
            _note(review, review.task_run, old, {"version": review.version, "seen": review.seen})
    review.refresh_from_db()
