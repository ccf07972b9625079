"""Which visits are to be done, as one reader may know it (study/visits/due.py)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from study import readings
from study.models import FieldRole, Subject, VisitPlanEntry
from study.visits import due
from study.visits.calendar import State
from study.visits.due import Schedule
from tests.engines.sop.kit import change
from tests.support.study import Study

WEEK = timedelta(days=7)


def told(study: Study, userid: str = "zhangyi") -> Schedule:
    readings.read_all(study.project)
    return due.schedule(study.project, study[userid])


def names(found: Schedule, *, overdue: bool = False) -> set[tuple[str, str]]:
    today = found.today
    return {(one.subject, one.visit) for one in found.due(today, today + WEEK, overdue=overdue)}


@pytest.mark.full
def test_a_site_reads_its_own_subjects(study: Study) -> None:
    found = told(study, "crc_b")
    mine = Subject.objects.filter(project=study.project, site="site_b")
    assert {one.subject for one in found.visits} <= set(mine.values_list("record_id", flat=True))
    assert {*found.sites.values()} == {"site_b"}
    everybody = told(study)
    assert names(found) == {pair for pair in names(everybody) if pair[0] in found.sites}


def test_overdue_is_listed_where_it_is_asked_for(study: Study) -> None:
    found = told(study)
    assert ("P008", "V2") in names(found)
    assert ("P005", "V3") in names(found, overdue=True) - names(found)


@pytest.mark.full
def test_after_the_withdrawal_nothing_is_due(study: Study) -> None:
    """Whatever had opened before keeps its state, and nobody is asked for it any more."""
    today = told(study).today
    assert ("P008", "V2") in names(told(study))
    change(study, "P008", "screening_arm_1", subject_status="4", withdraw_date=str(today))
    found = told(study)
    assert not [pair for pair in names(found, overdue=True) if pair[0] == "P008"]
    states = {one.visit: one.state for one in found.visits if one.subject == "P008"}
    assert (states["V2"], states["V6"]) == (State.DUE, State.NOT_APPLICABLE)


@pytest.mark.full
def test_a_visit_with_a_date_in_the_future_is_planned_and_not_done(study: Study) -> None:
    day = told(study).today + timedelta(days=3)
    change(study, "P008", "v2_arm_1", v2_date=str(day))
    found = told(study)
    visit = next(one for one in found.visits if (one.subject, one.visit) == ("P008", "V2"))
    assert (visit.state, visit.actual, visit.planned) == (State.DUE, None, day)
    assert visit in found.due(day, day)
    assert visit not in found.due(found.today, day - timedelta(days=1))


@pytest.mark.full
def test_an_unscheduled_visit_has_a_day_and_is_never_due(study: Study) -> None:
    FieldRole.objects.create(
        project=study.project, role=FieldRole.Role.UNSCHEDULED, field="ae_judge_date"
    )
    found = told(study)
    assert found.unscheduled
    assert names(found) == names(Schedule(found.today, found.sites, found.visits, (), None))
    assert {one.subject for one in told(study, "crc_b").unscheduled} <= {
        *told(study, "crc_b").sites
    }


@pytest.mark.full
def test_an_arm_has_its_own_window(study: Study) -> None:
    """Open-label: sex stands in for the arm that a field holds."""
    FieldRole.objects.create(project=study.project, role=FieldRole.Role.ARM, field="sex")
    general = VisitPlanEntry.objects.get(project=study.project, visit="V2")
    before = {one.subject: one.target for one in told(study).visits if one.visit == "V2"}
    VisitPlanEntry.objects.create(
        project=study.project,
        visit="V2",
        arm="1",
        position=general.position,
        anchor_field=general.anchor_field,
        date_field=general.date_field,
        day=general.day + 10,
        minus=general.minus,
        plus=general.plus,
    )
    after = {one.subject: one.target for one in told(study).visits if one.visit == "V2"}
    assert before.keys() == after.keys()
    moved = {(after[key] or day) - day for key, day in before.items() if day}
    assert moved == {timedelta(0), timedelta(days=10)}
