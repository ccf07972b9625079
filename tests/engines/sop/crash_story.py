"""One run through every kind of node, and what must be true of it however often a process died."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from engines import sop, tasks
from engines.models import FindingEvent, PendingAction, Review, RunEvent, TaskRun
from engines.sop import run_events
from engines.sop.lease import left_behind
from projects import audit
from projects.models import AuditEntry, Member, Project
from skills.models import Skill
from skills.services import save_skill
from study.records import RecordData
from tests.engines.sop.boundaries import Boundaries
from tests.engines.sop.crash_control import control
from tests.engines.sop.kit import expire
from wechat.models import OutboxMessage

KIND, RECORD, CAUSE = "qc_process:crash", "P004", "crash"
ECOG = {"id": "A", "field": "ecog", "logic": {"<=": [{"var": "ecog"}, 2]}, "message": "ECOG>2"}
AGE = {
    "id": "B",
    "field": "age",
    "logic": {"<=": [{"var": "age"}, 1]},
    "message": "年龄",
    "severity": "warning",
}
NODES: dict[str, Any] = {
    "first": {"type": "hard_rule", "rules": [ECOG], "on_fail": "judge"},
    "judge": {"type": "soft_instruction", "instruction": "排除间质性肺炎。", "on_pass": "ask"},
    "ask": {"type": "human_review", "description": "请复核", "on_approve": "second"},
    "second": {"type": "hard_rule", "rules": [AGE], "on_fail": "tell"},
    "tell": {
        "type": "soft_instruction",
        "instruction": "通知研究者",
        "tools": ["send_message"],
        "on_pass": "last",
    },
    "last": {"type": "hard_rule", "rules": [ECOG], "on_fail": "end_review_required"},
}
STEPS = [
    "read pass",
    "first fail",
    "judge pass",
    "ask waiting",
    "ask approved",
    "second fail",
    "tell pass",
    "last fail",
]
FINDINGS = ["end_review_required end_review_required", "first A", "last A", "second B"]
SEND = {
    "tool_calls": [
        {
            "id": "c1",
            "function": {"name": "send_message", "arguments": '{"roles": ["PI"], "text": "请看"}'},
        }
    ]
}
SENT = '{"reason": "已通知", "evidence": ["\\"sent\\": 1"], "passed": true, "confidence": 0.9}'
TELL = [SEND, {"content": SENT}]


def prepare() -> None:
    """The workflow of the story in the demo study."""
    keep(NODES)


def keep(nodes: dict[str, Any]) -> None:
    """Save a workflow that starts with its first node."""
    project = Project.objects.get()
    config = {"name": "crash", "start_node": "first", "nodes": nodes}
    save_skill(
        skill=Skill(project=project, skill_type=KIND, name="crash", config=config), actor="admin"
    )


def script(*messages: Any) -> None:
    """What the LLM says next; not a call of the product."""
    control("llm/script", [{**message, "any_request": True} for message in messages])


def order(data: RecordData | None = None) -> TaskRun:
    skill = Skill.objects.select_related("project").get(skill_type=KIND)
    return sop.start(
        project=skill.project,
        skill=skill,
        record_id=RECORD,
        triggered_by="zhangyi",
        cause=CAUSE,
        data=data,
    )


def approve(run: TaskRun) -> None:
    review = Review.objects.get(task_run=run)
    member = Member.objects.get(wecom_userid="wanghushi")
    sop.decide(
        review_id=review.pk, actor=member, decision="approve", reason="已核对", seen=review.seen
    )


def live(boundaries: Boundaries) -> None:
    """Order, drive, approve, drive; the LLM needs to be told to send."""
    script()
    with boundaries.watch():
        run = order()
        sop.drive(run.pk)
        tell(run)
    script(*TELL)
    with boundaries.watch():
        approve(run)
        sop.drive(run.pk)
        tell(run)


def tell(run: TaskRun) -> None:
    """What happened becomes messages, by a worker that is woken for the run."""
    tasks.tell_events(str(run.pk))


def recover() -> None:
    """What happens after a crash: the order is given again, the sweeper comes, buttons are pressed again."""
    run = order()
    for _round in range(3):
        run.refresh_from_db()
        _sweep(run)
        run.refresh_from_db()
        if run.status == TaskRun.Status.SUSPENDED:
            approve(run)
            continue
        if Review.objects.filter(task_run=run).exists():
            press_again(run)


def _sweep(run: TaskRun) -> None:
    expire(run)
    script(*(TELL if run.current_node in {"second", "tell"} else []))
    for run_id in left_behind():
        assert run_id == str(run.pk)
        sop.drive(run.pk)
        sop.drive(run.pk)
    if run.pk in run_events.lanes_due(100):
        tell(run)


def press_again(run: TaskRun) -> None:
    try:
        approve(run)
    except sop.NotSuspended:
        return
    raise AssertionError("one review was decided twice")


def told() -> list[str]:
    """Every message; a number that a rolled back transaction used up in PostgreSQL does not count."""
    run = TaskRun.objects.get(cause=CAUSE)
    rows = OutboxMessage.objects.values_list("to_user", "key", "kind")
    number = Review.objects.get(task_run=run).pk
    lines = [" ".join(row).replace(str(run.pk), "RUN") for row in rows]
    return sorted(re.sub(rf"(?<=[:_]){number}(?=[#@])", "REVIEW", line) for line in lines)


def check(expected: list[str]) -> None:
    """Finished, everything once, nothing lost. Raises AssertionError."""
    check_all(expected, STEPS, FINDINGS)


def check_all(expected: list[str], visited: list[str], findings: list[str]) -> None:
    """The run ended with these steps, findings and messages, each once. Raises AssertionError."""
    run = TaskRun.objects.get(cause=CAUSE)
    assert (run.status, run.final_state) == ("COMPLETED", "end_review_required"), (
        run.status,
        run.message,
    )
    steps = [*run.steps.order_by("seq")]
    assert [step.seq for step in steps] == [*range(len(visited))], [step.seq for step in steps]
    assert [f"{step.node} {step.outcome}" for step in steps] == visited
    assert len(run.trace or []) == len(visited)
    found = sorted(f"{row.node} {row.rule_key}" for row in PendingAction.objects.all())
    assert found == findings, found
    closed = {"finding__review": Review.objects.get(decided_by="wanghushi"), "what": "closed"}
    settled = FindingEvent.objects.filter(**closed).count()
    assert (
        FindingEvent.objects.count()
        == settled
        == PendingAction.objects.filter(open_key=None).count()
    )
    assert [*audit.verify()] == []
    about = AuditEntry.objects.filter(action__regex="^(run|review|finding)")
    counted = Counter(about.values_list("action", flat=True))
    once = {"run.start": 1, "run.end": 1, "review.ask": 1, "review.approve": 1}
    once |= {"finding.open": len(findings), "finding.close": settled}
    assert counted == once, counted
    assert told() == expected, (told(), expected)
    assert not RunEvent.objects.filter(told_at__isnull=True).exists()
