"""Two at once: a place has one open finding, a step is taken once, a query has one answer."""

from __future__ import annotations

import pytest

from engines.models import FindingEvent, PendingAction
from engines.sop import drive, finding_life
from tests.engines.sop.kit import begin, hard, new_skill, rule
from tests.house.kit import together
from tests.support.stand_ins import StandIns
from tests.support.study import Study, seed_study

pytestmark = pytest.mark.django_db(transaction=True)
YOUNG = rule(logic={"<": [{"var": "age"}, 1]})
TIMES = 3


@pytest.fixture
def study(stand_ins: StandIns) -> Study:
    return seed_study(stand_ins)


def test_two_runs_at_once_leave_one_finding(study: Study) -> None:
    """The second observes what the first has opened, or the other way round."""
    skill = new_skill(study, {"check": hard(rules=[YOUNG], on_fail="end_with_violation")})
    for number in range(1, TIMES + 1):
        runs = [begin(study, skill, f"P00{number}") for _ in range(2)]
        outcomes = together(*(lambda run=run: drive(run.pk) for run in runs))  # type: ignore[misc]
        assert not [one for one in outcomes if isinstance(one, Exception)]
        [finding] = PendingAction.objects.filter(record_id=f"P00{number}")
        assert finding.open_key
        assert [*finding.events.values_list("what", flat=True)] == ["observed"]


def test_two_people_at_once_take_a_step_once(study: Study) -> None:
    skill = new_skill(study, {"check": hard(rules=[YOUNG], on_fail="end_with_violation")})
    drive(begin(study, skill, "P001").pk)
    finding = PendingAction.objects.get()

    def take(step: str) -> object:
        own = PendingAction.objects.get(pk=finding.pk)
        return finding_life.move(finding=own, step=step, actor="zhangyi", reason="两人同时")

    for step in ("query", "answer", "reject"):
        outcomes = together(lambda step=step: take(step), lambda step=step: take(step))  # type: ignore[misc]
        assert sum(isinstance(one, PendingAction) for one in outcomes) == 1, outcomes
        assert FindingEvent.objects.filter(what=step).count() == 1
