"""Visits of a stored study: the plan from our tables, the dates from REDCap."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pydantic import ValidationError
from pytest_django import Settings

from core.integrations.redcap import Row
from projects.models import Project
from study import dictionary
from study.models import Dictionary, FieldRole
from study.records import RecordData, read_record
from study.visits.calendar import State, VisitState
from study.visits.window import visit_states
from tests.hospital import SCREENING, V1, V2, Hospital, open_hospital
from tests.projects.studies import plan, study

pytestmark = pytest.mark.django_db
TODAY = date(2024, 4, 10)


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    return study(hospital)


def record(*rows: Row, missing: tuple[str, ...] = ()) -> RecordData:
    return RecordData("P1", "site_a", rows, datetime.now(UTC), missing, not missing)


def screening(**values: str | int) -> Row:
    given: Row = {"first_dose_date": "2024-03-01", "withdraw_date": "", "visit_date": ""}
    return {"record_id": "P1", "redcap_event_name": SCREENING, **given, **values}


def visit(event: str, day: str, **values: str | int) -> Row:
    blank: Row = {"first_dose_date": "", "withdraw_date": "", "visit_date": day}
    return {"record_id": "P1", "redcap_event_name": event, **blank, **values}


def states(project: Project, found: RecordData) -> list[tuple[str, str, int]]:
    return [(s.visit, s.state.value, s.days) for s in visit_states(project, found, TODAY)]


def test_a_subject_of_the_hospital(project: Project) -> None:
    plan(project)
    found = read_record(project=project, record_id="P001")
    assert found is not None

    assert states(project, found) == [("V1", "in_window", 0), ("V2", "late", 1)]


def test_the_event_says_whose_visit_date_it_is(project: Project) -> None:
    plan(project)
    rows = [screening(), visit(V1, "2024-03-02"), visit(V2, "")]

    assert states(project, record(*rows)) == [("V1", "in_window", 0), ("V2", "overdue", 6)]


def test_one_field_at_several_events_without_saying_which(project: Project) -> None:
    plan(project, {"visit": "V1", "day": 1, "minus": 3, "plus": 3})
    rows = [screening(), visit(V1, "2024-03-02"), visit(V2, "2024-03-29")]

    (found,) = visit_states(project, record(*rows), TODAY)

    assert found.state is State.UNKNOWN
    assert "visit_date" in (found.reason or "")


def test_the_same_date_twice_is_no_contradiction(project: Project) -> None:
    plan(project)
    rows = [screening(), visit(V1, "2024-03-02", first_dose_date="2024-03-01")]

    assert states(project, record(*rows))[0] == ("V1", "in_window", 0)


def test_two_anchors_are_a_contradiction(project: Project) -> None:
    plan(project)
    rows = [screening(), visit(V1, "2024-03-02", first_dose_date="2024-03-05")]

    found = visit_states(project, record(*rows), TODAY)

    assert {state.state for state in found} == {State.UNKNOWN}
    assert "first_dose_date" in (found[0].reason or "")


@pytest.mark.parametrize("hidden", ["first_dose_date", "visit_date", "withdraw_date"])
def test_what_the_token_may_not_see_is_unknown_and_never_blank(
    project: Project, hidden: str
) -> None:
    plan(project)
    rows = [
        {key: value for key, value in row.items() if key != hidden}
        for row in (screening(), visit(V1, "2024-03-02"))
    ]

    for missing in ((hidden,), ()):
        found = visit_states(project, record(*rows, missing=missing), TODAY)[0]
        assert found.state is State.UNKNOWN
        assert hidden in (found.reason or "")


def test_a_withdrawal_stops_what_has_not_opened(project: Project) -> None:
    plan(project)
    rows = [screening(withdraw_date="2024-03-10"), visit(V1, "2024-03-02")]

    assert states(project, record(*rows)) == [("V1", "in_window", 0), ("V2", "not_applicable", 0)]


def test_visits_of_another_arm_are_left_out(project: Project) -> None:
    dictionary.refresh(project)
    plan(
        project,
        {"visit": "V1", "event": V1, "arm": "arm_1", "day": 1, "plus": 3},
        {"visit": "V1", "event": "v1_arm_2", "arm": "arm_2", "day": 8, "plus": 3},
        {"visit": "V9", "event": "v9_arm_2", "arm": "2", "day": 9, "plus": 3},
    )

    found = visit_states(project, record(screening(), visit(V1, "2024-03-02")), TODAY)

    assert [(s.visit, s.target) for s in found] == [("V1", date(2024, 3, 1))]


def test_the_arm_of_an_event_is_the_one_that_redcap_says(project: Project) -> None:
    dictionary.refresh(project)
    stored = Dictionary.objects.get(project=project)
    stored.content["events"] += [
        {"event_name": "V1", "arm_num": 1, "unique_event_name": "v1_arm_1b"},
        {"event_name": "C", "arm_num": 2, "unique_event_name": "check_arm_1_arm_9"},
    ]
    stored.digest = "two arms"
    stored.save()
    entries = [
        {"visit": "V1", "event": "v1_arm_1b", "arm": "arm_1", "day": 1},
        {"visit": "V2", "event": "check_arm_1_arm_9", "arm": "2", "day": 8},
    ]
    plan(project, *entries)

    def planned(event: str) -> list[str]:
        row = {**screening(), "redcap_event_name": event}
        return [found.visit for found in visit_states(project, record(row), TODAY)]

    assert planned("v1_arm_1b") == ["V1"]
    assert planned("check_arm_1_arm_9") == ["V2"]


@pytest.mark.parametrize(
    ("arm", "missing", "doubt"),
    [
        (None, ("arm",), "not_exported"),
        (None, (), "not_exported"),
        ("UNK", (), "missing_code"),
    ],
)
def test_an_arm_that_nobody_can_tell_leaves_its_visits_unknown(
    project: Project, arm: str | None, missing: tuple[str, ...], doubt: str
) -> None:
    """Each once, whatever it would be in which arm; what is planned for all and by REDCap's arms is decided."""
    dictionary.refresh(project)
    stored = Dictionary.objects.get(project=project)
    stored.content["project"]["missing_data_codes"] = "UNK, Unknown"
    stored.digest = "with codes"
    stored.save()
    FieldRole.objects.create(project=project, role=FieldRole.Role.ARM, field="arm")
    entries = [
        {"visit": "V0", "event": V1, "day": 1, "plus": 3},
        {"visit": "V2", "event": V2, "day": 8},
        {"visit": "V2", "event": V2, "arm": "A", "day": 15},
        {"visit": "V2", "event": "v2_arm_2", "arm": "B", "day": 22},
        {"visit": "V3", "event": V2, "arm": "B", "day": 29},
        {"visit": "V4", "event": V1, "arm": "arm_1", "day": 1, "plus": 3},
    ]
    plan(project, *entries)
    told = {} if arm is None else {"arm": arm}
    rows = [screening(**told), visit(V1, "2024-03-02", **dict.fromkeys(told, ""))]

    found = visit_states(project, record(*rows, missing=missing), TODAY)

    states = [(one.visit, one.state.value, one.doubt) for one in found]
    assert states == [
        ("V0", "in_window", None),
        ("V2", "unknown", doubt),
        ("V3", "unknown", doubt),
        ("V4", "in_window", None),
    ]
    open_ones = [one for one in found if one.state is State.UNKNOWN]
    assert {(one.target, one.open, one.actual) for one in open_ones} == {(None, None, None)}
    assert all("A" not in (one.reason or "") for one in open_ones)


def test_a_blank_arm_is_none_of_the_plans(project: Project) -> None:
    dictionary.refresh(project)
    FieldRole.objects.create(project=project, role=FieldRole.Role.ARM, field="arm")
    plan(project, {"visit": "V2", "day": 8}, {"visit": "V2", "arm": "A", "day": 15})

    [found] = visit_states(project, record(screening(arm="")), TODAY)

    assert found.target == date(2024, 3, 8)


def test_the_studys_convention_is_used_and_told(project: Project) -> None:
    project.anchor_is_day = 0
    plan(project)
    rows = [screening(), visit(V2, "2024-04-05")]

    found: VisitState = visit_states(project, record(*rows), TODAY)[1]

    assert (found.state, found.anchor_is_day) == (State.IN_WINDOW, 0)


def test_a_stored_plan_with_day_zero_is_refused(project: Project) -> None:
    plan(project, {"visit": "V0", "day": 0})

    with pytest.raises(ValidationError, match="V0"):
        visit_states(project, record(screening()), TODAY)


def run(**options: Any) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("visit_window", stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_command_reads_the_subject(project: Project) -> None:
    plan(project)

    lines = run(project="TEST-IIT", record="P001", today="2024-04-10")

    assert [(line["record_id"], line["visit"], line["state"]) for line in lines] == [
        ("P001", "V1", "in_window"),
        ("P001", "V2", "late"),
    ]


@pytest.mark.parametrize(
    ("options", "told", "code"),
    [
        ({"project": "NOPE", "record": "P001"}, "NOPE", 3),
        ({"project": "TEST-IIT", "record": "P999"}, "P999", 3),
        ({"project": "TEST-IIT", "record": "p001"}, "p001", 3),
        ({"project": "TEST-IIT", "record": "P001", "today": "tomorrow"}, "tomorrow", 2),
    ],
)
def test_what_is_unknown_is_said(
    project: Project, options: dict[str, str], told: str, code: int
) -> None:
    plan(project)

    with pytest.raises(CommandError, match=told) as refused:
        run(**options)
    assert refused.value.returncode == code


def test_an_outage_has_an_exit_code_of_its_own(project: Project, hospital: Hospital) -> None:
    plan(project)
    hospital.fault("status", 403, times=9)

    with pytest.raises(CommandError) as refused:
        run(project="TEST-IIT", record="P001")
    assert refused.value.returncode == 4


def test_a_study_without_redcap_says_so(project: Project) -> None:
    Project.objects.update(redcap_url="")

    with pytest.raises(CommandError, match="REDCap") as refused:
        run(project="TEST-IIT", record="P001")
    assert refused.value.returncode == 2
