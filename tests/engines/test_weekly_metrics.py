"""What a week's figures count, from REDCap and our own tables (issue 4, "History book")."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils.timezone import now

from core.house.db import atomic
from engines import work
from engines.assistant.tools import Status, execute
from engines.models import PendingAction, TaskRun
from engines.sop import finding_life
from engines.sop import findings as sop_findings
from memory.reports import metrics, weeks
from memory.reports.metrics import Figures
from memory.reports.weeks import Period
from study.models import RedcapQuery, Subject, VisitPlanEntry
from study.records import read_records
from tests.engines.tools.test_tools import context
from tests.support.study import Study


def today() -> date:
    """The study's day."""
    return now().astimezone(ZoneInfo("Asia/Shanghai")).date()


def week(study: Study, day: date, at: datetime | None = None) -> Period:
    found = weeks.week_of(study.project, day)
    assert found is not None
    until = weeks.bounds(study.project, found)[1]
    return weeks.period(study.project, found, at or until)


def count(study: Study, part: Period) -> dict[str, Any]:
    return dict(metrics.gather(study.project, part, work.week_figures).values)


def put(study: Study, record: str, event: str, **values: str) -> None:
    row = {"record": record, "event": event, "instrument": "", "instance": "", "values": values}
    study.stand_ins.post("redcap/records", [row])


def enrolments(study: Study) -> list[date]:
    field = study.project.enrolment_field
    rows = [row for r in read_records(project=study.project, fields=[field]) for row in r.rows]
    return [date.fromisoformat(row[field]) for row in rows if row.get(field)]


@pytest.mark.full
def test_enrolled_this_week_and_by_its_end(study: Study) -> None:
    days = enrolments(study)
    assert len(days) > 10
    for number in range(1, 46, 4):
        part = week(study, weeks.week(study.project, number).first)
        found = count(study, part)
        inside = [day for day in days if part.week.first <= day <= part.week.last]
        before = [day for day in days if day <= part.week.last]
        assert (found["enrolled"], found["enrolled_total"]) == (len(inside), len(before))
        assert found["completion"] == round(100 * len(before) / 30, 1)
        assert found["target"] == 30


@pytest.mark.full
def test_the_running_week_counts_up_to_today(study: Study) -> None:
    days = enrolments(study)
    part = week(study, today(), now())
    assert part.running
    assert count(study, part)["enrolled_total"] == len([d for d in days if d <= part.last])


@pytest.mark.full
def test_no_target_has_no_share(study: Study) -> None:
    study.project.target_enrolment = 0
    study.project.save()
    found = count(study, week(study, today()))
    assert (found["target"], found["completion"]) == (0, "-")


@pytest.mark.full
def test_visits_done_in_a_week(study: Study) -> None:
    plan = VisitPlanEntry.objects.filter(project=study.project)
    kept = plan.order_by("position")[0]
    plan.exclude(pk=kept.pk).delete()
    records = read_records(project=study.project, fields=[kept.date_field])
    given = [row.get(kept.date_field) for record in records for row in record.rows]
    done = [date.fromisoformat(value) for value in given if value]
    assert done
    for day in sorted(set(done))[:6]:
        part = week(study, day)
        inside = [d for d in done if part.week.first <= d <= part.last]
        assert count(study, part)["visits_done"] == len(inside)


@pytest.mark.full
def test_a_visit_is_due_in_its_window_and_overdue_behind_it(study: Study) -> None:
    """As of each week's end, also when it is made up for later: what was done after it was open then."""
    plan = VisitPlanEntry.objects.filter(project=study.project)
    field, event = plan[0].date_field, f"{plan[0].visit.lower()}_arm_1"
    plan.exclude(pk=plan[0].pk).delete()
    study.project.withdraw_field = ""
    study.project.save()
    (enrolled,) = {
        row[study.project.enrolment_field]
        for record in read_records(project=study.project, record_ids=["P001"])
        for row in record.rows
        if row.get(study.project.enrolment_field)
    }
    anchor = date.fromisoformat(enrolled)
    VisitPlanEntry.objects.filter(project=study.project).update(
        anchor_field=study.project.enrolment_field, day=15, minus=0, plus=0
    )
    target = anchor + timedelta(days=15 - study.project.anchor_is_day)
    late = target + timedelta(days=15)

    def states(day: date) -> tuple[int, int, int]:
        found = count(study, week(study, day))
        return found["visits_done"], found["visits_due"], found["visits_overdue"]

    put(study, "P001", event, **{field: ""})
    open_then, open_later = states(target + timedelta(days=7)), states(late)
    put(study, "P001", event, **{field: late.isoformat()})
    assert states(target + timedelta(days=7)) == open_then
    assert states(late) == (open_later[0] + 1, open_later[1], open_later[2] - 1)


def finding(study: Study, at: datetime, **more: Any) -> PendingAction:
    skill = study.project.skills.get(skill_type="qc_process")
    run = TaskRun.objects.create(
        project=study.project, skill=skill, skill_version=1, config={}, triggered_by="x"
    )
    row = PendingAction.objects.create(
        project=study.project,
        task_run=run,
        record_id="P001",
        action_type="violation",
        message="m",
        severity="error",
        skill_type="qc_process",
        node="n",
        rule_key=str(run.pk),
        open_key=str(run.pk),
        **more,
    )
    TaskRun.objects.filter(pk=run.pk).update(created_at=at)
    PendingAction.objects.filter(pk=row.pk).update(created_at=at)
    return row


@pytest.mark.full
def test_findings_and_runs_of_a_week(study: Study) -> None:
    zone = ZoneInfo(study.project.timezone)
    part = week(study, today() - timedelta(days=14))
    inside = datetime.combine(part.week.first, time(0, 0), zone)
    finding(study, inside - timedelta(seconds=1))
    closed = finding(study, inside)
    finding(study, part.until - timedelta(seconds=1))
    finding(study, part.until)
    with atomic():
        assert sop_findings.close_finding(closed, actor="wanghushi", resolution="核对无误")
    PendingAction.objects.filter(pk=closed.pk).update(resolved_at=inside + timedelta(days=1))
    found = count(study, part)
    assert (found["findings_opened"], found["findings_closed"]) == (2, 1)
    assert found["queries"] == 2, "one of before and one of the week are open at its end"
    assert found["qc_runs"] == 2
    PendingAction.objects.filter(pk=closed.pk).update(resolved_at=part.until)
    assert count(study, part)["queries"] == 3, "it was still open when the week ended"


def test_a_source_that_is_down_leaves_the_others(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    found = metrics.gather(study.project, week(study, today()), work.week_figures)
    assert set(found.unread) == {
        "enrolled",
        "enrolled_total",
        "completion",
        "visits_done",
        "visits_due",
        "visits_overdue",
    }
    assert found.values["messages"] == 0
    assert found.stored["complete"] is False


def no_records(study: Study) -> None:
    """REDCap answers, and shows nobody."""
    empty = {"service": "redcap", "path": "", "kind": "body", "value": [], "times": None}
    study.stand_ins.post("faults", [empty | {"body_contains": "content=record"}])


def test_nobody_where_subjects_are_known_is_an_outage(study: Study) -> None:
    """In the week's figures as in an answer: 0 enrolled would be a lie (design.md 9.8)."""
    no_records(study)
    found = metrics.gather(study.project, week(study, today()), work.week_figures)
    assert {"enrolled_total", "visits_overdue"} <= set(found.unread)
    for userid in ("zhangyi", "crc_b"):
        assert execute(context(study, userid), "get_project_stats", {}).status is Status.DOWN


def test_a_study_without_subjects_has_none(study: Study) -> None:
    Subject.objects.all().delete()
    no_records(study)
    assert count(study, week(study, today()))["enrolled_total"] == 0


@pytest.mark.full
def test_chat_and_report_count_the_same_open_findings(study: Study) -> None:
    """What a data change resolved waits for a person's word, so it is not closed (decisions.md)."""
    part = week(study, today(), now() + timedelta(seconds=1))
    for state in PendingAction.State:
        row = finding(study, now())
        if state == PendingAction.State.CLOSED:
            with atomic():
                sop_findings.close_finding(row, actor="wanghushi", resolution="核对无误")
        elif state == PendingAction.State.REJECTED:
            finding_life.move(finding=row, step="reject", actor="wanghushi", reason="误报")
        else:
            PendingAction.objects.filter(pk=row.pk).update(state=state)
    answer = execute(context(study), "get_project_stats", {})
    assert answer.asked[-1][1].basis.rows == count(study, part)["queries"] == 5


def test_what_an_earlier_count_knew_is_kept() -> None:
    found = Figures({"a": None, "b": None, "c": 3}, ("a", "b")).filled_from({"a": 0, "c": 9})
    assert found.values == {"a": 0, "b": None, "c": 3}
    assert found.unread == ("b",)


@pytest.mark.full
def test_what_redcap_asks_is_counted_once(study: Study) -> None:
    """Beside the findings, and not where an open finding is about the same place; as it was then."""
    part = week(study, today(), now() + timedelta(seconds=1))
    finding(study, now(), event="v1_arm_1", field="alt")
    before = count(study, part)["queries"]
    at = now() - timedelta(hours=1)
    times = {"opened_at": at, "last_at": at, "read_at": at}
    same = {"project": study.project, "record_id": "P001", "event": "v1_arm_1", **times}
    Subject.objects.get_or_create(project=study.project, record_id="P001")
    RedcapQuery.objects.create(status_id=1, field="alt", **same)
    assert count(study, part)["queries"] == before
    other = RedcapQuery.objects.create(status_id=2, field="ast", **same)
    assert count(study, part)["queries"] == before + 1
    RedcapQuery.objects.filter(pk=other.pk).update(
        state="closed", closed_at=now() - timedelta(minutes=1)
    )
    assert count(study, part)["queries"] == before
    study.project.reads_queries = False
    study.project.save()
    RedcapQuery.objects.filter(pk=other.pk).update(state="open", closed_at=None)
    assert count(study, part)["queries"] == before
