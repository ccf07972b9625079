"""An order for quality control: message, reply, run, result."""

from __future__ import annotations

from engines import sop
from engines.models import PendingAction, TaskRun
from engines.sop.lease import left_behind
from tests.engines.sop import crash_chat, crash_story
from tests.engines.sop.boundaries import Boundaries
from tests.engines.sop.kit import expire

WHO, ORDER = "wanghushi", "请质控 P004"


def prepare() -> None:
    """The demo study is enough."""


def live(boundaries: Boundaries) -> None:
    """Callback, worker, sender; the run, and its result to the phone."""
    crash_chat.forget()
    with boundaries.watch():
        crash_chat.converse(WHO, ORDER)
        run = TaskRun.objects.get()
        sop.drive(run.pk)
        crash_story.tell(run)
        crash_chat.tasks.send_lane(WHO)


def recover() -> None:
    """WeCom delivers again what it had no answer to, and the sweepers come twice."""
    crash_chat.deliver(WHO, ORDER)
    for _time in range(2):
        crash_chat.sweep()
        expire(TaskRun.objects.get())
        for run_id in left_behind():
            sop.drive(TaskRun.objects.get(pk=run_id).pk)
        crash_chat.sweep()


def told() -> list[str]:
    """Rows and messages of one order."""
    run = TaskRun.objects.get()
    lines = [f"run {run.record_id} {run.status} {run.final_state} {run.seq}"]
    lines += [f"finding {row.rule_key} {row.state}" for row in PendingAction.objects.all()]
    return lines + crash_chat.left()


def check(expected: list[str]) -> None:
    """One run, its findings and its result once."""
    found = told()
    assert found == expected, (found, expected)
    crash_chat.check([line for line in expected if not line.startswith(("run ", "finding "))])
    assert sum(line.startswith("sent ") for line in expected) == 2, expected
    assert any(line.startswith("finding ") for line in expected), expected
