"""A worker that dies between any two statements of a briefing tells everybody once (issue B, must show 2).

Statement by statement in this process (CRASH_STRIDE: every so many-th);
commits and outside calls are killed by the crash lab of the SOP engine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from engines import briefing_material, sop
from engines.models import TaskRun
from engines.sop.lease import left_behind
from projects import audit
from projects.models import Project
from study import readings
from tests.engines.cron.kit import at, clock, no_rest, rows, skill_of
from tests.engines.sop.kit import expire, tell
from tests.support.study import Study
from wechat.models import OutboxMessage
from wechat.outbound import sender

pytestmark = pytest.mark.django_db(transaction=True)


class Died(BaseException):
    """As if the process were gone: nothing in the product catches it."""


@contextmanager
def dying_at(number: int) -> Iterator[list[str]]:
    """The `number`-th statement is never sent; 0: all are, and the list holds them."""
    seen: list[str] = []

    def statement(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql.split(None, 1)[0])
        if len(seen) == number:
            raise Died
        return execute(sql, params, many, context)

    with connection.execute_wrapper(statement):
        yield seen


def story(study: Study) -> None:
    """As beat and a worker do."""
    run = sop.fire(skill_of(study, "daily_briefing"))
    if run:
        sop.drive(run.pk)
    tell()


def recover(study: Study) -> TaskRun:
    """Beat fires again, the sweeper comes."""
    story(study)
    run = TaskRun.objects.get(skill__skill_type="daily_briefing")
    expire(run)
    for run_id in left_behind():
        sop.drive(UUID(run_id))
    tell()
    run.refresh_from_db()
    return run


@pytest.mark.full
@pytest.mark.strided
def test_killed_at_every_statement(study: Study) -> None:
    no_rest(study)
    # What the first reading of a study keeps is there for all later ones.
    readings.read_all(study.project)
    with at(clock(study, "08:30")), dying_at(0) as statements:
        story(study)
    expected = [(row.to_user, row.status) for row in rows()]
    assert len(expected) == 4
    assert statements.count("UPDATE") >= 2
    stride = int(os.environ.get("CRASH_STRIDE") or 1)
    for number in range(min(stride, len(statements) // 2), len(statements) + 1, stride):
        with at(clock(study, "08:30", days=number)):
            OutboxMessage.objects.all().delete()
            TaskRun.objects.all().delete()
            with pytest.raises(Died), dying_at(number):
                story(study)
            run = recover(study)
        assert (run.status, run.final_state) == ("COMPLETED", "end_success"), number
        assert [(row.to_user, row.status) for row in rows()] == expected, number
        assert [step.node for step in run.steps.all()] == ["brief"], number
    assert [*audit.verify()] == []


def test_a_worker_that_lost_its_lease_tells_nobody_again(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one reads REDCap its lease runs out and another takes over: what the first has is thrown away."""
    no_rest(study)
    real, calls = briefing_material.read_study, []

    def slowly(project: Project) -> briefing_material.Reading:
        calls.append(project)
        if len(calls) == 1:
            expire(run)
            sop.drive(run.pk)
        return real(project)

    monkeypatch.setattr(briefing_material, "read_study", slowly)
    with at(clock(study, "08:30")):
        found = sop.fire(skill_of(study, "daily_briefing"))
        assert found
        run = found
        sop.drive(run.pk)
        tell()
        for person in {row.to_user for row in rows()}:
            sender.send_lane(person)
    assert len(calls) == 2
    told = [message["to"] for message in study.stand_ins.sent()]
    assert sorted(told) == ["admin", "crc_b", "wanghushi", "zhangyi"]
    assert [step.node for step in run.steps.all()] == ["brief"]
