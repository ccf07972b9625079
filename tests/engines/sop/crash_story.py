"""One run through every kind of node, and what must be true of it however often a process died."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any
from urllib.request import ProxyHandler, build_opener

from django.conf import settings

from engines import sop
from engines.models import FindingEvent, PendingAction, Review, TaskRun
from engines.sop.lease import left_behind
from projects import audit
from projects.models import AuditEntry, Member, Project
from skills.models import Skill
from skills.services import save_skill
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
DIRECT = build_opener(ProxyHandler({}))
TELL = [SEND, {"content": SENT}]


def prepare() -> None:
    """The workflow of the story in the demo study."""
    project = Project.objects.get()
    config = {"name": "crash", "start_node": "first", "nodes": NODES}
    save_skill(
        skill=Skill(project=project, skill_type=KIND, name="crash", config=config), actor="admin"
    )


def script(*messages: Any) -> None:
    """What the LLM says next; not a call of the product."""
    url = f"http://127.0.0.1:{settings.SIM_PORT}/_control/llm/script"
    # Not httpx: its boundaries are counted, and making a client takes longer than the whole call.
    with DIRECT.open(url, json.dumps(messages).encode(), timeout=30) as answer:
        answer.read()


def order() -> TaskRun:
    skill = Skill.objects.select_related("project").get(skill_type=KIND)
    return sop.start(
        project=skill.project, skill=skill, record_id=RECORD, triggered_by="zhangyi", cause=CAUSE
    )


def approve(run: TaskRun) -> None:
    review = Review.objects.get(task_run=run)
    member = Member.objects.get(wecom_userid="wanghushi")
    sop.decide(
        review_id=review.pk, actor=member, decision="approve", reason="已核对", seen=review.seen
    )


def tell() -> None:
    """Decide and go on; the LLM needs to be told to send."""
    run = TaskRun.objects.get(cause=CAUSE)
    approve(run)
    sop.drive(run.pk)


def recover() -> TaskRun:
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
            _press_again(run)
    run.refresh_from_db()
    return run


def _sweep(run: TaskRun) -> None:
    expire(run)
    script(*(TELL if run.current_node in {"second", "tell"} else []))
    for run_id in left_behind():
        assert run_id == str(run.pk)
        sop.drive(run.pk)
        sop.drive(run.pk)


def _press_again(run: TaskRun) -> None:
    try:
        approve(run)
    except sop.NotSuspended:
        return
    raise AssertionError("one review was decided twice")


def outbox(run: TaskRun) -> list[str]:
    """Every message; a number that a rolled back transaction used up in PostgreSQL does not count."""
    rows = OutboxMessage.objects.values_list("to_user", "key", "kind")
    number = Review.objects.get(task_run=run).pk
    lines = [" ".join(row).replace(str(run.pk), "RUN") for row in rows]
    return sorted(re.sub(rf"(?<=[:_]){number}(?=[#@])", "REVIEW", line) for line in lines)


def check(run: TaskRun, expected_outbox: list[str]) -> None:
    """Finished, everything once, nothing lost. Raises AssertionError."""
    assert (run.status, run.final_state) == ("COMPLETED", "end_review_required"), (
        run.status,
        run.message,
    )
    steps = [*run.steps.order_by("seq")]
    assert [step.seq for step in steps] == [*range(len(STEPS))], [step.seq for step in steps]
    assert [f"{step.node} {step.outcome}" for step in steps] == STEPS
    assert len(run.trace or []) == len(STEPS)
    found = sorted(f"{row.node} {row.rule_key}" for row in PendingAction.objects.all())
    assert found == FINDINGS, found
    assert not FindingEvent.objects.exists()
    assert Review.objects.get().decided_by == "wanghushi"
    assert [*audit.verify()] == []
    about = AuditEntry.objects.filter(action__regex="^(run|review|finding)")
    counted = Counter(about.values_list("action", flat=True))
    once = {"run.start": 1, "run.end": 1, "review.ask": 1, "review.approve": 1, "finding.open": 4}
    assert counted == once, counted
    assert outbox(run) == expected_outbox, (outbox(run), expected_outbox)
