"""Two at once: a place has one open finding, a step is taken once, a query and a visit have one answer."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date

import pytest
from django.db import connection, connections

from engines import sop
from engines.models import FindingEvent, PendingAction, TaskRun, VisitReminder
from engines.sop import drive, finding_life, visit_reminders
from projects.models import AuditEntry
from skills.models import Skill
from study.records import read_record
from tests.engines.sop.kit import begin, hard, meanwhile, new_skill, rule
from tests.house.kit import failing, together, until
from tests.support.stand_ins import StandIns
from tests.support.study import Study, seed_study

pytestmark = pytest.mark.django_db(transaction=True)
YOUNG = rule(logic={"<": [{"var": "age"}, 1]})
TIMES = 3
ON_POSTGRESQL = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="NOT RUN: PostgreSQL (set DATABASE_URL)"
)


@pytest.fixture
def study(stand_ins: StandIns) -> Study:
    return seed_study(stand_ins)


@pytest.mark.full
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


def blocked() -> int:
    """How many connections wait for a row of another."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        told = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        cursor.execute(told + "AND wait_event_type = 'Lock'")
        return int(cursor.fetchone()[0])


@ON_POSTGRESQL
def test_the_same_facts_told_in_another_order_do_not_deadlock(study: Study) -> None:
    """Each has opened its first finding when both come to the second, which somebody else is about to open."""
    facts = [
        YOUNG | {"id": name, "same_as": f"std.range.{name}"} for name in ("age", "weight", "height")
    ]
    orders = {"there": facts, "back": facts[::-1], "middle": facts[1:2]}
    skills = {
        name: new_skill(
            study, {"check": hard(rules=rules, on_fail="end_with_violation")}, f"qc_process:{name}"
        )
        for name, rules in orders.items()
    }
    data = read_record(project=study.project, record_id="P001")

    def check(skill: Skill) -> TaskRun:
        try:
            return sop.start(
                project=study.project,
                skill=skill,
                record_id="P001",
                triggered_by="zhangyi",
                data=data,
            )
        finally:
            if skill is not skills["middle"]:
                connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        with failing():
            check(skills["middle"])
            runs = [pool.submit(check, skills[name]) for name in ("there", "back")]
            until(lambda: blocked() == 2, limit_s=20)
        assert {run.result().status for run in runs} == {"COMPLETED"}
    rows = PendingAction.objects.order_by("created_at")
    [kind] = {row.skill_type for row in rows}
    order = orders[kind.removeprefix("qc_process:")]
    assert [row.rule_key for row in rows] == [one["id"] for one in order], (
        "in the order of the rules"
    )


@ON_POSTGRESQL
def test_two_members_at_once_answer_for_a_visit_once(study: Study) -> None:
    run = begin(study, new_skill(study, {"check": hard()}), "P001")
    day = date(2026, 1, 5)
    mine, theirs = (
        VisitReminder.objects.create(
            project=study.project,
            run=run,
            member=study[userid],
            record_id="P001",
            visit="V2",
            opens=day,
            closes=day,
            asked_on=day,
        )
        for userid in ("wanghushi", "zhangyi")
    )

    def answer(reminder: VisitReminder) -> visit_reminders.Outcome:
        try:
            return visit_reminders.keep_answer(
                reminder=reminder, actor=reminder.member, given="done"
            )
        finally:
            if reminder is theirs:
                connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        other: list[Future[visit_reminders.Outcome]] = []

        def come() -> None:
            other.append(pool.submit(answer, theirs))
            until(lambda: other[0].done() or blocked())

        with meanwhile('NOT ("iit_visit_reminders"."answer" = ', come):
            assert answer(mine).fresh
        assert not other[0].result().fresh
    assert AuditEntry.objects.filter(action="visit.answer").count() == 1
