"""Two runs that wait for one review, its decision at one of them, and a third that follows it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from engines import sop
from engines.models import FindingEvent, PendingAction, Review, RunEvent, TaskRun
from engines.sop import snapshot
from engines.sop.lease import left_behind
from projects import audit
from projects.models import AuditEntry, Project
from skills.models import Skill
from tests.engines.sop import crash_story
from tests.engines.sop.boundaries import Boundaries
from tests.engines.sop.kit import expire
from wechat.models import OutboxMessage

NODES: dict[str, Any] = {
    "first": {"type": "hard_rule", "rules": [crash_story.ECOG], "on_fail": "ask"},
    "ask": {"type": "human_review", "description": "请复核", "on_approve": "tell"},
    "tell": {"type": "notify", "content": "weekly_report", "roles": ["PI"]},
}
STEPS = ["first fail", "ask waiting", "ask approved", "tell pass"]
RUNS = ("one", "two", "three")


def prepare() -> None:
    """The workflow of the story in the demo study."""
    crash_story.keep(NODES)


def _order(cause: str) -> TaskRun:
    skill = Skill.objects.select_related("project").get(skill_type=crash_story.KIND)
    return sop.start(
        project=skill.project,
        skill=skill,
        record_id=crash_story.RECORD,
        triggered_by="zhangyi",
        cause=cause,
        data=snapshot.read_subject(Project.objects.get(), crash_story.RECORD),
    )


def _go_on(*causes: str) -> None:
    for run in TaskRun.objects.filter(cause__in=causes).order_by("created_at"):
        sop.drive(run.pk)
        crash_story.tell(run)


def live(boundaries: Boundaries) -> None:
    """Ordered twice, approved at the first, each goes on; ordered once more."""
    with boundaries.watch():
        first, _second = _order("one"), _order("two")
        _go_on("one", "two")
        crash_story.approve(first)
        _go_on("one", "two")
        _order("three")
        _go_on("three")


def recover() -> None:
    """Orders are given again, the sweeper comes, the button is pressed again."""
    first, _second = _order("one"), _order("two")
    _sweep()
    review = Review.objects.get()
    if review.status == Review.Status.OPEN:
        crash_story.approve(first)
    _sweep()
    crash_story.press_again(first)
    _order("three")
    _sweep()


def _sweep() -> None:
    for run in TaskRun.objects.order_by("created_at"):
        expire(run)
    for _time in range(2):
        for run_id in left_behind():
            sop.drive(TaskRun.objects.get(pk=run_id).pk)
    for run in TaskRun.objects.order_by("created_at"):
        crash_story.tell(run)


def told() -> list[str]:
    """Every message; of which run, by its cause."""
    names = {str(run.pk): run.cause or "" for run in TaskRun.objects.all()}
    number = Review.objects.get().pk
    lines = [" ".join(row) for row in OutboxMessage.objects.values_list("to_user", "key", "kind")]
    for pk, name in names.items():
        lines = [line.replace(pk, name) for line in lines]
    return sorted(re.sub(rf"(?<=[:_]){number}(?=[#@:]|\b)", "REVIEW", line) for line in lines)


def check(expected: list[str]) -> None:
    """Each run went its way once; one question, one answer, one finding. Raises AssertionError."""
    runs = {run.cause: run for run in TaskRun.objects.all()}
    assert {*runs} == {*RUNS}
    for run in runs.values():
        assert (run.status, run.final_state) == ("COMPLETED", "end_success"), (run.cause, run)
        steps = [*run.steps.order_by("seq")]
        assert [f"{step.node} {step.outcome}" for step in steps] == STEPS, run.cause
        assert [step.seq for step in steps] == [*range(len(STEPS))]
    review = Review.objects.get()
    assert (review.status, review.decided_by) == ("approved", "wanghushi")
    finding = PendingAction.objects.get()
    assert (finding.state, finding.review) == ("closed", review)
    events = FindingEvent.objects.values_list("task_run__cause", "what")
    assert Counter(events) == {
        ("two", "observed"): 1,
        ("three", "observed"): 1,
        (None, "closed"): 1,
    }
    about = AuditEntry.objects.filter(action__regex="^(run|review|finding)")
    counted = Counter(about.values_list("action", flat=True))
    once = {"run.start": 3, "run.end": 3, "review.ask": 2, "review.approve": 1}
    assert counted == once | {"finding.open": 1, "finding.close": 1}, counted
    assert [*audit.verify()] == []
    assert told() == expected, (told(), expected)
    assert not RunEvent.objects.filter(told_at__isnull=True).exists()
