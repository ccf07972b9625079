"""Visits as the standard checks judge them: what cannot be read or told is undecided and closes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.utils.timezone import now

from demo.planted import CHECKS
from engines.models import PendingAction
from engines.sop.checks.kinds import Kind
from engines.sop.checks.switch import switch
from projects.models import Project
from study.blinding.mask import mask_for_all
from study.models import BlindedField, Dictionary, VisitPlanEntry
from study.records import RecordData
from study.visits.window import visit_states
from tests.engines.checks.made import classic_of, found, project_of
from tests.engines.sop.kit import change, run_of
from tests.support.dictionaries import item
from tests.support.study import Study

pytestmark = pytest.mark.django_db
VISITS: dict[str, dict[str, object]] = {str(Kind.VISIT_WINDOW): {}, str(Kind.VISIT_ORDER): {}}
FIELDS = [
    item("base", "record_id", "Record"),
    item("base", "first_dose", "First dose"),
    item("base", "v1_date", "V1"),
    item("base", "v2_date", "V2"),
    item("base", "left_date", "Withdrawal"),
    item("base", "randomised_on", "Randomisation"),
]
LATE = {"first_dose": "2024-03-01", "v1_date": "2024-03-01", "v2_date": "2024-06-01"}
BOTH = {"std.visit_window.V2", "std.visit_order.V2"}


def study_of(values: Mapping[str, str]) -> tuple[Project, RecordData]:
    kind, data = classic_of(FIELDS, {**values})
    project = project_of(kind)
    project.withdraw_field = "left_date"
    project.save()
    for position, (visit, day) in enumerate((("V1", 1), ("V2", 28))):
        VisitPlanEntry.objects.create(
            project=project,
            position=position,
            visit=visit,
            anchor_field="first_dose",
            date_field=f"{visit.lower()}_date",
            day=day,
            minus=7,
            plus=7,
        )
    return project, data


def told(project: Project, data: RecordData) -> dict[str, tuple[str, str]]:
    """Of V2: rule -> outcome and reason, of what is no pass."""
    seen = found(project, data, VISITS)
    return {one.rule_key: (one.outcome, one.reason) for one in seen if one.rule_key in BOTH}


@pytest.mark.parametrize(
    ("values", "window", "order"),
    [
        ({}, ("FAIL", ""), None),
        ({"v2_date": "2024-06-UN"}, ("UNKNOWN", "partial_date"), ("UNKNOWN", "partial_date")),
        ({"v2_date": "2024/6/1"}, ("UNKNOWN", "type_mismatch"), ("UNKNOWN", "type_mismatch")),
        ({"v2_date": "2024-02-30"}, ("UNKNOWN", "type_mismatch"), ("UNKNOWN", "type_mismatch")),
        ({"v2_date": "UNK"}, ("UNKNOWN", "missing_code"), ("UNKNOWN", "missing_code")),
        ({"first_dose": "2024-03"}, ("UNKNOWN", "partial_date"), None),
        ({"first_dose": "2024-03", "v2_date": ""}, ("UNKNOWN", "partial_date"), None),
        ({"left_date": "2024-13-45"}, ("UNKNOWN", "type_mismatch"), None),
        ({"first_dose": ""}, ("UNKNOWN", "missing"), None),
        (
            {"first_dose": "", "v2_date": "6/1"},
            ("UNKNOWN", "missing"),
            ("UNKNOWN", "type_mismatch"),
        ),
        ({"first_dose": "", "v2_date": ""}, None, None),
    ],
)
def test_a_date_that_cannot_be_read_is_undecided(
    values: dict[str, str], window: tuple[str, str] | None, order: tuple[str, str] | None
) -> None:
    project, data = study_of(LATE | values)
    stored = Dictionary.objects.get(project=project)
    stored.content["project"]["missing_data_codes"] = "UNK, Unknown"
    stored.digest = f"{stored.digest} with codes"
    stored.save()
    wanted = {"std.visit_window.V2": window, "std.visit_order.V2": order}
    assert told(project, data) == {key: one for key, one in wanted.items() if one}


@pytest.mark.parametrize(
    ("gone", "rules"),
    [
        ("v2_date", BOTH),
        ("first_dose", {"std.visit_window.V2"}),
        ("left_date", {"std.visit_window.V2"}),
    ],
)
def test_a_field_of_the_plan_that_no_row_has_is_undecided(gone: str, rules: set[str]) -> None:
    project, data = study_of(LATE)
    rows = tuple({name: text for name, text in row.items() if name != gone} for row in data.rows)
    seen = told(project, replace(data, rows=rows))
    assert seen == dict.fromkeys(rules, ("UNKNOWN", "not_exported"))


def test_a_date_with_two_readings_is_undecided() -> None:
    project, data = study_of(LATE)
    two = (*data.rows, {**data.rows[0], "v2_date": "2024-06-02"})
    assert told(project, replace(data, rows=two)) == dict.fromkeys(BOTH, ("UNKNOWN", ""))


@pytest.mark.parametrize(
    ("left", "window"),
    [
        ("", "FAIL"),
        ("2024-03-01", None),
        ("2024-03-21", None),
        ("2024-04-04", None),
        ("2024-04-05", "FAIL"),
        ("2024-11-30", "FAIL"),
        ("2099-01-01", "FAIL"),
        ("2024-03", "UNKNOWN"),
        ("2024-04", "UNKNOWN"),
        ("2024-05", "FAIL"),
    ],
)
def test_a_withdrawal_excuses_what_it_came_before(left: str, window: str | None) -> None:
    """V2's window is 2024-03-21 to 2024-04-04: who leaves after it has missed the visit."""
    project, data = study_of(LATE | {"v2_date": "", "left_date": left})
    seen = told(project, data)
    assert seen.get("std.visit_window.V2", (None,))[0] == window
    assert "std.visit_order.V2" not in seen


def blind(project: Project, field: str, kind: str) -> None:
    """REDCap came to tell the arm by a field after the study was blinded."""
    BlindedField.objects.create(project=project, field=field, kind=kind)
    project.blinded_since = now()
    project.save()


@pytest.mark.parametrize("kind", [BlindedField.Kind.LAB, BlindedField.Kind.RANDOMISATION])
@pytest.mark.parametrize("hidden", ["first_dose", "left_date", "v2_date"])
def test_visits_that_rest_on_a_blinded_field_are_told_once_and_unnamed(
    hidden: str, kind: str
) -> None:
    project, data = study_of(LATE | {"v2_date": "2024-03-28", "left_date": "2024-05-01"})
    assert found(project, data, VISITS) == []
    blind(project, hidden, kind)
    seen = found(project, data, VISITS)
    of_plan = [one for one in seen if one.rule_key.endswith(".study")]
    assert {one.rule_key for one in of_plan} == {
        "std.visit_window.study",
        "std.visit_order.study",
    }
    assert len(of_plan) == 2
    assert {(one.outcome, one.reason, one.field) for one in of_plan} == {
        ("UNKNOWN", "not_exported", "")
    }
    # Beside them only a visit whose own date reads like the blinded one.
    others = {one.field for one in seen if one not in of_plan}
    assert others <= ({"v1_date"} if kind == BlindedField.Kind.RANDOMISATION else set())
    reasons = [state.reason for state in visit_states(project, mask_for_all(project).record(data))]
    assert not [one for one in (*reasons, *(s.message for s in seen)) if one and hidden in one]


def test_a_date_that_is_masked_is_not_called_impossible() -> None:
    """The shape of a blinded date is masked in texts, where people may have written a visit's date."""
    project, data = study_of(LATE | {"randomised_on": "2024-02-20"})
    blind(project, "randomised_on", BlindedField.Kind.RANDOMISATION)
    assert told(project, data) == dict.fromkeys(BOTH, ("UNKNOWN", "not_exported"))
    states = visit_states(project, mask_for_all(project).record(data))
    assert {state.doubt for state in states} == {"not_exported"}


@pytest.mark.full
@pytest.mark.parametrize("entered", ["2024-06-UN", "2024/6/1"])
def test_a_date_that_cannot_be_read_closes_no_finding(study: Study, entered: str) -> None:
    skill = switch(project=study.project, checks=CHECKS, actor="admin")
    assert skill
    run_of(study, skill, "P013")
    late = PendingAction.objects.get(record_id="P013", rule_key="std.visit_window.V2")
    change(study, "P013", "v2_arm_1", v2_date=entered)
    run_of(study, skill, "P013")
    late.refresh_from_db()
    assert late.state == PendingAction.State.OPEN
