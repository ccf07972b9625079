"""A run that goes as far as its review in the transaction that creates it, from a reading just made."""

from __future__ import annotations

from typing import Any

from engines import sop
from engines.models import TaskRun
from engines.sop import snapshot
from projects.models import Project
from tests.engines.sop import crash_story
from tests.engines.sop.boundaries import Boundaries
from tests.engines.sop.kit import expire

NODES: dict[str, Any] = {
    "first": {"type": "hard_rule", "rules": [crash_story.ECOG], "on_fail": "second"},
    "second": {"type": "hard_rule", "rules": [crash_story.AGE], "on_fail": "ask"},
    "ask": {"type": "human_review", "description": "请复核", "on_approve": "last"},
    "last": {
        "type": "hard_rule",
        "rules": [crash_story.ECOG],
        "on_fail": "end_review_required",
    },
}
STEPS = ["first fail", "second fail", "ask waiting", "ask approved", "last fail"]


def prepare() -> None:
    """The workflow of the story in the demo study."""
    crash_story.keep(NODES)


def _order() -> TaskRun:
    return crash_story.order(snapshot.read_subject(Project.objects.get(), crash_story.RECORD))


def live(boundaries: Boundaries) -> None:
    """Order and approve; a worker tells of both."""
    with boundaries.watch():
        run = _order()
        crash_story.tell(run)
        crash_story.approve(run)
        crash_story.tell(run)


def recover() -> None:
    """The order is given again, the sweeper comes, the button is pressed again."""
    run = _order()
    expire(run)
    sop.drive(run.pk)
    crash_story.tell(run)
    run.refresh_from_db()
    if run.status == TaskRun.Status.SUSPENDED:
        crash_story.approve(run)
    crash_story.press_again(run)
    crash_story.tell(run)


told = crash_story.told


def check(expected: list[str]) -> None:
    """Finished, everything once, nothing lost. Raises AssertionError."""
    crash_story.check_all(expected, STEPS, crash_story.FINDINGS)
